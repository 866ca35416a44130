package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServerKilledWhileAgentsDelegate is TestServerKilledAtRandom for an agent
// that gives tasks to two others at once, which append lines to a file.
func TestServerKilledWhileAgentsDelegate(t *testing.T) {
	w := newWorkspace(t)
	w.write("profiles/lead.md", "---\ndescription: Leads.\ntools: [task]\n---\nLead.\n")
	for _, who := range []string{"a", "b"} {
		w.write("profiles/"+who+".md", "---\ndescription: Works.\ntools: [bash]\npermission: {bash: allow, write: allow}\nmodel: inherit\n---\nWork.\n")
	}
	whole := w.killedTree(t, "whole", 0)
	unknown, unstored := 0, 0
	for i := range kills(t) {
		name := fmt.Sprint("run", i)
		w.killedTree(t, name, 1+rand.N(whole))
		switch n := w.checkTree(t, name); {
		case n < 0:
			unstored++
		default:
			unknown += n
		}
	}
	t.Logf("%d kills within %v: %d outcomes unknown, %d prompts not stored yet", kills(t), whole, unknown, unstored)
}

// childTurns is how many turns each child has.
const childTurns = 4

// killedTree writes one script for all: who is asked follows from the prompt.
func (w *workspace) killedTree(t *testing.T, name string, after time.Duration) time.Duration {
	t.Helper()
	var script strings.Builder
	script.WriteString("replies:\n")
	fmt.Fprintf(&script, "  - {when: {contains: %q}, tools: [{name: task, input: {profile: a, prompt: task-a}}, {name: task, input: {profile: b, prompt: task-b}}]}\n", name)
	for _, who := range []string{"a", "b"} {
		for i := range childTurns {
			when := fmt.Sprintf("done-%s-%d", who, i-1)
			if i == 0 {
				when = "task-" + who
			}
			fmt.Fprintf(&script, "  - {delay: 5ms, when: {contains: %q}, tools: [{name: bash, input: {command: \"echo %s-%d >> %s.log; echo done-%s-%d\"}}]}\n", when, who, i, name, who, i)
			fmt.Fprintf(&script, "  - {delay: 5ms, when: {contains: \"not known\"}, text: \"unknown-%s-%d\"}\n", who, i)
		}
	}
	script.WriteString("  - {when: {contains: done-a-3}, text: end}\n  - {when: {contains: done-b-3}, text: end}\n  - text: done\n")
	w.write(name+".yaml", script.String())
	return w.killServer(t, name, "lead", after)
}

// checkTree checks the log of a run and the lines that its children left, and
// returns how many outcomes were not known; -1: the prompt was not stored.
func (w *workspace) checkTree(t *testing.T, name string) (unknown int) {
	t.Helper()
	id := w.sessionTitled(name)
	if id == "" {
		return -1
	}
	out, _ := w.roster("sessions", "events", id)
	ends, reasons := map[string]int{}, map[string]string{}
	open := map[string]int{}
	for line := range strings.Lines(out) {
		var e struct {
			Session, Type string
			Data          struct{ Call, Tool, Outcome, Reason string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "loop.end":
			ends[e.Session]++
			reasons[e.Session] = e.Data.Reason
		case "tool.before":
			open[e.Session+e.Data.Call]++
		case "tool.after":
			open[e.Session+e.Data.Call]--
			if e.Data.Outcome == "unknown" {
				unknown++
				if e.Data.Tool == "task" {
					t.Errorf("%s: a task was not taken up again", name)
				}
			}
		}
	}
	for _, s := range []string{id, id + "_1", id + "_2"} {
		if ends[s] != 1 || reasons[s] != "done" {
			t.Errorf("%s: %s ended %d times, %q\n%s", name, s, ends[s], reasons[s], out)
		}
	}
	for call, n := range open {
		if n != 0 {
			t.Errorf("%s: call %s: %+d ends are missing", name, call, n)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.dir, name+".log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	written := map[string]int{}
	for _, line := range strings.Fields(string(data)) {
		if written[line]++; written[line] > 1 {
			t.Errorf("%s: %s was written twice", name, line)
		}
	}
	if unknown == 0 && len(written) != 2*childTurns {
		t.Errorf("%s: %d lines were written, want %d", name, len(written), 2*childTurns)
	}
	return unknown
}
