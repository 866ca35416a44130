package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

// atTerminal runs a profile on a terminal, and plays what is typed: each line
// after the text that it answers was seen. Interrupt is Ctrl-C.
func (w *workspace) atTerminal(t *testing.T, script [][2]string, args ...string) (seen string, code int) {
	t.Helper()
	person, program := pseudoTerminal(t)
	cmd := w.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	t.Cleanup(func() { cmd.Process.Kill() })
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	var all strings.Builder
	out := bufio.NewReader(person)
	from := 0
	for {
		b, err := out.ReadByte()
		if err != nil { // the program has ended
			break
		}
		all.WriteByte(b)
		if len(script) > 0 && strings.Contains(all.String()[from:], script[0][0]) {
			if _, err := io.WriteString(person, script[0][1]); err != nil {
				t.Fatal(err)
			}
			script, from = script[1:], all.Len()
		}
	}
	if len(script) > 0 {
		t.Errorf("%q was not asked; seen:\n%s", script[0][0], all.String())
	}
	return all.String(), exitCode(t, cmd)
}

const interrupt = "\x03"

func TestQuestionsOnTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name    string
		typed   [][2]string
		effects int
		code    int
		want    []string
	}{
		{"once", [][2]string{{"echo ran", ""}, {"> ", "y\n"}, {"> ", "y\n"}}, 2, exitDone, []string{"profiles/asker.md:4", "All done."}},
		{"for the session", [][2]string{{"> ", "s\n"}}, 2, exitDone, []string{"All done."}},
		{"no, with a reason", [][2]string{{"> ", "what?\n"}, {"> ", "n not that one\n"}, {"> ", "never\n"}}, 0, exitDone, []string{"answer y (once)", "not that one", "All done."}},
		{"interrupt", [][2]string{{"> ", interrupt}}, 0, exitInterrupted, []string{"cancelling the run"}},
		{"the terminal is closed", [][2]string{{"> ", "\x04"}}, 0, exitDenied, []string{"roster approvals answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("profiles/asker.md", asking)
			w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
			seen, code := w.atTerminal(t, c.typed, "run", "asker", "go", "--model", "script:replies.yaml")
			if code != c.code || w.effects() != c.effects {
				t.Errorf("exit code %d, %d effects; want %d and %d\n%s", code, w.effects(), c.code, c.effects, seen)
			}
			for _, text := range c.want {
				if !strings.Contains(seen, text) {
					t.Errorf("%q was not shown:\n%s", text, seen)
				}
			}
		})
	}
}

// TestResumeOnATerminalAsks: who takes a waiting run up is asked.
func TestResumeOnATerminalAsks(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/asker.md", asking)
	w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
	if _, code := w.roster("run", "asker", "go", "--model", "script:replies.yaml", "--approvals", "wait"); code != exitDenied {
		t.Fatalf("exit code %d", code)
	}
	id, _ := w.session()
	seen, code := w.atTerminal(t, [][2]string{{"> ", "once\n"}}, "sessions", "resume", id)
	if code != exitDone || w.effects() != 1 || !strings.Contains(seen, "All done.") {
		t.Errorf("exit code %d, %d effects\n%s", code, w.effects(), seen)
	}
}

// TestAnsweredElsewhere: a question on the terminal is taken off when another
// process answers it.
func TestAnsweredElsewhere(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/asker.md", asking)
	w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
	person, program := pseudoTerminal(t)
	cmd := w.command("run", "asker", "go", "--model", "script:replies.yaml")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	t.Cleanup(func() { cmd.Process.Kill() })
	out := bufio.NewReader(person)
	if _, err := out.ReadString('>'); err != nil {
		t.Fatal(err)
	}
	listed, _ := w.roster("approvals", "list", "--json")
	var list []struct{ ID string }
	if err := json.Unmarshal([]byte(listed), &list); err != nil || len(list) != 1 {
		t.Fatalf("%s", listed)
	}
	if _, code := w.roster("approvals", "answer", list[0].ID, "once"); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	rest, _ := io.ReadAll(out)
	if code := exitCode(t, cmd); code != exitDone || w.effects() != 1 {
		t.Errorf("exit code %d, %d effects\n%s", code, w.effects(), rest)
	}
}

// TestAskUserOnTheTerminal: what is typed is the answer, by number or as a text.
func TestAskUserOnTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name  string
		typed [][2]string
		want  string
		code  int
	}{
		{"an option", [][2]string{{"2 blue", ""}, {"> ", "2\n"}}, "→ blue", exitDone},
		{"another text", [][2]string{{"Which \\u202ecolour?", ""}, {"> ", "\n"}, {"> ", "3 of them\n"}}, "→ 3 of them", exitDone},
		{"no", [][2]string{{"> ", "/no later\n"}}, "They say: later", exitDone},
		{"the terminal is closed", [][2]string{{"> ", "\x04"}}, "ask_user", exitDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("profiles/asker.md", "---\ndescription: Asks.\ntools: [ask_user]\n---\nAsk.\n")
			w.write("replies.yaml", `replies: [{tools: [{name: ask_user, input: {question: "Which \u202ecolour?", options: [red, blue]}}]}, {text: "All done."}]`)
			seen, code := w.atTerminal(t, c.typed, "run", "asker", "go", "--model", "script:replies.yaml")
			if code != c.code {
				t.Errorf("exit code %d\n%s", code, seen)
			}
			id, _ := w.session()
			if shown, _ := w.roster("sessions", "show", id); !strings.Contains(shown, c.want) {
				t.Errorf("%q is not in\n%s", c.want, shown)
			}
		})
	}
}

// TestServerAsksOnTheTerminal: what a server's run asks is asked here, and answered once
// here or elsewhere.
func TestServerAsksOnTheTerminal(t *testing.T) {
	for _, c := range []struct {
		name    string
		typed   [][2]string
		effects int
		code    int
		want    string
	}{
		{"once", [][2]string{{"> ", "y\n"}, {"> ", "y\n"}}, 2, exitDone, "All done."},
		{"no", [][2]string{{"> ", "n not that one\n"}, {"> ", "never\n"}}, 0, exitDone, "All done."},
		{"interrupt", [][2]string{{"> ", interrupt}}, 0, exitInterrupted, "cancelling the run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("roster.yaml", "providers: {fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 1000}}}}\ndefaults: {model: fake/text}\n")
			w.write("profiles/asker.md", asking)
			w.write("replies.yaml", `replies: [{tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {tools: [{name: bash, input: {command: "echo ran >> effects.log"}}]}, {text: "All done."}]`)
			_, url := w.serve()
			seen, code := w.atTerminal(t, c.typed, "--server", url, "run", "asker", "go")
			if code != c.code || w.effects() != c.effects || !strings.Contains(seen, c.want) {
				t.Errorf("exit code %d, %d effects; want %d and %d\n%s", code, w.effects(), c.code, c.effects, seen)
			}
		})
	}
}
