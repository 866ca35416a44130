// Package openairesponses speaks OpenAI's Responses API. The conversation is
// sent whole with each call and nothing is stored at the provider; reasoning
// comes back encrypted, and goes along with the conversation.
package openairesponses

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const (
	renderer       = "openai-responses/1"
	signer         = "openai-responses" // of reasoning
	defaultBaseURL = "https://api.openai.com/v1"
)

// Config describes one model at one provider.
type Config struct {
	Provider string // for the name and in errors
	Model    string // the id that is sent
	BaseURL  string // up to /v1; default OpenAI's
	// Key is asked for the API key at each call. Without it no Authorization
	// header is sent. KeyName says where it comes from, such as
	// "OPENAI_API_KEY"; it stands in remedies.
	Key         func(context.Context) (string, error)
	KeyName     string
	Headers     map[string]string // sent with each call
	IdleTimeout time.Duration     // longest wait for a byte, the first one too; default 120 s
	HTTPClient  *http.Client      // default one of its own; redirects are never followed
}

// Model is a model.Model and a model.Renderer.
type Model struct {
	name     string
	id       string
	endpoint *wire.Endpoint
}

// New returns the model of cfg. It opens nothing; a bad base URL is said by the
// first call.
func New(cfg Config) *Model {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	name := cfg.Provider + "/" + cfg.Model
	return &Model{name: name, id: cfg.Model, endpoint: wire.NewEndpoint(wire.Config{
		Model: name, BaseURL: cfg.BaseURL, Path: "responses",
		Key: cfg.Key, KeyName: cfg.KeyName, KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Headers: cfg.Headers, Idle: cfg.IdleTimeout, Client: cfg.HTTPClient,
	})}
}

// Name returns provider/model-id.
func (m *Model) Name() string { return m.name }

// Renderer names the form of the bytes.
func (m *Model) Renderer() string { return renderer }

// Render returns the body that Stream sends for r.
func (m *Model) Render(r *model.Request) ([]byte, error) {
	b, err := m.body(r)
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Wire returns msg as it stands in the list of input items: as many objects as
// it needs, joined with commas; nothing if there is nothing to send.
func (m *Model) Wire(msg *message.Message) ([]byte, error) {
	return msg.Wire(renderer, encodeMessage)
}

// Stream sends r and yields the answer as it comes.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	body, err := m.body(r)
	return m.endpoint.Stream(ctx, body, err, func(a *wire.Answer, yield wire.Yield) (model.Chunk, error) {
		d := decoder{answer: a, yield: yield}
		read := d.events
		if !a.Streamed() {
			read = d.document
		}
		if err := read(); err != nil {
			return model.Chunk{}, err
		}
		return d.last(), nil
	})
}
