package prompt

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// library reads prompts and strategies as they stand in roster.yaml.
func library(t *testing.T, text string) *Library {
	t.Helper()
	var doc struct {
		Prompts    map[string]yaml.Node `yaml:"prompts"`
		Strategies map[string]yaml.Node `yaml:"prompt-strategies"`
	}
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	lib := &Library{}
	for name, n := range doc.Prompts {
		in, problems := ReadInstance("roster.yaml", source.Defaults, name, &n)
		if len(problems) > 0 {
			t.Fatal(problems[0])
		}
		lib.Instances = append(lib.Instances, in)
	}
	for name, n := range doc.Strategies {
		tpl, problems := ReadTemplate("roster.yaml", source.Defaults, name, &n)
		if len(problems) > 0 {
			t.Fatal(problems[0])
		}
		lib.Templates = append(lib.Templates, tpl)
	}
	return lib
}

const declared = `
prompts:
  brief: You are brief.
  reviewer:
    strategy: agent
    blocks: {constraints: Touch nothing., identity: You review., instructions: "file:how.txt", tools: ""}
  long: {strategy: house, blocks: {b: "ééééé", a: one}}
  odd: {strategy: agent, blocks: {mood: Be kind.}}
  nowhere: {strategy: hous, blocks: {a: x}}
  shout: {strategy: loud, blocks: {a: x, b: "file:how.txt", c: ""}}
  twice: Of roster.yaml.
  lost: {blocks: {a: "file:none.txt"}}
prompt-strategies:
  house: {blocks: [{name: a, order: 9}, {name: b, order: 1, max-length: 3}]}
`

type loud struct{}

func (loud) Compose(blocks []Block) (string, error) {
	if len(blocks) == 0 {
		return "", errors.New("nothing to say")
	}
	return strings.ToUpper(fmt.Sprint(blocks)), nil
}

func TestReference(t *testing.T) {
	root := workspace(t, map[string]string{
		"how.txt": "Read first.\n", "prompts/file.yaml": "strategy: shape\nblocks: {x: of a file}\n",
		"prompts/shape.yaml": "blocks:\n- x\n- {name: y, max-length: 2}\n", "prompts/twice.yaml": "blocks: {a: x}\n",
		"prompts/bad.yaml": "strategy: agent\nblock: {a: x}\n", "prompts/empty.yaml": "", "prompts/broken.yaml": "a: [",
	})
	at := source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 2, Column: 1}
	for _, c := range []struct{ system, want, fails string }{
		{"{{brief}}", "You are brief.", ""},
		{"{{ system_prompt.brief }}", "You are brief.", ""},
		{"{{reviewer}}", "You review.\n\nRead first.\n\nTouch nothing.", ""},
		{"{{long}}", "ééé\n\none", ""},
		{"{{file}}", "of a file", ""},
		{"{{shout}}", "[{A X} {B READ FIRST.}]", ""},
		{"{{reviewers}}", "", `profiles/a.md:2:1: there is no prompt "reviewers" (did you mean "reviewer"?)`},
		{"{{nowhere}}", "", `there is no strategy "hous" (did you mean "house"?)`},
		{"{{odd}}", "", `the strategy agent has no block "mood"; it has identity, instructions, tools, constraints`},
		{"{{twice}}", "", `the prompt "twice" stands in roster.yaml:11:10 and in prompts/twice.yaml:1:1: keep one`},
		{"{{bad}}", "", `prompts/bad.yaml:2:1: bad: unknown key "block"; did you mean "blocks"?`},
		{"{{empty}}", "", "prompts/empty.yaml cannot be read: it is empty"},
		{"{{broken}}", "", "prompts/broken.yaml cannot be read"},
		{"{{lost}}", "", "the prompt file none.txt cannot be read"},
		{"{{a.b}}", "", `there is no prompt "a.b"`},
	} {
		t.Run(c.system, func(t *testing.T) {
			composer := NewComposer(root, library(t, declared), map[string]Strategy{"loud": loud{}})
			got, _, err := composer.Text(profile.Value[string]{V: c.system, Set: true, At: at})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error = %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
			if c.system == "{{long}}" && fmt.Sprint(composer.Cut) != "[{b roster.yaml:7:36 5 3}]" {
				t.Errorf("cut: %v", composer.Cut)
			}
		})
	}
}

// TestFillIsForTheProfilesOwn: what a profile's variables hold does not get into
// a prompt that somebody else wrote.
func TestFillIsForTheProfilesOwn(t *testing.T) {
	c := NewComposer(workspace(t, nil), library(t, "prompts: {theirs: \"key ${KEY}\"}"), nil)
	c.Fill = func(s string) (string, error) { return strings.ReplaceAll(s, "${KEY}", "hunter2"), nil }
	for system, want := range map[string]string{"{{theirs}}": "key ${KEY}", "mine ${KEY}": "mine hunter2"} {
		if got, _, err := c.Text(profile.Value[string]{V: system, Set: true}); got != want || err != nil {
			t.Errorf("%s: %q, %v", system, got, err)
		}
	}
	own := profile.Extra{Key: "prompt", Known: true, YAML: []byte("\n  blocks:\n    a: own ${KEY}")}
	if got, err := c.Key(own, true); got != "own hunter2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestKey(t *testing.T) {
	at := source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 7, Column: 1}
	for _, c := range []struct{ yaml, want, fails string }{
		{"\n  blocks: {b: two, a: one}", "two\n\none", ""},
		{"\n  strategy: minimal\n  blocks: {task: T, identity: I}", "I\n\nT", ""},
		{"\n  blocks:\n    a: {text: aaaa, max-length: 2, order: 5}\n    b: bb", "bb\n\naa", ""},
		{"\n  strategy: minimal\n  blocks:\n    tone: x", "", `profiles/a.md:10:5: tone: the strategy minimal has no block "tone"`},
		{"\n  blocks: {a: \"{{other}}\"}", "", "profiles/a.md:8:12: a: a block takes a text or file:PATH"},
		{"\n  blocks: [a]", "", "profiles/a.md:8:11: prompt.blocks: it takes a map"},
		{" {blocks: {a: text}}", "text", ""},
		{"\n  blocks:\n    a: {text: x, max-length: 0}", "", "it takes a whole number of at least 1"},
		{"\n  blocks: {a: x, a: y}", "", "stands twice"},
	} {
		t.Run(c.yaml, func(t *testing.T) {
			got, err := NewComposer(workspace(t, nil), nil, nil).Key(profile.Extra{Key: "prompt", Known: true, YAML: []byte(c.yaml), At: at}, true)
			if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) || c.fails == "" && err != nil || got != c.want {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.fails)
			}
		})
	}
}

func TestVars(t *testing.T) {
	v := Vars{Workspace: "/ws", Platform: "linux/amd64", Name: "a", Title: "A", Own: map[string]string{"team": "blue", "odd": "{{ .Name }}"}}
	for text, want := range map[string]string{
		"{{ .Name }} ({{.Title}}) in {{ .Workspace }} on {{.Platform}}": "a (A) in /ws on linux/amd64",
		"{{ .Vars.team }}":   "blue",
		"{{ .Vars.odd }}":    "{{ .Name }}", // what was filled in is text
		"{{ .Description }}": "",
		"{{ .Vars.none }}":   "{{ .Vars.none }} none",
		"{{ .Now }} {{name}} {{ range .X }} {{ .Vars }} {{ .Name.x }} { { .Name } }": "{{ .Now }} {{name}} {{ range .X }} {{ .Vars }} {{ .Name.x }} { { .Name } }",
	} {
		got, unset := v.Expand(text)
		if full := strings.TrimSpace(got + " " + strings.Join(unset, ",")); full != want {
			t.Errorf("%q: %q, want %q", text, full, want)
		}
	}
}

// FuzzKey: any key is read or refused, and what is read is in bounds.
func FuzzKey(f *testing.F) {
	for _, s := range []string{" text", "\n  strategy: agent\n  blocks: {identity: x}", "\n  blocks: {a: {text: x, order: 3, max-length: 1}}", " &a {blocks: *a}", " [", " {blocks: {a: !!binary x}}"} {
		f.Add(s)
	}
	dir := workspace(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		got, err := NewComposer(dir, nil, nil).Key(profile.Extra{Key: "prompt", Known: true, YAML: []byte(text)}, true)
		if err == nil && len(got) > 2*len(text)*len(text)+2 {
			t.Errorf("%d bytes became %d", len(text), len(got))
		}
	})
}
