// Package anthropic speaks Anthropic's Messages API.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const (
	renderer         = "anthropic/1"
	signer           = "anthropic" // of thinking
	apiVersion       = "2023-06-01"
	defaultBaseURL   = "https://api.anthropic.com"
	defaultMaxTokens = 8192
)

// Config describes one model at one provider.
type Config struct {
	Provider string // for the name and in errors
	Model    string // the id that is sent
	BaseURL  string // with or without /v1; default Anthropic's
	// Key is asked for the API key at each call. Without it no x-api-key
	// header is sent. KeyName says where it comes from, such as
	// "ANTHROPIC_API_KEY"; it stands in remedies.
	Key     func(context.Context) (string, error)
	KeyName string
	Headers map[string]string // sent with each call; anthropic-version may be set here
	// MaxOutput is the model's output limit in tokens. It is asked for where
	// Params.MaxTokens is not set, for the API needs a number; default 8192.
	MaxOutput   int
	IdleTimeout time.Duration // longest wait for a byte, the first one too; default 120 s
	HTTPClient  *http.Client  // default one of its own; redirects are never followed
}

// Model is a model.Model and a model.Renderer.
type Model struct {
	name      string
	id        string
	maxOutput int
	endpoint  *wire.Endpoint
}

// New returns the model of cfg. It opens nothing; a bad base URL is said by the
// first call.
func New(cfg Config) *Model {
	if cfg.BaseURL == "" {
		cfg.BaseURL = defaultBaseURL
	}
	if cfg.MaxOutput <= 0 {
		cfg.MaxOutput = defaultMaxTokens
	}
	path := "v1/messages"
	if strings.HasSuffix(strings.TrimSuffix(cfg.BaseURL, "/"), "/v1") {
		path = "messages"
	}
	name := cfg.Provider + "/" + cfg.Model
	return &Model{name: name, id: cfg.Model, maxOutput: cfg.MaxOutput, endpoint: wire.NewEndpoint(wire.Config{
		Model: name, BaseURL: cfg.BaseURL, Path: path,
		Key: cfg.Key, KeyName: cfg.KeyName, KeyHeader: "X-Api-Key",
		Protocol: map[string]string{"Anthropic-Version": apiVersion},
		Headers:  cfg.Headers, Idle: cfg.IdleTimeout, Client: cfg.HTTPClient,
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

// Wire returns msg as one message object without cache breakpoints; nothing if
// there is nothing to send. In a body, messages of one role that follow each
// other are sent as one.
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
