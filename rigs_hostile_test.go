package roster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
)

// TestHostileRig: names and links lead nowhere, what is no text is no strand, and one
// knot that is wrong stops no other.
func TestHostileRig(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""),
		"rig/docs-loom/up.md":      strings.Replace(reviewKnot(""), "name: review", "name: ../../up", 1),
		"rig/docs-loom/outside.md": strings.NewReplacer("name: review", "name: outside", "strand-dir: strands", "strand-dir: /etc").Replace(reviewKnot("")),
		"rig/docs-loom/above.md":   strings.NewReplacer("name: review", "name: above", "strand-dir: strands", "strand-dir: ../").Replace(reviewKnot("")),
		"rig/docs-loom/broken.md":  "---\nname: [\n---\n",
		"strands/first.md":         "one\n",
		"strands/binary.md":        "a\x00b",
		"strands/.hidden.md":       "hidden\n",
		"strands/a.md~":            "backup\n",
		"strands/sedan.txt":        "a car\n",
	})
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("THE-SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"strands/link.md": secret, "strands/dir": filepath.Dir(secret)} {
		if err := os.Symlink(to, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(filepath.Join(r.dir, "strands", "large.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Read.")})
	text := r.tieOff("docs-loom/review", "strands/first.md", "strands/sedan.txt")
	r.until("the end", func() bool { return len(r.jobs(ledger.Done)) == 2 })
	jobs := r.jobs()
	for _, j := range jobs {
		if j.Path != "strands/first.md" && j.Path != "strands/sedan.txt" {
			t.Errorf("%+v", j)
		}
		if strings.Contains(r.read(j.Session), "THE-SECRET") {
			t.Error("the secret was read")
		}
	}
	if len(jobs) != 2 || strings.Contains(text, "up.md") {
		t.Errorf("%+v", jobs)
	}
	store, err := r.app.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen, err := store.Strands(t.Context(), r.app.RigKey("rig"), "docs-loom/review")
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, s := range seen {
		why[s.Path] = s.Skipped
	}
	for path, want := range map[string]string{"strands/binary.md": "binary", "strands/large.md": "large", "strands/link.md": "outside", "strands/first.md": ""} {
		if got, known := why[path]; !known || got != want {
			t.Errorf("%s is skipped as %q, known: %v, want %q", path, got, known, want)
		}
	}
	outside, err := filepath.Glob(filepath.Join(filepath.Dir(r.dir), "*up*"))
	if err != nil || len(outside) > 0 {
		t.Errorf("written outside: %v, %v", outside, err)
	}
	loaded, err := r.app.Rig(t.Context(), "rig")
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, d := range loaded.Diagnostics() {
		said += d.File + ": " + d.Name + " " + d.Message + "\n"
	}
	for _, want := range []string{"docs-loom/up.md", "docs-loom/outside.md", "docs-loom/above.md", "docs-loom/broken.md: InvalidFormat"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in\n%s", want, said)
		}
	}
}

// TestBatch: a knot that takes a
// batch gets all that changed in a quiet period in one run, one that takes diffs what
// changed, and one that takes paths no content.
func TestBatch(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md":   fastProfile,
		"rig/docs-loom/batch.md": "---\nname: batch\nagent-profile-ref: fast\nstrand-dir: strands\ndebounce: 200ms\nprompt-template: {input-bundling: batch, instructions: Look at all.}\n---\n",
		"rig/docs-loom/diff.md":  "---\nname: diff\nagent-profile-ref: fast\nstrand-dir: other\nprompt-template: {input-bundling: diff, instructions: Look at it.}\n---\n",
		"rig/docs-loom/path.md":  "---\nname: path\nagent-profile-ref: fast\nstrand-dir: other\nprompt-template: {input-bundling: path, instructions: Look at it.}\n---\n",
		"other/x.md":             "line one\nline two\n",
	})
	r.git("init", "-q")
	r.git("add", ".")
	r.git("commit", "-qm", "first")
	write(t, r.dir, "other/x.md", "line one\nline 2\n")
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Seen.")})
	r.tieOff("docs-loom/diff", "Seen.")
	r.tieOff("docs-loom/path", "Seen.")
	for _, name := range []string{"a", "b", "c"} {
		write(t, r.dir, "strands/"+name+".md", "content of "+name+"\n")
	}
	r.tieOff("docs-loom/batch", "Seen.", "<!-- roster job=")
	r.until("the end", func() bool { return len(r.jobs(ledger.Done)) == 3 })
	for _, j := range r.jobs() {
		asked := r.read(j.Session)
		for want, is := range map[string]bool{
			"content of a": j.Knot == "docs-loom/batch", "content of c": j.Knot == "docs-loom/batch", "3 files changed": j.Knot == "docs-loom/batch",
			`-line two\n+line 2`: j.Knot == "docs-loom/diff", "line one": j.Knot == "docs-loom/diff", "other/x.md": j.Knot != "docs-loom/batch",
		} {
			if strings.Contains(asked, want) != is {
				t.Errorf("%s: %q is asked: %v", j.Knot, want, !is)
			}
		}
	}
}
