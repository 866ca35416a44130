package tool

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func TestAskUser(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply *session.InputAnswered
		want  string
		fails bool
	}{
		{"a text", &session.InputAnswered{Answer: session.AnswerText, Text: "blue"}, "blue", false},
		{"no", &session.InputAnswered{Answer: session.AnswerNo}, "The user does not want to answer.", true},
		{"no, and why", &session.InputAnswered{Answer: session.AnswerNo, Text: "ask Ann"}, "They say: ask Ann", true},
		{"nobody in time", &session.InputAnswered{Answer: session.AnswerTimeout}, "did not answer in time", true},
		{"nobody at all", nil, "Nobody is there to answer.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tl askUserTool
			plan, err := tl.Prepare(t.Context(), Call{Input: []byte(`{"question":"Which colour?"}`), Reply: c.reply})
			if err != nil {
				t.Fatal(err)
			}
			defer plan.Close()
			if n := plan.Needs(); len(n) != 1 || n[0].Tool != AskUser || n[0].Subject != "Which colour?" {
				t.Errorf("it needs %+v", n)
			}
			got, err := plan.Run(t.Context(), nil)
			if text := message.PartsText(got.Parts); err != nil || !strings.Contains(text, c.want) || got.Error != c.fails {
				t.Errorf("%q, %v, %v", text, got.Error, err)
			}
		})
	}
}

func TestAskUserInput(t *testing.T) {
	v, err := NewValidator(Define(AskUser, nil))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 4001)
	for _, c := range []struct {
		input string
		valid bool
	}{
		{`{"question":"Which?"}`, true},
		{`{"question":"Which?","options":["a","b"]}`, true},
		{`{}`, false},
		{`{"question":""}`, false},
		{`{"question":"` + long + `"}`, false},
		{`{"question":"Which?","options":[""]}`, false},
		{`{"question":"Which?","options":[` + strings.Repeat(`"x",`, 20) + `"x"]}`, false},
	} {
		if err := v.Validate([]byte(c.input)); (err == nil) != c.valid {
			t.Errorf("%.60s: %v", c.input, err)
		}
	}
	if q := (askUserTool{}).Asks([]byte(`{"question":"Which?","options":["a","b"]}`)); q.Text != "Which?" || len(q.Options) != 2 {
		t.Errorf("%+v", q)
	}
}
