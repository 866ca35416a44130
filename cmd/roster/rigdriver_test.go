package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/pgtest"
)

// rigLoad is how much a rig is tried with: $ROSTER_RIG is changes, kills and stops, as
// 5000,50,10.
func rigLoad(t *testing.T) (changes, kills, stops int) {
	changes, kills, stops = 500, 10, 3
	if text := os.Getenv("ROSTER_RIG"); text != "" {
		if n, err := fmt.Sscanf(text, "%d,%d,%d", &changes, &kills, &stops); n != 3 || err != nil {
			t.Fatalf("ROSTER_RIG takes changes,kills,stops: %v", err)
		}
	}
	return changes, kills, stops
}

// driver changes the strands of a rig as people and editors do, and keeps account of it.
type driver struct {
	*workspace
	rng      *rand.Rand
	n        int
	files    []string
	versions map[string][]content // by path, in order

	mu   sync.Mutex
	down map[int][]span // by process, when it was not watching
}

// content is what a file had, if only for a moment: on a machine that is busy that may be
// longer than the debounce. Each is another one, but for those that are empty or the same
// again.
type content struct {
	digest string // empty: it was not there
	at     time.Time
}

type span struct{ from, to time.Time }

const (
	rigKnot   = "---\nname: note\nagent-profile-ref: worker\nstrand-dir: strands\nprompt-template: {instructions: Note it.}\n---\n"
	rigBounce = 100 * time.Millisecond // of the knot, by default
)

// newDriver makes a rig whose ledger is in a store, as roster.yaml names one; empty: in
// the file that it has by default.
func newDriver(t *testing.T, store string) *driver {
	w := newWorkspace(t)
	if store != "" {
		store = "store: " + strconv.Quote(store) + "\n"
	}
	w.write("roster.yaml", store+"providers:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 100000}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "loop: true\nreplies:\n- text: Noted.\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: []\n---\nWork.\n")
	w.write("rig/docs-loom/note.md", rigKnot)
	if err := os.MkdirAll(filepath.Join(w.dir, "strands", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	return &driver{workspace: w, rng: rand.New(rand.NewPCG(seed, 1)), versions: map[string][]content{}, down: map[int][]span{}}
}

func (d *driver) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *driver) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// fresh is a content that no file ever had.
func (d *driver) fresh() string {
	d.n++
	return fmt.Sprintf("content %d\n%s\n", d.n, strings.Repeat("x", d.rng.IntN(2000)))
}

func (d *driver) note(name, text string) {
	sum := sha256.Sum256([]byte(text))
	d.versions[name] = append(d.versions[name], content{digest: hex.EncodeToString(sum[:]), at: time.Now()})
}

func (d *driver) missing(name string) {
	d.versions[name] = append(d.versions[name], content{at: time.Now()})
}

func (d *driver) gone(name string) {
	d.missing(name)
	d.files = slices.DeleteFunc(d.files, func(f string) bool { return f == name })
}

// put writes a file in the way of some editor.
func (d *driver) put(name, content string) {
	path := d.path(name)
	beside := func(ext string) string {
		return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+ext)
	}
	switch d.rng.IntN(5) {
	case 0: // in place
		d.note(name, "")
		d.must(os.WriteFile(path, []byte(content), 0o644))
	case 1: // beside, and moved over it
		d.must(os.WriteFile(beside(".tmp"), []byte(content), 0o644))
		d.must(os.Rename(beside(".tmp"), path))
	case 2: // as vim: the old one becomes a backup
		_ = os.Rename(path, path+"~") // it may be new
		d.missing(name)
		d.note(name, "")
		d.must(os.WriteFile(path, []byte(content), 0o644))
		_ = os.Remove(path + "~")
	case 3: // removed and made
		_ = os.Remove(path)
		d.missing(name)
		d.note(name, "")
		d.must(os.WriteFile(path, []byte(content), 0o644))
	case 4: // in pieces
		d.note(name, "")
		f, err := os.Create(path)
		d.must(err)
		half := len(content) / 2
		_, err = f.WriteString(content[:half])
		d.must(err)
		d.note(name, content[:half])
		_, err = f.WriteString(content[half:])
		d.must(err)
		d.must(f.Close())
	}
	d.note(name, content)
}

// change does one thing to the folder.
func (d *driver) change() {
	if len(d.files) < 10 || d.rng.IntN(10) < 2 {
		d.n++
		name := fmt.Sprintf("strands/%sfile-%d.md", []string{"", "deep/"}[d.rng.IntN(2)], d.n)
		d.files = append(d.files, name)
		d.put(name, d.fresh())
		return
	}
	name := d.files[d.rng.IntN(len(d.files))]
	switch d.rng.IntN(8) {
	case 0: // the same again
		data, err := os.ReadFile(d.path(name))
		d.must(err)
		d.note(name, "")
		d.must(os.WriteFile(d.path(name), data, 0o644))
		d.note(name, string(data))
	case 1:
		d.must(os.Remove(d.path(name)))
		d.gone(name)
	case 2:
		data, err := os.ReadFile(d.path(name))
		d.must(err)
		d.n++
		to := fmt.Sprintf("strands/moved-%d.md", d.n)
		d.must(os.Rename(d.path(name), d.path(to)))
		d.gone(name)
		d.files = append(d.files, to)
		d.note(to, string(data))
	case 3:
		for range 1 + d.rng.IntN(5) {
			d.put(name, d.fresh())
		}
	default:
		d.put(name, d.fresh())
	}
}

// drive makes changes, with pauses in which most of them come to rest and some not.
func (d *driver) drive(changes int) {
	for range changes {
		d.change()
		switch d.rng.IntN(12) {
		case 0:
			time.Sleep(time.Duration(d.rng.IntN(400)) * time.Millisecond) // people rest too
		case 1, 2, 3, 4:
			time.Sleep(time.Duration(d.rng.IntN(40)) * time.Millisecond)
		}
	}
}

// watcher is a process that runs the rig.
type watcher struct {
	*exec.Cmd
	ended chan struct{}
}

func (d *driver) watch() (*watcher, error) {
	w := &watcher{d.command("rig", "watch", "--quiet"), make(chan struct{})}
	w.Stderr = d.t.Output()
	if err := w.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = w.Wait() // it is killed
		close(w.ended)
	}()
	d.t.Cleanup(w.kill)
	return w, nil
}

func (w *watcher) kill() {
	_ = w.Process.Kill() // it may have ended
	<-w.ended
}

// alive holds that no process has ended that was not killed.
func alive(running []*watcher) error {
	for _, w := range running {
		select {
		case <-w.ended:
			return fmt.Errorf("a process that runs the rig has ended by itself: %v", w.ProcessState)
		default:
		}
	}
	return nil
}

// kill ends processes at random and starts others, until done is closed, and leaves one
// running in each's place. Some of them stay away for a while.
func (d *driver) kill(rng *rand.Rand, running []*watcher, kills, stops int, done <-chan struct{}) error {
	for n := range kills {
		select {
		case <-done:
			return nil
		case <-time.After(time.Duration(100+rng.IntN(900)) * time.Millisecond):
		}
		if err := alive(running); err != nil {
			return err
		}
		i := rng.IntN(len(running))
		from := time.Now()
		running[i].kill()
		if n*stops/kills != (n+1)*stops/kills {
			time.Sleep(time.Duration(200+rng.IntN(800)) * time.Millisecond) // nothing runs, or one less
		}
		var err error
		if running[i], err = d.watch(); err != nil {
			return err
		}
		d.mu.Lock()
		d.down[i] = append(d.down[i], span{from, time.Now()})
		d.mu.Unlock()
	}
	return nil
}

// TestRigLosesNothing changes files at random while the process that runs the rig is
// killed again and again: in the end each version that stood still is in the tie-off once.
func TestRigLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes int
		store     func(*testing.T) string
	}{
		{"1 process", 1, ownFile},
		{"2 processes", 2, ownFile},
		{"2 processes in Postgres", 2, postgres},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			losesNothing(t, c.processes, c.store(t))
		})
	}
}

func ownFile(*testing.T) string { return "" }

// postgres is the address of a database of the test's own.
func postgres(t *testing.T) string {
	server, err := pgtest.Start(t.Context(), "fsync=off") // it is not the server that dies
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.URL()
}

func losesNothing(t *testing.T, processes int, store string) {
	changes, kills, stops := rigLoad(t)
	d := newDriver(t, store)
	running := make([]*watcher, processes)
	for i := range running {
		var err error
		running[i], err = d.watch()
		d.must(err)
	}
	done, killed := make(chan struct{}), make(chan error, 1)
	rng := rand.New(rand.NewPCG(d.rng.Uint64(), 2))
	go func() { killed <- d.kill(rng, running, kills, stops, done) }()
	d.drive(changes)
	close(done)
	d.must(<-killed)
	d.settle(running)
	d.check(processes)
}

// settle waits until the rig has nothing to do, and the newest versions are in its tie-off.
func (d *driver) settle(running []*watcher) {
	d.t.Helper()
	for late := time.Now().Add(4 * patience); ; time.Sleep(100 * time.Millisecond) {
		out, code := d.roster("rig", "status", "--json")
		if code == 0 && strings.Contains(out, `"queued":0,"running":0`) && d.newest() == "" {
			return
		}
		d.must(alive(running))
		if time.Now().After(late) {
			log, _ := d.roster("rig", "log", "--limit", "20", "--json")
			d.t.Fatalf("the rig does not come to rest: %s; %s; its last jobs are %s", out, d.newest(), log)
		}
	}
}
