package render

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

func TestSafe(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":         {"a\tb\nc é 🙂", "a\tb\nc é 🙂"},
		"escape":        {"\x1b[31mred", `\x1b[31mred`},
		"return":        {"a\rb", `a\x0db`},
		"bidirectional": {"a\u202eb", `a\u202eb`},
		"C1":            {"a\u009bb", `a\x9bb`},
		"empty":         {"", ""},
		"not UTF-8":     {"a\xffb", "a\xffb"},
		"delete":        {"\x7f", `\x7f`},
		"bell and null": {"\a\x00", `\x07\x00`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Safe(c.text); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestCall(t *testing.T) {
	for name, c := range map[string]struct{ tool, input, want string }{
		"path":       {"read", `{"path":"a.txt","limit":3}`, "read a.txt"},
		"command":    {"bash", `{"command":"echo a\necho b"}`, "bash echo a echo b"},
		"other keys": {"task", `{"n":1}`, `task {"n":1}`},
		"no input":   {"todo", `{}`, "todo"},
		"not JSON":   {"read", `{"path`, "read"},
		"a number":   {"read", `{"path":7}`, `read {"path":7}`},
		"escape":     {"bash", `{"command":"\u001b[2J"}`, `bash \x1b[2J`},
		"tool":       {"re\nad\x1b[31m", `{}`, `re ad\x1b[31m`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Call(c.tool, []byte(c.input)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestDiagnostic(t *testing.T) {
	d := profile.Diagnostic{Severity: profile.SeverityError, Code: "P111", Name: "SchemaValidation", File: "a.md", Line: 2, Column: 6,
		Message: "é is 9", Hint: "write 1"}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"excerpt":            {[]string{"---", "é:\t  9"}, "     2 | é:   9\n              ^\n"},
		"file not there":     {nil, ""},
		"line not there":     {[]string{"---"}, ""},
		"column past end":    {[]string{"---", "é"}, "     2 | é\n          ^\n"},
		"long line, cut":     {[]string{"", "éééééééé" + strings.Repeat("x", 200)}, "     2 | éééééééé" + strings.Repeat("x", 91) + "…\n              ^\n"},
		"carriage returns":   {[]string{"---\r", "é: 9\r"}, "     2 | é: 9\n             ^\n"},
		"control characters": {[]string{"---", "\x1béééééé"}, "     2 | \\x1béééééé\n              ^\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			Diagnostic(&out, Style{}, &d, c.lines)
			want := "a.md:2:6: error: é is 9 [P111 SchemaValidation]\n" + c.want + "    help: write 1\n"
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDiagnosticOfNoFile: what a flag says has no place to name.
func TestDiagnosticOfNoFile(t *testing.T) {
	var out strings.Builder
	Diagnostic(&out, Style{}, &profile.Diagnostic{Severity: profile.SeverityWarning, Code: "S101", Message: "top-p is left out", Hint: "take it out"}, nil)
	if want := "warning: top-p is left out [S101]\n    help: take it out\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestDiagnosticOfAnOddName: no name of a file makes a line of its own.
func TestDiagnosticOfAnOddName(t *testing.T) {
	var b strings.Builder
	Diagnostic(&b, Style{}, &profile.Diagnostic{File: "rig/a-loom/x\nb.md:1:1: error\xff.md", Line: 2, Severity: profile.SeverityError, Code: "P1", Message: "no"}, nil)
	if got := b.String(); !strings.HasPrefix(got, `rig/a-loom/x\nb.md:1:1: error\xff.md:2`) || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}

func TestDiagnosticFarRight(t *testing.T) {
	d := profile.Diagnostic{Severity: profile.SeverityNote, Code: "P1", File: "a.md", Line: 1, Column: 301, Message: "m"}
	var out strings.Builder
	Diagnostic(&out, Style{}, &d, []string{strings.Repeat("x", 300) + "HERE" + strings.Repeat("y", 300)})
	lines := strings.Split(out.String(), "\n")
	caret := strings.IndexByte(lines[2], '^')
	if shown := []rune(lines[1]); caret < 0 || string(shown[caret:caret+4]) != "HERE" || len(shown) > 120 {
		t.Errorf("the caret is not under HERE:\n%s", out.String())
	}
}

func TestTableHidesNothing(t *testing.T) {
	var out strings.Builder
	Table(&out, Style{}, []string{"AUTHOR", "MESSAGE"}, [][]string{{"\x1b[31mEve\n<e>", "one\x1b]0;x\a\u202e"}, {"Ann", "two"}})
	want := "AUTHOR            MESSAGE\n" + `\x1b[31mEve\n<e>  one\x1b]0;x\x07\u202e` + "\nAnn               two\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	Table(&out, Style{}, []string{"NAME", "TEXT"}, [][]string{{"é", "one\ntwo"}, {"longer", strings.Repeat("x", 100)}, {"empty", ""}})
	want := "NAME    TEXT\né       one two\nlonger  " + strings.Repeat("x", 79) + "…\nempty\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// shownRun runs events through a Run and returns what both streams got.
func shownRun(r *Run, bodies ...session.Body) (out, err string, fault error) {
	var stdout, stderr strings.Builder
	r.Out = &stdout
	r.Err = &stderr
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, b := range bodies {
		e := session.Event{Session: "s", Type: b.Type(), Body: b, Time: at.Add(time.Duration(i) * time.Second)}
		if fault = r.Event(&e); fault != nil {
			break
		}
	}
	return stdout.String(), stderr.String(), fault
}

func said(id, text string) *session.Message {
	return &session.Message{ID: id, Role: message.Assistant, Parts: []message.Part{message.Text{Text: text}}}
}

func TestRunStreams(t *testing.T) {
	start := &session.LoopStart{Profile: "p", Model: "m/x"}
	end := &session.LoopEnd{Reason: session.ReasonDone, Text: "Hello"}
	for name, c := range map[string]struct {
		bodies []session.Body
		want   string
	}{
		"deltas and message":   {[]session.Body{start, &session.Delta{Message: "1", Text: "Hel"}, &session.Delta{Message: "1", Offset: 3, Text: "lo"}, said("1", "Hello"), end}, "Hello\n"},
		"text before its loop": {[]session.Body{&session.Delta{Message: "1", Text: "Hel"}, start, &session.Delta{Message: "1", Offset: 3, Text: "lo"}, said("1", "Hello"), end}, "Hello\n"},
		"message alone":        {[]session.Body{start, said("1", "Hello"), end}, "Hello\n"},
		"a delta was missed":   {[]session.Body{start, &session.Delta{Message: "1", Text: "H"}, &session.Delta{Message: "1", Offset: 3, Text: "lo"}, said("1", "Hello"), end}, "Hello\n"},
		"a delta comes twice":  {[]session.Body{start, &session.Delta{Message: "1", Text: "Hel"}, &session.Partial{Delta: session.Delta{Message: "1", Text: "Hell"}}, said("1", "Hello"), end}, "Hello\n"},
		"two messages":         {[]session.Body{start, said("1", "Look."), said("2", "Hello\n"), end}, "Look.\nHello\n"},
		"broken off": {[]session.Body{start, &session.Delta{Message: "1", Text: "Bad"}, &session.Reset{Message: "1", Attempt: 2},
			&session.Delta{Message: "1", Attempt: 2, Text: "Hello"}, said("1", "Hello"), end}, "Bad\nHello\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, _, err := shownRun(&Run{Stream: true}, c.bodies...)
			if err != nil || out != c.want {
				t.Errorf("%q, %v; want %q", out, err, c.want)
			}
			out, _, err = shownRun(&Run{}, c.bodies...)
			if err != nil || out != "Hello\n" {
				t.Errorf("in a pipe: %q, %v", out, err)
			}
		})
	}
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	cut := func(stop, text string) []session.Body {
		m := said("1", text)
		m.Stop = stop
		return []session.Body{m, &session.LoopEnd{Reason: session.ReasonDone, Text: text}}
	}
	for name, c := range map[string]struct {
		bodies []session.Body
		want   string
	}{
		"length":   {cut("length", "Hel"), "· the answer was cut off: it reached the most that the model may write (max-tokens)\n"},
		"refusal":  {cut("refusal", "No."), "· the model or its provider refused to answer\n"},
		"empty":    {cut("stop", ""), "· the answer is empty\n"},
		"no model": {[]session.Body{&session.LoopStart{Profile: "p"}, &session.LoopEnd{Reason: session.ReasonError}}, "p · session s\nended: error\n"},
		"whole":    {cut("stop", "Hello"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := shownRun(&Run{}, c.bodies...)
			got, _, _ = strings.Cut(got, "session: ")
			if err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestRunSaysTheRest(t *testing.T) {
	_, got, err := shownRun(&Run{},
		&session.LoopStart{Profile: "p", Model: "m/x"},
		&session.TurnStart{},
		&session.Retry{Delay: time.Second, Error: "model m/x: server"},
		&session.ToolBefore{Call: "1", Tool: "read", Input: []byte(`{"path":"a"}`)},
		&session.ToolAfter{Call: "1", Tool: "read", Outcome: session.OK, Duration: 12 * time.Millisecond},
		&session.ToolAfter{Call: "2", Tool: "bash", Outcome: session.Denied, Parts: []message.Part{message.Text{Text: "by\nrule"}}},
		&session.Lent{Source: "skill x", Rules: []session.Rule{{Tool: "bash", Subject: "git log *"}, {Tool: "read", Subject: "*"}}},
		&session.Limit{Limit: "turns", Max: 1, Used: 1, Set: "a.md:3"},
		&session.LoopEnd{Reason: session.ReasonLimit, Limit: "turns", Usage: message.Usage{Input: 1200, CacheRead: 300, Output: 7, Cost: 0.01}})
	want := `p · m/x · session s
· the model call failed, trying again in 1.0 s: model m/x: server
· read a (ok, 12 ms)
· bash (denied: by rule)
· skill x is in use, and these are not asked for: bash git log *, read
· the limit of turns was reached: 1 of 1, set at a.md:3
ended: limit (turns)
session: s
usage:   1,500 tokens in, 7 out, 300 of them from the cache, $0.0100 · turns 1 · 8.0 s
`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestVisible: nothing of what a person is to allow is hidden.
func TestVisible(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "git push origin café 日本", "git push origin café 日本"},
		{"lines", "a\nb\tc\r", `a\nb\tc\x0d`},
		{"escape sequences", "a\x1b[2Kb", `a\x1b[2Kb`},
		{"direction", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"no width", "a\u200bb\u2060c\ufeffd\u00ade", `a\u200bb\u2060c\ufeffd\u00ade`},
		{"blanks", "a\u00a0b\u3000c\u2800d\u3164e", `a\u00a0b\u3000c\u2800d\u3164e`},
		{"variation selectors and tags", "a\ufe0fb\U000e0041c", `a\ufe0fb\U000e0041c`},
		{"line separators", "a\u2028b\u0085c", `a\u2028b\u0085c`},
		{"not UTF-8", "a\xffb", `a\xffb`},
		{"accents stay", "e\u0301", "e\u0301"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Visible(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
