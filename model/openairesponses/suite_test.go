package openairesponses

import (
	"context"
	"net/http"
	"testing"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/model"
)

func planted(context.Context) (string, error) { return wiretest.Key, nil }

func TestSuite(t *testing.T) { suite(t).Run(t) }

func suite(tb testing.TB) wiretest.Suite {
	return wiretest.Suite{
		New: func(s wiretest.Settings, c *http.Client) model.Model {
			return New(Config{
				Provider: "fake", Model: "small", BaseURL: s.URL, Key: planted, KeyName: "FAKE_KEY",
				IdleTimeout: s.Idle, HTTPClient: c,
			})
		},
		Answer: wiretest.Recorded(tb, "20-deltas.sse"),
		Garbage: []string{
			"data: {\"type\":[\n\n",
			"data: 5\n\n",
			"data: {\"type\":\"response.output_text.delta\",\"delta\":7}\n\n",
			"data: {\"type\":\"response.output_text.delta\",\"output_index\":3,\"delta\":\"x\"}\n\n",
			"data: <html>\n\n",
		},
	}
}
