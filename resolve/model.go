package resolve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// inherit stands for the model of the agent that delegates.
const inherit = "inherit"

// model finds the model: what the strongest layer names, else a default.
func (r *resolver) model() {
	id := pick(r, "model", func(p *profile.Profile) profile.Value[string] {
		if p.Model.V == inherit && r.in.Inherit == nil {
			return profile.Value[string]{} // nobody delegates: as if it were not written
		}
		return p.Model
	})
	provider := pick(r, "provider", func(p *profile.Profile) profile.Value[string] { return p.Provider })
	if id, provider = r.variables("model", id), r.variables("provider", provider); r.err != nil {
		return
	}
	var found catalog.Resolved
	switch {
	case r.inherits(id, provider):
		found, r.err = r.in.Models.Lookup(catalog.Ref{Provider: r.in.Inherit.Provider, Text: r.in.Inherit.ID, At: id.At})
	case id.Set:
		found, r.err = r.in.Models.Lookup(catalog.Ref{
			Text: id.V, Provider: provider.V, At: id.At,
			Inherited: r.won["provider"] < r.won["model"],
			Default:   r.won["model"] < r.own,
		})
	default:
		found, id.At = r.defaultModel(provider)
	}
	if missing := (*catalog.ModelError)(nil); r.in.Lookable && errors.As(r.err, &missing) && missing.Kind == catalog.ErrMissing {
		r.err, r.out.Model.Provider = nil, provider.V
		for _, key := range catalog.Figures() {
			r.set(key, source.Origin{Layer: source.Builtin})
		}
		r.note(CodeNoModel, profile.SeverityWarning, missing.At, "model", missing.Message, missing.Hint)
		return
	}
	if r.err == nil {
		r.script(&found, id.At)
	}
	if r.err != nil {
		return
	}
	r.out.Model = found.Model
	for _, w := range found.Endpoint.Withheld {
		r.withhold(w.Why)
	}
	if provider.V != found.Model.Provider {
		trace := r.out.Origins["provider"]
		if provider.Set {
			trace.Overrode = append(trace.Overrode, trace.Origin)
		}
		trace.Origin, trace.Written = id.At, r.out.Origins["model"].Written
		r.out.Origins["provider"] = trace
	}
	for _, key := range catalog.Figures() {
		r.set(key, found.Origin(key))
	}
	if found.Note != "" {
		r.note(CodeModel, profile.SeverityNote, id.At, "model", fmt.Sprintf("%s: %s", found.Model, found.Note), "")
	}
	r.variant = found.Variant
}

func (r *resolver) defaultModel(provider profile.Value[string]) (catalog.Resolved, source.Origin) {
	o := r.in.Default
	o.Where = cmp.Or(o.Where, r.in.Profile.File)
	if provider.Set {
		missing := r.in.Models.Missing(o.Where)
		missing.At = provider.At
		missing.Message = fmt.Sprintf("no model: provider %s is set, and neither %s nor the workspace's defaults name a model", provider.V, o.Where)
		r.err = missing
		return catalog.Resolved{}, provider.At
	}
	found, from, err := r.in.Models.Default(o)
	r.err = err
	at := source.Origin{Layer: source.Builtin, File: from}
	r.set("model", at)
	return found, at
}

// script makes the file of a script model absolute, so that the run can be
// taken up from anywhere. Only flags may name one outside of the workspace.
func (r *resolver) script(found *catalog.Resolved, at source.Origin) {
	e := &found.Endpoint
	if e.API != catalog.APIScript || e.BaseURL != found.Model.ID {
		return
	}
	file := e.BaseURL
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.in.Config.Dir, file)
	}
	if at.Layer != source.Flag && r.in.Inherit == nil && !r.inside(file) {
		r.fail("model", at, fmt.Sprintf("the script %s is outside of the workspace", e.BaseURL), "name it with --model, or move it into the workspace")
		return
	}
	e.BaseURL, found.Model.ID = file, file
}

// inside says whether a file is in the workspace, with links followed. One that
// does not exist is if its path is.
func (r *resolver) inside(file string) bool {
	rel, err := filepath.Rel(r.in.Config.Dir, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	_, err = r.root.Stat(rel)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
