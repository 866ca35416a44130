package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const lettaTwo = `{
  "agents": [
    {"name": "Evie B", "description": "d", "system": "You are Evie.", "tool_ids": ["t0", "t1", "t2"],
     "llm_config": {"handle": "anthropic/claude-x", "model": "claude-x", "temperature": 0.7, "max_tokens": null}},
    {"name": "sleeper", "system": "You sleep.", "tools": [{"name": "core_memory_append"}],
     "llm_config": {"handle": null, "model": "gpt-x", "model_endpoint_type": "openai", "max_tokens": 16384}}
  ],
  "tools": [{"id": "t0", "name": "send_message"}, {"id": "t1", "name": "web_search"}, {"id": "t2", "name": "mine", "source_code": "import os"}]
}`

func TestLetta(t *testing.T) {
	f := &dialect.File{Name: "two.af.json", Path: "two.af.json", Data: []byte(lettaTwo)}
	d, _ := dialect.Detect(f)
	ps, ds := d.Decode(f)
	if d.Name != "letta" || lines(ds, profile.SeverityWarning) != "" || len(ps) != 2 {
		t.Fatalf("%s %v %v", d.Name, ps, ds)
	}
	a, b := ps[0], ps[1]
	if a.Name != "evie-b" || a.Title.V != "Evie B" || a.Model.V != "anthropic/claude-x" || a.Body != "You are Evie." || a.BodyAt.Line != 3 ||
		!slices.Equal(a.Tools.V.Names, []string{"websearch", "mine"}) || len(a.Permission) > 0 {
		t.Errorf("%+v", a)
	}
	if b.Name != "sleeper" || b.Provider.V != "openai" || b.Model.V != "gpt-x" || b.MaxTokens.V != 16384 || !slices.Equal(b.Tools.V.Names, []string{"memory"}) {
		t.Errorf("%+v", b)
	}
}

func TestLettaReports(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"broken JSON", `{"agents": [`, "a.af.json:1:13: error"},
		{"no agents", `{"agents": []}`, "a.af.json:1:1: warning"},
		{"the same name twice", strings.ReplaceAll(lettaTwo, "sleeper", "Evie B"), "a.af.json:5:6: error"},
		{"JSON in a text", `"{\"agents\": []}"`, "a.af.json:1:1: warning [P184]"},
		{"broken JSON in a text", `"{\"agents\": ["`, "a.af.json:1:1: error [P109]"},
		{"a name that is a path", `{"agents": [{"name": "../x", "system": "s", "llm_config": {}}]}`, "a.af.json:1:22: error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &dialect.File{Name: "a.af.json", Path: "a.af.json", Data: []byte(c.text)}
			d, _ := dialect.Detect(f)
			if _, ds := d.Decode(f); !strings.HasPrefix(lines(ds, profile.SeverityWarning), c.want) {
				t.Errorf("%s, want %s", lines(ds, profile.SeverityWarning), c.want)
			}
		})
	}
}

// TestCorpusLetta reads every exported agent that people published. Three files
// are JSON that was written as a text of JSON.
func TestCorpusLetta(t *testing.T) {
	loaded, twice := 0, 0
	for name, data := range published(t, "letta-af") {
		f := &dialect.File{Name: name, Path: name, Data: data}
		d, _ := dialect.Detect(f)
		ps, ds := d.Decode(f)
		want := ""
		if strings.HasPrefix(string(data), `"{`) {
			want = name + ":1:1: warning [P184]: "
			twice++
		}
		if got := lines(ds, profile.SeverityWarning); d.Name != "letta" || !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s %s: %s", d.Name, name, got)
		}
		for _, p := range ps {
			empty := p.Name == "outreach_workflow_agent" // whose prompt is empty
			if (p.Body == "") != empty || !p.Model.Set {
				t.Errorf("%s: %s has no prompt or no model", name, p.Name)
			}
			loaded++
		}
	}
	if loaded < 14 || twice != 3 {
		t.Errorf("%d agents, %d files written twice", loaded, twice)
	}
}

func FuzzLetta(f *testing.F) {
	f.Add([]byte(lettaTwo))
	f.Add([]byte(`"{\"system\": \"s\", \"llm_config\": {\"model\": \"m\"}}"`))
	f.Add([]byte(`{"system": "s", "llm_config": {"temperature": 9}, "tools": [3], "name": 1}`))
	d, _ := dialect.ByName("letta")
	f.Fuzz(func(t *testing.T, data []byte) {
		ps, ds := d.Decode(&dialect.File{Name: "a.af.json", Path: "a.af.json", Data: data})
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 {
				t.Errorf("bad diagnostic %+v", ds[i])
			}
		}
		for _, p := range ps {
			if err := profile.CheckName(p.Name); err != nil && !profile.Refused(ds) {
				t.Error(err)
			}
		}
	})
}
