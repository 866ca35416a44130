package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// family reads the profile a in profiles/a.md and its parents, the weakest
// first, each named by its file.
func (w *world) family(t *testing.T, a string, parents ...string) Input {
	t.Helper()
	in := w.input(t, "profiles/a.md", a)
	var all []*profile.Profile
	for i, text := range parents {
		p, ds := dialect.Decode("profiles/"+string(rune('p'+i))+".md", []byte(text))
		if p == nil {
			t.Fatal(ds)
		}
		all = append(all, p)
	}
	in.Profile = in.Profile.Linked(all)
	return in
}

func file(name string, line, column int, layer source.Layer) source.Origin {
	return source.Origin{Layer: layer, File: "profiles/" + name + ".md", Line: line, Column: column}
}

func TestExtendsLayers(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake + "defaults: {temperature: 0.1}\n"})
	in := w.family(t, "---\nextends: q\ntools: [read]\nlimits: {turns: 3}\ntool-settings: {read: {limit: 5}}\n---\nChild.",
		"---\ntitle: The base\nmodel: fake/text\ntemperature: 0.4\ntools: [read, grep, bash]\nlimits: {turns: 9, tokens: 100}\n---\nBase.",
		"---\nextends: p\ntemperature: 0.6\ntool-settings: {read: {limit: 9, line-numbers: false}}\ndescription: Middle.\n---\nMiddle.")
	in.Flags = map[string]string{"limits.tokens": "7"}
	s, _, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]spec.Trace{
		"title":       {Origin: source.Origin{Layer: source.Builtin}},
		"description": {Origin: file("q", 5, 1, source.Extends)},
		"model":       {Origin: file("p", 3, 1, source.Extends)},
		"temperature": {Origin: file("q", 3, 1, source.Extends), Overrode: []source.Origin{
			{Layer: source.Defaults, File: "roster.yaml", Line: 7, Column: 12}, file("p", 4, 1, source.Extends)}},
		"tools":              {Origin: file("a", 3, 1, source.Profile), Overrode: []source.Origin{{Layer: source.Builtin}, file("p", 5, 1, source.Extends)}},
		"limits.turns":       {Origin: file("a", 4, 10, source.Profile), Overrode: []source.Origin{{Layer: source.Builtin}, file("p", 6, 10, source.Extends)}},
		"limits.tokens":      {Origin: source.Origin{Layer: source.Flag}, Overrode: []source.Origin{{Layer: source.Builtin}, file("p", 6, 20, source.Extends)}},
		"tool-settings.read": {Origin: file("a", 5, 17, source.Profile), Overrode: []source.Origin{file("q", 4, 17, source.Extends)}},
		"system-prompt":      {Origin: file("a", 7, 1, source.Profile)},
	} {
		if diff := cmp.Diff(want, s.Origins[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	if got := string(s.ToolSettings["read"]); got != `{"limit":5,"line-numbers":false}` {
		t.Errorf("settings %s", got)
	}
	if s.Revision != in.Profile.Revision() || s.Title != "" || *s.Params.Temperature != 0.6 {
		t.Errorf("%+v", s)
	}
	var text strings.Builder
	if err := Explain(s).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "temperature") && strings.Join(strings.Fields(line), " ") != "temperature 0.6 profiles/q.md:3 extends (over profiles/p.md:4)" {
			t.Errorf("explained as %s", line)
		}
	}
}

func TestExtendsTools(t *testing.T) {
	tests := []struct {
		name, defaults, child string
		parents               []string
		want                  string
	}{
		{"replaced", "", "tools: [bash]", []string{"tools: [read, grep]"}, "bash"},
		{"inherited", "", "", []string{"tools: [read, grep]"}, "read grep"},
		{"added", "", "+tools: [bash, read]", []string{"tools: [read, grep]"}, "read grep bash"},
		{"added twice", "", "+tools: [c]", []string{"tools: [a]", "+tools: [b]"}, "a b c"},
		{"added to one that replaced", "", "+tools: [c]", []string{"tools: [a]", "tools: [b]"}, "b c"},
		{"added to all", "", "+tools: [c]", []string{"temperature: 1"}, "*"},
		{"all are added", "", `+tools: ["*"]`, []string{"tools: [a]"}, "*"},
		{"added to a default", "tools: [a]", "+tools: [c]", []string{"temperature: 1"}, "a c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": "defaults: {model: builtin/demo, " + tt.defaults + "}"})
			var parents []string
			for _, p := range tt.parents {
				parents = append(parents, "---\n"+p+"\n---\n")
			}
			s, _, err := Spec(w.family(t, "---\nextends: p\n"+tt.child+"\n---\nHi.", parents...))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(s.Tools, " ")
			if s.AllTools {
				got = "*"
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExtendsPrompt(t *testing.T) {
	const body, key, file, none = "---\ndescription: d\n---\nBody of the ", "---\nsystem-prompt: Key of the ", "---\nsystem-prompt: file:base.md\n---\n", "---\ndescription: d\n---\n"
	tests := []struct {
		name, child string
		parents     []string
		flag        string
		want, at    string
	}{
		{"its own body", body + "child.", []string{body + "base."}, "", "Body of the child.", "profile profiles/a.md:4:1"},
		{"the parent's body", none, []string{body + "base."}, "", "Body of the base.", "extends profiles/p.md:4:1"},
		{"its own body over the parent's key", body + "child.", []string{key + "base.\n---\nDoc."}, "", "Body of the child.", "profile profiles/a.md:4:1"},
		{"its own key", key + "child.\n---\nDoc.", []string{body + "base."}, "", "Key of the child.", "profile profiles/a.md:2:1"},
		{"the parent's key over that one's body", none, []string{key + "base.\n---\nDoc."}, "", "Key of the base.", "extends profiles/p.md:2:1"},
		{"the parent's file", none, []string{file}, "", "From a file.", "extends base.md:1"},
		{"the nearest that has one", none, []string{body + "base.", key + "middle.\n---\n"}, "", "Key of the middle.", "extends profiles/q.md:2:1"},
		{"the body of the middle over the key of the base", none, []string{key + "base.\n---\n", body + "middle."}, "", "Body of the middle.", "extends profiles/q.md:4:1"},
		{"past one without", none, []string{body + "base.", none}, "", "Body of the base.", "extends profiles/p.md:4:1"},
		{"a flag over all", body + "child.", []string{key + "base.\n---\n"}, "Flag.", "Flag.", "flag flag"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": "defaults: {model: builtin/demo}", "base.md": "From a file.\n"})
			in := w.family(t, tt.child, tt.parents...)
			if tt.flag != "" {
				in.Flags = map[string]string{"system-prompt": tt.flag}
			}
			s, _, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			at := s.Origins["system-prompt"].Origin
			if got := layer(s, spec.Profile); got != tt.want || string(at.Layer)+" "+at.String() != tt.at {
				t.Errorf("got %q of %s %s, want %q of %s", got, at.Layer, at, tt.want, tt.at)
			}
		})
	}
}

func TestExtendsPermission(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": "defaults: {model: builtin/demo, permission: {bash: deny}}"})
	s, _, err := Spec(w.family(t, "---\npermission: {bash: {\"git *\": allow}}\n---\nHi.",
		"---\npermission: {bash: allow, edit: deny}\n---\n", "---\npermission: {bash: ask}\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.Rules[len(permission.Builtin()):] {
		got = append(got, strings.Join([]string{r.Tool, r.Subject, r.Effect.String(), string(r.At.Layer)}, " "))
	}
	want := []string{"bash * deny defaults", "bash * allow extends", "edit * deny extends", "bash * ask extends", "bash git * allow profile"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAParentsModelIsTheProfilesOwn(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake})
	s, _, err := Spec(w.family(t, "---\nmodel: fake/other\n---\nHi.", "---\nprovider: openai\nmodel: gpt-5\n---\n"))
	if err != nil || s.Model.String() != "fake/other" {
		t.Errorf("got %v, %v", s, err)
	}
	if _, _, err := Spec(w.family(t, "---\nextends: p\n---\nHi.", "---\nmodel: /x\n---\n")); err == nil || !strings.Contains(err.Error(), "profiles/p.md:2:1") {
		t.Errorf("got %v", err)
	}
}
