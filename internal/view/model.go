package view

import (
	"time"

	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/quirk"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// ModelItem is a model in a list.
type ModelItem = modelcatalog.Info

// Explanation says what a profile resolved to, and why.
type Explanation = resolve.Explanation

// ModelView is what a reference stands for: a model, its figures, and how it is reached.
type ModelView struct {
	Provider      string                   `json:"provider"`
	ID            string                   `json:"id"`
	API           string                   `json:"api"`
	BaseURL       string                   `json:"base_url"`
	KeyEnv        string                   `json:"key_env,omitempty"`
	KeyCommand    bool                     `json:"key_command,omitempty"`
	Key           string                   `json:"key,omitempty"`     // where it is read from
	Headers       []string                 `json:"headers,omitempty"` // their names
	Quirks        quirk.Set                `json:"quirks,omitempty"`
	ContextWindow int                      `json:"context_window"`
	MaxOutput     int                      `json:"max_output"`
	Price         spec.Price               `json:"price"`                    // in US dollars per million tokens
	Thinking      []string                 `json:"thinking_levels,omitzero"` // none: it does not think; absent: nobody knows
	Origins       map[string]source.Origin `json:"origins"`
	Variant       string                   `json:"variant,omitempty"`
	Reported      time.Time                `json:"reported,omitzero"` // when its server said that it has it
	Note          string                   `json:"note,omitempty"`
}

// NewModelView describes what a reference stands for. key says where the key is read from.
func NewModelView(r modelcatalog.Resolved, key string) ModelView {
	m, e := r.Model, r.Endpoint
	out := ModelView{
		Provider: m.Provider, ID: m.ID, API: e.API, BaseURL: e.BaseURL, KeyEnv: e.KeyEnv, KeyCommand: len(e.KeyCommand) > 0, Key: key,
		ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutput, Price: m.Price, Thinking: m.Thinking,
		Quirks:  e.Quirks,
		Origins: map[string]source.Origin{}, Reported: r.Reported, Note: r.Note,
	}
	for _, h := range e.Headers {
		out.Headers = append(out.Headers, h.Name)
	}
	for _, key := range append(modelcatalog.Reaching(), modelcatalog.Figures()...) {
		if at := r.Origin(key); at != (source.Origin{}) {
			out.Origins[key] = at
		}
	}
	for k := range e.Quirks {
		if at := r.QuirkOrigin(k); at != (source.Origin{}) {
			out.Origins["quirks."+string(k)] = at
		}
	}
	if v := r.Variant; v != nil {
		out.Variant = v.Name
		for _, s := range v.Settings() {
			out.Origins[s.Key] = s.At
		}
	}
	return out
}
