package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const chatIdle = "\n> Say something, or /help\n>\n>"

// paste pastes text at once, as terminals do.
func (s *screen) paste(text string) {
	s.t.Helper()
	file := s.t.TempDir() + "/pasted"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	for _, args := range [][]string{{"load-buffer", file}, {"paste-buffer", "-p"}} {
		if out, err := s.tmux(args...); err != nil {
			s.t.Fatalf("tmux: %v %s", err, out)
		}
	}
}

// TestChatSteers: what is typed while a tool is at work is told to the model after it, in
// the same run.
func TestChatSteers(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", strings.Replace(leads, "permission: {bash: ask}", "permission: {bash: allow}", 1))
	w.write("lead.yaml", `replies:
- tools: [{name: bash, input: {command: "until [ -e go ]; do sleep 0.05; done"}}]
- text: "Cats it is."
`)
	s := newScreen(t, w, "roster --trust chat lead")
	s.shows("lead" + chatIdle)
	s.keys("Draw", "Enter")
	const atWork = "· bash until [ -e go ]; do sleep 0.05; done …\nlead · at work: what you type steers it, Ctrl-C cancels"
	s.shows(atWork + chatIdle)
	s.keys("Mind the cats", "Enter")
	s.shows("> Mind the cats\n" + atWork + chatIdle)
	w.write("go", "")
	got := s.shows("turns 2 · TIME\nlead" + chatIdle)
	want := "> Draw\nlead · script/lead.yaml\n\n> Mind the cats\n· bash until [ -e go ]; do sleep 0.05; done (ok, TIME)\nCats it is.\n"
	if !strings.HasPrefix(tamed(got), want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, tamed(got)))
	}
	s.keys("C-d")
	s.shows("exit code 0")
	id, _ := w.session()
	for turn, told := range map[string]bool{"1": false, "2": true} {
		out, code := w.roster("sessions", "request", id, turn)
		if code != 0 || strings.Contains(out, "Mind the cats") != told {
			t.Errorf("turn %s (%d): %s", turn, code, out)
		}
	}
}

// TestChatShowsLongAnswers: an answer taller than the terminal is above the screen as it
// is, once, with nothing between its lines.
func TestChatShowsLongAnswers(t *testing.T) {
	w := newWorkspace(t)
	var lines []string
	for i := range 40 {
		lines = append(lines, "line "+strings.Repeat("a ", i), "\ttab", strings.Repeat("日本", 30), strings.Repeat("x", 90), strings.Repeat("y", 100), "\x1b[31mred\x1b]0;title\a")
	}
	text, err := json.Marshal(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- text: "+string(text)+"\n")
	s := newScreen(t, w, "roster --trust chat helper")
	s.shows("helper" + chatIdle)
	s.keys("Go", "Enter")
	got := s.shows("turns 1 · TIME\nhelper" + chatIdle)
	want := "> Go\nhelper · script/help.yaml\n"
	for i := range 40 {
		want += strings.TrimRight("line "+strings.Repeat("a ", i), " ") + "\n        tab\n" + strings.Repeat("日本", 22) + "日\n本" + strings.Repeat("日本", 7) + "\n" +
			strings.Repeat("x", 90) + "\n" + strings.Repeat("y", 90) + "\n" + strings.Repeat("y", 10) + "\n\\x1b[31mred\\x1b]0;title\\x07\n"
	}
	if got = tamed(got); !strings.HasPrefix(got, want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

// TestTerminalRows: a line that is broken keeps its style, and each piece its own.
func TestTerminalRows(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []terminalRow
	}{
		"short":          {"a\nb", []terminalRow{{"a", 1}, {"b", 1}}},
		"empty":          {"", []terminalRow{{"", 1}}},
		"flows":          {"abcdefghijkl", []terminalRow{{"abcdefghijkl", 2}}},
		"just two":       {"abcdefghijabcdefghij", []terminalRow{{"abcdefghij", 1}, {"abcdefghij", 1}}},
		"wide":           {"日日日日日日", []terminalRow{{"日日日日日", 1}, {"日", 1}}},
		"tab":            {"a\tbc", []terminalRow{{"a       bc", 1}}},
		"style of lines": {"\x1b[2ma\nb\x1b[0m\nc", []terminalRow{{"\x1b[2ma\x1b[0m", 1}, {"\x1b[2mb\x1b[0m", 1}, {"c", 1}}},
	} {
		if diff := cmp.Diff(c.want, terminalRows(c.text, 10), cmp.AllowUnexported(terminalRow{})); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestChatCompletes: Tab finishes what is typed as far as all agree that it could mean,
// and lists them where that adds nothing.
func TestChatCompletes(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("profiles/helper-two.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- text: Yes.\nloop: true\n")
	w.write("commands/shorten.md", "Shorten it.")
	w.write("docs/notes.md", "Noted.")
	w.write("docs/plan of work.md", "Planned.")
	_, url := w.serve()
	for _, command := range []string{"roster --trust chat helper", "roster chat helper --server " + url} {
		t.Run(command, func(t *testing.T) {
			s := newScreen(t, w, command)
			s.shows("helper" + chatIdle)
			s.keys("/s", "Tab")
			s.shows("· /shorten  /show  /switch\nhelper\n> /s\n>\n>")
			s.keys("w", "Tab")
			s.shows("\n> /switch\n>\n>")
			s.keys("help", "Tab")
			s.shows("\n> /switch helper\n>\n>")
			s.keys("Tab")
			s.shows("· helper  helper-two\nhelper\n> /switch helper\n>\n>")
			s.keys("-", "Tab", "Enter")
			s.shows("· helper-two answers from the next prompt on\nhelper-two" + chatIdle)
			s.keys("/nothing", "Tab")
			s.shows("· nothing fits /nothing\nhelper-two\n> /nothing\n>\n>")
			s.keys("C-c")
			s.shows("helper-two" + chatIdle)
			s.keys("Mind @nts", "Tab", "too", "Enter")
			s.has("> Mind @docs/notes.md too")
			s.shows("turns 1 · TIME\nhelper-two" + chatIdle)
			s.keys("And @planof", "Tab", "Enter")
			s.has("> And @\"docs/plan of work.md\"")
			s.shows("turns 1 · TIME\nhelper-two" + chatIdle)
		})
	}
}

// TestChatKeepsWhatWasTyped: a text that could not be sent, or was taken away with Ctrl-C,
// is there to be corrected; what the field would cut is refused.
func TestChatKeepsWhatWasTyped(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- text: Yes.\nloop: true\n")
	s := newScreen(t, w, "roster --trust chat helper")
	s.shows("helper" + chatIdle)
	s.keys("/copy", "Enter")
	s.shows("· there is no answer yet\nhelper" + chatIdle)
	s.keys("/cancel", "Enter")
	s.shows("· nothing is running\nhelper" + chatIdle)
	s.keys("/swich lead", "Enter")
	s.shows("helper\n> /swich lead\n>\n>")
	s.keys("C-c")
	s.shows("helper" + chatIdle)
	s.keys("Up")
	s.shows("helper\n> /swich lead\n>\n>")
	s.keys("Up")
	s.shows("helper\n> /cancel\n>\n>")
	s.keys("Down", "Down")
	s.shows("helper" + chatIdle)
	s.paste(strings.Repeat("line\n", 10_001))
	s.shows("as @FILE\nhelper" + chatIdle)
	s.paste(strings.Repeat("line\n", 9_999) + "last\n")
	s.shows("helper\n> line\n> line\n> last")
	s.keys("Enter")
	s.shows("Yes.\nN tokens in, 1 out, $0.0000 (estimated) · turns 1 · TIME\nhelper" + chatIdle)
	id, _ := w.session()
	out, _ := w.roster("sessions", "request", id, "1")
	if n := strings.Count(out, `line\n`); n != 9_999 {
		t.Errorf("%d lines are sent", n)
	}
}

// TestChatWithAServer: a conversation goes on after its server was away.
func TestChatWithAServer(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", leads)
	w.write("lead.yaml", strings.Replace(leadReplies, "\n- text: \"Slowly it comes.\"\n  gap: 1h", "", 1))
	cmd, url := w.served(w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet", "--trust"))
	s := newScreen(t, w, "roster --server "+url+" chat lead")
	s.shows("lead" + chatIdle)
	s.keys("Look around", "Enter")
	s.shows("lead · waits for your answer" + chatIdle)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	s.has("· the server is out of reach, and is asked again: ")
	s.keys("y", "Enter")
	s.has("\nroster: POST ")
	served, _ := w.served(w.command("serve", "--addr", strings.TrimPrefix(url, "http://"), "--json", "--quiet", "--trust"))
	s.shows("lead · waits for your answer\n> y\n>\n>") // it could not be sent
	s.keys("Enter")
	s.shows("It says one two.\nN tokens in, 16 out, $0.0000 (estimated) · turns 2 · TIME\nlead" + chatIdle)
	s.keys("C-d")
	s.shows("exit code 0")
	end(t, served)
}

// TestChatOnADumbTerminal: where the cursor cannot be moved each line is a prompt.
func TestChatOnADumbTerminal(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- text: \"First \\e[31m.\"\n")
	s := newScreen(t, w, "TERM=dumb roster --trust --quiet chat helper")
	s.keys("One", "Enter")
	s.shows("One\nFirst \\x1b[31m.")
	s.keys("C-d")
	s.shows("exit code 0")
}

// TestLiveTextEnds: of an answer that comes its last lines are looked at, and those whole.
func TestLiveTextEnds(t *testing.T) {
	var l liveText
	l.text.WriteString("one\ntwo\nthree")
	for bytes, want := range map[int]string{0: "three", 1: "three", 5: "three", 6: "two\nthree", 9: "two\nthree", 10: "one\ntwo\nthree", 99: "one\ntwo\nthree"} {
		if got := l.end(bytes); got != want {
			t.Errorf("the end of %d bytes is %q, and not %q", bytes, got, want)
		}
	}
}

// TestChatLeavesOthersAlone: who leaves a chat ends no run that others have begun, and none
// that waits for an answer.
func TestChatLeavesOthersAlone(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", leads)
	w.write("lead.yaml", `replies:
- tools: [{name: bash, input: {command: "until [ -e go ]; do sleep 0.05; done"}}]
- text: "Gone."
`)
	first := newScreen(t, w, "roster --trust chat lead")
	first.shows("lead" + chatIdle)
	first.keys("Go", "Enter")
	first.shows("lead · waits for your answer" + chatIdle)
	id, _ := w.session()
	waits := newScreen(t, w, "roster --trust chat lead --session "+id)
	waits.shows("lead · waits for your answer" + chatIdle)
	waits.keys("C-d")
	waits.shows("exit code 0")
	first.keys("y", "Enter")
	first.has("· bash until [ -e go ]; do sleep 0.05; done …")
	second := newScreen(t, w, "roster --trust chat lead --session "+id)
	second.has("· bash until [ -e go ]; do sleep 0.05; done …")
	second.keys("C-d")
	second.shows("exit code 0")
	w.write("go", "")
	first.has("Gone.")
}

// TestChatAsksNext: while one call that was allowed is at work, the answer to the next
// question is an answer, and is not said to the model.
func TestChatAsksNext(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", leads)
	w.write("lead.yaml", `replies:
- tools:
  - {name: bash, input: {command: "until [ -e go ]; do sleep 0.05; done"}}
  - {name: bash, input: {command: "echo next"}}
- text: "Both."
`)
	s := newScreen(t, w, "roster --trust chat lead")
	s.shows("lead" + chatIdle)
	s.keys("Go", "Enter")
	s.shows("lead · waits for your answer" + chatIdle)
	s.keys("y", "Enter")
	s.has("  bash echo next")
	s.has("· bash until [ -e go ]; do sleep 0.05; done …\nlead · waits for your answer")
	s.keys("y", "Enter")
	s.has("at work: what you type steers it")
	w.write("go", "")
	s.has("Both.")
	s.keys("C-d")
	s.shows("exit code 0")
}

// TestChatOnASmallTerminal: what is drawn again and again is no taller than the terminal,
// and leaves nothing above it.
func TestChatOnASmallTerminal(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/helper.md", "---\ndescription: Helps.\nmodel: script:help.yaml\n---\nYou help.\n")
	w.write("help.yaml", "replies:\n- {gap: 2ms, text: \""+strings.Repeat(`one line\n`, 40)+"\"}\n")
	s := newScreen(t, w, "sh -c 'until [ -e small ]; do sleep 0.05; done; roster --trust chat helper'")
	if out, err := s.tmux("resize-window", "-x", "90", "-y", "10"); err != nil {
		t.Fatal(err, out)
	}
	w.write("small", "")
	s.shows("helper" + chatIdle)
	s.keys("Go", "Enter")
	got := s.shows("turns 1 · TIME\nhelper" + chatIdle)
	if n := strings.Count(got, "at work: "); n > 1 {
		t.Errorf("%d copies are left above", n)
	}
}
