package wire

import "testing"

func TestRepeat(t *testing.T) {
	learned := `{"id":"x","delta":{"content":"one"},"n":1}`
	for _, c := range []struct {
		name, raw, text string // no text: not taken
	}{
		{"the same form", `{"id":"x","delta":{"content":"two words"},"n":1}`, "two words"},
		{"text that is not ASCII", `{"id":"x","delta":{"content":"naïve 🙂"},"n":1}`, "naïve 🙂"},
		{"empty", `{"id":"x","delta":{"content":""},"n":1}`, ""},
		{"an escape", `{"id":"x","delta":{"content":"a\nb"},"n":1}`, ""},
		{"more members", `{"id":"x","delta":{"content":"a","role":"b"},"n":1}`, ""},
		{"not UTF-8", "{\"id\":\"x\",\"delta\":{\"content\":\"a\xff\"},\"n\":1}", ""},
		{"a control character", "{\"id\":\"x\",\"delta\":{\"content\":\"a\tb\"},\"n\":1}", ""},
		{"another head", `{"id":"y","delta":{"content":"a"},"n":1}`, ""},
		{"another end", `{"id":"x","delta":{"content":"a"},"n":2}`, ""},
		{"nothing", ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Repeat
			r.Learn([]byte(learned), "content", "one")
			if text := r.Text([]byte(c.raw)); string(text) != c.text {
				t.Errorf("got %q, want %q", text, c.text)
			}
		})
	}
}

func TestRepeatLearnsOnlyACertainPlace(t *testing.T) {
	for _, c := range []struct{ name, raw string }{
		{"twice", `{"a":{"content":"one"},"content":"one"}`},
		{"with a space", `{"content": "one"}`},
		{"another text", `{"content":"two"}`},
		{"a longer text", `{"content":"ones"}`},
		{"absent", `{"text":"one"}`},
		{"cut", `{"content":"one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Repeat
			r.Learn([]byte(`{"content":"zero"}`), "content", "zero")
			r.Learn([]byte(c.raw), "content", "one")
			if text := r.Text([]byte(`{"content":"one"}`)); text != nil {
				t.Errorf("took %q", text)
			}
		})
	}
}
