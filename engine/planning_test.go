package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// asideFor is what a script answers to what is asked aside.
func asideFor(what, text string) script.Reply {
	return script.Reply{When: script.When{For: what}, Text: text}
}

const (
	anAnalysis = "TASK: count\nUNKNOWNS: how many\nRESOURCES: probe\nREVIEW: yes"
	aPlan      = "MILESTONES\n- all seen\nSTEPS\n1. Look up | tool: probe\n2) Ask another | agent: nobody\n3. Say it | self"
	planned    = "Milestones:\n- all seen\nSteps:\n1. Look up | tool: probe\n2. Ask another | self\n3. Say it | self"
)

// requested lists what was asked, turns and asides in order: what for, how many
// messages, and the parts of the last one's text or of what was said aside.
func requested(events []session.Event) (list []string) {
	for _, r := range find[*session.TurnRequest](events) {
		what := "turn"
		if r.For != "" {
			what = r.For
			if !strings.Contains(string(r.Params), `"tool_choice":"none"`) {
				what += " with tools"
			}
		}
		list = append(list, fmt.Sprintf("%s %d", what, r.Messages))
	}
	return list
}

// saidAside is what a model was told for one thing that it was asked aside.
func saidAside(events []session.Event, what string) string {
	for _, r := range find[*session.TurnRequest](events) {
		if r.For == what {
			return r.Tail
		}
	}
	return ""
}

func TestPlanning(t *testing.T) {
	on := spec.Planning{On: true, Analysis: true, Plan: true}
	fail := func(what string) script.Reply {
		return script.Reply{When: script.When{For: what}, Error: &script.Failure{Status: 400}}
	}
	for _, c := range []struct {
		name    string
		habits  spec.Habits
		replies []script.Reply
		asked   []string
		told    string // what the model is told of its plan
		todo    int
		say     map[string][]string // what stands in what is asked aside
		not     map[string][]string // and what does not
	}{
		{"off", spec.Habits{}, nil, []string{"turn 1", "turn 3"}, "", 0, nil, nil},
		{"direct", spec.Habits{Planning: on}, []script.Reply{asideFor("planning.analysis", "DIRECT.")},
			[]string{"planning.analysis 1", "turn 1", "turn 3"}, "", 0, map[string][]string{"planning.analysis": {"DIRECT", "REVIEW:"}}, nil},
		{"planned", spec.Habits{Planning: on}, []script.Reply{asideFor("planning.analysis", anAnalysis), asideFor("planning.plan", aPlan)},
			[]string{"planning.analysis 1", "planning.plan 1", "turn 2", "turn 4"}, planned, 3,
			map[string][]string{"planning.plan": {anAnalysis, "tool: NAME` (todo, plan, scratchpad, probe)", "never more than 15"}},
			map[string][]string{"planning.plan": {"agent: PROFILE", "A review of it"}}},
		{"reviewed", spec.Habits{Planning: on, PlanningReflect: true},
			[]script.Reply{asideFor("planning.analysis", anAnalysis), asideFor("planning.review", "SIMPLER PATH: guess"), asideFor("planning.plan", aPlan)},
			[]string{"planning.analysis 1", "planning.review 1", "planning.plan 1", "turn 2", "turn 4"}, planned, 3,
			map[string][]string{"planning.review": {anAnalysis, "WRONG ASSUMPTIONS AND RISKS"}, "planning.plan": {"SIMPLER PATH: guess"}}, nil},
		{"no review is asked for", spec.Habits{Planning: on, PlanningReflect: true},
			[]script.Reply{asideFor("planning.analysis", strings.Replace(anAnalysis, "yes", "no", 1)), asideFor("planning.plan", aPlan)},
			[]string{"planning.analysis 1", "planning.plan 1", "turn 2", "turn 4"}, planned, 3, nil, nil},
		{"mandatory", spec.Habits{Planning: spec.Planning{On: true, Mandatory: true, Analysis: true, Plan: true}},
			[]script.Reply{asideFor("planning.analysis", "DIRECT"), asideFor("planning.plan", aPlan)},
			[]string{"planning.analysis 1", "planning.plan 1", "turn 2", "turn 4"}, planned, 3, nil, map[string][]string{"planning.analysis": {"DIRECT"}}},
		{"only the plan", spec.Habits{Planning: spec.Planning{On: true, Plan: true}}, []script.Reply{asideFor("planning.plan", aPlan)},
			[]string{"planning.plan 1", "turn 2", "turn 4"}, planned, 3, nil, nil},
		{"only the analysis", spec.Habits{Planning: spec.Planning{On: true, Analysis: true}}, []script.Reply{asideFor("planning.analysis", anAnalysis)},
			[]string{"planning.analysis 1", "turn 2", "turn 4"}, anAnalysis, 0, nil, nil},
		{"too many steps", spec.Habits{Planning: spec.Planning{On: true, Plan: true}},
			[]script.Reply{asideFor("planning.plan", strings.Repeat("1. x | self\n", 17))}, []string{"planning.plan 1", "turn 2", "turn 4"}, "15. x | self", 15, nil, nil},
		{"no plan comes of it", spec.Habits{Planning: spec.Planning{On: true, Plan: true}},
			[]script.Reply{asideFor("planning.plan", "I would rather not.")}, []string{"planning.plan 1", "turn 1", "turn 3"}, "", 0, nil, nil},
		{"the call fails", spec.Habits{Planning: on}, []script.Reply{fail("planning.analysis")},
			[]string{"planning.analysis 1", "turn 1", "turn 3"}, "", 0, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := func() *bench { return habitBench(t, c.habits, 50, append(c.replies, probings(1)...)...) }
			b := begin()
			events := b.run(engine.Deps{})
			if diff := cmp.Diff(c.asked, requested(events)); diff != "" {
				t.Errorf("asked: -want +got\n%s", diff)
			}
			told := ""
			for _, m := range find[*session.Message](events) {
				if m.Why == session.WhyPlan {
					told += message.PartsText(m.Parts)
				}
			}
			if !strings.Contains(told, c.told) || (told == "") != (c.told == "") {
				t.Errorf("told %q, want %q", told, c.told)
			}
			st := b.state()
			if n := len(st.Root.Work.OpenSteps()); n != c.todo {
				t.Errorf("%d steps are to do, want %d", n, c.todo)
			}
			for what, list := range c.say {
				for _, s := range list {
					if !strings.Contains(saidAside(events, what), s) {
						t.Errorf("%s does not say %q: %s", what, s, saidAside(events, what))
					}
				}
			}
			for what, list := range c.not {
				for _, s := range list {
					if strings.Contains(saidAside(events, what), s) {
						t.Errorf("%s says %q", what, s)
					}
				}
			}
			if e := end(t, events); e.Reason != session.ReasonDone || e.Text != "done" {
				t.Errorf("end: %+v", e)
			}
			if n := len(find[*session.Usage](events)); n != len(c.asked) && c.name != "the call fails" {
				t.Errorf("%d calls are counted, and %d made", n, len(c.asked))
			}
			if len(c.replies) > 0 && c.name != "the call fails" { // its failures are told once
				killedAnywhere(t, begin)
			}
		})
	}
}

func TestStepValidation(t *testing.T) {
	h := spec.Habits{StepValidation: true}
	done := func(verified string) script.Reply {
		return todo(fmt.Sprintf(`{"todos":[{"content":"count","status":"completed","verified":%q}]}`, verified))
	}
	replies := []script.Reply{
		{When: script.When{For: "step-validation", Contains: "I guessed"}, Text: "REOPEN: nobody has counted"},
		{When: script.When{For: "step-validation"}, Text: "**ACCEPT**"},
		done(""), done("I guessed"), done("I counted"), {Text: "many"},
	}
	begin := func() *bench { return habitBench(t, h, 50, replies...) }
	b := begin()
	events := b.run(engine.Deps{})
	if diff := cmp.Diff([]string{"turn 1", "turn 3", "step-validation 5", "turn 5", "step-validation 7", "turn 7"}, requested(events)); diff != "" {
		t.Errorf("asked: %s", diff)
	}
	var checked []session.Checked
	for _, c := range find[*session.Checked](events) {
		checked = append(checked, *c)
	}
	want := []session.Checked{
		{Step: 1, By: "rule", Reason: "it does not say how it was verified"},
		{Step: 1, By: "model", Reason: "nobody has counted"},
		{Step: 1, Accepted: true, By: "model"},
	}
	if diff := cmp.Diff(want, checked); diff != "" {
		t.Error(diff)
	}
	turns := []string{}
	for _, r := range find[*session.TurnRequest](events) {
		if r.For == "" {
			turns = append(turns, r.Tail)
		}
	}
	open := "<roster-reminder>\nStep 1 of the todo list is open again: count. Reason: %s.\n</roster-reminder>"
	if diff := cmp.Diff([]string{"", fmt.Sprintf(open, want[0].Reason), fmt.Sprintf(open, want[1].Reason), ""}, turns); diff != "" {
		t.Error(diff)
	}
	if open := b.state().Root.Work.OpenSteps(); len(open) > 0 {
		t.Errorf("open: %v", open)
	}
	killedAnywhere(t, begin)

	b = habitBench(t, spec.Habits{}, 50, replies...)
	if got := requested(b.run(engine.Deps{})); len(got) != 4 {
		t.Errorf("without the habit: %v", got)
	}
}

func TestAdaptiveReplan(t *testing.T) {
	h := spec.Habits{AdaptiveReplan: true}
	failed := func(n int) script.Reply {
		return todo(fmt.Sprintf(`{"todos":[{"content":"look","status":"completed"},{"content":"try %d","status":"failed"},{"content":"say","status":"pending"}]}`, n))
	}
	replies := []script.Reply{
		asideFor("adaptive-replan", "STEPS\n1. Ask somebody | self\n2. Say it | self"),
		failed(1), failed(2), failed(3), failed(4), {Text: "many"},
	}
	begin := func() *bench { return habitBench(t, h, 50, replies...) }
	b := begin()
	events := b.run(engine.Deps{})
	want := []string{"turn 1", "adaptive-replan 3", "turn 4", "adaptive-replan 6", "turn 7", "adaptive-replan 9", "turn 10", "turn 12"}
	if diff := cmp.Diff(want, requested(events)); diff != "" {
		t.Errorf("asked: %s", diff)
	}
	if say := saidAside(events, "adaptive-replan"); !strings.Contains(say, "1. [completed] look\n2. [failed] try 1\n3. [pending] say\n\nStep 2 did not come off.") {
		t.Errorf("said: %s", say)
	}
	told := 0
	for _, m := range find[*session.Message](events) {
		if m.Why == session.WhyPlan && strings.Contains(message.PartsText(m.Parts), "The rest of your plan was made anew:\n\nSteps:\n1. Ask somebody | self\n2. Say it | self") {
			told++
		}
	}
	if told != 3 {
		t.Errorf("the model was told %d times", told)
	}
	killedAnywhere(t, begin)

	b = habitBench(t, spec.Habits{}, 50, replies...)
	if got := requested(b.run(engine.Deps{})); len(got) != 5 {
		t.Errorf("without the habit: %v", got)
	}
}

func TestFinalAnswer(t *testing.T) {
	sums := asideFor("final-answer", "so far: two")
	for _, c := range []struct {
		name   string
		set    func(*spec.Limits)
		limit  string
		text   string
		asides int
	}{
		{"off", func(l *spec.Limits) { l.Turns, l.FinalAnswer = 2, false }, "turns", "", 0},
		{"turns", func(l *spec.Limits) { l.Turns = 2 }, "turns", "so far: two", 1},
		{"tokens", func(l *spec.Limits) { l.Tokens = 5 }, "tokens", "so far: two", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := func() *bench {
				b := habitBench(t, spec.Habits{}, 50, append([]script.Reply{sums}, probings(4)...)...)
				b.spec.Limits.FinalAnswer = true
				c.set(&b.spec.Limits)
				return b
			}
			events := begin().run(engine.Deps{})
			e := end(t, events)
			if e.Reason != session.ReasonLimit || e.Limit != c.limit || e.Text != c.text {
				t.Errorf("end: %+v", e)
			}
			asides := 0
			for _, line := range requested(events) {
				if strings.HasPrefix(line, "final-answer") {
					asides++
				}
			}
			if asides != c.asides || strings.Contains(strings.Join(requested(events), " "), "with tools") {
				t.Errorf("asked: %v", requested(events))
			}
			if c.name != "tokens" { // what a worker that died has used is not known
				killedAnywhere(t, begin)
			}
		})
	}
}

// TestFinalAnswerOutOfTime: the time limit leaves a moment for it.
func TestFinalAnswerOutOfTime(t *testing.T) {
	b := habitBench(t, spec.Habits{}, 50, asideFor("final-answer", "so far"), script.Reply{Text: "late", Delay: time.Hour})
	b.spec.Limits.FinalAnswer, b.spec.Limits.Duration = true, 20*time.Millisecond
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonLimit || e.Limit != "duration" || e.Text != "so far" {
		t.Errorf("end: %+v", e)
	}
}
