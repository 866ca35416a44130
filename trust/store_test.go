package trust

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/source"
)

func command(text string) Item {
	return NewItem(Hook, "a", "hooks.before-tool", source.Origin{File: "profiles/a.md", Line: 3}, scalar(text))
}

func TestFiles(t *testing.T) {
	f, dir := Files{Home: filepath.Join(t.TempDir(), "home")}, t.TempDir()
	state := func(i Item) State {
		t.Helper()
		v, err := f.View(dir)
		if err != nil {
			t.Fatal(err)
		}
		return v.State(i)
	}
	one, two := command("./one"), command("./two")
	if got := state(one); got != Untrusted {
		t.Errorf("at first: %s", got)
	}
	before := f.Stamp()
	if err := f.Trust(t.Context(), dir, []Item{one}); err != nil {
		t.Fatal(err)
	}
	if f.Stamp() == before {
		t.Error("the stamp did not change")
	}
	other := two
	other.Key = "hooks.after-tool"
	for i, want := range map[Item]State{one: Trusted, two: Changed, other: New} {
		if got := state(i); got != want {
			t.Errorf("%s %s: %s, want %s", i.Key, i.Text, got, want)
		}
	}
	info, err := os.Stat(f.path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if names, _ := filepath.Glob(filepath.Join(f.Home, "*")); len(names) != 2 { // and the lock
		t.Errorf("left behind: %v", names)
	}
	elsewhere, err := f.View(t.TempDir())
	if err != nil || elsewhere.State(one) != Untrusted {
		t.Errorf("another workspace: %s, %v", elsewhere.State(one), err)
	}
	if was, err := f.Revoke(t.Context(), dir); err != nil || !was || state(one) != Untrusted {
		t.Errorf("revoked: %v, %v, %s", was, err, state(one))
	}
	survey := Survey{Items: []Item{one}}
	if err := f.Decline(t.Context(), dir, survey.Digest()); err != nil {
		t.Fatal(err)
	}
	v, err := f.View(dir)
	if err != nil || !v.Declined(survey) || v.Declined(Survey{Items: []Item{two}}) || v.Workspace() {
		t.Errorf("declined: %v", err)
	}
}

// TestFileThatIsNotTheUsers: what cannot be relied on counts as empty, and is
// not written over.
func TestFileThatIsNotTheUsers(t *testing.T) {
	dir := t.TempDir()
	good := fmt.Sprintf(`{"version": 1, "workspaces": {%q: {"trusted": "2020-01-01T00:00:00Z"}}}`, dir)
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		says       string
	}{
		{"it may be read by others", good, 0o644, ""},
		{"others may write", good, 0o622, "others may write"},
		{"a group may write", good, 0o660, "others may write"},
		{"not JSON", "{", 0o600, "cannot be read"},
		{"another version", `{"version": 2}`, 0o600, "version 2"},
		{"empty", "", 0o600, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Files{Home: t.TempDir()}
			if err := os.WriteFile(f.path(), []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(f.path(), c.mode); err != nil {
				t.Fatal(err)
			}
			v, err := f.View(dir)
			if c.says == "" {
				if err != nil || !v.Workspace() {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), f.path()) || v.Workspace() {
				t.Errorf("%v, want it to say %q", err, c.says)
			}
			if err := f.Trust(t.Context(), dir, nil); err == nil {
				t.Error("it was written over")
			}
		})
	}
}

func TestHomeInTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	f := Files{Home: filepath.Join(dir, "conf")}
	if err := os.Mkdir(f.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"version": 1, "workspaces": {%q: {"trusted": "2020-01-01T00:00:00Z"}}}`, dir)
	if err := os.WriteFile(f.path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := f.View(dir); err != nil || v.Workspace() {
		t.Errorf("a workspace trusts itself: %v", err)
	}
	if err := f.Trust(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), "ROSTER_HOME") {
		t.Errorf("%v", err)
	}
	if v, err := f.View(f.Home); err != nil || !v.Workspace() {
		t.Errorf("the user's own folder: %v", err)
	}
}

// TestConcurrentWriters: nothing is lost between writers.
func TestConcurrentWriters(t *testing.T) {
	f := Files{Home: t.TempDir()}
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f.Trust(t.Context(), fmt.Sprintf("/ws/%d", i), []Item{command("./x")}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := f.List(); err != nil || len(all) != n {
		t.Errorf("%d workspaces, %v", len(all), err)
	}
}

func TestLockIsWaitedForAndLeft(t *testing.T) {
	f := Files{Home: t.TempDir()}
	unlock, err := f.file().Lock(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextFor(t, 20*time.Millisecond)
	defer cancel()
	if err := f.Trust(ctx, "/ws", nil); err == nil || !strings.Contains(err.Error(), "waiting for the lock") {
		t.Errorf("%v", err)
	}
	unlock()
	if err := f.Trust(t.Context(), "/ws", nil); err != nil {
		t.Error(err)
	}
}
