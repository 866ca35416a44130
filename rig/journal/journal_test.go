package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster/rig/tieoff"
)

func rooted(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir
}

// TestTogether: what several add at once are all whole lines, and what several replace at
// once is always whole.
func TestTogether(t *testing.T) {
	root, dir := rooted(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 25 {
				line := fmt.Appendf(nil, `{"n":%d,"pad":%q}`, i*25+j, strings.Repeat("x", 3000))
				if err := errors.Join(Append(t.Context(), root, Log("rig"), line), Replace(t.Context(), root, State, line)); err != nil {
					t.Error(err)
				}
				if data, err := root.ReadFile(State); err != nil || !json.Valid(data) {
					t.Errorf("the state is %.40q, %v", data, err)
				}
			}
		})
	}
	all.Wait()
	data, err := root.ReadFile(Log("rig"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var one struct{ N int }
		if err := json.Unmarshal(line, &one); err != nil || seen[one.N] {
			t.Errorf("%.40q: %v", line, err)
		}
		seen[one.N] = true
	}
	if len(seen) != 200 {
		t.Errorf("there are %d lines", len(seen))
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRotation: a log is bounded, and no line is lost but those of the one before.
func TestRotation(t *testing.T) {
	root, _ := rooted(t)
	file := Log("rig")
	if err := root.MkdirAll(Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"first", "second"} {
		if err := root.WriteFile(file, []byte(n+strings.Repeat("x", MaxLog-10)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Append(t.Context(), root, file, []byte("a longer line than fits")); err != nil {
			t.Fatal(err)
		}
		old, err := root.ReadFile(file + ".1")
		if err != nil || !bytes.HasPrefix(old, []byte(n)) {
			t.Errorf("the one before is %.10q, %v", old, err)
		}
		if now, err := root.ReadFile(file); err != nil || string(now) != "a longer line than fits\n" {
			t.Errorf("it is %.40q, %v", now, err)
		}
	}
}

// TestTorn: half a line of a process that was killed is no part of the next.
func TestTorn(t *testing.T) {
	root, _ := rooted(t)
	if err := root.Mkdir(Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(Log("rig"), []byte(`{"id":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(".state.json.tmp", []byte("a long one of a process that was killed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Append(t.Context(), root, Log("rig"), []byte("{}")), Replace(t.Context(), root, State, []byte("{}"))); err != nil {
		t.Fatal(err)
	}
	log, _ := root.ReadFile(Log("rig"))
	state, _ := root.ReadFile(State)
	if string(log) != "{\"id\":\n{}\n" || string(state) != "{}" {
		t.Errorf("got %q and %q", log, state)
	}
}

// TestLinks: nothing is written through a link.
func TestLinks(t *testing.T) {
	root, dir := rooted(t)
	other := filepath.Join(t.TempDir(), "x")
	for link, to := range map[string]string{"logs": filepath.Dir(other), ".state.json.tmp": other} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	link := (*tieoff.LinkError)(nil)
	if err := Append(t.Context(), root, Log("rig"), []byte("{}")); !errors.As(err, &link) {
		t.Errorf("a log: %v", err)
	}
	if err := Replace(t.Context(), root, State, []byte("{}")); !errors.As(err, &link) {
		t.Errorf("the state: %v", err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("it was written through a link")
	}
}
