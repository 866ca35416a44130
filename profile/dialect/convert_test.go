package dialect_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// loadedMarkdown gives every Markdown file of the corpus that loads.
func loadedMarkdown(t *testing.T, use func(path string, d dialect.Dialect, p *profile.Profile)) {
	t.Helper()
	files, _ := corpus(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := &dialect.File{Name: name, Path: name, Data: files[name]}
		d, ok := dialect.Detect(f)
		if !ok || path.Ext(name) != ".md" {
			continue
		}
		if ps, ds := d.Decode(f); !profile.Refused(ds) {
			use(name, d, ps[0])
		}
	}
}

// TestCorpusRoundTrip writes every file that loads in its own dialect: nothing
// is lost.
func TestCorpusRoundTrip(t *testing.T) {
	count := map[string]int{}
	loadedMarkdown(t, func(name string, d dialect.Dialect, p *profile.Profile) {
		parts, ds := dialect.Encode(d, p)
		if len(ds) > 0 || len(parts) != 1 {
			t.Errorf("%s: %s", name, texts(ds))
			return
		}
		f := &dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data}
		ps, _ := d.Decode(f)
		if diff := same(p, ps[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		count[d.Name]++
	})
	t.Log(count)
	if count["claude"] < 780 || count["opencode"] < 114 || count["copilot"] < 226 {
		t.Errorf("%v: too few files load", count)
	}
}

func texts(ds []profile.Diagnostic) string {
	var b strings.Builder
	for i := range ds {
		fmt.Fprintf(&b, "\n\t%v", &ds[i])
	}
	return b.String()
}

// TestConvertThereAndBack writes Claude's agents for OpenCode and back. What is
// different in the end was named on the way.
func TestConvertThereAndBack(t *testing.T) {
	claude, _ := dialect.ByName("claude")
	opencode, _ := dialect.ByName("opencode")
	n := 0
	named := map[string]int{}
	loadedMarkdown(t, func(name string, d dialect.Dialect, p *profile.Profile) {
		if d.Name != "claude" || !p.Description.Set {
			return
		}
		n++
		there, lost := convert(t, opencode, p)
		back, lostAgain := convert(t, claude, there)
		lost = append(lost, lostAgain...)
		for _, l := range lost {
			named[l.Key]++
		}
		for _, key := range differing(p, back) {
			if !slices.ContainsFunc(lost, func(l profile.Diagnostic) bool { return l.Key == key || strings.HasPrefix(l.Key, key+".") }) {
				t.Errorf("%s: %s is lost, and no report names it\n%s", name, key, same(p, back))
			}
		}
	})
	t.Logf("%d agents, lost: %v", n, named)
	if n < 100 {
		t.Errorf("%d agents are too few", n)
	}
}

func convert(t *testing.T, to dialect.Dialect, p *profile.Profile) (*profile.Profile, []profile.Diagnostic) {
	t.Helper()
	parts, lost := dialect.Encode(to, p)
	if profile.Refused(lost) {
		t.Fatalf("%s to %s: %s", p.File, to.Name, texts(lost))
	}
	ps, ds := to.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
	if profile.Refused(ds) {
		t.Fatalf("%s: %s", p.File, texts(ds))
	}
	return ps[0], lost
}

// differing lists the keys in which two profiles differ, in its own way.
func differing(a, b *profile.Profile) []string {
	var keys []string
	add := func(key string, differ bool) {
		if differ {
			keys = append(keys, key)
		}
	}
	add("name", a.Name != b.Name)
	add("title", a.Title.V != b.Title.V)
	add("description", a.Description.V != b.Description.V)
	add("mode", a.Mode.V != b.Mode.V)
	add("hidden", a.Hidden.V != b.Hidden.V)
	add("model", a.Provider.V != b.Provider.V || a.Model.V != b.Model.V)
	add("thinking", a.Thinking.V != b.Thinking.V)
	add("temperature", a.Temperature.Set != b.Temperature.Set || a.Temperature.V != b.Temperature.V)
	add("tools", a.Tools.Set != b.Tools.Set || a.Tools.V.All != b.Tools.V.All || !slices.Equal(a.Tools.V.Names, b.Tools.V.Names))
	add("permission", rulesWithout(a) != rulesWithout(b))
	add("limits.turns", a.Limits.Turns.V != b.Limits.Turns.V)
	add("limits.duration", a.Limits.Duration.V != b.Limits.Duration.V)
	add("system-prompt", a.SystemPrompt.V != b.SystemPrompt.V)
	add("body", a.Body != b.Body)
	for _, x := range a.Extra {
		add(x.Key, !slices.ContainsFunc(b.Extra, func(y profile.Extra) bool { return x.Key == y.Key && string(x.YAML) == string(y.YAML) }))
	}
	return keys
}

func rulesWithout(p *profile.Profile) string {
	var b strings.Builder
	for _, r := range p.Permission {
		fmt.Fprintln(&b, r.Tool, r.Subject, r.Effect)
	}
	return b.String()
}

// TestConvertEverything writes every file that loads in every other dialect:
// it is written, or an error says why not, and never panics.
func TestConvertEverything(t *testing.T) {
	count := map[string]int{}
	n := 0
	loadedMarkdown(t, func(name string, from dialect.Dialect, p *profile.Profile) {
		if n++; n%5 != 0 { // a fifth of them shows it
			return
		}
		for _, to := range dialect.All() {
			if to.Encode == nil {
				continue
			}
			parts, ds := dialect.Encode(to, p)
			status := "written"
			if len(ds) > 0 {
				status = "with losses"
			}
			if profile.Refused(ds) {
				status = "refused"
			}
			if (len(parts) == 0) != profile.Refused(ds) {
				t.Errorf("%s to %s: %d parts and %s", name, to.Name, len(parts), texts(ds))
			}
			count[from.Name+" to "+to.Name+": "+status]++
		}
	})
	for _, line := range slices.Sorted(maps.Keys(count)) {
		t.Log(line, count[line])
	}
}
