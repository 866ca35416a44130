package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds how long a test waits for something that must happen.
const patience = 30 * time.Second

// workspace is a workspace with one profile, worker, whose models are those of
// a provider.
type workspace struct {
	t        testing.TB
	dir      string
	provider *provider
}

func newWorkspace(t testing.TB) *workspace {
	w := &workspace{t: t, dir: t.TempDir(), provider: newProvider(t)}
	w.write("roster.yaml", "providers:\n  fake: {api: openai-chat, base-url: "+w.provider.URL+"/v1}\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: [bash]\npermission: {bash: allow, write: allow}\n---\nWork.\n")
	return w
}

func (w *workspace) write(name, text string) {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) effects() int {
	data, err := os.ReadFile(filepath.Join(w.dir, "effects.log"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

func (w *workspace) command(args ...string) *exec.Cmd {
	cmd := exec.Command("roster", args...)
	cmd.Dir, cmd.Env = w.dir, append(environment(w.dir), "ROSTER_TRUST=1")
	return cmd
}

// roster runs the program to its end and returns stdout and the exit code.
func (w *workspace) roster(args ...string) (string, int) {
	cmd := w.command(args...)
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// session returns the id and status of the newest session.
func (w *workspace) session() (id, status string) {
	out, _ := w.roster("sessions", "list", "--json")
	var list []struct{ ID, Status string }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) == 0 {
		w.t.Fatalf("sessions list: %v in %s", err, out)
	}
	return list[0].ID, list[0].Status
}

// start runs the program in the background. It is killed with the test.
func (w *workspace) start(args ...string) (*exec.Cmd, *bufio.Reader) {
	cmd := w.command(args...)
	return cmd, w.launch(cmd)
}

func (w *workspace) launch(cmd *exec.Cmd) *bufio.Reader {
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return bufio.NewReader(out)
}

// asked waits until the provider has got its nth request.
func (w *workspace) asked(n int) {
	late := time.After(patience)
	for {
		select {
		case got := <-w.provider.arrived:
			if got >= n {
				return
			}
		case <-late:
			w.t.Fatalf("request %d did not come", n)
		}
	}
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the program does not end")
	}
	return cmd.ProcessState.ExitCode()
}

func TestInterruptCancelsTheRun(t *testing.T) {
	w := newWorkspace(t)
	cmd, out := w.start("run", "worker", "Wait", "--model", "fake/hold", "--json")
	w.asked(1)
	cmd.Process.Signal(os.Interrupt)
	events, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	lines := strings.Split(strings.TrimSpace(string(events)), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, `"type":"loop.end"`) || !strings.Contains(last, `"reason":"cancelled"`) {
		t.Errorf("the last line is %s", last)
	}
	if _, status := w.session(); status != "idle" {
		t.Errorf("the session is %s", status)
	}
}

func TestSecondInterruptEndsTheProgram(t *testing.T) {
	w := newWorkspace(t)
	w.write("slow.yaml", `replies: [{tools: [{name: bash, input: {command: "trap '' TERM; touch started; while :; do :; done"}}]}]`)
	cmd, _ := w.start("run", "worker", "Work", "--model", "script:slow.yaml")
	w.exists("started")
	cmd.Process.Signal(os.Interrupt)
	done := make(chan int, 1)
	go func() { cmd.Wait(); done <- cmd.ProcessState.ExitCode() }()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	late := time.After(patience)
	for {
		select {
		case code := <-done:
			if code != exitInterrupted {
				t.Errorf("exit code %d, want %d", code, exitInterrupted)
			}
			return
		case <-again.C:
			cmd.Process.Signal(os.Interrupt)
		case <-late:
			t.Fatal("the program does not end")
		}
	}
}

// exists waits until there is a file.
func (w *workspace) exists(name string) {
	late := time.After(patience)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-late:
			w.t.Fatalf("%s does not come to be", name)
		}
	}
}

// A run that was killed between two turns goes on where its log stands: what
// was answered is not asked again, what was done is not done again.
func TestResumeAfterKill(t *testing.T) {
	w := newWorkspace(t)
	w.write("replies.yaml", `replies:
  - tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]
  - {text: "Done.", delay: 1h}
`)
	cmd, out := w.start("run", "worker", "Work", "--model", "script:replies.yaml", "--json")
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"type":"turn.start"`) && strings.Contains(line, `"turn":2`) {
			break
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	id, status := w.session()
	if status != "running" {
		t.Errorf("after the kill the session is %s", status)
	}
	w.write("replies.yaml", `replies:
  - tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]
  - text: "Done."
`)
	text, code := w.roster("sessions", "resume", id)
	if code != exitDone || text != "Done.\n" {
		t.Errorf("resume: exit code %d, %q", code, text)
	}
	if n := w.effects(); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
	events, _ := w.roster("sessions", "events", id)
	if n := strings.Count(events, `"type":"loop.resumed"`); n != 1 {
		t.Errorf("%d loop.resumed", n)
	}
	if n := strings.Count(events, `"type":"loop.end"`); n != 1 {
		t.Errorf("%d loop.end", n)
	}
}

// Notes and a cancel from another process reach the run.
func TestSteerAndCancelFromElsewhere(t *testing.T) {
	w := newWorkspace(t)
	cmd, _ := w.start("run", "worker", "Wait", "--model", "fake/hold", "--json")
	w.asked(1)
	id, status := w.session()
	if status != "running" {
		t.Errorf("the session is %s", status)
	}
	if _, code := w.roster("run", "worker", "Me too", "--session", id, "--model", "fake/text"); code != exitFailed {
		t.Errorf("a second prompt: exit code %d", code)
	}
	if _, code := w.roster("sessions", "followup", id, "Then this"); code != exitDone {
		t.Errorf("followup: exit code %d", code)
	}
	if _, code := w.roster("sessions", "steer", id, "Now this"); code != exitDone {
		t.Errorf("steer: exit code %d", code)
	}
	close(w.provider.release)
	if code := exitCode(t, cmd); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	all := strings.Join(w.provider.requests(), "\n")
	for _, text := range []string{"Now this", "Then this"} {
		if !strings.Contains(all, text) {
			t.Errorf("the model was not told %q", text)
		}
	}
}

func (w *workspace) serve() (*exec.Cmd, string) {
	return w.served(w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet"))
}

// served starts a server and waits until it says where it listens.
func (w *workspace) served(cmd *exec.Cmd) (*exec.Cmd, string) {
	out := w.launch(cmd)
	line, err := out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("serve: %v", err)
	}
	var said struct{ URL string }
	if err := json.Unmarshal([]byte(line), &said); err != nil {
		w.t.Fatalf("serve said %q: %v", line, err)
	}
	return cmd, said.URL
}

// end has a server stop as it should.
func end(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestServe(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "defaults: {model: fake/text}\nproviders:\n  fake: {api: openai-chat, base-url: "+w.provider.URL+"/v1}\n")
	cmd, url := w.serve()
	answer, err := http.Post(url+"/chat", "application/json", strings.NewReader(`{"message": "Hi", "agentId": "worker"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var chat struct {
		SessionID, Text, StopReason string
	}
	if err := json.NewDecoder(answer.Body).Decode(&chat); err != nil {
		t.Fatal(err)
	}
	if chat.Text != "Hello from the provider." || chat.StopReason != "done" {
		t.Errorf("status %d, %+v", answer.StatusCode, chat)
	}
	if id, _ := w.session(); id != chat.SessionID {
		t.Errorf("session %s, want %s", id, chat.SessionID)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if code := exitCode(t, cmd); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestServeRefusesOtherAddresses(t *testing.T) {
	w := newWorkspace(t)
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:80", "nonsense", "127.0.0.1:port"} {
		t.Run(addr, func(t *testing.T) {
			out, code := w.roster("serve", "--addr", addr, "--json")
			if code != exitFailed || !strings.Contains(out, `"error":"`) {
				t.Errorf("exit code %d, %s", code, out)
			}
		})
	}
}

func BenchmarkRun(b *testing.B) {
	w := newWorkspace(b)
	bin := filepath.Join(b.TempDir(), "roster")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	w.write("hello.yaml", `replies: [{text: "Hello."}]`)
	var rss int64
	for b.Loop() {
		cmd := w.command("run", "worker", "Hi", "--model", "script:hello.yaml")
		cmd.Path, cmd.Err = bin, nil
		if out, err := cmd.Output(); err != nil || string(out) != "Hello.\n" {
			b.Fatalf("%v: %q", err, out)
		}
		rss = max(rss, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(float64(rss)/1024, "MiB-RSS")
	if info, err := os.Stat(bin); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB-binary")
	}
}
