package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const opencodeAgents = `{
  // of all
  "$schema": "https://opencode.ai/config.json",
  "model": "a/b",
  "permission": {"bash": {"*": "ask", "rm *": "deny"}},
  "tools": {"webfetch": false, "write": false},
  "agent": {
    "review": {
      "description": "Reviews.", /* é */ "mode": "subagent",
      "model": "anthropic/claude-x",
      "prompt": "{file:./prompts/review.txt}",
      "temperature": 0.1, "top_p": 0.9, "maxSteps": 5,
      "tools": {"write": true, "bash": false},
      "permission": {"edit": "deny", "bash": {"git *": "allow"}},
      "color": "#ff0000", "hidden": true,
    },
    "build": {"model": "x/y", "prompt": "Build {{it}}.", "disable": false},
    "old": {"disable": true, "mode": "nothing"},
  },
}
`

func decodeOpencodeJSON(t *testing.T, name, text string) ([]*profile.Profile, []profile.Diagnostic) {
	t.Helper()
	f := &dialect.File{Name: name, Path: name, Data: []byte(text)}
	d, ok := dialect.Detect(f)
	if !ok || d.Name != "opencode" {
		t.Fatalf("read as %q", d.Name)
	}
	return d.Decode(f)
}

func TestOpencodeConfig(t *testing.T) {
	ps, ds := decodeOpencodeJSON(t, "opencode.jsonc", opencodeAgents)
	if len(ps) != 2 || profile.Refused(ds) {
		t.Fatalf("%d profiles, %v", len(ps), ds)
	}
	review, build := ps[0], ps[1]
	got := fmt.Sprintln(review.Name, review.NameAt, review.Description.V, review.Mode.V, review.Mode.At, review.Model.V, review.SystemPrompt.V,
		review.Temperature.V, review.TopP.V, review.Limits.Turns.V, review.Hidden.V, review.Tools.V.All, review.Body == "", review.Dialect)
	const want = "review opencode.jsonc:8:5 Reviews. subagent opencode.jsonc:9:42 anthropic/claude-x file:prompts/review.txt 0.1 0.9 5 true true true opencode\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if build.Body != "Build {{it}}." || build.SystemPrompt.Set || build.Model.V != "x/y" || build.BodyAt.String() != "opencode.jsonc:17:41" {
		t.Errorf("%+v", build)
	}
	if diff := cmp.Diff([]string{
		"bash * ask opencode.jsonc:5:27", "bash rm * deny opencode.jsonc:5:39",
		"webfetch * deny opencode.jsonc:6:13", "bash * deny opencode.jsonc:13:32",
		"edit * deny opencode.jsonc:14:22", "write * deny opencode.jsonc:14:22", "bash git * allow opencode.jsonc:14:47",
	}, rulesWithPlaces(review)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"bash * ask opencode.jsonc:5:27", "bash rm * deny opencode.jsonc:5:39",
		"webfetch * deny opencode.jsonc:6:13", "write * deny opencode.jsonc:6:32",
	}, rulesWithPlaces(build)); diff != "" {
		t.Error(diff)
	}
	var notes []string
	for i := range ds {
		notes = append(notes, fmt.Sprintf("%s %d:%d %s", ds[i].Code, ds[i].Line, ds[i].Column, ds[i].Key))
	}
	if diff := cmp.Diff([]string{"P113 17:58 disable", "P119 17:5 description", "P113 18:5 agent.old"}, notes); diff != "" {
		t.Error(diff)
	}
}

func rulesWithPlaces(p *profile.Profile) (out []string) {
	for _, r := range p.Permission {
		out = append(out, fmt.Sprint(r.Tool, " ", r.Subject, " ", r.Effect, " ", r.At))
	}
	return out
}

func TestOpencodeConfigDiagnostics(t *testing.T) {
	const ok = `"prompt": "p", "description": "d"`
	many := `"x": {}`
	for i := range 200 {
		many += fmt.Sprintf(`, "a%d": {"disable": true}`, i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing to say", `{"agent": {"a": {` + ok + `}}}`, ""},
		{"no JSON", "{\n \"agent\": {\n  \"a\" 1", "P103 3:7"},
		{"a comma too few", "{\"agent\": {\n \"a\": {\"mode\": \"all\" \"hidden\": true}}}", "P103 2:22"},
		{"agents are a list", `{"agent": [1]}`, "P110 1:11"},
		{"an agent is a text", "{\"agent\": {\n  \"a\": \"b\"}}", "P110 2:3"},
		{"a mode that there is not", "{\"agent\": {\"a\": {" + ok + ",\n  \"mode\": \"main\"}}}", "P111 2:11"},
		{"a number as text", "{\"agent\": {\"a\": {" + ok + ",\n  \"temperature\": \"hot\"}}}", "P110 2:18"},
		{"an effect that there is not", "{\"agent\": {\"a\": {" + ok + ",\n  \"permission\": {\"bash\": \"maybe\"}}}}", "P111 2:26"},
		{"for all, said once", "{\"permission\": {\"bash\": \"maybe\"}, \"agent\": {\"a\": {" + ok + "}, \"b\": {" + ok + "}}}", "P111 1:25"},
		{"twice", "{\"agent\": {\"a\": {" + ok + "},\n \"a\": {" + ok + "}}}", "P104 2:2"},
		{"twice as names", "{\"agent\": {\"my agent\": {" + ok + "},\n \"my-agent\": {" + ok + "}}}", "P118 1:12, P117 2:2"},
		{"no name", `{"agent": {"../..": {` + ok + `}}}`, "P117 1:12"},
		{"a name beside the key", `{"agent": {"a": {` + ok + `, "name": "b"}}}`, "P113 1:53"},
		{"almost a rule", `{"agent": {"a": {` + ok + `, "permision": {}}}}`, "P182 1:53"},
		{"nobody knows it", `{"agent": {"a": {` + ok + `, "zzz": 1}}}`, "P112 1:53"},
		{"neither prompt nor description", `{"agent": {"a": {}}}`, "P124 1:12, P119 1:12"},
		{"a file in the midst", `{"agent": {"a": {"description": "d", "prompt": "Read {file:./x} first."}}}`, "P113 1:48"},
		{"plan without rules", `{"agent": {"plan": {` + ok + `}}}`, "P114 1:12"},
		{"too many", `{"agent": {` + many + `}}`, "P111"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := decodeOpencodeJSON(t, "opencode.json", c.text)
			var got []string
			for i := range ds {
				got = append(got, fmt.Sprintf("%s %d:%d", ds[i].Code, ds[i].Line, ds[i].Column))
			}
			if all := strings.Join(got, ", "); all != c.want && !(c.name == "too many" && strings.HasPrefix(all, c.want)) {
				t.Errorf("got %s, want %s: %v", all, c.want, ds)
			}
		})
	}
}

func TestOpencodeConfigPrompts(t *testing.T) {
	for _, c := range []struct{ name, file, prompt, want string }{
		{"beside it", "opencode.json", "{file:./p.md}", "file:p.md"},
		{"in a folder", "sub/opencode.json", "{file:p/x.md}", "file:sub/p/x.md"},
		{"above it", "opencode.json", "{file:../p.md}", "file:../p.md"},
		{"absolute", "opencode.json", "{file:/etc/passwd}", "file:/etc/passwd"},
		{"of the user", "/home/u/.config/roster/opencode.json", " {file: ./p.md } ", "file:p.md"},
		{"a text that looks like one", "opencode.json", "file:p.md", ""},
		{"no path", "opencode.json", "{file:}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ps, ds := decodeOpencodeJSON(t, c.file, fmt.Sprintf(`{"agent": {"a": {"prompt": %q}}}`, c.prompt))
			if len(ps) != 1 || ps[0].SystemPrompt.V != c.want || (c.want == "") != (ps[0].Body == c.prompt) {
				t.Errorf("%+v %v", ps, ds)
			}
		})
	}
}

// TestOpencodeConfigIsLeftAlone: a file that has no agents is no profile, and one
// that has is never written.
func TestOpencodeConfigIsLeftAlone(t *testing.T) {
	for _, text := range []string{`{"mcp": {}}`, `{"agent": {}}`, `{"agent": null}`, `{"command": {"agent": 1}}`, `not "JSON`, ``} {
		if d, ok := dialect.Detect(&dialect.File{Name: "opencode.json", Path: "opencode.json", Data: []byte(text)}); ok {
			t.Errorf("%s is read as %s", text, d.Name)
		}
	}
	f := &dialect.File{Name: "opencode.json", Path: "opencode.json", Data: []byte(`{"agent": {"a": {"prompt": "p"}}}`)}
	ps, _ := decodeOpencodeJSON(t, f.Name, string(f.Data))
	parts, ds := dialect.Update(f, ps[0])
	if len(parts) > 0 || len(ds) != 1 || ds[0].Code != profile.CodeByHand {
		t.Errorf("%v %v", parts, ds)
	}
}

func FuzzOpencodeConfig(f *testing.F) {
	f.Add([]byte(opencodeAgents))
	f.Add([]byte(`{"agent": {"a": {"tools": "bash, read", "name": 1, "permissions": {"x": "allow"}}}, "tools": {"*": false, "read": true}}`))
	f.Add([]byte("{\"agent\": {\"\u00e9 b\": {\"prompt\": [\"a\", \"b\"], \"steps\": 0, \"permission\": \"ask\"}}, /* x"))
	d, _ := dialect.ByName("opencode")
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &dialect.File{Name: "opencode.jsonc", Path: "opencode.jsonc", Data: data}
		if _, ok := dialect.Detect(file); !ok {
			return
		}
		ps, ds := d.Decode(file)
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 {
				t.Errorf("bad diagnostic %+v", ds[i])
			}
		}
		if profile.Refused(ds) {
			return
		}
		for _, p := range ps {
			if err := profile.CheckName(p.Name); err != nil {
				t.Fatal(err)
			}
			if _, lost := dialect.Encode(d, p); len(lost) > 0 && lost[0].Message == "" {
				t.Errorf("bad diagnostic %+v", lost[0])
			}
		}
	})
}
