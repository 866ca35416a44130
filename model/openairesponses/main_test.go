package openairesponses

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/internal/wire/wiretest"
)

func TestMain(m *testing.M) {
	if !wiretest.Main() {
		goleak.VerifyTestMain(m)
	}
}

// serve returns a model whose provider is h.
func serve(tb testing.TB, h http.HandlerFunc) *Model { return at(tb, wiretest.Serve(tb, h)) }

func at(tb testing.TB, url string) *Model {
	return New(Config{Provider: "fake", Model: "small", BaseURL: url, HTTPClient: wiretest.Client(tb)})
}
