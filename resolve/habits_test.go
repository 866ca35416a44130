package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

func TestHabits(t *testing.T) {
	const head = "---\nmodel: builtin/demo\n"
	on := spec.Planning{On: true, Analysis: true, Plan: true}
	usual := func(change func(*spec.Habits)) spec.Habits {
		h := spec.Habits{IterationBudget: true, GoalAnchoring: 5, AntiStall: 8}
		if change != nil {
			change(&h)
		}
		return h
	}
	for _, c := range []struct {
		name, keys string
		want       spec.Habits
		key, at    string
	}{
		{"none is written", "", usual(nil), "habits.anti-stall", "builtin"},
		{"planning", "planning: true\n", usual(func(h *spec.Habits) { h.Planning = on }), "planning", "profiles/a.md:3:1"},
		{"its phases", "planning: {mandatory: true, review: yes, analysis: false}\n", usual(func(h *spec.Habits) {
			h.Planning = spec.Planning{On: true, Mandatory: true, Review: true, Plan: true}
		}), "planning", "profiles/a.md:3:1"},
		{"planning off", "planning: {enabled: false, mandatory: true}\n", usual(nil), "planning", "profiles/a.md:3:1"},
		{"a habit, and the key that says more", "habits: {planning: false}\nplanning: true\n", usual(func(h *spec.Habits) { h.Planning = on }), "planning", "profiles/a.md:4:1"},
		{"habits in lines", "habits:\n  iteration-budget: false\n  antiStall: {threshold: 3}\n  goal_anchoring: off\n  step-validation: true\n  adaptive-replan: true\n  planning-reflect: true\n",
			spec.Habits{AntiStall: 3, StepValidation: true, AdaptiveReplan: true, PlanningReflect: true}, "habits.anti-stall", "profiles/a.md:5"},
		{"a number and off", "habits: {goal-anchoring: {enabled: false, interval: 3}, anti-stall: true}\n", usual(func(h *spec.Habits) { h.GoalAnchoring = 0 }), "habits.goal-anchoring", "profiles/a.md:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			s, ds, err := Spec(w.input(t, "profiles/a.md", head+c.keys+"---\n."))
			if err != nil || len(ds) > 0 {
				t.Fatal(err, ds)
			}
			if diff := cmp.Diff(c.want, s.Habits); diff != "" {
				t.Error(diff)
			}
			if at := s.Origins[c.key].Origin.String(); at != c.at && (c.at != "builtin" || s.Origins[c.key].Origin.Layer != source.Builtin) {
				t.Errorf("%s is from %s, want %s", c.key, at, c.at)
			}
		})
	}
}

// TestHabitsOfLayers: each habit is the strongest layer's that names it.
func TestHabitsOfLayers(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": "defaults: {habits: {anti-stall: {threshold: 4}, iteration-budget: false}, limits: {final-answer: true}}\n"})
	in := w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\nhabits: {iteration-budget: true}\nsubagents: {planning: true}\n---\n.")
	in.Flags = map[string]string{"habits.goal-anchoring": "false", "planning": "true"}
	s, _, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	on := spec.Planning{On: true, Analysis: true, Plan: true}
	if want := (spec.Habits{Planning: on, IterationBudget: true, AntiStall: 4}); s.Habits != want || !s.Limits.FinalAnswer || s.Subagents.Planning != on {
		t.Errorf("%+v, final answer %t, subagents %+v", s.Habits, s.Limits.FinalAnswer, s.Subagents.Planning)
	}
	if o := s.Origins["habits.iteration-budget"]; len(o.Overrode) != 2 || o.Overrode[1].Layer != source.Defaults {
		t.Errorf("iteration-budget: %+v", o)
	}
	child := w.input(t, "profiles/b.md", "---\nmodel: builtin/demo\nplanning: {mandatory: true}\n---\n.")
	child.Above = s
	if c, _, err := Spec(child); err != nil || c.Habits.Planning != on {
		t.Errorf("one that works for it plans by %+v, %v", c.Habits.Planning, err)
	}
}

// TestThinkOff: without the habit there is no thinking, but where a stronger layer
// asks for it.
func TestThinkOff(t *testing.T) {
	for _, c := range []struct{ name, keys, flag, want string }{
		{"off", "habits: {think: false}", "", spec.Off},
		{"over the level beside it", "thinking: high\nhabits: {think: false}", "", spec.Off},
		{"on", "thinking: high\nhabits: {think: true}", "", "high"},
		{"asked for", "habits: {think: false}", "low", "low"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			in := w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n"+c.keys+"\n---\n.")
			if c.flag != "" {
				in.Flags = map[string]string{"thinking": c.flag}
			}
			s, _, err := Spec(in)
			if err != nil || s.Params.Thinking != c.want {
				t.Errorf("thinking %q, want %q, %v", s.Params.Thinking, c.want, err)
			}
		})
	}
}
