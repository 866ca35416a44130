package session

import "testing"

// TestLent folds rules that a loop is lent: those of a source that is named again
// replace what it had, and the end of the loop ends them.
func TestLent(t *testing.T) {
	rules := func(subject string) []Rule { return []Rule{{Tool: "bash", Subject: subject, Effect: "allow"}} }
	st := NewState(Key{"t", "s"})
	var seq int64
	apply := func(bodies ...Body) {
		t.Helper()
		for _, b := range bodies {
			seq++
			if err := st.Apply(&Event{Seq: seq, Session: "s", Loop: "l", Type: b.Type(), Body: b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	lent := func() (text string) {
		for _, l := range st.Root.Loop.Lent {
			text += l.Source + ":" + l.Rules[0].Subject + " "
		}
		return text
	}
	begin := func() {
		t.Helper()
		apply(&Prompt{Parts: text("q"), Lent: []Lent{{Source: "command c", Rules: rules("c")}}})
		post := seq
		apply(&LoopStart{}, &Message{ID: "m", Role: "user", Source: "prompt", Post: post})
	}
	begin()
	if got := lent(); got != "command c:c " {
		t.Errorf("of the prompt: %s", got)
	}
	apply(&Lent{Source: "skill a", Rules: rules("1")}, &Lent{Source: "skill b", Rules: rules("2")}, &Lent{Source: "skill a", Rules: rules("3")})
	if got := lent(); got != "command c:c skill b:2 skill a:3 " {
		t.Errorf("of skills: %s", got)
	}
	apply(&Imported{})
	if got := lent(); got != "" {
		t.Errorf("after an import: %s", got)
	}
	apply(&Lent{Source: "skill a", Rules: rules("1")}, &Switched{To: "p"})
	if got := lent(); got != "" {
		t.Errorf("after a switch: %s", got)
	}
	apply(&Prompt{Parts: text("later"), Lent: []Lent{{Source: "command c", Rules: rules("c")}}}, &Imported{}, &LoopEnd{Reason: ReasonDone})
	if l := st.Root.Inbox[0]; l.Prompt.Lent != nil {
		t.Errorf("a prompt that was imported lends %+v", l.Prompt.Lent)
	}
}
