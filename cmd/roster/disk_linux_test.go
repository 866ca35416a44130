package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestDiskFull has the space run out in the middle of a run, and come back. What
// is asked meanwhile is refused and says why, what is there can be read, and
// afterwards the run goes on by itself, with nothing lost and nothing done twice.
func TestDiskFull(t *testing.T) {
	for _, c := range []struct {
		name string
		// wall puts the server's state where the space can run out, full has
		// it run out, and free makes an end of that.
		wall       func(w *workspace) []string
		full, free func(w *workspace, pid int)
		words      string
	}{
		{"a full disk", smallDisk, (*workspace).fillDisk, (*workspace).freeDisk, "free some space"},
		{"a limit on the size of files", func(*workspace) []string { return nil }, (*workspace).limitFiles, freeFiles, "the limit on the size of files"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			const turns = 12
			var script strings.Builder
			for i := range turns {
				fmt.Fprintf(&script, "  - {delay: 20ms, tools: [{name: bash, input: {command: \"echo line-%d >> run.lines\"}}]}\n", i)
			}
			w.write("run.yaml", "replies:\n"+script.String()+"  - text: done\n")
			w.write("s0.yaml", "replies: [{text: done}]\n")
			args := append(c.wall(w), "roster", "serve", "--addr", "127.0.0.1:0", "--json", "--quiet")
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir, cmd.Env = w.dir, append(environment(w.dir), "ROSTER_TRUST=1")
			server, url := w.served(cmd)
			before := w.begin(url, 0)
			id := w.beginWith(url, "run.yaml")
			w.logged(url, id, 25)
			told := make(chan string, 1)
			go func() { told <- follow(url, id) }()
			c.full(w, server.Process.Pid)
			var answer struct{ Error string }
			body := map[string]any{"message": "Go", "agentId": "worker", "model": "script:s0.yaml"}
			if status := call("POST", url+"/chat", body, &answer); status < 500 || !strings.Contains(answer.Error, c.words) {
				t.Errorf("without space: %d, %q, which does not say %q", status, answer.Error, c.words)
			}
			if text := <-told; !strings.Contains(text, c.words) {
				t.Errorf("the run's reader is not told why it does not go on: ...%s", text[max(0, len(text)-500):])
			}
			if status := call("GET", url+"/sessions/"+before+"/messages", nil, nil); status != http.StatusOK {
				t.Errorf("without space a session cannot be read: %d", status)
			}
			c.free(w, server.Process.Pid)
			if status := call("POST", url+"/chat", body, &answer); status != http.StatusOK {
				t.Errorf("with space again: %d, %q", status, answer.Error)
			}
			w.allIdle(url, patience)
			text := follow(url, id)
			if !strings.Contains(text, `"reason":"done"`) || strings.Count(text, "event: loop.end") != 1 {
				t.Errorf("the run has not ended as it should: %s", text)
			}
			for i := range turns {
				line := fmt.Sprint("line-", i)
				if n := lines(w, "run")[line]; n > 1 || n == 0 && !strings.Contains(text, "not known") {
					t.Errorf("%s was written %d times", line, n)
				}
			}
		})
	}
}

// logged waits until a session has so many events.
func (w *workspace) logged(url, id string, events int64) {
	for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		var s struct{ Last int64 }
		if call("GET", url+"/sessions/"+id, nil, &s) == http.StatusOK && s.Last >= events {
			return
		}
		if time.Now().After(late) {
			w.t.Fatalf("after %v the session has %d events", patience, s.Last)
		}
	}
}

// follow reads a session's events until it is idle, or cannot go on.
func follow(url, id string) string {
	resp, err := http.Get(url + "/sessions/" + id + "/events?until=idle")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprint(string(text), err)
}

// smallDisk mounts a file system of 4 MiB over the state directory, for the
// command alone.
func smallDisk(w *workspace) []string {
	state := w.dir + ".state"
	if err := os.MkdirAll(state, 0o700); err != nil {
		w.t.Fatal(err)
	}
	wall := []string{"unshare", "--mount", "--map-root-user", "sh", "-c", `mount -t tmpfs -o size=4m none "$0" && exec "$@"`, state}
	if out, err := exec.Command(wall[0], append(wall[1:], "true")...).CombinedOutput(); err != nil {
		w.t.Fatalf("a small disk cannot be mounted here, neither as root nor in a namespace of one's own (util-linux): %v, %s", err, out)
	}
	return wall
}

// inside is a file as the process sees it.
func (w *workspace) inside(pid int, name string) string {
	return filepath.Join("/proc", fmt.Sprint(pid), "root", w.dir+".state", name)
}

func (w *workspace) fillDisk(pid int) {
	f, err := os.Create(w.inside(pid, "filler"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	for _, err = f.Write(make([]byte, 4<<20)); err == nil; {
		_, err = f.Write(make([]byte, 512))
	}
}

func (w *workspace) freeDisk(pid int) {
	if err := os.Remove(w.inside(pid, "filler")); err != nil {
		w.t.Fatal(err)
	}
}

// limitFiles lets no file of the process grow beyond what its database's log has
// now.
func (w *workspace) limitFiles(pid int) {
	info, err := os.Stat(w.database() + "-wal")
	if err != nil {
		w.t.Fatal(err)
	}
	setLimit(w, pid, uint64(info.Size()))
}

func freeFiles(w *workspace, pid int) { setLimit(w, pid, unix.RLIM_INFINITY) }

func setLimit(w *workspace, pid int, size uint64) {
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit)
	if err == nil {
		limit.Cur = min(size, limit.Max)
		err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestDatabaseCannotBeWritten: a user who may only read the database is told so.
func TestDatabaseCannotBeWritten(t *testing.T) {
	w := newWorkspace(t)
	w.write("s0.yaml", "replies: [{text: done}]\n")
	if _, code := w.roster("run", "worker", "Go", "--model", "script:s0.yaml"); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	path := w.database()
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
	}{
		{"the file", 0o444, 0o777},
		{"the folder", 0o666, 0o555},
	} {
		t.Run(c.name, func(t *testing.T) {
			for p, mode := range map[string]os.FileMode{path: c.file, filepath.Dir(path): c.dir} {
				if err := os.Chmod(p, mode); err != nil {
					t.Fatal(err)
				}
			}
			defer os.Chmod(filepath.Dir(path), 0o700)
			for _, args := range [][]string{{"run", "worker", "Go", "--model", "script:s0.yaml"}, {"sessions", "list"}} {
				args = append(bound(t), append([]string{"roster"}, args...)...)
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir, cmd.Env = w.dir, append(environment(w.dir), "ROSTER_TRUST=1")
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), "roster.db") || !strings.Contains(string(out), "can be written") {
					t.Errorf("%q: %v, %s", args, err, out)
				}
			}
		})
	}
}

// bound has a command obey the modes of files, also one of root.
func bound(t *testing.T) []string {
	if os.Getuid() != 0 {
		return nil
	}
	as := []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"}
	if out, err := exec.Command(as[0], append(as[1:], "true")...).CombinedOutput(); err != nil {
		t.Fatalf("root cannot be bound by the modes of files here (setpriv of util-linux): %v, %s", err, out)
	}
	return as
}
