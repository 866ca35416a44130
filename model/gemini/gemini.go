// Package gemini speaks the Gemini API of Google, version v1beta.
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const (
	renderer       = "gemini/1"
	rendererTwo    = renderer + " series=2"
	signer         = "gemini" // of thoughts
	defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"
)

// Config describes one model at one provider.
type Config struct {
	Provider string // for the name and in errors
	Model    string // the id in the address, such as "gemini-3-flash"
	BaseURL  string // up to the version; default Google's
	// Key is asked for the API key at each call. Without it no key is sent.
	// KeyName says where it comes from, such as "GEMINI_API_KEY"; it stands in
	// remedies.
	Key         func(context.Context) (string, error)
	KeyName     string
	Headers     map[string]string // sent with each call
	IdleTimeout time.Duration     // longest wait for a byte, the first one too; default 120 s
	HTTPClient  *http.Client      // default one of its own; redirects are never followed
}

// Model is a model.Model and a model.Renderer.
type Model struct {
	name string
	// two says that the model is of the series 2, which takes budgets of
	// thinking in place of levels, and calls without a signature.
	two      bool
	endpoint *wire.Endpoint
}

// New returns the model of cfg. It opens nothing; a bad base URL is said by the
// first call.
func New(cfg Config) *Model {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	name := cfg.Provider + "/" + cfg.Model
	return &Model{
		name: name, two: strings.HasPrefix(cfg.Model, "gemini-2"),
		endpoint: wire.NewEndpoint(wire.Config{
			Model: name, BaseURL: cfg.BaseURL,
			Path: "models/" + url.PathEscape(cfg.Model) + ":streamGenerateContent", Query: "alt=sse",
			Key: cfg.Key, KeyName: cfg.KeyName, KeyHeader: "X-Goog-Api-Key",
			Headers: cfg.Headers, Idle: cfg.IdleTimeout, Client: cfg.HTTPClient,
		}),
	}
}

// Name returns provider/model-id.
func (m *Model) Name() string { return m.name }

// Renderer names the form of the bytes.
func (m *Model) Renderer() string {
	if m.two {
		return rendererTwo
	}
	return renderer
}

// Render returns the body that Stream sends for r.
func (m *Model) Render(r *model.Request) ([]byte, error) {
	b, err := m.body(r)
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Wire returns msg as it stands in the list of contents; nothing if there is
// nothing to send.
func (m *Model) Wire(msg *message.Message) ([]byte, error) {
	if m.two {
		return msg.Wire(rendererTwo, encodeUnsigned)
	}
	return msg.Wire(renderer, encodeSigned)
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
