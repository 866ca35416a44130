package dialect_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// decodeFile reads the one profile of a file.
func decodeFile(t testing.TB, f *dialect.File) *profile.Profile {
	t.Helper()
	d, ok := dialect.Detect(f)
	if !ok {
		t.Fatalf("%s is no profile", f.Path)
	}
	ps, ds := d.Decode(f)
	if profile.Refused(ds) || len(ps) != 1 {
		t.Fatalf("%s: %v", f.Path, ds)
	}
	return ps[0]
}

func text[T any](v T) profile.Value[T] { return profile.Value[T]{V: v, Set: true} }

func TestUpdateChangesOnlyWhatChanged(t *testing.T) {
	const file = "---\n# who it is\nname: a\ndescription: 'x: y'   # said # often\nmodel:   fake/one # cheap\ncolour: red\n\n# how it works\ntools: [read, \"a # b\"] # two\nlimits:\n  # at most\n  turns: 5   # loops\n  strange: 1\n  tokens: 100\ntemperature: 0.50\n---\nBody.\n"
	tests := []struct {
		name     string
		change   func(*profile.Profile)
		old, new string // of the text
	}{
		{"nothing", func(*profile.Profile) {}, "", ""},
		{"a value with a comment behind it", func(p *profile.Profile) { p.Model.V = "fake/two" }, "model:   fake/one # cheap", "model: fake/two # cheap"},
		{"a quoted value with a comment", func(p *profile.Profile) { p.Description.V = "z" }, "description: 'x: y'   # said # often", "description: z   # said # often"},
		{"a list with a comment", func(p *profile.Profile) { p.Tools.V.Names, p.Tools.V.Written = []string{"read"}, nil }, `tools: [read, "a # b"] # two`, "tools: [read] # two"},
		{"several lines for one", func(p *profile.Profile) { p.Description.V = "a\nb\n" }, "description: 'x: y'   # said # often\n", "description: |\n  a\n  b\n"},
		{"a key inside a map", func(p *profile.Profile) { p.Limits.Turns.V = 6 }, "  turns: 5   # loops", "  turns: 6   # loops"},
		{"a new key inside a map", func(p *profile.Profile) { p.Limits.Cost = text(1.5) }, "  tokens: 100\n", "  tokens: 100\n  cost: 1.5\n"},
		{"a key inside a map goes", func(p *profile.Profile) { p.Limits.Turns.Set = false }, "  turns: 5   # loops\n", ""},
		{"a new key", func(p *profile.Profile) { p.TopP = text(0.9) }, "temperature: 0.50\n", "temperature: 0.50\ntop-p: 0.9\n"},
		{"a key goes", func(p *profile.Profile) { p.Temperature.Set = false }, "temperature: 0.50\n", ""},
		{"a key goes, the comment before the next stays", func(p *profile.Profile) {
			p.Extra = slices.DeleteFunc(p.Extra, func(x profile.Extra) bool { return x.Key == "colour" })
		},
			"colour: red\n", ""},
		{"the body", func(p *profile.Profile) { p.Body = "Other.\n\nText" }, "Body.\n", "Other.\n\nText"},
		{"no body", func(p *profile.Profile) { p.Body = "" }, "Body.\n", ""},
	}
	for _, tt := range tests {
		for _, eol := range []string{"\n", "\r\n"} {
			t.Run(tt.name+map[string]string{"\n": "", "\r\n": " in CRLF"}[eol], func(t *testing.T) {
				if tt.old != "" && strings.Count(file, tt.old) != 1 {
					t.Fatalf("%q is not in the file once", tt.old)
				}
				data := []byte(strings.ReplaceAll(file, "\n", eol))
				f := &dialect.File{Name: "profiles/a.md", Path: "profiles/a.md", Data: data}
				p := *decodeFile(t, f)
				p.Extra = slices.Clone(p.Extra)
				tt.change(&p)
				parts, ds := dialect.Update(f, &p)
				if profile.Refused(ds) {
					t.Fatal(ds)
				}
				want := strings.ReplaceAll(strings.Replace(file, tt.old, tt.new, 1), "\n", eol)
				if got := string(parts[0].Data); got != want || parts[0].Path != "a.md" {
					t.Errorf("%s:\n%q\nwant\n%q", parts[0].Path, got, want)
				}
			})
		}
	}
}

func TestUpdateRefuses(t *testing.T) {
	tests := []struct {
		name, path, file string
		change           func(*profile.Profile)
		want             string // code
	}{
		{"a file that does not load", "profiles/a.md", "---\nname: [\n---\n", nil, profile.CodeNotClosed},
		{"keys that share a line", "profiles/a.md", "---\n{name: a, model: x}\n---\nb\n", func(p *profile.Profile) { p.Model.V = "y" }, profile.CodeByHand},
		{"an anchor that is used elsewhere", "profiles/a.md", "---\nname: a\nmodel: &m fake/x\ncolour: *m\n---\nb\n", func(p *profile.Profile) { p.Model.V = "y" }, profile.CodeCannotHold},
		{"what the dialect cannot hold", ".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nx\n", func(p *profile.Profile) { p.Persona = text("all") }, profile.CodeCannotHold},
		{"a description that has to stay", ".opencode/agent/a.md", "---\ndescription: x\n---\nb\n", func(p *profile.Profile) { p.Description.Set = false }, profile.CodeNeedDescription},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.file)}
			p := &profile.Profile{Name: "a"}
			if tt.change != nil {
				c := *decodeFile(t, f)
				p = &c
				tt.change(p)
			}
			parts, ds := dialect.Update(f, p)
			if len(parts) > 0 || !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool { return d.Code == tt.want && d.Severity == profile.SeverityError }) {
				t.Errorf("%q %v, want %s", parts, ds, tt.want)
			}
		})
	}
}

func TestUpdateKnowsOtherSpellings(t *testing.T) {
	f := &dialect.File{Path: ".opencode/agent/a.md", Data: []byte("---\ndescription: x\nmaxSteps: 5 # a\ntopP: 0.5\n---\nb\n")}
	p := *decodeFile(t, f)
	p.Limits.Turns.V, p.TopP.V = 6, 0.25
	parts, ds := dialect.Update(f, &p)
	if want := "---\ndescription: x\nsteps: 6 # a\ntopP: 0.25\n---\nb\n"; profile.Refused(ds) || string(parts[0].Data) != want {
		t.Errorf("%v %q", ds, parts)
	}
}

// changes are made to each real file, one at a time.
func changes() map[string]func(*profile.Profile) {
	return map[string]func(*profile.Profile){
		"model":       func(p *profile.Profile) { p.Model = text("anthropic/claude-haiku-4-5") },
		"description": func(p *profile.Profile) { p.Description = text("Changed: \"it\" # is\n") },
		"body":        func(p *profile.Profile) { p.Body += "\nOne line more.\n" },
	}
}

// TestUpdateOfTheCorpus writes each real profile into its own file: unchanged,
// that is the file; with one change, only the lines of that key are others.
func TestUpdateOfTheCorpus(t *testing.T) {
	files, _ := corpus(t)
	same, updated := 0, map[string]int{}
	refused := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := &dialect.File{Name: name, Path: name, Data: files[name], Claimed: true}
		d, ok := dialect.Detect(f)
		if !ok || d.Encode == nil {
			continue
		}
		ps, ds := d.Decode(f)
		if profile.Refused(ds) || len(ps) != 1 {
			continue
		}
		parts, ds := dialect.Update(f, ps[0])
		if len(parts) != 1 || !bytes.Equal(parts[0].Data, f.Data) {
			t.Errorf("%s: unchanged, and not the same: %v", name, ds)
		}
		same++
		for key, change := range changes() {
			p := *ps[0]
			change(&p)
			parts, ds := dialect.Update(f, &p)
			if len(parts) == 0 {
				refused[key]++
				if !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool {
					return d.Code == profile.CodeByHand || d.Code == profile.CodeCannotHold
				}) {
					t.Errorf("%s: %s: %v", name, key, ds)
				}
				t.Logf("%s: %s: %v", name, key, ds)
				continue
			}
			updated[key]++
			if lines := otherLines(f.Data, parts[0].Data, key); lines != "" {
				t.Errorf("%s: the change of %s also touched %q", name, key, lines)
			}
		}
	}
	t.Logf("%d files the same, updated %v, refused %v", same, updated, refused)
	if same < 800 || updated["model"] < same*99/100 {
		t.Errorf("%d files the same, updated %v, refused %v", same, updated, refused)
	}
}

// otherLines gives a line of the file that is gone and does not belong to a key:
// what is left of the file without the key's lines must be in the new one, in
// order.
func otherLines(old, now []byte, key string) string {
	at := 0
	inKey, front := false, 0
	rest := bytes.SplitAfter(now, []byte("\n"))
	for line := range bytes.Lines(old) {
		if bytes.HasPrefix(bytes.TrimPrefix(line, []byte("\ufeff")), []byte("---")) {
			front++
		}
		if front == 1 {
			switch {
			case bytes.HasPrefix(line, []byte(key)):
				inKey = true
			case len(bytes.TrimSpace(line)) > 0 && line[0] != ' ' && line[0] != '\t':
				inKey = false
			}
			if inKey {
				continue
			}
		} else if key == "body" && front > 1 {
			line = bytes.TrimRight(line, "\r\n")
		}
		for at < len(rest) && !bytes.HasPrefix(rest[at], line) {
			at++
		}
		if at == len(rest) {
			return string(line)
		}
		at++
	}
	return ""
}

func FuzzUpdate(f *testing.F) {
	f.Add("---\nname: a\nmodel: x # y\nlimits:\n  turns: 1\n---\nb\n", "fake/two", 3)
	f.Add("---\r\nname: a\r\ntools:\r\n- read\r\n---\r\nb", "x\n  y: z\n", 0)
	f.Add("---\n{name: a}\n---\n", "", -1)
	f.Fuzz(func(t *testing.T, data, value string, turns int) {
		file := &dialect.File{Path: "profiles/a.md", Data: []byte(data), Claimed: true}
		d, ok := dialect.Detect(file)
		if !ok {
			return
		}
		ps, ds := d.Decode(file)
		if profile.Refused(ds) {
			return
		}
		if parts, ds := dialect.Update(file, ps[0]); len(parts) != 1 || string(parts[0].Data) != data {
			t.Fatalf("unchanged: %v", ds)
		}
		p := *ps[0]
		p.Description, p.Limits.Turns = text(value), text(turns)
		parts, ds := dialect.Update(file, &p)
		if len(parts) == 0 {
			if !profile.Refused(ds) {
				t.Fatal("neither written nor refused")
			}
			return
		}
		written := &dialect.File{Path: file.Path, Data: parts[0].Data, Claimed: true}
		got := decodeFile(t, written)
		if got.Description.V != value || got.Limits.Turns.V != turns || got.Body != ps[0].Body {
			t.Errorf("wrote %q", parts[0].Data)
		}
	})
}
