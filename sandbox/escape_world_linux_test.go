package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// world is what one attempt to get out of a box finds: a workspace, in which it
// may do as it likes, and beside it what it must not reach.
type world struct {
	t      *testing.T
	box    Box
	dir    string // holds the rest; not within the machine's temp folder
	ws     string // the workspace
	out    string // somebody else's folder, as HOME is
	state  string // hidden from the box
	secret string // what nobody in the box may come to know
	fifo   int    // out/fifo, open for reading
	uid    int    // of the command and its victim
	self   string // this test binary
	victim *victim
}

func newWorld(t *testing.T, kind Kind, uid int, self string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "roster-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	w := &world{
		t: t, dir: dir, uid: uid, self: self, secret: "secret" + strconv.FormatInt(time.Now().UnixNano(), 36),
		ws: filepath.Join(dir, "ws"), out: filepath.Join(dir, "out"), state: filepath.Join(dir, "state"),
	}
	for _, d := range []string{w.ws, w.out, w.state, filepath.Join(w.ws, "own")} {
		w.must(os.Mkdir(d, 0o755))
	}
	for _, f := range []string{"out/file", "out/secret", "state/secret"} {
		w.must(os.WriteFile(filepath.Join(dir, f), []byte(w.secret+"\n"), 0o644))
	}
	w.must(os.WriteFile(filepath.Join(w.ws, "own/file"), []byte("mine\n"), 0o644))
	w.must(os.WriteFile(filepath.Join(w.out, "program"), []byte("#!/bin/sh\necho "+w.secret+"\n"), 0o755))
	w.must(syscall.Mkfifo(filepath.Join(w.out, "fifo"), 0o644))
	w.must(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, uid, uid))
	}))
	w.fifo, err = syscall.Open(filepath.Join(w.out, "fifo"), syscall.O_RDWR|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	w.must(err)
	t.Cleanup(func() { syscall.Close(w.fifo) })
	w.box = Box{
		Kind: kind, Write: []string{w.ws}, Read: []string{filepath.Dir(self)},
		Hidden: []string{w.state}, Network: kind == Landlock,
	}
	if kind == None {
		w.box = Box{}
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// result is what an attempt's command did.
type result struct {
	code int
	err  error
	out  string
}

// try runs a script in the box. Its variables say where everything is; only the
// secret is not among them.
func (w *world) try(script string, env ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	c := command(script, &out, &out, append([]string{
		"WS=" + w.ws, "OUT=" + w.out, "STATE=" + w.state, "PROBE=" + w.self, "HOME=" + w.out,
		"VICTIM=" + strconv.Itoa(w.victim.PID), "TCP=" + strconv.Itoa(w.victim.TCP), "UDP=" + strconv.Itoa(w.victim.UDP),
		"ABSTRACT=" + w.victim.Abstract, "HELD=" + strconv.Itoa(w.victim.Held), "SHM=" + strconv.Itoa(w.victim.Shm),
		"KEY=" + strconv.Itoa(w.victim.Key), "RING=" + strconv.Itoa(w.victim.Ring), "KEYNAME=" + w.victim.KeyName,
		"MEMORY=" + strconv.FormatUint(w.victim.Memory, 10),
	}, env...)...)
	c.Helper = w.as(w.self, helperArg)
	c.Dir, c.Box = w.ws, w.box
	code, err := c.Run(ctx)
	return result{code, err, out.String()}
}

// as is how a program is started as the user of the attempt.
func (w *world) as(argv ...string) []string {
	if w.uid == os.Geteuid() {
		return argv
	}
	id := strconv.Itoa(w.uid)
	return append([]string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--"}, argv...)
}

func (w *world) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, path))
	return err == nil
}

func (w *world) content(path string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data))
}

// victim is a process that is nothing to the box: it holds the secret in its
// memory, arguments, environment, files and keys, and tells it to whoever calls.
type victim struct {
	PID, TCP, UDP, Held, Shm, Key, Ring int
	Abstract, KeyName                   string
	Memory                              uint64

	cmd    *exec.Cmd
	in     io.WriteCloser
	answer chan string
}

// startVictim starts it, with a key where the attempt is on that: a user may have
// only so many.
func (w *world) startVictim(key bool) {
	w.t.Helper()
	v := &victim{answer: make(chan string, 1)}
	start := w.as(w.self, "__victim", w.secret)
	v.cmd = exec.Command(start[0], start[1:]...)
	v.cmd.Dir = w.out
	v.cmd.Env = []string{"SECRET=" + w.secret, "NAME=" + filepath.Base(w.dir)}
	if key {
		v.cmd.Env = append(v.cmd.Env, "KEY=yes")
	}
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	v.cmd.Stderr = os.Stderr
	var err error
	v.in, err = v.cmd.StdinPipe()
	w.must(err)
	said, err := v.cmd.StdoutPipe()
	w.must(err)
	w.must(v.cmd.Start())
	ended := make(chan struct{})
	lines := bufio.NewScanner(said)
	if !lines.Scan() {
		v.cmd.Process.Kill()
		w.t.Fatal("the victim does not start: ", v.cmd.Wait())
	}
	w.must(json.Unmarshal(lines.Bytes(), v))
	go func() {
		defer close(ended)
		for lines.Scan() {
			v.answer <- lines.Text()
		}
		close(v.answer)
	}()
	w.victim = v
	w.t.Cleanup(func() {
		v.cmd.Process.Signal(syscall.SIGKILL)
		<-ended
		v.cmd.Wait()
	})
}

// silent says whether the victim does not answer: it was killed or stopped.
func (w *world) silent() bool {
	if _, err := io.WriteString(w.victim.in, "?\n"); err != nil {
		return true
	}
	select {
	case _, alive := <-w.victim.answer:
		return !alive
	case <-time.After(time.Second):
		return true
	}
}

// TestEscapes tries every way out of every kind of box that there is, as root and
// as another user. Each attempt is shown to work without a box, lest it prove
// nothing.
func TestEscapes(t *testing.T) {
	program := copyOfMyself(t)
	for _, a := range attempts() {
		t.Run(a.name, func(t *testing.T) {
			uids := a.uids()
			if len(uids) == 0 {
				t.Skip("works without a box only for root")
			}
			t.Parallel()
			for _, uid := range uids {
				for _, kind := range []Kind{None, Landlock, Bubblewrap} {
					a.try(t, kind, uid, program)
				}
			}
		})
	}
}

func (a *attempt) try(t *testing.T, kind Kind, uid int, program string) {
	w := newWorld(t, kind, uid, program)
	w.startVictim(strings.Contains(a.script, "$KEY"))
	r := w.try(a.script)
	want := kind == None || slices.Contains(a.open, kind)
	if got := a.worked(w, r); got != want {
		t.Errorf("%s, user %d: the attempt succeeds: %v, want %v (exit code %d, %v)\n%s", kind, uid, got, want, r.code, r.err, r.out)
	}
	if a.undo != nil {
		a.undo(w)
	}
}

// nobody is a user without rights.
const nobody = 65534

// uids are the users as whom the attempt is made.
func (a *attempt) uids() []int {
	switch me := os.Geteuid(); {
	case me == 0 && a.root:
		return []int{0}
	case me == 0 && a.user:
		return []int{nobody}
	case me == 0:
		return []int{0, nobody}
	case a.root:
		return nil
	default:
		return []int{me}
	}
}

// copyOfMyself is this test binary where every user can run it.
func copyOfMyself(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "roster-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "program")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, data, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// attempt is one way out of a box.
type attempt struct {
	name   string // what is tried, for the table in the documentation
	script string
	worked func(*world, result) bool
	open   []Kind // the kinds that do not stop it
	root   bool   // without a box only root can do it
	user   bool   // root in a box has less power over others than they over themselves
	undo   func(*world)
}

// The proofs that an attempt worked.

func leaked(w *world, r result) bool { return strings.Contains(r.out, w.secret) }

func says(word string) func(*world, result) bool {
	return func(_ *world, r result) bool { return strings.Contains(r.out, word) }
}

func made(path string) func(*world, result) bool {
	return func(w *world, _ result) bool { return w.exists(path) }
}

func gone(path string) func(*world, result) bool {
	return func(w *world, _ result) bool { return !w.exists(path) }
}

// changed is for out/file, which holds the secret at first.
func changed(w *world, _ result) bool { return w.content("out/file") != w.secret }

func silenced(w *world, _ result) bool { return w.silent() }

// stat compares what a person sees of out/file with what it was.
func stat(differs func(*syscall.Stat_t) bool) func(*world, result) bool {
	return func(w *world, _ result) bool {
		var st syscall.Stat_t
		w.must(syscall.Lstat(filepath.Join(w.out, "file"), &st))
		return differs(&st)
	}
}

// attemptGroup is a part of the table in the documentation.
type attemptGroup struct {
	title, about string
	attempts     []attempt
}

func attemptGroups() []attemptGroup {
	return []attemptGroup{
		{"Changing files", "Outside is a folder beside the workspace; what is in the workspace a command may change.", writes()},
		{"Reading files", "A box of either kind reads the system's folders, apart from what in /etc is not for everybody.", reads()},
		{"Other processes", "The other process belongs to the same user.", processes()},
		{"The network", "With `network: true` a box of bubblewrap has the machine's network, and abstract unix sockets with it.", network()},
		{"Privileges", "Neither kind lets a command gain any.", privileges()},
	}
}

func attempts() (all []attempt) {
	for _, g := range attemptGroups() {
		all = append(all, g.attempts...)
	}
	return all
}

// probe is the line that has this test binary do what bash cannot.
func probe(args ...any) string { return "$PROBE __probe " + strings.TrimSpace(fmt.Sprintln(args...)) }
