package roster_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
)

// circleKnot is a knot of a profile that watches a folder.
func circleKnot(profile, dir, more string) string {
	return "---\nagent-profile-ref: " + profile + "\nstrand-dir: " + dir + "\nprompt-template: {instructions: Go on.}\n" + more + "---\n"
}

// circleProfile may do all that it is scripted to.
func circleProfile(name, model string) string {
	return "---\nname: " + name + "\nprovider: openai\nmodel: " + model + "\ntools: [write, bash]\npermission: {write: allow, bash: allow}\n---\nWork.\n"
}

// callsOf is a script that makes a call in each run.
func callsOf(tool, input string) *script.Script {
	return &script.Script{Loop: true, Replies: []script.Reply{{Tools: []script.Call{{Name: tool, Input: input}}}, {Text: "Done."}}}
}

// endedAtMaxHops waits until a circle has ended at max-hops, which is 4: five jobs are done and the
// sixth is dead.
func (r *rigged) endedAtMaxHops() {
	r.t.Helper()
	r.until("an end", func() bool {
		return len(r.jobs(ledger.Dead)) > 0 && len(r.jobs(ledger.Queued, ledger.Running, ledger.Writing)) == 0
	})
	dead, done := r.jobs(ledger.Dead), r.jobs(ledger.Done)
	if len(dead) != 1 || dead[0].Code != "MaxHops" || !strings.Contains(dead[0].Error, "max-hops is 4") || len(done) != 5 {
		r.t.Errorf("%d are done; dead: %+v", len(done), dead)
	}
}

// TestCircleOfTieOffs: knots that watch each other's tie-offs stop, as those do that wait
// for each other's events.
func TestCircleOfTieOffs(t *testing.T) {
	r := newRigged(t, map[string]string{
		"roster.yaml": "rig: {max-hops: 4}\n", "rig/profiles/fast.md": fastProfile,
		"rig/a-loom/start.md": circleKnot("fast", "strands", ""),
		"rig/a-loom/on.md":    circleKnot("fast", "rig/tie-offs/b-loom", ""),
		"rig/b-loom/on.md":    circleKnot("fast", "rig/tie-offs/a-loom", ""),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Gone on.")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.endedAtMaxHops()
}

// TestCircleOfRemovals: it counts as well where one knot removes what the other has made.
func TestCircleOfRemovals(t *testing.T) {
	r := newRigged(t, map[string]string{
		"roster.yaml": "rig: {max-hops: 4}\n", "rig/profiles/maker.md": circleProfile("maker", "gpt-4o"), "rig/profiles/remover.md": circleProfile("remover", "gpt-4o-mini"),
		"rig/a-loom/make.md":   circleKnot("maker", "out", "on: [deleted]\n"),
		"rig/a-loom/remove.md": circleKnot("remover", "out", "on: [created]\n"),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": callsOf("write", `{"path":"out/x.md","content":"again\n"}`), "openai/gpt-4o-mini": callsOf("bash", `{"command":"rm out/x.md"}`)})
	write(t, r.dir, "out/x.md", "one\n")
	r.endedAtMaxHops()
}

// TestSlowCalls: what a call has written is seen while the call still goes on. The job of it
// waits until it is known whose it is.
func TestSlowCalls(t *testing.T) {
	r := newRigged(t, map[string]string{
		"roster.yaml": "rig: {max-hops: 4}\n", "rig/profiles/slow.md": circleProfile("slow", "gpt-4o"), "rig/profiles/fast.md": fastProfile,
		"rig/a-loom/slow.md": circleKnot("slow", "in", ""), "rig/a-loom/fast.md": circleKnot("fast", "out", ""),
	})
	r.run(map[string]*script.Script{
		"openai/gpt-4o": {Loop: true, Replies: []script.Reply{
			{When: script.When{Contains: "in/x.md"}, Tools: []script.Call{{Name: "bash", Input: `{"command":"mkdir -p out; echo x > out/x.md; until [ -e go ]; do sleep 0.01; done"}`}}}, {Text: "Done."},
		}},
	})
	write(t, r.dir, "in/x.md", "one\n")
	r.until("the job of what is written", func() bool { return len(r.jobs()) == 2 })
	write(t, r.dir, "go", "")
	r.until("an end", func() bool { return len(r.jobs(ledger.Done)) == 2 })
	if first := r.jobs()[0]; first.Knot != "a-loom/fast" || first.Hops != 1 {
		t.Errorf("%+v", first)
	}
}

// TestTieOffsAreNoStrands: a knot that watches the folder above a rig does not work on the
// answers of knots, its own among them.
func TestTieOffsAreNoStrands(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile,
		"rig/a-loom/all.md":    circleKnot("fast", ".", ""), "rig/a-loom/rig.md": circleKnot("fast", "rig", ""), "strands/a.md": "one\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	r.tieOff("a-loom/all", "created strands/a.md")
	r.tieOff("a-loom/rig", "It is clear.")
	write(t, r.dir, "strands/a.md", "two\n")
	r.tieOff("a-loom/all", "modified strands/a.md")
	for _, j := range r.jobs() {
		if strings.Contains(j.Path, "tie-offs") {
			t.Errorf("%+v", j)
		}
	}
}
