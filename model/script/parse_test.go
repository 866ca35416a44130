package script_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const whole = `
replies:
  - text: "Let me look."
    tools: [{name: read, input: {path: a.txt, lines: [1, 2.5], all: true, none: null}}]
    delay: 100ms
    gap: 10ms
    usage: {input: 12, cache-read: 5, output: 3}
  - when: {contains: "42"}
    text: 'Done.'
  - error: {status: 529, retry-after: 1s}
  - error: {kind: cut}
    text: half
loop: false
`

func TestParse(t *testing.T) {
	got, err := script.Parse("s.yaml", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &script.Script{Name: "s.yaml", Replies: []script.Reply{
		{
			Text:  "Let me look.",
			Tools: []script.Call{{Name: "read", Input: `{"all":true,"lines":[1,2.5],"none":null,"path":"a.txt"}`}},
			Delay: 100 * time.Millisecond, Gap: 10 * time.Millisecond,
			Usage: &script.Usage{Input: 12, CacheRead: 5, Output: 3},
		},
		{When: script.When{Contains: "42"}, Text: "Done."},
		{Error: &script.Failure{Status: 529, RetryAfter: time.Second}},
		{Text: "half", Error: &script.Failure{Kind: model.Cut}},
	}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(script.Reply{}, "At")); d != "" {
		t.Error(d)
	}
	if at := got.Replies[1].At; at != (source.Origin{File: "s.yaml", Line: 8, Column: 5}) {
		t.Errorf("second reply at %v", at)
	}
}

func TestParseErrors(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"empty":            {"", "s.yaml: yaml"},
		"comment only":     {"# nothing\n", "s.yaml: yaml"},
		"a list":           {"- a\n", "s.yaml:1:1: the script must be a mapping"},
		"no replies":       {"loop: true\n", "s.yaml:1:1: the script has no replies (write replies:)"},
		"empty replies":    {"replies: []\n", "s.yaml:1:10: replies is empty"},
		"replies a map":    {"replies: {}\n", "s.yaml:1:10: replies must be a list"},
		"near key":         {"replies:\n  - txt: hi\n", `s.yaml:2:5: a reply has no key "txt" (did you mean "text"?)`},
		"far key":          {"replies:\n  - text: a\n    somewhere: b\n", `known: delay, error, gap, text, tools, usage, when`},
		"top key":          {"reply: []\n", `s.yaml:1:1: the script has no key "reply"`},
		"twice":            {"replies:\n  - text: a\n    text: b\n", `s.yaml:3:5: a reply has the key "text" twice`},
		"nothing said":     {"replies:\n  - delay: 1s\n", "s.yaml:2:5: the reply says nothing"},
		"tools and error":  {"replies:\n  - tools: []\n    error: {status: 500}\n", "either tools or error"},
		"tool unnamed":     {"replies:\n  - tools: [{input: {}}]\n", "s.yaml:2:13: the tool call has no name"},
		"text a list":      {"replies:\n  - text: [a]\n", "s.yaml:2:11: text must be text"},
		"text null":        {"replies:\n  - text:\n", "text must be text"},
		"status low":       {"replies:\n  - error: {status: 200}\n", `s.yaml:2:21: status must be an HTTP status from 400 to 599, not "200"`},
		"error empty":      {"replies:\n  - error: {}\n", "neither status nor kind"},
		"retry-after only": {"replies:\n  - error: {retry-after: 1s}\n", "neither status nor kind"},
		"kind":             {"replies:\n  - error: {kind: cutt}\n", `unknown kind of error "cutt" (did you mean "cut"?)`},
		"delay":            {"replies:\n  - text: a\n    delay: 3\n", `s.yaml:3:12: delay must be a duration from 0s to 1h0m0s, not "3" (write delay: 100ms)`},
		"delay negative":   {"replies:\n  - text: a\n    gap: -1s\n", "gap must be a duration"},
		"delay long":       {"replies:\n  - text: a\n    gap: 2h\n", "gap must be a duration"},
		"usage":            {"replies:\n  - text: a\n    usage: {input: -1}\n", "input must be a number of tokens"},
		"loop":             {"replies: [{text: a}]\nloop: often\n", `s.yaml:2:7: loop must be true or false, not "often"`},
		"contains empty":   {"replies: [{text: a, when: {contains: \"\"}}]\n", "contains is empty"},
		"alias":            {"replies:\n  - text: a\n    tools: [{name: x, input: [&a 1, *a]}]\n", "s.yaml:3:37: a script has no aliases"},
		"alias of a reply": {"replies:\n  - &a {text: a}\n  - *a\n", "s.yaml:3:5: a reply must be a mapping"},
		"not JSON":         {"replies:\n  - tools: [{name: x, input: .nan}]\n", "input is not expressible as JSON"},
		"syntax":           {"replies: [\n", "s.yaml:"},
		"two documents":    {"replies: [{text: a}]\n---\nreplies: []\n", "single document"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := script.Parse("s.yaml", []byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) || s != nil {
				t.Fatalf("got %v, %v; want %q", s, err, tt.want)
			}
			if e, ok := errors.AsType[*script.Error](err); !ok || e.At.File != "s.yaml" {
				t.Errorf("not a script.Error with its file: %#v", err)
			}
		})
	}
}

func TestAllErrorsAreSaidUpToABound(t *testing.T) {
	_, err := script.Parse("s.yaml", []byte("replies:\n"+strings.Repeat("  - txt: a\n", 100)))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "s.yaml: 180 more errors" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if s, err := script.Load(write("ok.yaml", whole)); err != nil || len(s.Replies) != 4 {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := script.Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Load(pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := script.Load(write("big.yaml", "# "+strings.Repeat("x", 8<<20))); err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("replies: [{text: a, tools: [{name: b, input: 1}]}]\nloop: true"))
	f.Add([]byte("replies:\n - &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse("f", data)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v, %v", s, err)
		}
		if err != nil {
			return
		}
		for i := range s.Replies {
			s.Replies[i].Delay, s.Replies[i].Gap = 0, 0
		}
		c := &chat{model: s.Model("script/f")}
		for range 3 {
			if _, err := c.ask(); err != nil && model.AsError(err) == nil {
				t.Fatalf("untyped: %v", err)
			}
		}
	})
}
