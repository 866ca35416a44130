package message

import "testing"

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []Part
		want  string
	}{
		{"no phases", []Part{Text{Text: "a"}, Text{Text: "b"}}, "ab"},
		{"commentary before", []Part{Text{Text: "a", Phase: Commentary}, Thinking{Text: "x"}, Text{Text: "b", Phase: FinalAnswer}}, "b"},
		{"commentary alone", []Part{Text{Text: "a", Phase: Commentary}}, "a"},
		{"nothing", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&Message{Parts: c.parts}).Answer(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
