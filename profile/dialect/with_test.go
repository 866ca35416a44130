package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestWithThenUpdate sets keys in a file, as a request does.
func TestWithThenUpdate(t *testing.T) {
	const knot = "---\nname: a\nprovider: p\nmodel: m\ntools: [read] # few\nsystem-prompt: x\n---\n"
	tests := []struct {
		name, path, file, object, old, new string
	}{
		{"a key", "profiles/a.md", "---\nname: a\ntop-p: 0.5\n---\nb\n", `{"top_p": 0.25}`, "0.5", "0.25"},
		{"a key goes", "profiles/a.md", "---\nname: a\ntop-p: 0.5\n---\nb\n", `{"topP": null}`, "top-p: 0.5\n", ""},
		{"the prompt in the body", "profiles/a.md", "---\nname: a\n---\nb\n", `{"system_prompt": "c"}`, "b\n", "c"},
		{"the prompt under its key", "profiles/a.md", "---\nname: a\nsystem-prompt: b\n---\ndoc\n", `{"system_prompt": "c"}`, "prompt: b", "prompt: c"},
		{"the body beside the key", "profiles/a.md", "---\nname: a\nsystem-prompt: b\n---\ndoc\n", `{"body": "more\n"}`, "doc", "more"},
		{"tools of knot, which are its rules", "rig/profiles/a.md", knot, `{"tools": ["bash", "fs"]}`, "[read]", "[bash, fs]"},
		{"tools of Claude", ".claude/agents/a.md", "---\nname: a\ndescription: d\ntools: Read, Bash(git push:*)\n---\nb\n", `{"tools": ["grep"]}`, "Read, Bash(git push:*)", "Grep"},
		{"rules", "profiles/a.md", "---\nname: a\ntools: [read]\npermission:\n  bash: ask # careful\n  edit: deny\n---\nb\n", `{"permission": {"bash": "deny", "edit": "deny"}}`, "bash: ask # careful", "bash: deny # careful"},
		{"the order of rules", "profiles/a.md", "---\nname: a\npermission:\n  bash: ask\n  edit: deny\n---\nb\n", `{"permission": {"edit": "deny", "bash": "ask"}}`, "  bash: ask\n  edit: deny\n", "  edit: deny\n  bash: ask\n"},
		{"a key that is only kept", "profiles/a.md", "---\nname: a\nvars: {x: a}\n---\nb\n", `{"vars": {"x": "true", "y": "two\nlines"}}`, "vars: {x: a}\n", "vars:\n  x: \"true\"\n  y: |-\n    two\n    lines\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.file)}
			p, ds := dialect.With(decodeFile(t, f), "body", []byte(tt.object))
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			parts, ds := dialect.Update(f, p)
			if len(parts) == 0 {
				t.Fatal(ds)
			}
			if want := strings.Replace(tt.file, tt.old, tt.new, 1); string(parts[0].Data) != want {
				t.Errorf("got\n%s\nwant\n%s", parts[0].Data, want)
			}
		})
	}
}

func TestWithRefuses(t *testing.T) {
	for _, tt := range []struct{ object, key, code string }{
		{`{"temprature": 1}`, "temprature", profile.CodeNotAllowed},
		{`{"name": "b"}`, "name", profile.CodeNotAllowed},
		{`{"top_p": 7}`, "top_p", profile.CodeNotAllowed},
		{`{"provider": " "}`, "provider", profile.CodeEmptyProvider},
		{`{"limits": 1}`, "limits", profile.CodeWrongType},
		{`{"top_p": 0.1, "topP": 0.2}`, "topP", profile.CodeDuplicateKey},
		{`[]`, "", profile.CodeNotAMap},
	} {
		t.Run(tt.object, func(t *testing.T) {
			_, ds := dialect.With(&profile.Profile{Name: "a", Dialect: "roster"}, "body", []byte(tt.object))
			if !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool {
				return d.Code == tt.code && d.Key == tt.key && d.Severity == profile.SeverityError
			}) {
				t.Errorf("%v, want %s at %s", ds, tt.code, tt.key)
			}
		})
	}
	if p, ds := dialect.With(&profile.Profile{Name: "a"}, "body", []byte(`{`)); p != nil || !profile.Refused(ds) {
		t.Errorf("what is no JSON: %v", ds)
	}
}

func FuzzWith(f *testing.F) {
	f.Add("roster", `{"top_p":0.5,"permission":{"bash":{"git *":"allow"}},"vars":{"x":[1,{"y":null}]}}`)
	f.Add("knot", `{"provider":"p","model":"m","tools":["fs"],"system_prompt":"x\ny"}`)
	f.Add("claude", `{"tools":"Read, Bash(git push:*)","description":"d","limits":{"turns":3}}`)
	f.Add("opencode", `{"description":"d","permission":{"edit":"deny"},"body":"\r\n"}`)
	f.Fuzz(func(t *testing.T, name, object string) {
		d, ok := dialect.ByName(name)
		if !ok {
			return
		}
		p, ds := dialect.With(&profile.Profile{Name: "a", Dialect: name}, "body", []byte(object))
		if profile.Refused(ds) {
			return
		}
		parts, ds := dialect.Create(d, p)
		if len(parts) == 0 && !profile.Refused(ds) {
			t.Error("neither written nor refused")
		}
		if len(parts) == 1 {
			file := &dialect.File{Path: parts[0].Path, Data: parts[0].Data}
			if again, ds := dialect.Update(file, decodeFile(t, file)); len(again) != 1 || string(again[0].Data) != string(parts[0].Data) {
				t.Errorf("what was written is not what it says: %v", ds)
			}
		}
	})
}
