package runner

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/event"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

// sent is an event, as the content of its job has it.
type sent struct {
	Description string `json:"description,omitempty"`
	Payload     string `json:"payload,omitempty"`
	About       string `json:"about,omitempty"`
}

func encode(e event.Event, about string) []byte {
	data, _ := json.Marshal(sent{e.Description, e.Payload, about}) // of texts, which cannot fail
	return data
}

// about is the file that a job is about, or that the work was about which has sent its
// event; empty: there is none, or more than one.
func about(j *ledger.Job) string {
	if !strings.HasPrefix(j.Path, "event:") {
		return j.Path
	}
	var e sent
	if json.Unmarshal(j.Content, &e) != nil {
		return ""
	}
	return e.About
}

// task is what the agent of a knot is asked for a job.
func (n *running) task(k *rig.Knot, j *ledger.Job) (Task, error) {
	t := Task{Session: j.Session, Knot: k.ID(), Profile: k.Agent.Ref, Set: map[string]string{}}
	if t.Profile == "" {
		t.Profile = k.ID()
	}
	for key, value := range k.Overrides() {
		t.Set[key] = value
	}
	if k.Budget.PerRun.Set {
		t.Set["limits.cost"] = fmt.Sprint(k.Budget.PerRun.V)
	}
	awaited := n.now().Awaits(k)
	for _, a := range awaited {
		t.Events = append(t.Events, session.ClientEvent{Name: a.ID, Description: strings.Join(a.Descriptions, " / ")})
	}
	strands, err := strandsOf(k, j)
	t.Text = k.Prompt(nil, strands...) // the tool emit says which events there are
	return t, err
}

// strandsOf is what a job is about.
func strandsOf(k *rig.Knot, j *ledger.Job) ([]rig.Strand, error) {
	one := rig.Strand{Event: rig.Event(j.Event), Path: j.Path, Content: j.Content}
	switch one.Event {
	case rig.Scheduled:
		at, err := time.Parse(time.RFC3339, string(j.Content))
		if err != nil {
			return nil, fmt.Errorf("the time of the schedule cannot be read: %w", err)
		}
		one.At, one.Content = at.In(k.Zone.V), nil
		return []rig.Strand{one}, nil
	case rig.Created, rig.Modified, rig.Deleted, rig.Asked:
		if k.Bundling.V != rig.Batch && k.Bundling.V != rig.Diff || len(j.Content) == 0 {
			return []rig.Strand{one}, nil
		}
		return unbundled(j.Content)
	}
	var e sent
	if err := json.Unmarshal(j.Content, &e); err != nil {
		return nil, fmt.Errorf("the event cannot be read: %w", err)
	}
	from, _, _ := strings.Cut(strings.TrimPrefix(j.Path, "event:"), ":")
	one.From, one.About, one.Description, one.Content = from, e.About, e.Description, []byte(e.Payload)
	return []rig.Strand{one}, nil
}

func unbundled(content []byte) ([]rig.Strand, error) {
	var files []bundled
	if err := json.Unmarshal(content, &files); err != nil {
		return nil, fmt.Errorf("the files of a batch cannot be read: %w", err)
	}
	strands := make([]rig.Strand, len(files))
	for i, f := range files {
		strands[i] = rig.Strand{Event: f.Event, Path: f.Path, Content: f.Content, Diff: f.Diff}
	}
	return strands, nil
}
