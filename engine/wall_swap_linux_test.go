package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// outside is what a case that moves the workspace about must not change.
func (w *wall) outside() string {
	w.t.Helper()
	var b strings.Builder
	for _, file := range []string{"SECRET.txt", "deep/SECRET.txt", "a.txt", "d/a.txt"} {
		data, err := os.ReadFile(w.out + "/" + file)
		b.WriteString(file + " " + string(data))
		if err != nil {
			b.WriteString("none\n")
		}
	}
	entries, err := os.ReadDir(w.out)
	w.must(err)
	for _, e := range entries {
		b.WriteString(e.Name() + "\n")
	}
	return b.String()
}

func (w *wall) exchange(one, other string) {
	w.must(unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE))
}

// trap puts a file of the same name outside, and a link to it beside the
// workspace's own.
func (w *wall) trap() {
	w.must(os.MkdirAll(w.out+"/d", 0o777))
	for _, file := range []string{"a.txt", "d/a.txt", "d/SECRET.txt"} {
		w.must(os.WriteFile(w.out+"/"+file, []byte(secret+"\n"), 0o666))
	}
	w.must(os.WriteFile(w.ws+"/d/a.txt", []byte("mine "+secret[:3]+"\n"), 0o666))
	w.link("$O/a.txt", "file")
	w.link("$O", "folder")
	w.must(os.Symlink(w.out, w.base+"/whole"))
}

// swaps are what may happen between the check of d/a.txt and its use.
var swaps = []struct {
	name string
	swap func(w *wall)
}{
	{"the file by a link", func(w *wall) { w.exchange(w.ws+"/d/a.txt", w.ws+"/file") }},
	{"its folder by a link", func(w *wall) { w.exchange(w.ws+"/d", w.ws+"/folder") }},
	{"the workspace by a link", func(w *wall) { w.exchange(w.ws, w.base+"/whole") }},
	{"the workspace is moved", func(w *wall) {
		w.must(os.Rename(w.ws, w.base+"/moved"))
		w.must(os.Rename(w.base+"/whole", w.ws))
	}},
	{"the folder is gone", func(w *wall) {
		w.must(os.RemoveAll(w.ws + "/d"))
		w.must(os.Rename(w.ws+"/folder", w.ws+"/d"))
	}},
}

// TestWallBetweenCheckAndUse swaps what was judged before it is used. Whoever
// judges a path and opens it then is led outside; the tools hold what they have
// judged.
func TestWallBetweenCheckAndUse(t *testing.T) {
	for _, s := range swaps {
		for _, name := range []string{"read", "write", "edit", "grep", "glob"} {
			if name == "glob" && s.name == "the file by a link" {
				continue // it opens no file
			}
			t.Run(s.name+"/"+name, func(t *testing.T) {
				path := "d/a.txt"
				if name == "glob" {
					path = "d"
				}
				free := newWall(t)
				free.trap()
				before := free.outside()
				if real, err := filepath.EvalSymlinks(free.ws + "/" + path); err != nil || !strings.HasPrefix(real, free.ws) {
					t.Fatalf("%s, %v before the swap", real, err)
				}
				s.swap(free)
				if !free.plain(name, path) && free.outside() == before {
					t.Error("the swap leads nowhere")
				}

				w := newWall(t)
				w.trap()
				before = w.outside()
				v := w.call(w.tools(func() { s.swap(w) }), name, swapInput(name, path))
				if v.before.Effect != "allow" {
					t.Errorf("denied: %s", v.text)
				}
				if strings.Contains(v.text, secret+"\n") || strings.Contains(v.text, "SECRET.txt") {
					t.Errorf("the model sees %q", v.text)
				}
				if after := w.outside(); after != before {
					t.Errorf("was\n%s\nis\n%s", before, after)
				}
			})
		}
	}
}

func swapInput(name, path string) string {
	if name == "edit" {
		return `{"path": "d/a.txt", "old": "SEC", "new": "taken", "force": true}`
	}
	return input(name, path)
}

// TestWallAfterAMove: tools that were made before the workspace was moved judge
// where its path leads now.
func TestWallAfterAMove(t *testing.T) {
	for name, path := range map[string]string{"read": "SECRET.txt", "write": "SECRET.txt", "edit": "SECRET.txt", "grep": ".", "glob": "."} {
		t.Run(name, func(t *testing.T) {
			w := newWall(t)
			w.trap()
			tools := w.tools(nil)
			w.must(os.Rename(w.ws, w.base+"/moved"))
			w.must(os.Rename(w.base+"/whole", w.ws))
			before := w.outside()
			w.call(tools, name, input(name, path)).check(t, external)
			if after := w.outside(); after != before {
				t.Errorf("was\n%s\nis\n%s", before, after)
			}
		})
	}
}

// TestWallWhileItMoves lets somebody swap files, folders and links without
// pause while tools use them, also back again in the middle of a call.
func TestWallWhileItMoves(t *testing.T) {
	w := newWall(t)
	w.trap()
	before := w.outside()
	cycle := [][2]string{ // each step and back again
		{w.ws + "/d", w.ws + "/folder"}, {w.ws + "/d", w.ws + "/folder"},
		{w.ws + "/d/a.txt", w.ws + "/file"}, {w.ws + "/d/a.txt", w.ws + "/file"},
	}
	stop, done := make(chan struct{}), sync.WaitGroup{}
	done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			step := cycle[i%len(cycle)]
			if err := unix.Renameat2(unix.AT_FDCWD, step[0], unix.AT_FDCWD, step[1], unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("swap %v: %v", step, err)
				return
			}
		}
	})
	defer done.Wait()
	defer close(stop)

	tools := map[string]tool.Tool{}
	for _, x := range w.tools(nil) {
		tools[x.Def().Name] = x
	}
	outcomes := map[session.Outcome]int{}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		for _, name := range []string{"read", "write", "edit", "grep"} {
			v := w.call([]tool.Tool{tools[name]}, name, swapInput(name, "d/a.txt"))
			outcomes[v.after.Outcome]++
			if strings.Contains(v.text, secret+"\n") {
				t.Fatalf("%s: the model sees %q", name, v.text)
			}
			if after := w.outside(); after != before {
				t.Fatalf("%s: was\n%s\nis\n%s", name, before, after)
			}
		}
	}
	if outcomes[session.OK] == 0 || outcomes[session.Denied] == 0 {
		t.Errorf("the race was none: %v", outcomes)
	}
}

// TestWallOfPatterns: no pattern of a search leads out of its folder, and what
// it comes upon is judged one by one.
func TestWallOfPatterns(t *testing.T) {
	for _, c := range []struct{ name, tool, input, by string }{
		{"up", "glob", `{"pattern": "../outside/**"}`, "=goes up"},
		{"up in braces", "glob", `{"pattern": "{d,..}/outside/*"}`, "=goes up"},
		{"up in the middle", "glob", `{"pattern": "d/../../outside/*"}`, "=goes up"},
		{"in full", "glob", `{"pattern": "/**"}`, "=is absolute"},
		{"up, in a class", "glob", `{"pattern": "[.][.]/outside/*"}`, "=no file matches"},
		{"a link to a file", "glob", `{"pattern": "file"}`, "=1 file left out"},
		{"a link to a folder", "glob", `{"pattern": "folder/**"}`, "=no file matches"},
		{"up, in a folder outside", "glob", `{"pattern": "*", "path": "d/../.."}`, external},
		{"files up", "grep", `{"pattern": "SECRET", "glob": "../outside/*"}`, "=goes up"},
		{"files in full", "grep", `{"pattern": "SECRET", "glob": "/etc/*"}`, "=is absolute"},
		{"files that are links", "grep", `{"pattern": "SECRET"}`, "=no line matches"},
		{"a folder that is a link", "grep", `{"pattern": "SECRET", "path": "folder"}`, external},
		{"a command in a folder that is a link", "bash", `{"command": "cat SECRET.txt", "workdir": "folder"}`, external},
		{"a command in a folder above", "bash", `{"command": "cat outside/SECRET.txt", "workdir": ".."}`, external},
		{"a command in the state", "bash", `{"command": "cat SECRET.db", "workdir": "../state"}`, "state"},
	} {
		t.Run(c.tool+" "+c.name, func(t *testing.T) {
			w := newWall(t)
			w.trap()
			before := w.guarded()
			w.call(w.tools(nil), c.tool, c.input).check(t, c.by)
			if after := w.guarded(); after != before {
				t.Errorf("was\n%s\nis\n%s", before, after)
			}
		})
	}
}

// TestWallOfALink: a workspace that is given by a link begins where that leads.
func TestWallOfALink(t *testing.T) {
	for name, path := range map[string]string{
		"read": "../outside/SECRET.txt", "write": "../outside/SECRET.txt", "edit": "../outside/SECRET.txt", "grep": "../outside", "glob": "../outside",
		"bash": "cat < ../outside/SECRET.txt",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWall(t)
			w.must(os.MkdirAll(w.base+"/far/away", 0o777))
			w.must(os.Symlink(w.ws, w.base+"/far/away/link"))
			w.ws = w.base + "/far/away/link"
			if !w.plain(name, path) {
				t.Errorf("%s reaches nothing without the wall", path)
			}
			w.must(os.WriteFile(w.out+"/SECRET.txt", []byte(secret+"\n"), 0o666))
			before := w.outside()
			w.call(w.tools(nil), name, input(name, path)).check(t, external)
			if after := w.outside(); after != before {
				t.Errorf("was\n%s\nis\n%s", before, after)
			}
		})
	}
}
