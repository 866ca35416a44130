package roster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// ModelRef names a model.
type ModelRef struct {
	Provider string // such as "openai"
	ModelID  string // as the provider calls it, such as "gpt-4o"
}

// AgentDef is an agent as Create builds it for one request.
type AgentDef struct {
	// ID is that of the profile; empty: the same.
	ID string
	// Model is what it asks; what is empty is that of ModelConfig, else the default.
	Model ModelRef
	// System is the system prompt.
	System string
	// MaxTurns bounds the model calls of one loop; 0: the default, 50.
	MaxTurns int
	// OnSubAgentEvent is told of what the agents do that work for this one, in order:
	// of stored events when they are stored, and of live ones. The run waits for it, so
	// it has to return soon; one that panics is not told any more. The log has all
	// of it: a run that another process takes up tells nobody. nil: nobody is told.
	OnSubAgentEvent func(session.Event)
}

// DefineAgent makes the agent that Definition.Create returns. It says what the agent
// is, and has no session: whoever asked for it runs it, for the request that it was
// made for. Its ID is that of the definition; Prompt and the other methods that would
// need a session return ErrNotRunning. An agent to prompt by hand is made with
// App.NewAgent, of the profile's ID.
func DefineAgent(d AgentDef) *Agent { return &Agent{id: d.ID, def: &d} }

// ErrNotRunning is returned by methods of an Agent that DefineAgent made.
var ErrNotRunning = errors.New("roster: the agent is defined, and runs nowhere: App.NewAgent makes one to prompt")

// applied puts what an agent is over a profile, which it changes.
func (d *AgentDef) applied(p *profile.Profile) error {
	bad := func(format string, args ...any) error { return fmt.Errorf("the agent's "+format, args...) }
	switch {
	case d.ID != "" && d.ID != p.Name && d.ID != definedID(p):
		return bad("ID is %q: leave it out, or give that of the profile", d.ID)
	case d.MaxTurns < 0:
		return bad("MaxTurns is below zero; 0 is the default")
	case d.Model.ModelID == "" && d.Model.Provider != "" && !p.Model.Set:
		return bad("Model has the provider %s and no ModelID", d.Model.Provider)
	}
	if d.Model.Provider != "" {
		p.Provider = profile.Value[string]{V: d.Model.Provider, Set: true}
	}
	if d.Model.ModelID != "" {
		p.Model = profile.Value[string]{V: d.Model.ModelID, Set: true}
	}
	if d.MaxTurns > 0 {
		p.Limits.Turns = profile.Value[int]{V: d.MaxTurns, Set: true}
	}
	return prompted(p, d.System)
}

// prompted makes a text the prompt of a profile, which it changes.
func prompted(p *profile.Profile, text string) error {
	if len(text) > maxPrompt {
		return errors.New("the prompt " + tooLong(len(text)))
	}
	p.Body = strings.ToValidUTF8(text, "\uFFFD")
	return nil
}

// definedID is the ID that a profile was defined with.
func definedID(p *profile.Profile) string {
	if own := ownOf(p.Code); own != nil {
		return own.def.ID
	}
	return p.Name
}

// built asks the program for the agent of a request.
func (p *Profile) built(ctx context.Context, c ProfileContext, into *profile.Profile) (observe func(session.Event), err error) {
	if p.def.Create == nil {
		text, err := p.def.Agent.Prompt(ctx, c)
		if err != nil {
			return nil, err
		}
		return nil, prompted(into, text)
	}
	agent, err := p.def.Create(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case agent == nil:
		return nil, errors.New("it gave no agent, and no error: return what DefineAgent makes")
	case agent.def == nil:
		return nil, errors.New("it gave an agent that runs: return what DefineAgent makes")
	}
	return agent.def.OnSubAgentEvent, agent.def.applied(into)
}
