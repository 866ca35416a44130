package strand_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/rig/strand"
)

// watching runs a Watcher for a test, and holds of each Dir what its user would: the
// files by their digests, taken over from what the Watcher says alone.
type watching struct {
	testing.TB
	*strand.Watcher
	mu      sync.Mutex
	known   map[*strand.Dir]map[string]string
	settled map[*strand.Dir][]string
	scans   map[*strand.Dir]int
	hold    chan struct{} // Settled waits for it, if there is one
	held    chan struct{}
}

func watch(t testing.TB, pending int, dirs ...*strand.Dir) *watching {
	w := &watching{TB: t, known: map[*strand.Dir]map[string]string{}, settled: map[*strand.Dir][]string{}, scans: map[*strand.Dir]int{}, held: make(chan struct{}, 1)}
	w.Watcher = strand.NewWatcher(strand.Handler{Settled: w.onSettled, Rescan: w.onRescan, Trouble: func(_ *strand.Dir, err error) { t.Error(err) }}, pending)
	w.Set(dirs...)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	for _, d := range dirs {
		w.until("the first scan", func() bool { return w.scans[d] > 0 })
	}
	return w
}

func (w *watching) files(d *strand.Dir) map[string]string {
	if w.known[d] == nil {
		w.known[d] = map[string]string{}
	}
	return w.known[d]
}

func (w *watching) onSettled(d *strand.Dir, paths []string) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case w.held <- struct{}{}:
		default:
		}
		<-hold
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range paths {
		w.settled[d] = append(w.settled[d], path)
		w.read(d, path)
	}
}

func (w *watching) read(d *strand.Dir, path string) {
	c, err := d.Read(context.Background(), path)
	var restless *strand.Restless
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && c.Skipped != "":
		delete(w.files(d), path)
	case errors.As(err, &restless): // it will settle once more
	case err != nil:
		w.Error(err)
	default:
		w.files(d)[path] = c.Digest
	}
}

func (w *watching) onRescan(d *strand.Dir) {
	l, err := d.Scan(context.Background())
	if err != nil {
		w.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scans[d]++
	gone := maps.Clone(w.files(d))
	for _, f := range l.Files {
		delete(gone, f.Path)
		w.read(d, f.Path)
	}
	for path := range gone {
		delete(w.files(d), path)
	}
}

func (w *watching) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		w.mu.Lock()
		good := ok()
		w.mu.Unlock()
		if good {
			return
		}
		select {
		case <-look.C:
		case <-deadline.C:
			w.Fatalf("%s: not seen", what)
		}
	}
}

// agrees waits until what is known of a folder is what is in it.
func (w *watching) agrees(what string, d *strand.Dir) {
	w.Helper()
	defer func() {
		if w.Failed() {
			w.Log(cmp.Diff(onDisk(w, d), w.known[d]))
		}
	}()
	w.until(what, func() bool { return maps.Equal(w.files(d), onDisk(w, d)) })
}

func onDisk(t testing.TB, d *strand.Dir) map[string]string {
	out := map[string]string{}
	l, err := d.Scan(t.Context())
	must(t, err)
	for _, f := range l.Files {
		if data, err := os.ReadFile(filepath.Join(d.Path(), f.Path)); err == nil && f.Skipped == "" && !strand.IsBinary(data) {
			out[f.Path] = digest(string(data))
		}
	}
	return out
}

func sh(t testing.TB, dir, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestSavesOfEditors makes the changes of editors and programs. Each is one change of
// the files that it is about, and none of others.
func TestSavesOfEditors(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"a write", "echo 2 > a.md", "a.md"},
		{"many writes", "for i in 1 2 3 4 5; do echo $i >> a.md; done", "a.md"},
		{"vim, with a backup", "touch 4913; rm 4913; mv a.md a.md~; echo 2 > a.md; chmod 600 a.md; rm a.md~", "a.md"},
		{"vim, in place", "echo x > .a.md.swp; cp a.md a.md~; echo 2 > a.md; rm a.md~ .a.md.swp", "a.md"},
		{"emacs", "ln -s me@host .#a.md; echo 2 > '#a.md#'; mv a.md a.md~; echo 2 > a.md; rm '#a.md#' .#a.md", "a.md"},
		{"a rename over it", "echo 2 > a.md.tmp; mv a.md.tmp a.md", "a.md"},
		{"VS Code", "echo 2 > a.md.vsctmp; mv a.md.vsctmp a.md", "a.md"},
		{"JetBrains", "echo 2 > a.md___jb_tmp___; mv a.md a.md___jb_old___; mv a.md___jb_tmp___ a.md; rm a.md___jb_old___", "a.md"},
		{"rsync", "echo 2 > .a.md.Xy12Zw; mv .a.md.Xy12Zw a.md; touch -d 2020-01-01 a.md", "a.md"},
		{"sed -i", "sed -i s/1/2/ a.md", "a.md"},
		{"delete and create", "rm a.md; echo 2 > a.md", "a.md"},
		{"delete", "rm a.md", "a.md"},
		{"mv", "mv a.md c.md", "a.md c.md"},
		{"mv into another folder", "mv a.md sub/a.md", "a.md sub/a.md"},
		{"a new folder", "mkdir -p x/y/z; echo 1 > x/y/z/n.md", "x/y/z/n.md"},
		{"cp -r", "cp -r sub copy", "copy/b.md copy/deep/c.md"},
		{"rm -r and made again", "rm -r sub; mkdir -p sub/deep; echo 3 > sub/b.md; echo 3 > sub/deep/c.md", "sub/b.md sub/deep/c.md"},
		{"rm -r", "rm -r sub", "sub/b.md sub/deep/c.md"},
		{"what is ignored", "mkdir build; echo > build/x.md; echo > no.log; echo 2 > a.md", "a.md"},
		{"git checkout", "git checkout -q other", "a.md new/n.md sub/b.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t)
			sh(t, dir, "git init -q -b main .; git config user.name t; git config user.email t@localhost; echo 1 > a.md; mkdir -p sub/deep; echo 1 > sub/b.md; echo 1 > sub/deep/c.md; git add .; git commit -qm 1; git checkout -qb other; echo 9 > a.md; git rm -q sub/b.md; mkdir new; echo 9 > new/n.md; git add .; git commit -qm 2; git checkout -q main")
			d := open(t, dir, strand.Options{Ignore: []string{"build/", "*.log"}, Debounce: 400 * time.Millisecond})
			w := watch(t, 0, d)
			sh(t, dir, c.line)
			put(t, filepath.Join(dir, "last.md"), "")
			w.until("the last file", func() bool { return slices.Contains(w.settled[d], "last.md") })
			w.agrees("all", d)
			w.mu.Lock()
			defer w.mu.Unlock()
			got := slices.DeleteFunc(slices.Sorted(slices.Values(w.settled[d])), func(p string) bool { return p == "last.md" })
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q settled, want %s", got, c.want)
			}
		})
	}
}

// TestFoldersComeAndGo follows a folder that is made later, removed, moved away with
// what it is in, made again, and put behind others.
func TestFoldersComeAndGo(t *testing.T) {
	top := folder(t)
	d := open(t, filepath.Join(top, "one", "two", "strands"), strand.Options{Debounce: 20 * time.Millisecond})
	w := watch(t, 0, d)
	n := 0
	in := func(name string) string { n++; put(t, filepath.Join(d.Path(), name), fmt.Sprint(n)); return name }
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"it is made", func() { in("a.md"); in("x/b.md") }},
		{"a file changes", func() { in("a.md") }},
		{"it is removed", func() { must(t, os.RemoveAll(d.Path())) }},
		{"it is made again", func() { in("y/c.md") }},
		{"it is moved away", func() { must(t, os.Rename(d.Path(), filepath.Join(top, "away"))) }},
		{"it is moved back", func() { must(t, os.Rename(filepath.Join(top, "away"), d.Path())) }},
		{"a file changes then", func() { in("y/c.md") }},
		{"a folder moves within", func() { must(t, os.Rename(filepath.Join(d.Path(), "y"), filepath.Join(d.Path(), "z"))) }},
		{"a file changes in it", func() { in("z/c.md") }},
		{"a folder moves out", func() { must(t, os.Rename(filepath.Join(d.Path(), "z"), filepath.Join(top, "z"))) }},
		{"a file changes there", func() { put(t, filepath.Join(top, "z", "c.md"), "out"); in("a.md") }},
		{"a folder moves in", func() { must(t, os.Rename(filepath.Join(top, "z"), filepath.Join(d.Path(), "w"))) }},
		{"all above goes", func() { must(t, os.RemoveAll(filepath.Join(top, "one"))) }},
		{"and comes again", func() { in("a/b/c/d.md") }},
		{"a folder above is moved, and another put there", func() {
			must(t, os.Rename(filepath.Join(top, "one"), filepath.Join(top, "old")))
			in("new.md")
			w.Set(d)
		}},
		{"a file changes in that", func() { in("new.md") }},
		{"it is a file for a while", func() {
			must(t, os.RemoveAll(d.Path()))
			put(t, d.Path(), "file")
			w.agrees("a file", d)
			must(t, os.Remove(d.Path()))
			in("again.md")
		}},
	} {
		step.do()
		w.agrees(step.name, d)
	}
}

// TestDirsShareFolders has several Dirs of one folder, and one within another.
func TestDirsShareFolders(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "sub/a.md"), "1")
	fast := strand.Options{Debounce: 20 * time.Millisecond}
	all := open(t, dir, fast)
	some := open(t, dir, strand.Options{Debounce: 20 * time.Millisecond, Ignore: []string{"sub/"}})
	sub := open(t, filepath.Join(dir, "sub"), fast)
	w := watch(t, 0, some, sub, all)
	put(t, filepath.Join(dir, "sub/a.md"), "2")
	put(t, filepath.Join(dir, "b.md"), "2")
	for _, d := range []*strand.Dir{all, some, sub} {
		w.agrees("a change", d)
	}
	w.Set(all)
	put(t, filepath.Join(dir, "sub/n/a.md"), "3")
	w.agrees("one alone", all)
	w.Set(sub, some)
	w.until("a scan", func() bool { return w.scans[sub] == 2 })
	put(t, filepath.Join(dir, "sub/n/a.md"), "4")
	w.agrees("the other", sub)
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.ContainsFunc(w.settled[some], func(p string) bool { return strings.HasPrefix(p, "sub/") }) {
		t.Errorf("what is ignored settled: %q", w.settled[some])
	}
}

// TestOverflow makes more changes than wait in the Watcher, and more than wait in the
// operating system: none is lost, and folders made meanwhile are watched.
func TestOverflow(t *testing.T) {
	t.Run("of the watcher", func(t *testing.T) {
		d := open(t, folder(t), strand.Options{Debounce: 50 * time.Millisecond})
		w := watch(t, 10, d)
		for i := range 500 {
			put(t, filepath.Join(d.Path(), fmt.Sprintf("d%d/f%d.md", i%7, i)), fmt.Sprint(i))
		}
		w.agrees("500 files", d)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.scans[d] < 2 {
			t.Error("no scan was asked for")
		}
	})
	t.Run("of the operating system", func(t *testing.T) {
		d := open(t, folder(t), strand.Options{Debounce: 10 * time.Millisecond})
		w := watch(t, 0, d)
		before := w.scans[d]
		w.mu.Lock()
		w.hold = make(chan struct{})
		w.mu.Unlock()
		put(t, filepath.Join(d.Path(), "first.md"), "")
		<-w.held // nobody takes notices now
		a, b := filepath.Join(d.Path(), "a.md"), filepath.Join(d.Path(), "b.md")
		put(t, a, "a")
		for range 20_000 {
			must(t, os.Rename(a, b))
			must(t, os.Rename(b, a))
		}
		put(t, filepath.Join(d.Path(), "made/in/between.md"), "1")
		close(w.hold)
		w.agrees("what was missed", d)
		w.until("a scan", func() bool { return w.scans[d] > before })
		put(t, filepath.Join(d.Path(), "made/in/between.md"), "2")
		w.agrees("in a folder that was missed", d)
	})
}

// TestAnyChanges makes changes of all kinds at random, files and folders, and holds
// what was said of them against what is there.
func TestAnyChanges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	d := open(t, filepath.Join(folder(t), "s"), strand.Options{Debounce: 10 * time.Millisecond, Ignore: []string{"*.log"}})
	w := watch(t, 0, d)
	name := func() string {
		parts := make([]string, 1+r.IntN(3))
		for i := range parts {
			parts[i] = string(rune('a' + r.IntN(4)))
		}
		return filepath.Join(d.Path(), filepath.Join(parts...))
	}
	for round := range 8 {
		for range 1 + r.IntN(60) {
			from, to := name(), name()
			switch r.IntN(8) {
			case 0, 1, 2: // a file where a folder is, and the other way round, is an error, and no change
				_ = os.MkdirAll(filepath.Dir(to), 0o755)
				_ = os.WriteFile(to, []byte(fmt.Sprint(r.IntN(5))), 0o644)
			case 3, 4:
				_ = os.MkdirAll(filepath.Dir(to), 0o755)
				_ = os.Rename(from, to)
			case 5:
				_ = os.RemoveAll(from)
			case 6:
				_ = os.MkdirAll(to, 0o755)
			case 7:
				aside := filepath.Join(filepath.Dir(d.Path()), "aside")
				_ = os.Rename(from, aside)
				_ = os.Rename(to, from)
				_ = os.Rename(aside, to)
				_ = os.RemoveAll(aside)
			}
		}
		w.agrees(fmt.Sprintf("round %d", round), d)
	}
}

// BenchmarkNotice is how long it takes from the end of a write until the path is
// given, beyond the time for which it has to be quiet, among 10,000 files.
func BenchmarkNotice(b *testing.B) {
	const quiet = 20 * time.Millisecond
	d := open(b, big(b, 10_000), strand.Options{Debounce: quiet})
	settled, ready := make(chan struct{}, 1), make(chan struct{}, 1)
	w := strand.NewWatcher(strand.Handler{
		Settled: func(*strand.Dir, []string) { settled <- struct{}{} },
		Rescan:  func(*strand.Dir) { ready <- struct{}{} },
		Trouble: func(_ *strand.Dir, err error) { b.Error(err) },
	}, 0)
	w.Set(d)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	<-ready
	var late []time.Duration
	for b.Loop() {
		put(b, filepath.Join(d.Path(), "d0/e0/f0.md"), "x")
		began := time.Now()
		<-settled
		late = append(late, time.Since(began)-quiet)
	}
	cancel()
	must(b, <-done)
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2])/1e6, "late-ms/p50")
	b.ReportMetric(float64(late[len(late)*99/100])/1e6, "late-ms/p99")
}
