package session

import (
	"bytes"
	"testing"
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
