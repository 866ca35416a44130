package gemini

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
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

func request(messages ...*message.Message) *model.Request {
	return &model.Request{
		Prefix: &model.Prefix{
			System: []string{"You are brief.", "The workspace is /w."},
			Tools: []*model.ToolDef{
				{Name: "read", Description: "Reads a file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
				{Name: "list", Schema: []byte(`{"type":"object","properties":{}}`)},
			},
		},
		Messages: messages,
	}
}

func say(role message.Role, parts ...message.Part) *message.Message {
	return &message.Message{ID: "m1", Role: role, Parts: parts}
}

func text(role message.Role, s string) *message.Message { return say(role, message.Text{Text: s}) }
