package roster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
)

// logged are the jobs in a log of the rig.
func (r *rigged) logged(name string) (jobs []view.RigJob) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, "rig", "logs", name+".jsonl"))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var j view.RigJob
		if err := json.Unmarshal([]byte(line), &j); err != nil {
			r.t.Fatalf("%q: %v", line, err)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// TestRecords: the state of a rig and the jobs that have ended stand in files, which even
// a knot that watches the whole workspace does not take for strands.
func TestRecords(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""),
		"rig/all-loom/all.md": "---\nagent-profile-ref: fast\nstrand-dir: .\nignore: [\"*.md\"]\ndebounce: 10ms\n---\nLook at it.\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	write(t, r.dir, "strands/a.md", "one\n")
	write(t, r.dir, "other/b.txt", "two\n")
	r.until("the logs", func() bool {
		return len(r.logged("rig")) == 2 && len(r.logged("docs-loom")) == 1 && len(r.logged("all-loom")) == 1
	})
	var state view.RigState
	r.until("the state", func() bool {
		data, err := os.ReadFile(filepath.Join(r.dir, "rig", "state.json"))
		if err != nil || json.Unmarshal(data, &state) != nil {
			return false
		}
		return len(state.Knots) == 2 && state.Knots[0].Done == 1 && state.Knots[1].Done == 1 && time.Since(state.Updated) < rigPatience
	})
	if j := r.logged("docs-loom")[0]; j.Knot != "docs-loom/review" || j.State != "done" || j.Path != "strands/a.md" || j.Ended == nil || j.Session == "" {
		t.Errorf("%+v", j)
	}
	write(t, r.dir, "other/last.txt", "three\n")
	r.until("the last", func() bool { return len(r.logged("rig")) == 3 })
	if jobs := r.jobs(); len(jobs) != 3 || len(r.jobs(ledger.Done)) != 3 {
		t.Errorf("%+v", jobs)
	}
}

// TestRecordsInTheWay: a rig works whose files for other programs cannot be written.
func TestRecordsInTheWay(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""), "rig/logs": "in the way\n", "rig/state.json/x": "in the way\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("docs-loom/review", "It is clear.")
	r.until("the end", func() bool { return len(r.jobs(ledger.Done)) == 1 })
}
