package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// screen is a terminal of tmux.
type screen struct {
	t      *testing.T
	socket string
}

// newScreen runs a command in a terminal of its own, 90 columns wide.
func newScreen(t *testing.T, w *workspace, command string) *screen {
	t.Helper()
	dir, err := os.MkdirTemp("", "tmux") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_, _ = s.tmux("kill-server") // it may have ended with its command
		os.RemoveAll(dir)
	})
	if out, err := s.tmuxWith(append(environment(w.dir), "TERM=xterm-256color"), "-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "50", "-c", w.dir, "NO_COLOR=1 "+command+"; echo exit code $?; read x"); err != nil {
		t.Fatalf("tmux: %v %s", err, out)
	}
	return s
}

func (s *screen) tmux(args ...string) (string, error) { return s.tmuxWith(os.Environ(), args...) }

func (s *screen) tmuxWith(env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// keys types; "Enter" and the like are keys, as tmux names them.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	if out, err := s.tmux(append([]string{"send-keys"}, keys...)...); err != nil {
		s.t.Fatalf("tmux: %v %s", err, out)
	}
}

// shows waits until the screen, with what has scrolled off it, ends in a text.
func (s *screen) shows(want string) string {
	s.t.Helper()
	return s.until("ends in", want, strings.HasSuffix)
}

// has waits until a text is anywhere on the screen or above it.
func (s *screen) has(want string) {
	s.t.Helper()
	s.until("has", want, strings.Contains)
}

func (s *screen) until(does, want string, holds func(text, want string) bool) string {
	s.t.Helper()
	text := ""
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(patience); time.Now().Before(late); <-look.C {
		out, err := s.tmux("capture-pane", "-p", "-S", "-1000")
		if err != nil {
			s.t.Fatalf("tmux: %v %s", err, out)
		}
		text = regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(out, "")
		text = regexp.MustCompile(`\n{3,}`).ReplaceAllString(strings.TrimSpace(text), "\n\n")
		if holds(tamed(text), want) {
			return text
		}
	}
	s.t.Fatalf("the screen never %s %q:\n%s", does, want, text)
	return ""
}

const (
	leads       = "---\ndescription: Leads.\nmodel: script:lead.yaml\ntools: [bash]\npermission: {bash: ask}\n---\nYou lead.\n"
	leadReplies = `replies:
- text: "I look.\n\n## Plan"
  tools: [{name: bash, input: {command: "echo one two"}}]
- text: "It says one two."
- text: "Slowly it comes."
  gap: 1h
- text: "Never mind."
loop: true
`
)

// TestChat: a whole conversation with a question and a switch, as a person sees it.
func TestChat(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", leads)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("lead.yaml", leadReplies)
	w.write("help.yaml", "replies:\n- text: I am the helper.\n- text: Again.\nloop: true\n")
	s := newScreen(t, w, "roster --trust chat lead")
	const idle, prompt = "\nlead\n> Say something, or /help\n>\n>", "\n> Say something, or /help\n>\n>"
	s.shows(strings.TrimPrefix(idle, "\n"))
	s.keys("Look around", "Enter")
	s.shows("never in this session\nlead · waits for your answer" + prompt)
	s.keys("perhaps", "Enter")
	s.shows("a reason may follow a no\nlead · waits for your answer" + prompt)
	s.keys("y", "Enter")
	s.shows("turns 2 · TIME" + idle)
	s.keys("C-o")
	s.shows("one two\nlead" + prompt)
	s.keys("/switch nobody", "Enter")
	s.shows("roster: profile not found: nobody" + idle)
	s.keys("/switch helper", "Enter")
	s.shows("\nhelper" + prompt)
	s.keys("Who are you?", "Enter")
	s.shows("turns 1 · TIME\nhelper" + prompt)
	s.keys("/quit", "Enter")
	got := s.shows("exit code 0")
	want, err := os.ReadFile("testdata/chat.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), tamed(got)+"\n"); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// tamed takes out of a screen what is another each time.
func tamed(text string) string {
	for pattern, to := range map[string]string{
		`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`: "ID", `\b[\d.]+ (ms|s|µs)\b`: "TIME", `[\d,]+ tokens in`: "N tokens in", `script//\S*/`: "script/",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, to)
	}
	return text
}

// TestChatCancels: Ctrl-C ends a run, and the chat goes on; the second one ends that.
func TestChatCancels(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", strings.Replace(leads, "permission: {bash: ask}", "permission: {bash: allow}", 1))
	w.write("lead.yaml", "replies:\n- text: Slowly it comes.\n  gap: 1h\n- text: Never mind.\nloop: true\n")
	s := newScreen(t, w, "roster --trust chat lead")
	const prompt = "\n> Say something, or /help\n>\n>"
	s.shows("lead" + prompt)
	s.keys("Go", "Enter", "On", "Enter") // the second goes the way of the first
	s.has("\n> On\n")
	s.shows("lead · at work: what you type steers it, Ctrl-C cancels" + prompt)
	s.keys("C-c")
	s.shows("\nlead" + prompt)
	s.keys("C-c")
	s.shows("exit code 0")
	out, _ := w.roster("sessions", "list", "--json")
	if n := strings.Count(out, `"id"`); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

// TestChatWithoutATerminal: each line is a prompt of one session.
func TestChatWithoutATerminal(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- text: First.\n- text: Second.\n")
	cmd := exec.CommandContext(t.Context(), "bash", "-c", `printf 'One\n\nTwo\n' | roster --trust --quiet chat helper && roster sessions list --json`)
	cmd.Dir, cmd.Env = w.dir, environment(w.dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "First.\nSecond.\n[{") || strings.Count(string(out), `"id"`) != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}
