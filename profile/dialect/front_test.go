package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

func TestReadFront(t *testing.T) {
	const text = "---\ndescription: Use it: often\nargument_hint: [file]\nallowed-tools: Read, Bash(git *)\nfork: yes\nskillls: a\n---\nBody\n"
	f := dialect.ReadFront("commands/a.md", []byte(text))
	if got := f.Text("description").V; got != "Use it: often" {
		t.Errorf("the description is %q: a colon in it is repaired as in profiles", got)
	}
	if got := f.Bracketed("argument-hint").V; got != "[file]" {
		t.Errorf("the hint is %q", got)
	}
	if v := f.Flag("fork"); !v.V || v.At.Line != 5 {
		t.Errorf("the flag is %+v", v)
	}
	var rules []string
	for _, r := range f.Allows("allowed-tools") {
		rules = append(rules, fmt.Sprintf("%s %s %s:%d", r.Tool, r.Subject, r.Effect, r.At.Line))
	}
	if want := []string{"read * allow:4", "bash git * allow:4"}; !cmp.Equal(rules, want) {
		t.Errorf("the rules are %q, not %q", rules, want)
	}
	f.Unread("commands", "skills")
	var codes []string
	for _, d := range f.Diagnostics() {
		codes = append(codes, fmt.Sprintf("%s:%d", d.Code, d.Line))
	}
	if want := []string{profile.CodeRepaired + ":2", profile.CodeUnknownKey + ":6"}; !cmp.Equal(codes, want) {
		t.Errorf("the diagnostics are %q, not %q", codes, want)
	}
	if f.Body != "Body\n" || f.BodyAt.Line != 8 {
		t.Errorf("the body is %q in line %d", f.Body, f.BodyAt.Line)
	}
}

func TestReadFrontOfData(t *testing.T) {
	f := dialect.ReadFront("opencode.json", []byte("{\"command\": {\n \"a/b\": {\"template\": \"x\"},\n \"c\": 3}}"))
	list := f.Entries("command")
	if len(list) != 1 || list[0].Name != "a/b" || list[0].At.Line != 2 || list[0].Keys.Text("template").V != "x" {
		t.Errorf("the entries are %+v", list)
	}
	if ds := f.Diagnostics(); len(ds) != 1 || ds[0].Code != profile.CodeWrongType || ds[0].Line != 3 {
		t.Errorf("the diagnostics are %+v", ds)
	}
	f = dialect.ReadFront("a.toml", []byte("description = \"d\"\nprompt = \"\"\"\none\"\"\"\n"))
	if got := f.Text("prompt"); got.V != "one" || got.At.Line != 2 {
		t.Errorf("the prompt is %+v", got)
	}
}

func TestReadFrontRefuses(t *testing.T) {
	for name, c := range map[string]struct{ file, text, code string }{
		"no frontmatter": {"a.md", "text\n", profile.CodeMissingFrontmatter},
		"not closed":     {"a.md", "---\nname: a\n", profile.CodeUnclosed},
		"bad TOML":       {"a.toml", "prompt = ", profile.CodeInvalidTOML},
		"too large":      {"a.md", strings.Repeat("a", profile.MaxFile+1), profile.CodeTooLarge},
		"no UTF-8":       {"a.md", "---\nname: \xff\n---\n", profile.CodeNotUTF8},
	} {
		t.Run(name, func(t *testing.T) {
			f := dialect.ReadFront(c.file, []byte(c.text))
			if ds := f.Diagnostics(); len(ds) == 0 || ds[0].Code != c.code {
				t.Errorf("the diagnostics are %+v, not %s", ds, c.code)
			}
			if f.Text("name").Set {
				t.Error("a key was read")
			}
		})
	}
}
