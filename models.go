package roster

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/anthropic"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/demo"
	"github.com/rosterrun/roster/model/gemini"
	"github.com/rosterrun/roster/model/openaichat"
	"github.com/rosterrun/roster/model/openairesponses"
	"github.com/rosterrun/roster/model/record"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/spec"
)

// model makes the model of a spec. It reads the provider's key, so it is called
// only where a run begins.
func (a *App) model(ctx context.Context, s *spec.Spec) (model.Model, error) {
	if m := a.opts.Models[s.Model.String()]; m != nil {
		return m, nil
	}
	if a.opts.Replay != "" {
		return a.replay()
	}
	m, err := a.provider(s)
	if err != nil || a.opts.Record == "" {
		return m, err
	}
	return a.record(m)
}

// fallbacks makes the models that are asked when that of the spec is not to be
// had. One that cannot be made says so when it is its turn.
func (a *App) fallbacks(ctx context.Context, s *spec.Spec) []model.Model {
	var out []model.Model
	for _, f := range s.Fallbacks {
		as := *s
		as.Model = f
		m, err := a.model(ctx, &as)
		if err != nil {
			m = notReady{f.String(), err}
		}
		out = append(out, m)
	}
	return out
}

// notReady is a model that cannot be asked here.
type notReady struct {
	name string
	err  error
}

func (m notReady) Name() string { return m.name }

func (m notReady) Stream(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		yield(model.Chunk{}, &model.Error{Kind: model.NotReady, Model: m.name, Err: m.err})
	}
}

// provider makes the model of a spec at its provider.
func (a *App) provider(s *spec.Spec) (model.Model, error) {
	found, err := a.found(s.Model)
	if err != nil {
		return nil, err
	}
	access, err := a.Models().Access(found)
	if err != nil {
		return nil, err
	}
	return a.adapter(s.Model, found, headers(access))
}

func (a *App) found(m spec.Model) (modelcatalog.Resolved, error) {
	return a.Models().Lookup(modelcatalog.Ref{Provider: m.Provider, Text: m.ID})
}

// adapter picks what speaks the model's wire protocol. It reads no secret.
func (a *App) adapter(m spec.Model, found modelcatalog.Resolved, headers map[string]string) (model.Model, error) {
	e := found.Endpoint
	switch e.API {
	case modelcatalog.APIBuiltin:
		return demo.New(), nil
	case modelcatalog.APIScript:
		loaded, err := script.Load(a.path(e.BaseURL))
		if err != nil {
			return nil, &modelcatalog.ModelError{Kind: modelcatalog.ErrUnknownModel, Ref: m.String(), At: e.At, Message: err.Error()}
		}
		return loaded.Model(m.String()), nil
	case modelcatalog.APIOpenAIChat:
		return openaichat.New(openaichat.Config{
			Provider: m.Provider, Model: m.ID, BaseURL: e.BaseURL, Quirks: e.Quirks,
			Key: a.key(found), KeyName: a.Models().KeyName(e), Headers: headers, IdleTimeout: e.Timeout, HTTPClient: a.client,
		}), nil
	case modelcatalog.APIOpenAIResponses:
		return openairesponses.New(openairesponses.Config{
			Provider: m.Provider, Model: m.ID, BaseURL: e.BaseURL,
			Key: a.key(found), KeyName: a.Models().KeyName(e), Headers: headers, IdleTimeout: e.Timeout, HTTPClient: a.client,
		}), nil
	case modelcatalog.APIGemini:
		return gemini.New(gemini.Config{
			Provider: m.Provider, Model: m.ID, BaseURL: e.BaseURL,
			Key: a.key(found), KeyName: a.Models().KeyName(e), Headers: headers, IdleTimeout: e.Timeout, HTTPClient: a.client,
		}), nil
	case modelcatalog.APIAnthropic:
		return anthropic.New(anthropic.Config{
			Provider: m.Provider, Model: m.ID, BaseURL: e.BaseURL, MaxOutput: m.MaxOutput,
			Key: a.key(found), KeyName: a.Models().KeyName(e), Headers: headers, IdleTimeout: e.Timeout, HTTPClient: a.client,
		}), nil
	}
	return nil, &modelcatalog.ModelError{
		Kind: modelcatalog.ErrUnknownProvider, Ref: m.String(), At: e.At,
		Message: fmt.Sprintf("provider %s speaks %s, which this version does not", e.Provider, e.API),
		Hint:    "use a model of a provider with api: " + strings.Join(spoken(), ", "),
	}
}

// key reads the provider's key anew for each call, so that one that was
// exchanged counts at once. Nil: the provider needs none.
func (a *App) key(r modelcatalog.Resolved) func(context.Context) (string, error) {
	if a.Models().KeyName(r.Endpoint) == "" {
		return nil
	}
	return func(context.Context) (string, error) {
		access, err := a.Models().Access(r)
		if err != nil {
			return "", err
		}
		return access.Key.Reveal(), nil
	}
}

// refreshKey drops what is kept of the key of a model's provider, if it was read
// before the call that it was refused in began: the next call reads it anew. Of
// many calls that fail at once the first one does so. It gives false if the
// provider has no key.
func (a *App) refreshKey(name string, began time.Time) bool {
	provider, id, _ := strings.Cut(name, "/")
	r, err := a.Models().Lookup(modelcatalog.Ref{Provider: provider, Text: id})
	if err != nil || a.opts.Models[name] != nil || a.Models().KeyName(r.Endpoint) == "" {
		return false
	}
	a.keyCommands.forget(r.Endpoint.KeyCommand, began)
	a.keys.Forget(provider, began)
	return true
}

func headers(a modelcatalog.Access) map[string]string {
	if len(a.Headers) == 0 {
		return nil
	}
	h := map[string]string{}
	for i, header := range a.Headers {
		h[header.Name] = a.Values[i].Reveal()
	}
	return h
}

// record wraps m with a recorder; those of all of the App's models write to one
// file.
func (a *App) record(m model.Model) (model.Model, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.recorder != nil {
		return a.recorder.With(m), nil
	}
	r, err := record.New(m, a.opts.Record, a.redact)
	if err != nil {
		return nil, err
	}
	a.recorder = r
	a.closers = append(a.closers, r.Close)
	return r, nil
}

// replay returns the one replayer of the App: the calls of all models stand in
// one file.
func (a *App) replay() (model.Model, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.replayer == nil {
		r, err := record.Replay(a.opts.Replay)
		if err != nil {
			return nil, err
		}
		a.replayer = r
	}
	return a.replayer, nil
}

// spoken lists the wire protocols that provider knows.
func spoken() []string {
	return []string{modelcatalog.APIOpenAIChat, modelcatalog.APIOpenAIResponses, modelcatalog.APIAnthropic, modelcatalog.APIGemini, modelcatalog.APIScript, modelcatalog.APIBuiltin}
}
