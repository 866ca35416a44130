package resolve

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Agent names the agent of some work: a profile, a configuration in place
// (`agent-profile-ref`, `agent-config`), or a profile with some of its keys set
// anew.
type Agent struct {
	Ref    string           // the profile's name; empty: none
	Config *profile.Profile // the keys in place; nil: none
	Goal   string           // what the configuration is to do, which no profile has
	// At is where it is written. Without a file it is built in code.
	At source.Origin
}

// The names under which an agent fails that is named twice, or not at all.
const (
	BothProfileAndConfig           = profile.BothProfileAndConfig
	MissingAgentConfigOrProfileRef = profile.MissingAgentConfigOrProfileRef
	AgentExecutionFailed           = profile.ErrorName("AgentExecutionFailed")
)

// AgentError says why an agent is none.
type AgentError struct {
	Kind          profile.ErrorName
	At            source.Origin
	Message, Hint string
}

func (e *AgentError) Error() string {
	s := fmt.Sprintf("%s (%s)", e.Message, e.Hint)
	if e.At.File != "" {
		s = e.At.String() + ": " + s
	}
	return s
}

func (e *AgentError) Unwrap() error { return e.Kind }

// Resolve gives the profile of the agent, from get where it is named, and what is
// set over it (Input.Inline). A profile that is not there is the error of get.
//
// In a file, a configuration that is complete on its own beside a profile is
// ambiguous; in code, the profile is the base and the configuration is over it.
func (a Agent) Resolve(get func(name string) (*profile.Profile, error)) (base, inline *profile.Profile, err error) {
	if err := a.Check(); err != nil {
		return nil, nil, err
	}
	if a.Ref == "" {
		return a.Config, nil, nil
	}
	if base, err = get(a.Ref); err != nil {
		return nil, nil, err
	}
	return base, a.Config, nil
}

// Check says whether the agent is named once, as far as that is known without its
// profile: nil, or an *AgentError.
func (a Agent) Check() error {
	written := a.At.File != ""
	switch {
	case a.Ref == "" && a.Config == nil && written:
		return &AgentError{MissingAgentConfigOrProfileRef, a.At, "no agent is named", "write agent-profile-ref: NAME, or agent-config"}
	case a.Ref == "" && a.Config == nil:
		return &AgentError{AgentExecutionFailed, a.At, "the agent has neither a profile nor a configuration", "set Ref, Config or both"}
	case a.Ref != "" && a.Config != nil && written && a.complete():
		return &AgentError{BothProfileAndConfig, a.At,
			fmt.Sprintf("agent-profile-ref names %s, and agent-config is an agent of its own", a.Ref),
			"leave one of them out, or leave in agent-config only what is to differ from the profile"}
	}
	return nil
}

// complete says whether the configuration could stand without a profile: it sets
// provider and model, or says what to do. A model alone takes the place of the
// profile's.
func (a Agent) complete() bool {
	c := a.Config
	return c.Provider.Set && c.Model.Set || a.Goal != "" || c.SystemPrompt.Set || strings.TrimSpace(c.Body) != ""
}
