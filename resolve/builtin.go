package resolve

import (
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// The built-in defaults of limits and retries.
const (
	DefaultTurns    = 50
	DefaultTokens   = 1_000_000
	DefaultDuration = 10 * time.Minute
	DefaultRetries  = 3
	DefaultBase     = time.Second
	DefaultFactor   = 2
	DefaultCap      = 30 * time.Second
	// DefaultBatch is how many calls run at a time when batched names no size.
	DefaultBatch = 3
)

// builtin is the lowest layer. It is never written.
var builtin = builtIn()

func builtIn() *profile.Profile {
	return &profile.Profile{
		Mode:              given("all"),
		Tools:             given(profile.Tools{All: true}),
		Permission:        permission.Builtin(),
		DefaultPermission: given(permission.Ask),
		PermissionMode:    given(permission.ModeDefault.String()),
		Limits: profile.Limits{
			Turns: given(DefaultTurns), Tokens: given(int64(DefaultTokens)),
			Duration: given(DefaultDuration), Cost: given(0.0),
		},
		Retry: profile.Retry{
			Max: given(DefaultRetries), Base: given(DefaultBase),
			Factor: given(float64(DefaultFactor)), Cap: given(DefaultCap),
		},
		ToolExecution: given(profile.ToolExecution{Strategy: "parallel"}),
		Cache:         given("auto"),
		Steering:      given(spec.OneAtATime),
		FollowUp:      given(spec.OneAtATime),
		Workspace:     given("."),

		SubagentMaxDepth: given(DefaultDepth),
	}
}

func given[T any](v T) profile.Value[T] {
	return profile.Value[T]{V: v, Set: true, At: source.Origin{Layer: source.Builtin}}
}
