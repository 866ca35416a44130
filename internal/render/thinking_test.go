package render

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func TestThinking(t *testing.T) {
	piece := func(offset int, text string) session.Delta {
		return session.Delta{Message: "m", Attempt: 1, Offset: offset, Text: text}
	}
	events := []session.Body{
		&session.Thinking{Delta: piece(0, "Let ")}, // before the loop's start, which is held back
		&session.LoopStart{Profile: "p", Model: "m"},
		&session.Thinking{Delta: piece(4, "me \x1b[31msee.")},
		&session.Delta{Message: "m", Attempt: 1, Text: "Yes."},
		&session.Message{ID: "m", Role: message.Assistant, Parts: []message.Part{message.Text{Text: "Yes."}}},
		&session.Thinking{Delta: session.Delta{Message: "n", Attempt: 1, Text: "More"}},
		&session.LoopEnd{Reason: session.ReasonDone, Text: "Yes."},
	}
	for _, c := range []struct {
		name   string
		stream bool
		want   string
	}{
		{"on a terminal", true, "p · m · session s\n· thinking: Let me \\x1b[31msee.\nYes.\n· thinking: More\nsession: s\n"},
		{"in a pipe", false, "p · m · session s\nYes.\nsession: s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var both strings.Builder // as a terminal shows both streams
			r := &Run{Out: &both, Err: &both, Stream: c.stream}
			for _, b := range events {
				if err := r.Event(&session.Event{Session: "s", Type: b.Type(), Body: b}); err != nil {
					t.Fatal(err)
				}
			}
			if got := both.String(); !strings.HasPrefix(got, c.want) {
				t.Errorf("shown\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
