// Package openaichat speaks OpenAI's Chat Completions, as OpenAI itself and the
// many servers compatible with it take it.
package openaichat

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/quirk"
)

const (
	renderer       = "openai-chat/1"
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
	Key     func(context.Context) (string, error)
	KeyName string
	Headers map[string]string // sent with each call
	// Quirks is in what the server differs from others; nil: what is known of the
	// one at BaseURL.
	Quirks      quirk.Set
	IdleTimeout time.Duration // longest wait for a byte, the first one too; default 120 s
	HTTPClient  *http.Client  // default one of its own; redirects are never followed
}

// Model is a model.Model and a model.Renderer.
type Model struct {
	name     string
	id       string
	quirks   quirk.Set
	form     form
	encode   func(*message.Message) ([]byte, error) // form's
	endpoint *wire.Endpoint
}

// New returns the model of cfg. It opens nothing; a bad base URL is said by the
// first call.
func New(cfg Config) *Model {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	if cfg.Quirks == nil {
		cfg.Quirks = quirk.Of(cfg.BaseURL)
	}
	name := cfg.Provider + "/" + cfg.Model
	form := formOf(cfg.Quirks)
	return &Model{name: name, id: cfg.Model, quirks: cfg.Quirks, form: form, encode: form.message, endpoint: wire.NewEndpoint(wire.Config{
		Model: name, BaseURL: cfg.BaseURL, Path: "chat/completions",
		Key: cfg.Key, KeyName: cfg.KeyName, KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Headers: cfg.Headers, Idle: cfg.IdleTimeout, Client: cfg.HTTPClient,
	})}
}

// Name returns provider/model-id.
func (m *Model) Name() string { return m.name }

// Renderer names the form of the bytes.
func (m *Model) Renderer() string { return m.form.name }

// Render returns the body that Stream sends for r.
func (m *Model) Render(r *model.Request) ([]byte, error) {
	b, err := m.body(r)
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Wire returns msg as it stands in the list of messages: one object; several,
// joined with commas, for a tool message; nothing if there is nothing to send.
func (m *Model) Wire(msg *message.Message) ([]byte, error) {
	return msg.Wire(m.form.name, m.encode)
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
