package resolve

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

// The built-in defaults of habits.
const (
	DefaultAnchoring = 5 // turns from one reminder of the goal to the next
	DefaultStall     = 8 // turns without progress
)

// habits finds how the agent goes about its work. Each habit is taken from the
// strongest layer that names it.
func (r *resolver) habits() {
	h := &r.out.Habits
	h.IterationBudget, h.GoalAnchoring, h.AntiStall = true, DefaultAnchoring, DefaultStall
	for _, key := range []string{
		"planning", "subagents.planning", "limits.final-answer", "habits.planning-reflect", "habits.iteration-budget",
		"habits.goal-anchoring", "habits.anti-stall", "habits.step-validation", "habits.adaptive-replan",
	} {
		r.set(key, source.Origin{Layer: source.Builtin})
	}
	for i, l := range r.layers {
		if x, ok := kept(l.Keys, "habits"); ok {
			r.habitMap(i, l.Keys.Dialect, x)
		}
		if x, ok := kept(l.Keys, "planning"); ok { // it says more than habits.planning
			h.Planning = planned(r, i, "planning", x)
		}
		if x, ok := kept(l.Keys, "subagents.planning"); ok {
			r.out.Subagents.Planning = planned(r, i, "subagents.planning", x)
		}
		if x, ok := kept(l.Keys, "limits.final-answer"); ok {
			n, err := x.Node()
			if err == nil {
				r.out.Limits.FinalAnswer, err = flag(n)
			}
			r.took(i, "limits.final-answer", x.At, err)
		}
	}
	if above := r.in.Above; above != nil {
		h.Planning = above.Subagents.Planning
	}
}

// took records who set a key, and whom it overrode; or that it is wrong.
func (r *resolver) took(layer int, key string, at source.Origin, err error) {
	if err != nil {
		r.fail(key, at, err.Error(), "see roster schema")
		return
	}
	at.Layer = r.layers[layer].Name
	trace := r.out.Origins[key]
	r.out.Origins[key] = spec.Trace{Origin: at, Overrode: append(trace.Overrode, trace.Origin)}
}

func planned(r *resolver, layer int, key string, x profile.Extra) spec.Planning {
	n, err := x.Node()
	var p spec.Planning
	if err == nil {
		p, err = planning(n)
	}
	r.took(layer, key, x.At, err)
	return p
}

// habitMap takes the habits of one layer.
func (r *resolver) habitMap(layer int, dialect string, x profile.Extra) {
	m, err := x.Node()
	if err != nil || m.Kind != yaml.MappingNode {
		r.took(layer, "habits", x.At, fmt.Errorf("%q is no map of habits", strings.TrimSpace(string(x.YAML))))
		return
	}
	h := &r.out.Habits
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, n := trust.Kebab(m.Content[i].Value), m.Content[i+1]
		key, err := "habits."+name, error(nil)
		switch name {
		case "planning":
			key = name
			h.Planning, err = planning(n)
		case "planning-reflect":
			h.PlanningReflect, err = flag(n)
		case "iteration-budget":
			h.IterationBudget, err = flag(n)
		case "goal-anchoring":
			h.GoalAnchoring, err = every(n, "interval", DefaultAnchoring)
		case "anti-stall":
			h.AntiStall, err = every(n, "threshold", DefaultStall)
		case "step-validation":
			h.StepValidation, err = flag(n)
		case "adaptive-replan":
			h.AdaptiveReplan, err = flag(n)
		case "think":
			var on bool
			on, err = flag(n)
			r.thoughtless = thoughtless{off: err == nil && !on, layer: layer, at: x.At}
			if err == nil {
				continue // the key thinking tells of it
			}
		default:
			continue // the dialect says that nobody knows it
		}
		at := x.At
		if p, ok := x.Places[m.Content[i].Value]; ok {
			at = p
		} else if at.Line > 0 && (dialect == "roster" || dialect == "knot") { // it stands in the file as it is kept
			at.Line, at.Column = at.Line+m.Content[i].Line-1, 0
		}
		if r.took(layer, key, at, err); err != nil {
			return
		}
	}
}

// thoughtless says that a layer wants no thinking, whatever those below it say of
// its level.
type thoughtless struct {
	off   bool
	layer int
	at    source.Origin
}

// unthinking takes the thinking out where the habit is off.
func (r *resolver) unthinking(v *profile.Value[string]) {
	t := r.thoughtless
	if !t.off || v.Set && r.won["thinking"] > t.layer {
		return
	}
	t.at.Layer = r.layers[t.layer].Name
	trace := r.out.Origins["thinking"]
	r.out.Origins["thinking"] = spec.Trace{Origin: t.at, Overrode: append(trace.Overrode, trace.Origin)}
	*v = profile.Value[string]{V: spec.Off, Set: true, At: t.at}
}

func flag(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			return true, nil
		case "false", "no", "off":
			return false, nil
		}
	}
	return false, fmt.Errorf("line %d of it is neither true nor false", n.Line)
}

// every reads true, false, or a map with a number of turns; 0 is off.
func every(n *yaml.Node, name string, byDefault int) (int, error) {
	if n.Kind != yaml.MappingNode {
		on, err := flag(n)
		if !on {
			return 0, err
		}
		return byDefault, nil
	}
	turns, on := byDefault, true
	err := entries(n, func(key string, v *yaml.Node) (err error) {
		switch key {
		case "enabled":
			on, err = flag(v)
		case name:
			if turns, err = strconv.Atoi(v.Value); err != nil || turns < 1 {
				err = fmt.Errorf("%s must be a whole number from 1, not %q", key, v.Value)
			}
		}
		return err
	})
	if !on || err != nil {
		return 0, err
	}
	return turns, nil
}

func planning(n *yaml.Node) (spec.Planning, error) {
	p := spec.Planning{On: true, Analysis: true, Plan: true}
	if n.Kind != yaml.MappingNode {
		on, err := flag(n)
		if !on {
			return spec.Planning{}, err
		}
		return p, nil
	}
	err := entries(n, func(key string, v *yaml.Node) (err error) {
		switch key {
		case "enabled":
			p.On, err = flag(v)
		case "mandatory":
			p.Mandatory, err = flag(v)
		case "analysis":
			p.Analysis, err = flag(v)
		case "review":
			p.Review, err = flag(v)
		case "plan":
			p.Plan, err = flag(v)
		}
		return err
	})
	if !p.On || err != nil {
		return spec.Planning{}, err
	}
	return p, nil
}

func entries(m *yaml.Node, each func(key string, v *yaml.Node) error) error {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if err := each(trust.Kebab(m.Content[i].Value), m.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}
