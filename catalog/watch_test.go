package catalog_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/catalog"
)

// TestWatch makes every kind of change while the catalog is watched, each when
// the one before has been seen.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "profiles/a.md", text("model: one\n"))
	const knot = "---\nname: n\nprovider: p\nmodel: m\nsystem-prompt: s\n---\n"
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	replace := func(with string) {
		put(t, dir, "profiles/.a.md.swp", with)
		must(os.Rename(in("profiles/.a.md.swp"), in("profiles/a.md")))
	}
	steps := []struct {
		name   string
		change func()
		want   string // names, and models where there are any
		code   string
	}{
		{"at the start", func() {}, "a=one", ""},
		{"edit", func() { put(t, dir, "profiles/a.md", text("model: two\n")) }, "a=two", ""},
		{"an editor's rename over it", func() { replace(text("model: three\n")) }, "a=three", ""},
		{"an editor's delete and create", func() {
			must(os.Remove(in("profiles/a.md")))
			put(t, dir, "profiles/a.md", text("model: four\n"))
		}, "a=four", ""},
		{"add", func() { put(t, dir, "profiles/b.md", text("")) }, "a=four b", ""},
		{"in a folder just made", func() { put(t, dir, "profiles/x/y/c.md", text("")) }, "a=four b x/y/c", ""},
		{"in it again", func() { put(t, dir, "profiles/x/y/c.md", text("model: m\n")) }, "a=four b x/y/c=m", ""},
		{"break", func() { put(t, dir, "profiles/b.md", broken) }, "a=four x/y/c=m", "profiles/b.md P104"},
		{"mend", func() { put(t, dir, "profiles/b.md", text("")) }, "a=four b x/y/c=m", ""},
		{"another name in the file", func() { put(t, dir, "profiles/b.md", text("name: other\n")) }, "a=four other x/y/c=m", ""},
		{"delete", func() { must(os.Remove(in("profiles/b.md"))) }, "a=four x/y/c=m", ""},
		{"a new source", func() { put(t, dir, ".claude/agents/d.md", text("name: d\n")) }, "a=four d x/y/c=m", ""},
		{"a new rig", func() { put(t, dir, "night-rig/profiles/n.md", knot) }, "a=four d n=m x/y/c=m", ""},
		{"a folder goes", func() { must(os.RemoveAll(in("profiles"))) }, "d n=m", ""},
		{"and comes back", func() { put(t, dir, "profiles/e.md", text("")) }, "d e n=m", ""},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := 0 // the step whose outcome is waited for
	for s := range workspace(dir).Watch(ctx) {
		for next < len(steps) && seen(s) == steps[next].want && diagnosed(s) == steps[next].code {
			if next++; next < len(steps) {
				steps[next].change()
			}
		}
		if next == len(steps) {
			break
		}
	}
	if next < len(steps) {
		t.Fatalf("%s: not seen", steps[next].name)
	}
}

func seen(s *catalog.Snapshot) string {
	var out []string
	for p := range s.List() {
		name := p.Name
		if p.Model.Set {
			name += "=" + p.Model.V
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func diagnosed(s *catalog.Snapshot) string {
	var out []string
	for _, d := range s.Diagnostics() {
		out = append(out, d.File+" "+d.Code)
	}
	return strings.Join(out, "\n")
}

func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range workspace(t.TempDir()).Watch(ctx) {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d snapshots", n)
	}
}

// TestCheckoutIsSeen has git change 1,000 files at once: the next look sees all
// of them, and a watcher within 2 seconds.
func TestCheckoutIsSeen(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed")
	}
	const n = 1000
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git, append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(model string) {
		for i := range n {
			put(t, dir, fmt.Sprintf("agents/d%d/a%d.md", i%10, i), text("model: "+model+"\n"))
		}
	}
	all := func(s *catalog.Snapshot, model string) bool {
		for p := range s.List() {
			if p.Model.V != model {
				return false
			}
		}
		return s.Len() == n
	}
	run("init", "-q", "-b", "one")
	write("one")
	run("add", ".")
	run("commit", "-q", "-m", "one")
	run("checkout", "-q", "-b", "two")
	write("two")
	run("commit", "-q", "-a", "-m", "two")

	c := workspace(dir)
	if !all(c.Snapshot(), "two") {
		t.Fatal("before")
	}
	run("checkout", "-q", "one")
	if !all(c.Snapshot(), "one") {
		t.Error("the look after the checkout does not see all of it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var done time.Time
	for s := range c.Watch(ctx) {
		if done.IsZero() {
			run("checkout", "-q", "two")
			done = time.Now()
		}
		if all(s, "two") {
			break
		}
	}
	if took := time.Since(done); ctx.Err() != nil || took > 2*time.Second {
		t.Errorf("the watcher saw it after %v", took)
	}
}
