package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/view"
)

// rigJobs are those that a command lists.
func (w *workspace) rigJobs(env []string, args ...string) []view.RigJob {
	w.t.Helper()
	r := w.run(env, append(args, "--json")...)
	var jobs []view.RigJob
	if err := json.Unmarshal([]byte(r.stdout), &jobs); err != nil || r.code != 0 {
		w.t.Fatalf("%v: %v, %+v", args, err, r)
	}
	return jobs
}

// TestRigWithServer: what failed for good in a server's rig is seen from elsewhere, done
// anew, and taken out.
func TestRigWithServer(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "providers:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 100000}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "replies:\n- error: {kind: bad-request}\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\n---\nWork.\n")
	w.write("rig/a-loom/review.md", "---\nagent-profile-ref: worker\nstrand-dir: in\nretries: {attempts: 1}\n---\nReview.\n")
	w.write("in/a.md", "one\n")
	w.write("in/b.md", "two\n")
	_, url := w.serve()
	env := []string{"ROSTER_SERVER=" + url}
	until := func(what string, is func() bool) {
		t.Helper()
		for late := time.Now().Add(patience); !is(); {
			if time.Now().After(late) {
				t.Fatalf("%s does not come about: %+v", what, w.run(env, "rig", "log"))
			}
		}
	}
	var dead []view.RigJob
	until("two failures", func() bool { dead = w.rigJobs(env, "rig", "dead"); return len(dead) == 2 })
	if r := w.run(env, "rig", "drop", dead[0].ID); r.code != 0 {
		t.Fatalf("drop: %+v", r)
	}
	if jobs := w.rigJobs(env, "rig", "replay", "--all"); len(jobs) != 1 || jobs[0].ID != dead[1].ID || jobs[0].State != "queued" {
		t.Fatalf("replay: %+v", jobs)
	}
	until("another try, which fails as well", func() bool {
		jobs := w.rigJobs(env, "rig", "log")
		return len(jobs) == 1 && jobs[0].State == "dead" && jobs[0].Session != dead[1].Session
	})
}

// TestRunKnotWithServer: the rig of a server works on a file that is asked for, and the
// command says what came of it.
func TestRunKnotWithServer(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "providers:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 100000}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "loop: true\nreplies:\n- {when: {contains: BAD}, error: {kind: bad-request}}\n- text: Noted.\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: []\n---\nWork.\n")
	knot := func(name, profile string) {
		w.write("rig/a-loom/"+name+".md", "---\nagent-profile-ref: "+profile+"\nstrand-dir: in\non: [deleted]\nretries: {attempts: 1}\n---\nReview.\n")
	}
	knot("review", "worker")
	knot("lost", "nobody")
	w.write("in/a.md", "one\n")
	w.write("in/bad.md", "BAD\n")
	_, url := w.serve()
	env := []string{"ROSTER_SERVER=" + url}
	for _, c := range []struct {
		name, knot, strand string
		code               int
		stdout, stderr     string
	}{
		{"done", "review", "in/a.md", exitDone, "Noted.\n", ""},
		{"dead", "review", "in/bad.md", exitFailed, "", "failed for good: "},
		{"cannot begin", "lost", "in/a.md", exitFailed, "", "a-loom/lost waits: "},
		{"of no folder", "review", "replies.yaml", exitFailed, "", "outside of the knot's folder"},
		{"without a file", "review", "", exitUsage, "", "works on files: name one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"rig", "run", c.knot}
			if c.strand != "" {
				args = append(args, c.strand)
			}
			if r := w.run(env, args...); r.code != c.code || r.stdout != c.stdout || !strings.Contains(r.stderr, c.stderr) {
				t.Errorf("%+v", r)
			}
		})
	}
	if r := w.run(env, "rig", "status", "--json"); strings.Contains(r.stdout, `"queued":1`) {
		t.Errorf("a job is left behind: %s", r.stdout)
	}
}
