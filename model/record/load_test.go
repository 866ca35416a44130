package record

import (
	"bytes"
	"errors"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"v":1,"n":1,"digest":"a","conversation":"b","turn":{},"messages":[{"role":"user","parts":[{"type":"text","text":"hi"}]}],` +
		`"chunks":[{"at_us":1,"text":"x"}],"done":{"parts":[{"type":"text","text":"x"}],"stop":"stop"},"took_us":2}` + "\n" +
		`{"v":1,"n":2,"after":1,"keep":1,"digest":"c","conversation":"d","turn":{},"messages":[],"error":{"kind":"cut","message":"m"}}` + "\n"))
	f.Add([]byte(`{"v":1,"n":1,"done":{"parts":[{"type":"text"}]},"messages":[null]}` + "\n" + `{"v":1`))
	f.Add([]byte("\n\n"))
	hi := &message.Message{Role: message.User, Parts: []message.Part{message.Text{Text: "hi"}}}
	requests := []*model.Request{{}, {Messages: []*message.Message{hi}}, {Messages: []*message.Message{hi, hi, hi}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := load("f", bytes.NewReader(data))
		var r *Replayer
		if err == nil {
			r, err = newReplayer(rec)
		}
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		for _, q := range requests {
			for _, err := range r.Stream(t.Context(), q) {
				if err != nil && model.AsError(err) == nil {
					t.Fatalf("untyped: %v", err)
				}
			}
		}
		for _, c := range rec.calls {
			if got := len(rec.conversation(c)); got != c.length() {
				t.Fatalf("%d messages, want %d", got, c.length())
			}
		}
	})
}
