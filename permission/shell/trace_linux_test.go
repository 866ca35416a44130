package shell

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
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

// tracer runs lines in a bash that can reach nothing but a few wrappers and
// stubs: every command of another name is found missing, which it writes down.
type tracer struct {
	bash, root, work, log, nonce string
	attr                         syscall.SysProcAttr
}

// Programs that run their arguments, where the tests find them.
var traced = []string{"bash", "sh", "env", "timeout", "nice", "nohup", "xargs", "setsid", "stdbuf"}

// Programs that a wrapper finds: they write down how they were called.
var stubs = []string{"a", "b", "c", "x", "y", "git", "rm", "ls", "cat", "echo", "touch", "m"}

func newTracer(t testing.TB) *tracer {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	root, err := os.MkdirTemp("", "trace")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	tr := &tracer{bash: bash, root: root, work: filepath.Join(root, "1/2/3/4/5/work"), log: filepath.Join(root, "log"), nonce: rand.Text()}
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`builtin printf '%%s\0' %s $(( $# + 1 )) "$0" "$@" >> '%s'`, tr.nonce, tr.log)
	for _, name := range stubs {
		script := "#!" + bash + "\nset -- \"$@\"\n" + strings.Replace(record, `"$0"`, name, 1) + "\n"
		if err := os.WriteFile(filepath.Join(root, "bin", name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range traced {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(root, "bin", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	record = strings.Replace(record, `"$0" "$@"`, `"$@"`, 1)
	record = strings.Replace(record, `$(( $# + 1 ))`, `$#`, 1)
	setup := "command_not_found_handle() { " + record + "; return 127; }\n" +
		"enable -n echo kill pwd true false : test [ 2>/dev/null\n" +
		"ulimit -t 1 -f 1000 -n 100 -v 2000000 2>/dev/null\n" +
		"FUNCNEST=20\n"
	if os.Getuid() == 0 {
		setup += "ulimit -u 100\n"
	}
	if err := os.WriteFile(filepath.Join(root, "setup"), []byte(setup), 0o644); err != nil {
		t.Fatal(err)
	}
	tr.isolate(t)
	return tr
}

// isolate takes what this system gives: another user, who may touch nothing,
// and a space of processes that ends as one.
func (tr *tracer) isolate(t testing.TB) {
	t.Helper()
	attrs := []syscall.SysProcAttr{{
		Setpgid: true, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1, HostID: os.Getgid(), Size: 1}},
	}, {Setpgid: true}}
	if os.Getuid() == 0 {
		nobody := &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}
		attrs = []syscall.SysProcAttr{
			{Setpgid: true, Cloneflags: syscall.CLONE_NEWPID, Credential: nobody}, {Setpgid: true, Credential: nobody}, {Setpgid: true},
		}
	}
	for _, tr.attr = range attrs {
		tr.attr.Pdeathsig = syscall.SIGKILL
		if calls, _, err := tr.run(t, "a 'b c'; nothing"); err == nil && len(calls) == 2 {
			return
		}
	}
	t.Skip("lines cannot be traced here")
}

// run runs a line and returns the commands that ran and the files that were
// written. A line that takes too long is ended.
func (tr *tracer) run(t testing.TB, line string) (calls [][]string, written []string, err error) {
	t.Helper()
	if err := errorsOf(os.RemoveAll(filepath.Join(tr.root, "1")), os.MkdirAll(filepath.Join(tr.work, "d"), 0o755),
		os.Chmod(tr.work, 0o777), os.Chmod(filepath.Join(tr.work, "d"), 0o777), os.WriteFile(tr.log, nil, 0o666), os.Chmod(tr.log, 0o666),
		os.WriteFile(filepath.Join(tr.work, "in"), []byte("rm x\n"), 0o666), os.Chmod(filepath.Join(tr.work, "in"), 0o666)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tr.bash, "--noprofile", "--norc", "-c", line)
	cmd.Dir = tr.work
	cmd.Env = []string{"PATH=" + filepath.Join(tr.root, "bin"), "BASH_ENV=" + filepath.Join(tr.root, "setup"), "HOME=" + tr.work, "LC_ALL=C.UTF-8"}
	attr := tr.attr
	cmd.SysProcAttr = &attr
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	log, err := os.ReadFile(tr.log)
	if err != nil {
		t.Fatal(err)
	}
	return tr.calls(log), tr.written(t), nil
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (tr *tracer) calls(log []byte) (calls [][]string) {
	fields := strings.Split(string(log), "\x00")
	for i := 0; i+1 < len(fields); i++ {
		n, err := strconv.Atoi(fields[i+1])
		if fields[i] != tr.nonce || err != nil || i+2+n >= len(fields) {
			continue
		}
		calls = append(calls, fields[i+2:i+2+n])
		i += n + 1
	}
	return calls
}

// written lists the files that were not there, or changed.
func (tr *tracer) written(t testing.TB) (files []string) {
	t.Helper()
	err := filepath.WalkDir(tr.work, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(tr.work, path)
		if err != nil {
			return err
		}
		if content, err := os.ReadFile(path); rel != "in" || err != nil || !bytes.Equal(content, []byte("rm x\n")) {
			files = append(files, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// traceable leaves out what could reach beyond the tracer's directories, and
// what could leave a process behind.
func traceable(line string) bool {
	for _, s := range []string{"/", "..", "~", "_", "PWD", "HOME", "BASH", "SHELL", "PATH", "DIR", "pwd", "dirs", "$0", "$-", "set -m", "monitor", "kill", "enable"} {
		if strings.Contains(line, s) {
			return false
		}
	}
	return len(line) < 400 && (!strings.Contains(line, "$'") || !strings.Contains(line, `\`))
}

// ran checks that the analysis of a line covers what bash does with it.
func (tr *tracer) ran(t testing.TB, line string) {
	t.Helper()
	l, err := Analyze(line)
	scripts := func(c Command) bool {
		words := program(c)
		return len(words) > 0 && slices.Contains(traced, words[0].String())
	}
	if err != nil || l.Unknown || !traceable(line) || slices.ContainsFunc(l.Commands, scripts) {
		return
	}
	calls, files, err := tr.run(t, line)
	if err != nil {
		return
	}
	for _, call := range calls {
		if slices.Equal(call, []string{"id", "-u"}) { // a login shell's own profile
			continue
		}
		wraps := slices.Contains(traced, call[0]) || Launcher(call[0]) && call[0] != "git"
		if !wraps && !slices.ContainsFunc(l.Commands, func(c Command) bool { return covers(c, call) }) {
			t.Errorf("%q runs %q; listed: %s", line, call, show(l))
		}
	}
	for _, file := range files {
		if !slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.Write && matches(r.Path, file) }) {
			t.Errorf("%q writes %q; listed: %s", line, file, show(l))
		}
	}
}

// program returns a command's words without the assignments.
func program(c Command) []Word {
	words := c.Words
	for len(words) > 0 && len(words[0]) > 0 && strings.Contains(words[0][0].Text, "=") {
		words = words[1:]
	}
	return words
}

// covers says whether a listed command stands for one that ran. Its command
// word is always known.
func covers(c Command, call []string) bool {
	words := program(c)
	if len(words) == 0 || words[0].String() != call[0] {
		return false
	}
	var args Word
	exact := len(words) == len(call)
	for i, w := range words {
		text, known := w.Literal()
		exact = exact && known && text == call[i]
		if i > 0 {
			args = append(args, w...)
		}
	}
	return exact || slices.ContainsFunc(args, func(p Piece) bool { return p.Hole }) && matches(args, strings.Join(call[1:], ""))
}

// matches says whether holes can be filled so that the word is the text.
func matches(w Word, text string) bool {
	squeeze := strings.NewReplacer(" ", "", "\n", "", "\t", "")
	text = squeeze.Replace(text)
	open := false
	merged := builder{}
	merged.word(word{Word: w})
	w = merged.done().Word
	for i, p := range w {
		if p.Hole {
			open = true
			continue
		}
		lit := squeeze.Replace(p.Text)
		switch last := i == len(w)-1; {
		case !open && !strings.HasPrefix(text, lit), open && last && !strings.HasSuffix(text, lit):
			return false
		case open && last:
			return true
		case !open:
			text = text[len(lit):]
		default:
			_, after, found := strings.Cut(text, lit)
			if !found {
				return false
			}
			text = after
		}
		open = false
	}
	return open || text == ""
}
