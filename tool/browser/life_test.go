package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool"
)

// TestGoneAfterTheRun: cookies, the folder and the processes of a browser end with
// the run that opened it.
func TestGoneAfterTheRun(t *testing.T) {
	at := pages(t, map[string]string{"/": `<p id=p></p><script>p.textContent = "cookies: " + document.cookie + "."; document.cookie = "a=1; max-age=1000"</script>`})
	u := newUser(t, "", allowAll(), at)
	open := func() string { return u.call(OpenName, map[string]any{"url": "http://" + at + "/"}) }
	has(t, open(), "cookies: .")
	has(t, open(), "cookies: a=1.")
	dir := u.kit.opts.Set.of(testRun).dir
	if n := len(naming(t, dir)); n == 0 {
		t.Fatal("its processes cannot be told")
	}
	u.leave()
	if pids := naming(t, dir); len(pids) > 0 {
		t.Errorf("it has left processes: %v", pids)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
	has(t, u.call(ReadName, nil), "no page is open")
	has(t, open(), "cookies: .")
}

// naming lists the processes whose command line names a text.
func naming(t *testing.T, text string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), text) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}

// childEnv has this program open the page that it names in a browser, say where the
// browser's folder is, and wait to be killed.
const childEnv = "ROSTER_TEST_BROWSER_CHILD"

func child(at string) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		panic(err)
	}
	set := new(Set)
	kit, err := New(Options{Program: path, Exec: sandbox.Self(), Set: set})
	if err != nil {
		panic(err)
	}
	if _, err := kit.Open(context.Background(), testRun); err != nil {
		panic(err)
	}
	fmt.Println(set.of(testRun).dir)
	select {}
}

// TestKilled: when roster is killed, nothing of the browser goes on, and the next one
// takes its folder away.
func TestKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	if err != nil || len(naming(t, dir)) == 0 {
		t.Fatalf("it does not run: %q, %v", dir, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(10 * time.Second); len(naming(t, dir)) > 0; <-look.C {
		if time.Now().After(deadline) {
			t.Fatalf("processes of the browser go on: %v", naming(t, dir))
		}
	}
	u := newUser(t, "", allowAll())
	if _, err := u.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its folder is there: %v", err)
	}
}

// TestKeptWhileAPersonIsAsked: what a call would do is asked for between two runs of
// the loop, and the page is there in both.
func TestKeptWhileAPersonIsAsked(t *testing.T) {
	at := pages(t, map[string]string{"/": `<a href="/next">next</a>`, "/next": "<p>the next one"})
	u := newUser(t, "", []permission.Rule{{Tool: OpenName, Subject: "*", Effect: permission.Allow}}, at)
	u.call(OpenName, map[string]any{"url": "http://" + at + "/"})
	has(t, u.call(ClickName, map[string]any{"element": 1}), "ask: ")
	u.leave() // the run waits for a person
	u.permit, _ = permission.Compile(permission.Layers{Rules: allowAll()})
	has(t, u.call(ClickName, map[string]any{"element": 1}), "the next one")
	u.leave()
	has(t, u.call(ReadName, nil), "no page is open")
}

// TestLeftBehind: the folder of a browser whose process was killed is taken away by
// the next, and that of one that runs is not.
func TestLeftBehind(t *testing.T) {
	in := t.TempDir()
	running, lock, err := profileDir(in)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	dead, held, err := profileDir(in)
	if err != nil {
		t.Fatal(err)
	}
	held.Close()
	another, last, err := profileDir(in)
	if err != nil {
		t.Fatal(err)
	}
	last.Close()
	for dir, want := range map[string]bool{running: true, dead: false, another: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", dir, err == nil, want)
		}
	}
}

// TestNoBrowser: programs that are none say so.
func TestNoBrowser(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "browser")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, program, want string }{
		{"not there", "/nonexistent/chromium", "does not start"},
		{"it fails", script("echo it is broken >&2; exit 1"), "it is broken"},
		{"it says something else", script(`printf 'hello\0' >&4`), "does not start"},
		{"it refuses", script(`printf '{"id":1,"error":{"code":-1,"message":"not today"}}\0' >&4; cat <&3`), "not today"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := New(Options{Program: c.program, Exec: sandbox.Self(), Set: new(Set)})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err = k.Open(t.Context(), testRun); err == nil || !strings.Contains(err.Error(), c.want) || time.Since(began) > 10*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
	k, err := New(Options{Missing: "there is none", Set: new(Set)})
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range k.Tools() {
		if w, ok := made.(tool.Withheld); !ok || w.Withheld() != "there is none" {
			t.Errorf("%s is offered", made.Def().Name)
		}
	}
}

func TestSettings(t *testing.T) {
	for _, bad := range []string{`{"timeout": 0}`, `{"timeout": "6m"}`, `{"max-size": 0}`, `{"max-size": 1000000000}`, `{"tabs": 2}`} {
		if _, err := New(Options{Settings: json.RawMessage(bad)}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
