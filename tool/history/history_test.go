package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
)

// blobs keeps blobs in memory.
type blobs map[string][]byte

func (b blobs) PutBlob(_ context.Context, _ string, data []byte) (string, error) {
	d := session.Digest(data)
	b[d] = slices.Clone(data)
	return d, nil
}

func (b blobs) Blob(_ context.Context, _, d string) ([]byte, error) {
	if data, ok := b[d]; ok {
		return data, nil
	}
	return nil, session.ErrNoBlob
}

// world is a workspace, its keeper, and the log of a session.
type world struct {
	t      testing.TB
	root   string
	state  string
	keeper *Keeper
	blobs  blobs
	events []session.Event
	calls  int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, root: dir + "/work", state: dir + "/state", blobs: blobs{}}
	w.dir("", 0o755)
	w.keeper = NewKeeper(w.state + "/history")
	t.Cleanup(func() {
		if err := w.keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.root, name) }

func (w *world) dir(name string, mode os.FileMode) {
	w.t.Helper()
	w.must(os.MkdirAll(w.path(name), 0o777))
	w.must(os.Chmod(w.path(name), mode))
}

func (w *world) file(name, text string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o777))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	w.must(err)
	return string(b)
}

// tree shows all that is there, but for what no scan looks at.
func (w *world) tree() string {
	w.t.Helper()
	var b strings.Builder
	w.must(filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == w.root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", strings.TrimPrefix(path, w.root+"/"), info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			b.WriteString(" -> " + to)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// call runs something as a call of a session, which could change any file or
// those of paths, and gives what was noted.
func (w *world) call(do func(), paths ...string) *session.FilesChanged {
	w.t.Helper()
	win := w.begin(paths...)
	do()
	return w.end(win)
}

func (w *world) begin(paths ...string) *Window {
	w.t.Helper()
	return w.beginAs("s", paths...)
}

func (w *world) beginAs(id string, paths ...string) *Window {
	w.t.Helper()
	w.calls++
	win, err := w.keeper.Begin(w.t.Context(), Call{Stream: id, Session: id, ID: fmt.Sprint("c", w.calls), Root: w.root, Paths: paths})
	w.must(err)
	return win
}

func (w *world) end(win *Window) *session.FilesChanged {
	w.t.Helper()
	b, err := win.End(w.t.Context(), w.blobs, "t")
	w.must(err)
	if b != nil && win.call.Session == "s" {
		w.note(b)
	}
	return b
}

func (w *world) note(b session.Body) {
	e := session.Event{Seq: int64(len(w.events) + 1), Session: "s", Loop: "l", Body: b}
	e.Encode()
	e.Body = nil
	w.events = append(w.events, e)
}

func (w *world) log() *Log {
	w.t.Helper()
	l := NewLog(w.t.Context(), w.blobs, "t")
	for i := range w.events {
		w.must(l.Add(&w.events[i]))
	}
	return l
}

// undo takes back what the log says, and gives the outcome of each path.
func (w *world) undo(o Options) map[string]string {
	w.t.Helper()
	p, err := w.log().Plan(o)
	w.must(err)
	done := &session.FilesUndone{Of: p.Of}
	var wins []*Window
	for root, paths := range p.Paths() {
		win, err := w.keeper.Begin(w.t.Context(), Call{Session: "undo", ID: "undo", Root: root, Paths: paths})
		w.must(err)
		wins = append(wins, win)
	}
	p.Apply()
	for _, win := range wins {
		b, err := win.End(w.t.Context(), w.blobs, "t")
		w.must(err)
		if b != nil {
			done.Changed = append(done.Changed, *b)
		}
	}
	done.Left = p.LeftAlone()
	w.note(done)
	out := map[string]string{}
	for _, s := range p.Steps {
		out[s.Path] = s.Outcome
		if s.Outcome == Left {
			out[s.Path] += ": " + s.Why
		}
	}
	return out
}

func (w *world) same(before string) {
	w.t.Helper()
	if now := w.tree(); now != before {
		w.t.Errorf("there is\n%s\nand was\n%s", now, before)
	}
}

const verse = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"

// fill makes a workspace with one of each kind.
func (w *world) fill() {
	w.file("a.txt", verse)
	w.file("sub/b.txt", "b\n")
	w.file("sub/deep/c.bin", "\x00\xff\x01")
	w.file("empty.txt", "")
	w.file("run.sh", "#!/bin/sh\n")
	w.must(os.Chmod(w.path("run.sh"), 0o755))
	w.must(os.Symlink("a.txt", w.path("link")))
	w.must(os.Symlink("sub", w.path("dirlink")))
	w.dir("hollow", 0o750)
}

func TestUndoWithoutAPerson(t *testing.T) {
	cases := map[string]func(w *world){
		"create":                      func(w *world) { w.file("new.txt", "x") },
		"create in new directories":   func(w *world) { w.file("p/q/new.txt", "x") },
		"change":                      func(w *world) { w.file("a.txt", "changed") },
		"change binary":               func(w *world) { w.file("sub/deep/c.bin", "\x01\x00") },
		"make empty":                  func(w *world) { w.file("a.txt", "") },
		"fill an empty one":           func(w *world) { w.file("empty.txt", "full") },
		"remove":                      func(w *world) { w.must(os.Remove(w.path("a.txt"))) },
		"remove an empty one":         func(w *world) { w.must(os.Remove(w.path("empty.txt"))) },
		"rename":                      func(w *world) { w.must(os.Rename(w.path("a.txt"), w.path("sub/z.txt"))) },
		"rename over another":         func(w *world) { w.must(os.Rename(w.path("a.txt"), w.path("sub/b.txt"))) },
		"rename a directory":          func(w *world) { w.must(os.Rename(w.path("sub"), w.path("other"))) },
		"remove a directory":          func(w *world) { w.must(os.RemoveAll(w.path("sub"))) },
		"make an empty directory":     func(w *world) { w.dir("void/void", 0o700) },
		"remove an empty directory":   func(w *world) { w.must(os.Remove(w.path("hollow"))) },
		"mode":                        func(w *world) { w.must(os.Chmod(w.path("run.sh"), 0o600)) },
		"mode of a directory":         func(w *world) { w.must(os.Chmod(w.path("hollow"), 0o711)) },
		"a link elsewhere":            func(w *world) { w.must(os.Remove(w.path("link"))); w.must(os.Symlink("run.sh", w.path("link"))) },
		"remove a link":               func(w *world) { w.must(os.Remove(w.path("dirlink"))) },
		"a new link":                  func(w *world) { w.must(os.Symlink("/etc", w.path("new"))) },
		"a file becomes a directory":  func(w *world) { w.must(os.Remove(w.path("a.txt"))); w.file("a.txt/in", "x") },
		"a directory becomes a file":  func(w *world) { w.must(os.RemoveAll(w.path("sub"))); w.file("sub", "x") },
		"a directory becomes a link":  func(w *world) { w.must(os.RemoveAll(w.path("sub"))); w.must(os.Symlink("hollow", w.path("sub"))) },
		"a link becomes a file":       func(w *world) { w.must(os.Remove(w.path("link"))); w.file("link", "x") },
		"written in place, same size": func(w *world) { w.file("sub/b.txt", "c\n") },
		"odd names":                   func(w *world) { w.file("-rf", "x"); w.file("a\nb", "y"); w.file(" ", "z"); w.file("…/é", "w") },
		"many files":                  func(w *world) { w.many(200) },
		"everything":                  func(w *world) { w.must(os.RemoveAll(w.root)); w.dir("", 0o755); w.file("only", "x") },
		"the same time as before":     func(w *world) { w.sneak("sub/b.txt", "x\n") },
		"two names for one file":      func(w *world) { w.must(os.Link(w.path("a.txt"), w.path("second"))) },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			before := w.tree()
			w.call(func() { change(w) })
			after := w.tree()
			for path, outcome := range w.undo(Options{}) {
				if outcome != Restored {
					t.Errorf("%s: %s", path, outcome)
				}
			}
			w.same(before)
			w.undo(Options{Redo: true})
			w.same(after)
			w.undo(Options{})
			w.same(before)
			if again := w.undo(Options{}); len(again) > 0 {
				t.Errorf("there is more to undo: %v", again)
			}
		})
	}
}

func (w *world) many(n int) {
	for i := range n {
		w.file(fmt.Sprintf("many/%d/f%d", i%7, i), fmt.Sprint("content ", i))
	}
}

// sneak writes a file and gives it the times of before.
func (w *world) sneak(name, text string) {
	info, err := os.Stat(w.path(name))
	w.must(err)
	w.file(name, text)
	w.must(os.Chtimes(w.path(name), info.ModTime(), info.ModTime()))
}

// TestAPersonsEditSurvives is a run that creates, changes, renames and removes
// files while a person works on the same ones.
func TestAPersonsEditSurvives(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.file("gone.txt", "to be removed\n")
	w.file("moved.txt", "to be moved\n")
	w.file("mine.txt", "a person's\n")
	w.call(func() {
		w.file("a.txt", strings.Replace(verse, "two", "TWO", 1))
		w.file("new.txt", "made by the agent\n")
		w.file("conflict.txt", "made by the agent\n")
		w.must(os.Remove(w.path("gone.txt")))
		w.must(os.Rename(w.path("moved.txt"), w.path("there.txt")))
	})
	w.file("a.txt", strings.Replace(w.read("a.txt"), "six", "six, said a person", 1)) // between two calls
	w.file("mine.txt", "a person's, changed\n")
	w.call(func() {
		w.file("a.txt", strings.Replace(w.read("a.txt"), "four", "FOUR", 1))
		w.file("sub/b.txt", "B\n")
	})
	w.file("a.txt", "zero, said a person\n"+w.read("a.txt")) // and after
	w.file("conflict.txt", "made by the agent, changed by a person\n")
	w.file("sub/b.txt", "a person has written it anew\n")
	got := w.undo(Options{})
	want := map[string]string{
		"a.txt": Merged, "new.txt": Restored, "gone.txt": Restored, "moved.txt": Restored, "there.txt": Restored,
		"conflict.txt": "left: it was changed since it was created", "sub/b.txt": "left: the same lines were changed since",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	person := "zero, said a person\n" + strings.Replace(verse, "six", "six, said a person", 1)
	for name, text := range map[string]string{
		"a.txt": person, "gone.txt": "to be removed\n", "moved.txt": "to be moved\n", "mine.txt": "a person's, changed\n",
		"conflict.txt": "made by the agent, changed by a person\n", "sub/b.txt": "a person has written it anew\n",
	} {
		if got := w.read(name); got != text {
			t.Errorf("%s holds %q", name, got)
		}
	}
	for _, name := range []string{"new.txt", "there.txt"} {
		if _, err := os.Lstat(w.path(name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.file("sub/b.txt", "B\n") // what was left alone can be undone when nothing stands in the way
	if got := w.undo(Options{}); got["sub/b.txt"] != Restored || w.read("sub/b.txt") != "b\n" {
		t.Errorf("%v", got)
	}
}

func TestOnlyWhatThePersonHasDone(t *testing.T) {
	tests := map[string]struct {
		agent, person func(w *world)
		path, outcome string
	}{
		"removed what was changed": {
			func(w *world) { w.file("a.txt", "x") }, func(w *world) { w.must(os.Remove(w.path("a.txt"))) }, "a.txt", "left: it was removed since"},
		"removed what was created": {
			func(w *world) { w.file("n", "x") }, func(w *world) { w.must(os.Remove(w.path("n"))) }, "n", Already},
		"put back what was removed": {
			func(w *world) { w.must(os.Remove(w.path("a.txt"))) }, func(w *world) { w.file("a.txt", verse) }, "a.txt", Already},
		"something else there": {
			func(w *world) { w.must(os.Remove(w.path("a.txt"))) }, func(w *world) { w.dir("a.txt", 0o755) }, "a.txt", "left: something else was put there since"},
		"a file into a new directory": {
			func(w *world) { w.dir("d", 0o755) }, func(w *world) { w.file("d/mine", "x") }, "d", "left: it is not empty"},
		"only the mode": {
			func(w *world) { w.file("a.txt", "x") }, func(w *world) { w.must(os.Chmod(w.path("a.txt"), 0o600)) }, "a.txt", Merged},
		"a link on the way": {
			func(w *world) { w.file("sub/b.txt", "x") },
			func(w *world) { w.must(os.Rename(w.path("sub"), w.path("s"))); w.must(os.Symlink("s", w.path("sub"))) },
			"sub/b.txt", "left: a link or a file stands on the way there"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fill()
			w.call(func() { tt.agent(w) })
			tt.person(w)
			if got := w.undo(Options{}); got[tt.path] != tt.outcome {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestWhatIsNotKept(t *testing.T) {
	w := newWorld(t)
	w.file(".gitignore", "*.log\n/build/\n")
	w.file("sub/.gitignore", "!keep.log\nsecret\n")
	w.file(".git/HEAD", "ref: refs/heads/main\n")
	w.file(".git/info/exclude", "mine\n")
	w.file("big", strings.Repeat("x", MaxFile+1))
	b := w.call(func() {
		for _, name := range []string{"a.log", "build/out", "sub/secret", "sub/x.log", ".git/config", "mine", "sub/keep.log", "plain"} {
			w.file(name, "x")
		}
		w.file("big", strings.Repeat("y", MaxFile+2))
		w.must(unix.Mkfifo(w.path("fifo"), 0o666))
		w.must(os.WriteFile(w.root+"/\xff\xfe", nil, 0o666))
	})
	var got []string
	for _, f := range b.Files {
		got = append(got, f.Path)
	}
	if want := "[big plain sub/keep.log]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if out := w.undo(Options{}); !strings.Contains(out["big"], "more than 5 MiB") || out["plain"] != Restored {
		t.Errorf("%v", out)
	}
	w.file(".gitignore", "") // what was ignored is a person's from here on
	if b := w.call(func() {}); b != nil {
		t.Errorf("%+v", b)
	}
	if b := w.call(func() { w.file("a.log", "y") }); b == nil || len(b.Files) != 1 {
		t.Errorf("%+v", b)
	}
}

func TestNamedPathsOnly(t *testing.T) {
	w := newWorld(t)
	w.fill()
	before := w.tree()
	b := w.call(func() { w.file("a.txt", "x"); w.file("sub/b.txt", "not this call's") }, "a.txt")
	if len(b.Files) != 1 || b.Files[0].Path != "a.txt" || b.Any {
		t.Errorf("%+v", b)
	}
	w.file("sub/b.txt", "b\n")
	w.undo(Options{})
	w.same(before)
	if b := w.call(func() { w.file("p/q", "x") }, "p/q", "p"); len(b.Files) != 2 {
		t.Errorf("%+v", b)
	}
	w.undo(Options{})
	w.same(before)
}

// TestSideBySide: calls that run at the same time.
func TestSideBySide(t *testing.T) {
	t.Run("of one session", func(t *testing.T) {
		w := newWorld(t)
		w.fill()
		before := w.tree()
		one, two := w.begin(), w.begin()
		w.file("a.txt", "1")
		w.file("x", "1")
		if b := w.end(one); len(b.Files) != 2 || len(b.Beside) > 0 {
			t.Errorf("%+v", b)
		}
		w.file("x", "2")
		if b := w.end(two); len(b.Files) != 1 || b.Files[0].Path != "x" {
			t.Errorf("%+v", b)
		}
		w.undo(Options{})
		w.same(before)
	})
	t.Run("of two sessions", func(t *testing.T) {
		w := newWorld(t)
		w.fill()
		before := w.tree()
		one := w.begin()
		two := w.beginAs("other")
		w.file("a.txt", "whose?")
		after := w.tree()
		if b := w.end(one); fmt.Sprint(b.Beside) != "[other]" {
			t.Errorf("%+v", b)
		}
		if b := w.end(two); fmt.Sprint(b.Beside) != "[s]" {
			t.Errorf("%+v", b)
		}
		if got := w.undo(Options{}); !strings.HasPrefix(got["a.txt"], Left) {
			t.Errorf("%v", got)
		}
		w.same(after)
		w.undo(Options{Shared: true})
		w.same(before)
	})
	t.Run("a write of another session", func(t *testing.T) {
		w := newWorld(t)
		w.fill()
		one := w.begin()
		two := w.beginAs("other", "a.txt")
		w.file("a.txt", "theirs")
		w.end(two)
		w.file("x", "ours")
		b := w.end(one)
		if len(b.Files) != 1 || b.Files[0].Path != "x" || len(b.Beside) > 0 {
			t.Errorf("%+v", b)
		}
	})
	t.Run("of two processes", func(t *testing.T) {
		w := newWorld(t)
		w.fill()
		other := NewKeeper(w.state + "/history")
		defer other.Close()
		one := w.begin()
		two, err := other.Begin(t.Context(), Call{Session: "other", ID: "c", Root: w.root})
		w.must(err)
		w.file("a.txt", "whose?")
		_, err = two.End(t.Context(), w.blobs, "t")
		w.must(err)
		if b := w.end(one); fmt.Sprint(b.Beside) != "[another process]" {
			t.Errorf("%+v", b)
		}
		past := time.Now().Add(-time.Minute) // long after, as it were
		w.must(os.Chtimes(filepath.Dir(two.tree.slot.record("c")), past, past))
		if b := w.call(func() { w.file("a.txt", "ours") }); len(b.Beside) > 0 {
			t.Errorf("%+v", b)
		}
	})
}

// TestAProcessDies: what a call has changed is found by the next process, and
// only once.
func TestAProcessDies(t *testing.T) {
	for _, paths := range [][]string{nil, {"a.txt"}} {
		w := newWorld(t)
		w.fill()
		before := w.tree()
		w.begin(paths...)
		w.file("a.txt", "half")
		w.must(w.keeper.Close())
		w.keeper = NewKeeper(w.state + "/history")
		c := Call{Stream: "s", Session: "s", ID: "c1"}
		b, err := w.keeper.Left(t.Context(), c, w.blobs, "t")
		w.must(err)
		if b == nil || !b.Late || len(b.Files) != 1 || b.Any != (paths == nil) {
			t.Fatalf("%+v", b)
		}
		w.note(b)
		if again, err := w.keeper.Left(t.Context(), c, w.blobs, "t"); again != nil || err != nil {
			t.Errorf("%+v, %v", again, err)
		}
		w.undo(Options{})
		w.same(before)
	}
}

// TestTheNextProcessNeedNotReadAgain: the tree is taken over, with the pack.
func TestTheNextProcessNeedNotReadAgain(t *testing.T) {
	w := newWorld(t)
	w.fill()
	old := time.Now().Add(-time.Hour)
	w.must(filepath.WalkDir(w.root, func(path string, d os.DirEntry, err error) error {
		if d.Type()&os.ModeSymlink != 0 {
			return err
		}
		return errors.Join(err, os.Chtimes(path, old, old))
	}))
	time.Sleep(2 * settled) // the change times cannot be set
	w.call(func() {})
	tr, err := w.keeper.tree(w.root)
	w.must(err)
	was := tr.known.child("a.txt")
	if w.call(func() {}); tr.known.child("a.txt") != was {
		t.Error("a file at rest was read again")
	}
	w.must(w.keeper.Close())
	w.keeper = NewKeeper(w.state + "/history")
	before := w.tree()
	w.call(func() { w.file("a.txt", "x") })
	if tr, err = w.keeper.tree(w.root); err != nil || !tr.known.child("run.sh").trusted {
		t.Errorf("%v", err)
	}
	w.undo(Options{})
	w.same(before)
}

// TestWhatWasBroughtFromElsewhere is never done here.
func TestWhatWasBroughtFromElsewhere(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.call(func() { w.file("a.txt", "x") })
	w.note(&session.Imported{Digest: "d"})
	if got := w.undo(Options{}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestHostilePaths: a log that names what no call of ours can have changed.
func TestHostilePaths(t *testing.T) {
	w := newWorld(t)
	w.fill()
	d, err := w.blobs.PutBlob(t.Context(), "t", []byte("evil"))
	w.must(err)
	evil := &session.FileState{Kind: session.KindFile, Mode: 0o644, Size: 4, Digest: d}
	for _, path := range []string{"../out", "/etc/x", "", ".", "a/../../x", ".git/hooks/pre-commit", "a\x00b", "dirlink/x"} {
		w.note(&session.FilesChanged{Call: "c", Root: w.root, Files: []session.FileChange{{Path: path, Before: evil}}, Blobs: []string{d}})
	}
	before := w.tree()
	for path, outcome := range w.undo(Options{}) {
		if path != "dirlink/x" || !strings.HasPrefix(outcome, Left) {
			t.Errorf("%q: %s", path, outcome)
		}
	}
	w.same(before)
	w.note(&session.FilesChanged{Call: "c", Root: w.root, Files: []session.FileChange{{Path: "x", Before: &session.FileState{Kind: session.KindFile, Size: 1 << 40, Offset: -5, Digest: d}}}, Blobs: []string{d}})
	if got := w.undo(Options{}); !strings.HasPrefix(got["x"], Left) {
		t.Errorf("%v", got)
	}
}

func TestABrokenRecordIsNoTree(t *testing.T) {
	w := newWorld(t)
	w.fill()
	w.call(func() {})
	tr, err := w.keeper.tree(w.root)
	w.must(err)
	data, err := os.ReadFile(tr.slot.tree())
	w.must(err)
	cut := filepath.Join(t.TempDir(), "cut")
	for _, n := range []int{0, 5, len(data) / 2, len(data) - 1} {
		w.must(os.WriteFile(cut, data[:n], 0o600))
		if _, _, _, err := loadTree(cut); err == nil {
			t.Errorf("%d of %d bytes are read as a tree", n, len(data))
		}
	}
}
