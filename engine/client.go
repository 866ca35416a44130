package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// ForClient is the blueprint for a program that says more to the model than the
// profile does, or makes the calls of its own tools itself. A tool that the rules of
// the profile deny is a *ClientToolError.
func (b *Blueprint) ForClient(c *session.Client) (*Blueprint, error) {
	out, p := b.clone(), &model.Prefix{System: b.Prefix.System, Tools: b.Prefix.Tools}
	if c.Calls {
		out.tools, out.withheld, out.having, out.Live = nil, nil, nil, nil
		p.System, p.Tools = b.Spec.System(), nil
		permit, err := b.Spec.Permit(false) // whoever makes the calls can be asked
		if err != nil {
			return nil, err
		}
		for _, t := range c.Tools {
			if d := permit.Offer(t.Name); d.Effect == permission.Deny {
				return nil, &ClientToolError{Tool: t.Name, Profile: b.Spec.Name, Reason: d.Reason}
			}
			def, err := compact(&model.ToolDef{Name: t.Name, Description: t.Description, Schema: t.Schema})
			if err != nil {
				return nil, &ClientToolError{Tool: t.Name, Profile: b.Spec.Name, Reason: "its schema is not JSON: " + err.Error()}
			}
			p.Tools = append(p.Tools, def)
		}
	}
	if len(c.Events) > 0 {
		if err := out.offerEvents(c.Events, p); err != nil {
			return nil, err
		}
	}
	if c.System != "" {
		p.System = append(slices.Clip(p.System), c.System)
	}
	out.setPrefix(p)
	return out, nil
}

// offerEvents tells the model of the tool emit, unless the rules of the profile deny
// it. No list of tools has to name it: it does nothing but what an answer could say too.
func (b *Blueprint) offerEvents(events []session.ClientEvent, p *model.Prefix) error {
	if b.Permit.Offer(tool.Emit).Effect == permission.Deny {
		return nil
	}
	t := tool.NewEmit(events)
	v, err := tool.NewValidator(t.Def())
	if err != nil {
		return fmt.Errorf("tool %s: %w", tool.Emit, err)
	}
	def, err := compact(t.Def())
	if err != nil {
		return fmt.Errorf("tool %s: its schema: %w", tool.Emit, err)
	}
	if b.tools = maps.Clone(b.tools); b.tools == nil {
		b.tools = map[string]offered{}
	}
	b.tools[tool.Emit] = offered{t, &Capability{Name: tool.Emit}, v}
	p.Tools = append(slices.Clip(p.Tools), def)
	return nil
}

// ClientToolError says that the model of a profile is not told of a program's tool.
type ClientToolError struct{ Tool, Profile, Reason string }

func (e *ClientToolError) Error() string {
	return "the tool " + e.Tool + " cannot be offered to the model of " + e.Profile + ": " + e.Reason
}

// textGiven is what the model is told of a call that a program makes, should the
// program not bring the result.
const textGiven = "Given to the client, which makes this call itself. It has not said what came of it."

// giveCalls ends the loop with the calls that the model asks for: the program that
// has asked makes them, and brings their results with its next prompt.
func (r *run) giveCalls(l *session.Loop) (ended bool, err error) {
	r.closeCalls(l, textGiven)
	return r.end(&session.LoopEnd{Reason: session.ReasonDone})
}
