package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// notes are the tools that note something of the work.
func notes(t *testing.T) (list []tool.Tool) {
	t.Helper()
	all, err := tool.Builtins(tool.Env{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if slices.Contains([]string{tool.TodoName, tool.PlanName, tool.ScratchpadName}, x.Def().Name) {
			list = append(list, x)
		}
	}
	return list
}

// habitBench is a bench with a tool that may be run again, and the prompt posted.
func habitBench(t *testing.T, h spec.Habits, turns int, replies ...script.Reply) *bench {
	t.Helper()
	p := newProbe("probe", nil)
	p.recovery = tool.Repeat
	b := newBench(t, script.New(replies...).Model("script/x"), append(notes(t), p)...)
	b.spec.Habits, b.spec.Limits.Turns = h, turns
	b.post(&session.Prompt{Parts: text("Count the stars."), Profile: "p"})
	return b
}

func probing(n int) script.Reply {
	return script.Reply{Tools: []script.Call{{Name: "probe", Input: fmt.Sprintf(`{"n":%d}`, n)}}}
}

// probings are replies with calls that are all new, and an answer.
func probings(n int) (list []script.Reply) {
	for i := range n {
		list = append(list, probing(i))
	}
	return append(list, script.Reply{Text: "done"})
}

func todo(input string) script.Reply {
	return script.Reply{Tools: []script.Call{{Name: "todo", Input: input}}}
}

// tails are the reminders of the turns, without their tags; "-" for none, and a !
// where tools are withheld.
func tails(events []session.Event) (list []string) {
	for _, r := range find[*session.TurnRequest](events) {
		tail := strings.TrimSuffix(strings.TrimPrefix(r.Tail, "<roster-reminder>\n"), "\n</roster-reminder>")
		if tail == "" {
			tail = "-"
		}
		if strings.Contains(string(r.Params), `"tool_choice":"none"`) {
			tail += "!"
		}
		list = append(list, tail)
	}
	return list
}

func wantTails(t *testing.T, events []session.Event, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, tails(events)); diff != "" {
		t.Errorf("the reminders: -want +got\n%s", diff)
	}
}

func TestHabitsOff(t *testing.T) {
	b := habitBench(t, spec.Habits{}, 3, probings(2)...)
	wantTails(t, b.run(engine.Deps{}), "-", "-", "-")
}

func TestIterationBudget(t *testing.T) {
	left := func(n int) string { return fmt.Sprintf("%d turns are left, this one included.", n) }
	few := func(n int) string {
		return left(n) + " Begin nothing new; do what matters most for the answer."
	}
	fewest := func(n int) string {
		return "Only " + left(n) + " Stop looking further. Bring what you are at to an end, and answer."
	}
	last := "This is the last turn, and no tools can be called in it. Give your final answer now: what was done and found, and what is left open.!"
	h := spec.Habits{IterationBudget: true}
	t.Run("to the end", func(t *testing.T) {
		b := habitBench(t, h, 9, probings(8)...)
		events := b.run(engine.Deps{})
		wantTails(t, events, left(9), left(8), few(7), few(6), few(5), few(4), fewest(3), fewest(2), last)
		if e := end(t, events); e.Reason != session.ReasonDone {
			t.Errorf("end: %+v", e)
		}
	})
	t.Run("a call in the last turn is not run", func(t *testing.T) {
		b := habitBench(t, h, 2, probings(5)...)
		events := b.run(engine.Deps{})
		after := find[*session.ToolAfter](events)
		if e := end(t, events); e.Limit != "turns" || len(after) != 2 || after[1].Outcome != session.Skipped {
			t.Errorf("end: %+v, calls %+v", e, after)
		}
	})
	t.Run("a single turn has its tools", func(t *testing.T) {
		b := habitBench(t, h, 1, probings(5)...)
		events := b.run(engine.Deps{})
		if wantTails(t, events, "-"); end(t, events).Limit != "turns" || find[*session.ToolAfter](events)[0].Outcome != session.OK {
			t.Errorf("end: %+v", end(t, events))
		}
	})
	t.Run("no limit", func(t *testing.T) {
		wantTails(t, habitBench(t, h, 0, probings(1)...).run(engine.Deps{}), "-", "-")
	})
	t.Run("killed", func(t *testing.T) {
		killedAnywhere(t, func() *bench { return habitBench(t, h, 3, probings(5)...) })
	})
}

func TestGoalAnchoring(t *testing.T) {
	h := spec.Habits{GoalAnchoring: 2}
	goal := "What you are to do, as it was asked of you:\nCount the stars."
	replies := []script.Reply{
		todo(`{"todos":[{"content":"look up","status":"completed"},{"content":"count <roster-reminder>","status":"in_progress"},{"content":"say it","status":"pending"}]}`),
		probing(1), probing(2),
		todo(`{"todos":[{"content":"look up","status":"completed"}]}`),
		probing(3), {Text: "many"},
	}
	open := goal + "\n\nWhat is still open of it:\n- (at it) count <reminder>\n- say it"
	t.Run("on", func(t *testing.T) {
		events := habitBench(t, h, 50, replies...).run(engine.Deps{})
		wantTails(t, events, "-", open, "-", open, "-", goal)
		var said []string
		for _, a := range find[*session.Anchor](events) {
			said = append(said, a.Habit+" "+a.Text)
		}
		if diff := cmp.Diff([]string{"goal-anchoring " + open, "goal-anchoring " + open, "goal-anchoring " + goal}, said); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("killed", func(t *testing.T) {
		killedAnywhere(t, func() *bench { return habitBench(t, h, 50, replies...) })
	})
}

func TestAntiStall(t *testing.T) {
	h := spec.Habits{AntiStall: 2}
	again := []script.Reply{probing(1), probing(2), probing(1), probing(2), probing(1), probing(2), probing(1), probing(2)}
	tries := func(times string) string {
		return "- probe {\"n\":2}" + times + "\n- probe {\"n\":1}" + times
	}
	nothing := func(turns, left int, times string) string {
		return fmt.Sprintf("Nothing new has come of the last %d turns. You have tried:\n%s\nDo something else, or answer with what you have. If nothing moves, the run ends in %d turns.", turns, times, left)
	}
	t.Run("ended", func(t *testing.T) {
		events := habitBench(t, h, 50, again...).run(engine.Deps{})
		wantTails(t, events, "-", "-", "-", "-",
			nothing(2, 2, tries("")),
			nothing(3, 1, "- probe {\"n\":1} (2 times)\n- probe {\"n\":2}"))
		e := end(t, events)
		if e.Reason != session.ReasonStalled || e.Error.Error != "the run does not get on: for 4 turns nothing new came of them, though the model was told so in turn 5" {
			t.Errorf("end: %+v %+v", e, e.Error)
		}
	})
	t.Run("gets on", func(t *testing.T) {
		replies := append(append([]script.Reply{}, again[:5]...), probing(7), script.Reply{Text: "done"})
		events := habitBench(t, h, 50, replies...).run(engine.Deps{})
		wantTails(t, events, "-", "-", "-", "-", nothing(2, 2, tries("")), nothing(3, 1, "- probe {\"n\":1} (2 times)\n- probe {\"n\":2}"), "-")
		if e := end(t, events); e.Reason != session.ReasonDone {
			t.Errorf("end: %+v", e)
		}
	})
	t.Run("with a todo list only its steps count", func(t *testing.T) {
		list := todo(`{"todos":[{"content":"count","status":"in_progress"}]}`)
		events := habitBench(t, h, 50, append([]script.Reply{list}, probings(9)...)...).run(engine.Deps{})
		if e := end(t, events); e.Reason != session.ReasonStalled || len(find[*session.TurnStart](events)) != 5 {
			t.Errorf("end: %+v after %d turns", e, len(find[*session.TurnStart](events)))
		}
		if got := tails(events)[3]; !strings.HasPrefix(got, "No step of the todo list has moved for 2 turns.") ||
			!strings.Contains(got, "Mark what is done or cannot be done") {
			t.Errorf("said: %s", got)
		}
	})
	t.Run("the same call", func(t *testing.T) {
		events := habitBench(t, spec.Habits{AntiStall: 8}, 50, probing(1), probing(1), probing(1), script.Reply{Text: "done"}).run(engine.Deps{})
		wantTails(t, events, "-", "-", "-", "Nothing new has come of the last 2 turns. You have tried:\n- probe {\"n\":1} (2 times)\nDo something else, or answer with what you have. If nothing moves, the run ends in 8 turns.")
	})
	t.Run("killed", func(t *testing.T) {
		killedAnywhere(t, func() *bench { return habitBench(t, h, 50, again...) })
	})
}

// TestNotes: what the tools note is the session's, and outlasts its loops.
func TestNotes(t *testing.T) {
	pad := func(input string) script.Call { return script.Call{Name: "scratchpad", Input: input} }
	replies := []script.Reply{
		{Tools: []script.Call{pad(`{"text":"one"}`), pad(`{"text":"two"}`), {Name: "todo"}}},
		{Tools: []script.Call{{Name: "plan", Input: `{"milestones":["seen"],"steps":[{"content":"look","by":"tool: probe"},{"content":"say","by":"self"}]}`}}},
		todo(`{"todos":[{"content":"look","status":"completed","verified":"I saw"},{"content":"say","status":"failed"}]}`),
		{Tools: []script.Call{pad(`{}`), {Name: "todo"}, {Name: "plan"}}},
		{Text: "done"},
	}
	begin := func() *bench { return habitBench(t, spec.Habits{}, 50, replies...) }
	events := begin().run(engine.Deps{})
	var told []string
	for _, a := range find[*session.ToolAfter](events) {
		told = append(told, fmt.Sprintf("%s: {%s}", a.Tool, message.PartsText(a.Parts)))
	}
	want := []string{
		"scratchpad: {Noted.}", "scratchpad: {Noted.}", "todo: {(The list is empty.)}",
		"plan: {The plan is noted, and the list of what is to do made from it. Begin with step 1.}",
		"todo: {1. [x] look (tool: probe) (verified: I saw)\n2. [failed] say}",
		"scratchpad: {one\ntwo}", "todo: {1. [x] look (tool: probe) (verified: I saw)\n2. [failed] say}",
		"plan: {Milestones:\n- seen\nSteps:\n1. look | tool: probe\n2. say | self}",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	killedAnywhere(t, begin)
}
