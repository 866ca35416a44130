package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
)

// fold numbers and applies events, decoded from their bytes as after a crash.
func fold(t *testing.T, bodies ...Body) (*State, *Summary) {
	t.Helper()
	st, sum := NewState(Key{"t", "s"}), &Summary{}
	turn := 0
	for i, b := range bodies {
		if b.Type() == "turn.start" {
			turn++
		}
		live := Event{Loop: "l", Turn: turn, Body: b}
		live.Encode()
		e := Event{
			Seq: int64(i + 1), V: 1, Session: "s", Loop: "l", Turn: turn, Type: live.Type, Data: live.Data,
			Time: time.Unix(int64(100+i), 0),
		}
		if err := st.Apply(&e); err != nil {
			t.Fatalf("event %d %s: %v", e.Seq, e.Type, err)
		}
		if err := sum.Apply(&e); err != nil {
			t.Fatalf("event %d %s: %v", e.Seq, e.Type, err)
		}
	}
	return st, sum
}

func text(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

var toolTurn = []Body{
	&Prompt{Parts: text("q"), Profile: "p"},
	&Start{Profile: "p", Title: "q"},
	&LoopStart{Number: 1, Profile: "p"},
	&Message{ID: "m1", Role: message.User, Source: "prompt", Post: 1},
	&TurnStart{},
	&TurnRequest{Message: "m2", Attempt: 1, Messages: 1},
	&Message{ID: "m2", Parent: "m1", Role: message.Assistant, Parts: []message.Part{
		message.ToolCall{ID: "c1", Name: "read", Input: []byte("{}")}, message.ToolCall{ID: "c2", Name: "bash", Input: []byte("{}")},
	}},
	&Usage{Usage: message.Usage{Input: 10, Output: 5, Cost: 0.5}},
	&ToolBefore{Call: "c1", Tool: "read", Input: []byte("{}"), Recovery: "repeat"},
	&ToolBefore{Call: "c2", Tool: "bash", Input: []byte("{}")},
	&ToolAfter{Call: "c2", Tool: "bash", Outcome: ToolError, Parts: text("no")},
}

func TestFoldOfToolTurn(t *testing.T) {
	st, sum := fold(t, toolTurn...)
	l := st.Root.Loop
	if l == nil || l.Turn != 1 || !l.Answered || len(l.Calls) != 2 {
		t.Fatalf("loop: %+v", l)
	}
	if c := l.Calls[0]; c.Before == nil || c.After != nil || c.Before.Recovery != "repeat" {
		t.Errorf("c1 should be open: %+v", c)
	}
	if c := l.Calls[1]; c.After == nil {
		t.Errorf("c2 should have ended: %+v", c)
	}
	if !sum.Open || sum.Status() != Running || sum.Prompts != 0 || sum.Turns != 1 || sum.Usage.Cost != 0.5 {
		t.Errorf("summary: %+v", sum)
	}

	st, sum = fold(t, append(append([]Body{}, toolTurn...),
		&ToolAfter{Call: "c1", Tool: "read", Outcome: OK, Parts: text("yes")},
		&Message{ID: "m3", Parent: "m2", Role: message.Tool, Calls: []string{"c1", "c2"}},
		&LoopEnd{Reason: ReasonDone},
	)...)
	if st.Root.Loop != nil || sum.Status() != Idle || st.Root.Runnable() {
		t.Errorf("the loop should have ended: %+v", sum)
	}
	m := st.Root.Messages[2]
	if len(m.Parts) != 2 || m.Parts[0].(message.ToolResult).Error || !m.Parts[1].(message.ToolResult).Error {
		t.Errorf("results: %+v", m.Parts)
	}
	if got := message.PartsText(m.Parts[0].(message.ToolResult).Parts); got != "yes" {
		t.Errorf("result of c1: %q", got)
	}
}

// TestInboxAgrees compares what the state and the summary, which is all that a
// store knows, say about what is left to do.
func TestInboxAgrees(t *testing.T) {
	deliver := func(typ string, post int64) *Message {
		return &Message{ID: fmt.Sprint("m", post), Role: message.User, Source: typ, Post: post}
	}
	loop := &LoopStart{Number: 1, Profile: "p"}
	for _, c := range []struct {
		name     string
		bodies   []Body
		runnable bool
		status   Status
	}{
		{"prompt waits", []Body{&Prompt{Parts: text("q")}}, true, Running},
		{"answered", []Body{&Prompt{Parts: text("q")}, loop, deliver("prompt", 1), &LoopEnd{Reason: ReasonDone}}, false, Idle},
		{"steer after the end", []Body{&Prompt{}, loop, deliver("prompt", 1), &LoopEnd{Reason: ReasonDone}, &Steer{}}, true, Running},
		{"follow-up left by cancel", []Body{&Prompt{}, loop, deliver("prompt", 1), &Followup{}, &Cancel{}, &LoopEnd{Reason: ReasonCancelled}}, false, Idle},
		{"follow-up after a cancel", []Body{&Prompt{}, loop, deliver("prompt", 1), &Followup{}, &Cancel{}, &LoopEnd{Reason: ReasonCancelled}, &Followup{}}, true, Running},
		{"prompt queued behind a cancel", []Body{&Prompt{}, loop, deliver("prompt", 1), &Prompt{}, &LoopEnd{Reason: ReasonCancelled}}, true, Running},
		{"failed", []Body{&Prompt{}, loop, deliver("prompt", 1), &Steer{}, &LoopEnd{Reason: ReasonError}}, false, Failed},
		{"failed, then delivered", []Body{&Prompt{}, loop, deliver("prompt", 1), &Steer{}, &LoopEnd{Reason: ReasonError}, &Prompt{}, loop, deliver("prompt", 6), deliver("steer", 4), &LoopEnd{Reason: ReasonDone}}, false, Idle},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, sum := fold(t, c.bodies...)
			if st.Root.Runnable() != c.runnable || sum.Runnable() != c.runnable || sum.Status() != c.status {
				t.Errorf("state %v, summary %v %s; want %v %s", st.Root.Runnable(), sum.Runnable(), sum.Status(), c.runnable, c.status)
			}
		})
	}
}

// TestCancelMeansWhatRuns: what waits only for the next prompt does not make a
// cancel wait for it too.
func TestCancelMeansWhatRuns(t *testing.T) {
	heldBack := []Body{
		&Prompt{}, &LoopStart{}, &Message{ID: "m", Role: message.User, Source: "prompt", Post: 1},
		&Followup{}, &Cancel{}, &LoopEnd{Reason: ReasonCancelled},
	}
	for _, c := range []struct {
		name   string
		bodies []Body
		want   bool
	}{
		{"a loop is open", heldBack[:5], true},
		{"a prompt waits", []Body{&Prompt{}, &Cancel{}}, true},
		{"nothing runs", append(heldBack[:6:6], &Cancel{}, &Prompt{}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if st, _ := fold(t, c.bodies...); st.Root.Cancel != c.want {
				t.Errorf("cancel is %v, want %v", st.Root.Cancel, c.want)
			}
		})
	}
}

func TestFoldRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		bodies []Body
	}{
		{"delivery of a post that is not there", []Body{&Message{ID: "m", Role: message.User, Source: "prompt", Post: 9}}},
		{"results of a call without end", append(append([]Body{}, toolTurn...), &Message{ID: "m3", Role: message.Tool, Calls: []string{"c1"}})},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := NewState(Key{"t", "s"})
			var err error
			for i, b := range c.bodies {
				e := Event{Seq: int64(i + 1), Loop: "l", Body: b}
				e.Encode()
				err = st.Apply(&e)
			}
			if err == nil {
				t.Error("it folds")
			}
		})
	}
}

func TestActiveTime(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	st := NewState(Key{"t", "s"})
	for i, e := range []Event{
		{Time: at(0), Body: &Prompt{}},
		{Time: at(100), Body: &LoopStart{}, Loop: "l"},
		{Time: at(103), Body: &TurnStart{}, Loop: "l"},
		{Time: at(500), Body: &Steer{}},
		{Time: at(1000), Body: &LoopResumed{Attempt: 1}, Loop: "l"}, // it was down in between
		{Time: at(1004), Body: &TurnStart{}, Loop: "l"},
	} {
		e.Seq = int64(i + 1)
		e.Encode()
		if err := st.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if got := st.Root.Loop.Active; got != 7*time.Second {
		t.Errorf("active %v, want 7s", got)
	}
}
