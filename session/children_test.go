package session

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
)

// line is an event of a tree for a table: in which session, and what.
type line struct {
	session string
	body    Body
}

// atWork is the beginning of a loop whose model asks for calls.
func atWork(session string, calls ...message.Part) []line {
	return []line{
		{session, &LoopStart{Number: 1, Profile: "p"}}, {session, &TurnStart{}},
		{session, &Message{ID: session + "-m", Role: message.Assistant, Parts: calls}},
	}
}

func task(id string) message.ToolCall {
	return message.ToolCall{ID: id, Name: "task", Input: []byte("{}")}
}

// deep is a root with two children at work, the first of which has one of its
// own.
func deep() []line {
	log := []line{{"s", &Prompt{Parts: text("q"), Profile: "p"}}, {"s", &Start{Profile: "p", Title: "q"}}}
	log = append(log, atWork("s", task("c1"), task("c2"))...)
	log = append(log,
		line{"s", &ToolBefore{Call: "c1", Tool: "task", Recovery: "resume", Child: "s_1"}},
		line{"s", &ToolBefore{Call: "c2", Tool: "task", Recovery: "resume", Child: "s_2"}},
		line{"s_1", &Start{Profile: "a", Parent: "s", Call: "c1"}},
		line{"s_2", &Start{Profile: "b", Parent: "s", Call: "c2"}})
	log = append(log, atWork("s_1", task("d1"))...)
	log = append(log, atWork("s_2")...)
	log = append(log,
		line{"s_1", &ToolBefore{Call: "d1", Tool: "task", Recovery: "resume", Child: "s_1_1"}},
		line{"s_1_1", &Start{Profile: "c", Parent: "s_1", Call: "d1"}})
	return append(log, atWork("s_1_1")...)
}

// foldTree applies the events of a tree, decoded from their bytes.
func foldTree(t *testing.T, st *State, lines []line) (*Children, *Summary) {
	t.Helper()
	children, sum := &Children{}, &Summary{Key: st.Key}
	for i, l := range lines {
		live := Event{Body: l.body}
		live.Encode()
		e := Event{
			Seq: int64(i + 1), V: 1, Session: l.session, Loop: "loop-" + l.session, Turn: 1, Depth: strings.Count(l.session, "_"),
			Type: live.Type, Data: live.Data, Time: time.Unix(int64(100+i), 0),
		}
		for _, apply := range []func(*Event) error{st.Apply, children.Apply, sum.Apply} {
			if err := apply(&e); err != nil {
				t.Fatalf("event %d %s of %s: %v", e.Seq, e.Type, e.Session, err)
			}
		}
	}
	return children, sum
}

func TestChildrenStandBesideTheirParent(t *testing.T) {
	st := NewState(Key{"t", "s"})
	children, sum := foldTree(t, st, deep())
	if got := len(st.Children); got != 3 || st.Root.Named != 2 || st.Session("s_1").Named != 1 {
		t.Fatalf("%d children, %d named by the root", got, st.Root.Named)
	}
	c := st.Session("s_1_1")
	if c == nil || c.Parent != "s_1" || c.Call != "d1" || c.Depth != 2 || c.Loop == nil || !c.Loop.Answered {
		t.Fatalf("s_1_1: %+v", c)
	}
	if len(st.Root.Messages) != 1 || len(c.Messages) != 1 || c.Messages[0].ID != "s_1_1-m" {
		t.Errorf("each session has its own messages: %v, %v", st.Root.Messages, c.Messages)
	}
	if !sum.Open || sum.Children != 3 || sum.Turns != 1 || sum.Profile != "p" || sum.Prompts != 1 {
		t.Errorf("summary: %+v", sum)
	}
	var list []string
	for _, c := range children.List() {
		list = append(list, c.ID+" "+c.Profile+" "+string(c.Status()))
	}
	if got := strings.Join(list, ", "); got != "s_1 a running, s_2 b running, s_1_1 c running" {
		t.Errorf("children: %s", got)
	}
}

func TestWhatAChildDoesCountsForItsParents(t *testing.T) {
	st := NewState(Key{"t", "s"})
	log := deep()
	log = append(log,
		line{"s", &LoopResumed{Attempt: 2}}, line{"s_1", &LoopResumed{Attempt: 2}}, line{"s_2", &LoopResumed{Attempt: 2}},
		line{"s_1_1", &Usage{Usage: message.Usage{Input: 10, Output: 5, Cost: 0.5}}},
		line{"s_1_1", &ToolAfter{Call: "x", Outcome: Denied}},
		line{"s_2", &Usage{Usage: message.Usage{Input: 1}}})
	children, sum := foldTree(t, st, log)
	for id, want := range map[string]struct {
		input  int64
		denied int
		tried  int
	}{"s": {11, 1, 0}, "s_1": {10, 1, 0}, "s_1_1": {10, 1, 0}, "s_2": {1, 0, 2}} {
		s := st.Session(id)
		if s.Usage.Input != want.input || s.Loop.Usage.Input != want.input || s.Loop.Denied != want.denied || s.Loop.Resumed != want.tried {
			t.Errorf("%s: %+v", id, s.Loop)
		}
		if c := children.Get(id); c != nil && c.Usage.Input != want.input {
			t.Errorf("%s in the list: %+v", id, c.Usage)
		}
	}
	if sum.Usage.Input != 11 || sum.Usage.Cost != 0.5 {
		t.Errorf("summary: %+v", sum.Usage)
	}
}

// TestEndedChildrenAreForgotten: what a session has delegated over the years
// does not stay in memory.
func TestEndedChildrenAreForgotten(t *testing.T) {
	ends := []line{
		{"s_1_1", &LoopEnd{Reason: ReasonDone, Text: "deep"}},
		{"s_1", &ToolAfter{Call: "d1", Tool: "task", Outcome: OK, Parts: text("deep")}},
		{"s_2", &LoopEnd{Reason: ReasonError}},
	}
	st := NewState(Key{"t", "s"})
	children, _ := foldTree(t, st, append(deep(), ends...))
	if len(st.Children) != 2 || st.Session("s_2").End.Reason != ReasonError || st.Session("s_2").Loop != nil {
		t.Errorf("s_2 has ended and its call has not: %v", st.Children)
	}
	if children.Get("s_2").Status() != Failed || children.Get("s_1_1").Status() != Idle || len(children.List()) != 3 {
		t.Errorf("the list: %+v", children.List())
	}
	whole := slices.Concat(deep(), ends, []line{
		{"s", &ToolAfter{Call: "c1", Tool: "task", Outcome: OK, Parts: text("x")}},
		{"s", &ToolAfter{Call: "c2", Tool: "task", Outcome: ToolError, Parts: text("x")}},
	})
	st = NewState(Key{"t", "s"})
	foldTree(t, st, whole)
	if len(st.Children) != 0 || st.Root.Named != 2 {
		t.Errorf("all calls have ended: %v", st.Children)
	}
	st = &State{Key: Key{"t", "s"}, Root: Session{ID: "s"}, KeepChildren: true}
	foldTree(t, st, whole)
	if len(st.Children) != 3 {
		t.Errorf("one who looks sees all: %v", st.Children)
	}
}

// TestFoldOfATreeIsItsEvents folds the same log twice and compares.
func TestFoldOfATreeIsItsEvents(t *testing.T) {
	a, b := NewState(Key{"t", "s"}), NewState(Key{"t", "s"})
	foldTree(t, a, deep())
	foldTree(t, b, deep())
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestBrokenTreesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		line line
		want string
	}{
		{"a child that has not begun", line{"s_9", &TurnStart{}}, `(turn.start) is of session "s_9", which has not begun or has ended`},
		{"a child that begins twice", line{"s_1", &Start{Parent: "s"}}, "session s_1 begins twice"},
		{"a child of nobody", line{"s_9", &Start{Parent: "s_7"}}, `session "s_9" begins below "s_7", which is not there`},
		{"a child of itself", line{"s_9", &Start{Parent: "s_9"}}, `begins below "s_9", which is not there`},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := NewState(Key{"t", "s"})
			foldTree(t, st, deep())
			err := st.Apply(&Event{Seq: 1000, Session: c.line.session, Type: c.line.body.Type(), Body: c.line.body})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestChildIDs(t *testing.T) {
	if id := ChildID(ChildID("s", 3), 12); id != "s_3_12" || StreamOf(id) != "s" || StreamOf("s") != "s" {
		t.Errorf("%s in %s", id, StreamOf(id))
	}
	for _, c := range []struct {
		id, root string
		want     bool
	}{{"s", "s", true}, {"s_1", "s", true}, {"s_12", "s_1", false}, {"s_1_2", "s_1", true}, {"s", "s_1", false}, {"sx", "s", false}} {
		if got := Within(c.id, c.root); got != c.want {
			t.Errorf("Within(%q, %q) = %v", c.id, c.root, got)
		}
	}
}
