package session

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/rosterrun/roster/message"
)

// FuzzFold folds logs of any bodies, one in a line after its type: a log that
// is broken is refused, and what the state and the summary say agrees.
func FuzzFold(f *testing.F) {
	var log []byte
	for _, b := range toolTurn {
		log = append(append(log, b.Type()...), ' ')
		log = append(b.AppendJSON(log), '\n')
	}
	f.Add(log)
	f.Add([]byte("prompt null\nloop.start null\nmessage null\ntool.after null\nmessage {\"role\":\"tool\",\"calls\":[\"\"]}\nloop.end null"))
	f.Fuzz(func(t *testing.T, log []byte) {
		st, sum := NewState(Key{"t", "s"}), Summary{}
		for i, line := range bytes.Split(log, []byte{'\n'}) {
			typ, data, _ := bytes.Cut(line, []byte{' '})
			e := Event{Seq: int64(i + 1), V: 1, Session: "s", Loop: "l", Turn: i, Type: string(typ), Data: data}
			if st.Apply(&e) != nil || sum.Apply(&e) != nil {
				return
			}
			if sum.Last != st.Last || sum.Held > sum.Notes && sum.Notes >= 0 {
				t.Fatalf("event %d: %+v", e.Seq, sum)
			}
		}
	})
}

// FuzzFoldOrder folds events in any order, of a session and of two below it: what
// was decoded from the log's bytes folds to what the events themselves do, and
// nothing makes the fold fail in another way than by refusing an event.
func FuzzFoldOrder(f *testing.F) {
	all := palette()
	inOrder := make([]byte, len(all))
	for i := range inOrder {
		inOrder[i] = byte(i)
	}
	f.Add(inOrder)
	f.Add([]byte{1, 3, 3, 1, 0, 20, 60, 61, 40, 1, 3})
	f.Fuzz(func(t *testing.T, order []byte) {
		k := Key{"t", "s"}
		live, read, sum := NewState(k), NewState(k), Summary{Key: k}
		for i, n := range order {
			in := []string{"s", "s_1", "s_1_1"}[int(n)/len(all)%3]
			e := Event{Seq: int64(i + 1), V: 1, Session: in, Depth: len(in) / 2, Loop: "l" + in, Turn: i, Body: all[int(n)%len(all)]}
			e.Encode()
			stored := e
			stored.Body = nil
			err := live.Apply(&e)
			if again := read.Apply(&stored); (err == nil) != (again == nil) {
				t.Fatalf("event %d %s: %v and, read from the log, %v", e.Seq, e.Type, err, again)
			}
			if err != nil {
				return
			}
			if err := sum.Apply(&stored); err != nil || sum.Last != live.Last {
				t.Fatalf("event %d %s: %v, the summary is at %d", e.Seq, e.Type, err, sum.Last)
			}
			for range live.Questions() {
			}
		}
		if a, b := shown(live), shown(read); !bytes.Equal(a, b) {
			t.Fatalf("the events fold to\n%s\nand, read from the log, to\n%s", a, b)
		}
	})
}

// shown is what of a state can be compared.
func shown(st *State) []byte {
	text, err := json.Marshal([]any{&st.Root, st.Children, st.Asks, st.Grants, st.Worktrees})
	if err != nil {
		panic(err)
	}
	return text
}

// palette has events that mean each other.
func palette() []Body {
	return append(append([]Body{}, toolTurn...),
		&Start{Profile: "c", Parent: "s", Call: "c1"},
		&Start{Profile: "c", Parent: "s_1", Call: "c2"},
		&Steer{Parts: text("x")}, &Followup{Parts: text("x")}, &Cancel{}, &Prompt{Parts: text("q"), Profile: "q"},
		&ToolAfter{Call: "c1", Tool: "read", Outcome: OK, Parts: text("yes"), Seen: &Seen{"a.txt", "1"}},
		&ToolBefore{Call: "c1", Tool: "task", Input: []byte("{}"), Recovery: "resume", Child: "s_1"},
		&Message{ID: "m3", Parent: "m2", Role: message.Tool, Calls: []string{"c1", "c2"}},
		&Message{ID: "m4", Parent: "m3", Role: message.User, Source: "steer", Post: 3},
		&Message{ID: "m5", Role: message.Assistant, Parts: text("done"), Partial: true},
		&PermissionAsked{Ask: "s.1", Call: "c1", Tool: "bash", Parts: []AskedPart{{Subject: Subject{"bash", "x", ""}, Effect: "ask"}}, Grantable: true},
		&PermissionResolved{Ask: "s.1", Answer: AnswerSession}, &PermissionResolved{Ask: "s.1", Answer: AnswerNo, ForSession: true},
		&InputAsked{Ask: "s.2", Call: "c2", Question: "x"}, &InputAnswered{Ask: "s.2", Answer: AnswerText, Text: "y"},
		&Lent{Source: "skill x", Rules: []Rule{{Tool: "bash", Subject: "git *", Effect: "allow"}}},
		&Hooked{On: "after-tool", Decision: "deny", Call: "c1", Parts: text("no")},
		&LoopWaiting{Asks: []string{"s.1"}}, &LoopResumed{Attempt: 2}, &TurnStart{}, &LoopStart{Number: 2, Profile: "q"}, &LoopStart{Number: 1, Config: "c"},
		&Switched{Call: "c2", From: "p", To: "q"}, &Fallback{From: "m", To: "n"}, &Retry{Attempt: 1},
		&Set{Keys: map[string]string{"model": "x"}}, &Branch{From: "o", Why: BranchFork, Messages: []BranchMessage{{ID: "b", Role: message.User, Parts: text("b")}}},
		&Error{Code: "x"}, &Limit{Limit: "turns"}, &Job{Call: "c1", Started: 1}, &Job{Started: 2, Ended: []int{1, 1}},
		&LoopEnd{Reason: ReasonDone}, &LoopEnd{Reason: ReasonCancelled}, &LoopEnd{Reason: ReasonPoisoned},
	)
}
