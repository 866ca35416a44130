package roster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/spec"
)

// ContextProvider gives a text that is added to a request, such as the state of
// something that changes; empty: nothing. It stands after the conversation and is
// no part of it: the next request has what the provider says then. A failure is
// told to the model. It is called from several goroutines.
type ContextProvider = engine.ContextProvider

// Transform sees a request before it is sent and may change it as a whole: it
// returns another one, or nil to leave it as it is. What it was given is shared
// and must not be changed, nor the messages in it. A changed request stands whole
// in the log. An error ends the loop. It is called from several goroutines.
type Transform = engine.Transform

// ContextMoment says for which request a ContextProvider or a Transform is asked.
type ContextMoment = engine.ContextMoment

// summariser resolves the profile that writes the summaries of another's
// conversations. Of it the model, its settings and its prompt count.
func (a *App) summariser(s *setup, in resolve.Input, out *spec.Spec) error {
	c := &out.Context
	if c.Summariser == nil {
		return nil
	}
	p, err := s.catalog.Get(c.Summariser.Name)
	if err != nil {
		return &summariserError{profile: out.Name, at: out.Origins["context.summariser"].Origin.String(), err: err}
	}
	its := resolve.Input{
		Profile: p, Config: in.Config, Models: in.Models, Trust: in.Trust, LookupEnv: in.LookupEnv,
		Strategies: in.Strategies, Default: in.Default, Lookable: in.Lookable,
	}
	if out.Model.ID != "" {
		its.Inherit = &out.Model
	}
	own, _, err := resolve.Spec(its)
	if err != nil {
		return &summariserError{profile: out.Name, at: out.Origins["context.summariser"].Origin.String(), err: err}
	}
	a.redactPrompt(own)
	out.Files, out.Withheld = append(out.Files, own.Files...), append(out.Withheld, own.Withheld...)
	c.Summariser = &spec.Spec{
		Name: own.Name, Revision: own.Revision, Mode: own.Mode, Model: own.Model, Params: own.Params, Prompt: own.Prompt, Cache: own.Cache,
	}
	return nil
}

// summariserError says that the profile which is to write summaries is not to be
// had.
type summariserError struct {
	profile, at string
	err         error
}

func (e *summariserError) Error() string {
	return fmt.Sprintf("%s: context.summariser of profile %s: %v (name a profile of the workspace, or leave the key out: the profile itself writes its summaries then)", e.at, e.profile, e.err)
}

func (e *summariserError) Unwrap() error { return e.err }

// noProviders notes what is to add to requests and is not there.
func (a *App) noProviders(s *spec.Spec) (ds []profile.Diagnostic) {
	for _, name := range s.Context.Providers {
		if a.contextProvider(s, name) != nil {
			continue
		}
		hint := "this program has none; programs that embed Roster give them in Options.ContextProviders"
		if names := slices.Sorted(maps.Keys(a.opts.ContextProviders)); len(names) > 0 {
			hint = "there are " + strings.Join(names, ", ")
		}
		ds = append(ds, profile.Diagnose(profile.CodeNoProvider, s.Origins["context.providers"].Origin, "context.providers",
			fmt.Sprintf("there is no context provider %q; nothing is added to requests for it", name), hint))
	}
	return ds
}

// furnishContext gives a blueprint who sums up its conversations, and what adds
// to and changes its requests.
func (a *App) furnishContext(ctx context.Context, s *spec.Spec, b *engine.Blueprint) error {
	var adds []engine.Provider
	for _, name := range s.Context.Providers {
		if p := a.contextProvider(s, name); p != nil {
			adds = append(adds, engine.Provider{Name: name, Ask: p})
		}
	}
	if v, ok := b.Live.(*serving); ok {
		if p, has := v.provider(); has {
			adds = append(adds, p)
		}
	}
	b.Extend(adds, a.transforms(s))
	own := s.Context.Summariser
	if own == nil {
		return nil
	}
	m, err := a.model(ctx, own)
	if err != nil { // told when it is needed: the conversation may never be so long
		m = notReady{own.Model.String(), err}
	}
	return b.SummariseWith(m)
}
