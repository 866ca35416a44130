package roster

import (
	"context"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/session"
)

// PromptStrategy puts a prompt together in code. A profile names it under
// prompt.strategy, and gives it the blocks.
type PromptStrategy = prompt.Strategy

// PromptBlock is one block that a PromptStrategy is given.
type PromptBlock = prompt.Block

// Prompt gives the head of every request that a run of the profile would send
// now: the system prompt by layers, and the tools. It needs no model and no key.
func (a *App) Prompt(ctx context.Context, name string, over session.Overrides) (view.Prompt, error) {
	s, ds, err := a.Resolve(ctx, name, over)
	if err != nil {
		return view.Prompt{}, err
	}
	from := a.now()
	if err := a.reach(from, from.catalog.Snapshot(), s, false, false); err != nil {
		return view.Prompt{}, err
	}
	all, noted, err := a.allCapabilities(s)
	if err != nil {
		return view.Prompt{}, err
	}
	b, err := engine.Compile(s, nil, all, false, make([]model.Model, len(s.Fallbacks))...)
	if err != nil {
		return view.Prompt{}, err
	}
	var fragments []view.Layer
	for _, c := range b.Capabilities() {
		if c.Fragment != "" {
			fragments = append(fragments, view.Layer{Name: "capability", Source: c.Name, Text: c.Fragment})
		}
	}
	return view.NewPrompt(s, b.Prefix, fragments, append(ds, noted...)), nil
}
