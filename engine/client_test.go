package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// emits is a call of the tool emit.
func emits(input string) script.Reply { return calls(script.Call{Name: tool.Emit, Input: input}) }

func offers(b *engine.Blueprint, name string) bool {
	return slices.ContainsFunc(b.Prefix.Tools, func(d *model.ToolDef) bool { return d.Name == name })
}

// TestEmit: a run fires the events that its program waits for. They stand in the log, and
// what nobody waits for is said to the model.
func TestEmit(t *testing.T) {
	m := script.New(emits(`{"event":"Ready","description":"It is.","payload":"P-1"}`), emits(`{"event":"Other"}`), emits(`{"payload":"P-2"}`), says("done"))
	b := newBench(t, m.Model("script/x"))
	plain := b.blueprint()
	as, err := plain.ForClient(&session.Client{Events: []session.ClientEvent{{Name: "Ready", Description: "when all is read"}, {Name: "Late"}}})
	if err != nil {
		t.Fatal(err)
	}
	if offers(plain, tool.Emit) || !offers(as, tool.Emit) {
		t.Error("the tool is for those that wait for events, and for nobody else")
	}
	for _, d := range as.Prefix.Tools {
		if d.Name == tool.Emit && !strings.Contains(d.Description, "- Ready: when all is read\n- Late\n") {
			t.Errorf("the model is told %q", d.Description)
		}
	}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.runAs(as, engine.Deps{})
	if got := end(t, events); got.Reason != session.ReasonDone || got.Text != "done" {
		t.Fatalf("end: %+v", got)
	}
	got := results(events, "s")
	if len(got) != 3 || got[0] != "ok: The event Ready is sent when your work has ended." ||
		!strings.Contains(got[1], `there is no event "Other" that anybody waits for: the events are Ready, Late`) || !strings.HasPrefix(got[2], "error: ") {
		t.Errorf("results: %q", got)
	}
	before := find[*session.ToolBefore](events)
	var said tool.Emitted
	if len(before) == 0 || json.Unmarshal(before[0].Input, &said) != nil || said != (tool.Emitted{Event: "Ready", Description: "It is.", Payload: "P-1"}) {
		t.Errorf("the log has %+v", before)
	}
}

// TestEmitIsDenied: a profile whose rules deny the tool does not have it, and one that
// denies an event does not fire that.
func TestEmitIsDenied(t *testing.T) {
	client := &session.Client{Events: []session.ClientEvent{{Name: "Ready"}, {Name: "Late"}}}
	b := newBench(t, script.New(emits(`{"event":"Ready"}`), emits(`{"event":"Late"}`), says("done")).Model("script/x"))
	b.spec.Rules = append(b.spec.Rules, permission.Rule{Tool: tool.Emit, Subject: "Late", Effect: permission.Deny})
	as, err := b.blueprint().ForClient(client)
	if err != nil {
		t.Fatal(err)
	}
	b.post(&session.Prompt{Parts: text("go")})
	if got := results(b.runAs(as, engine.Deps{}), "s"); len(got) != 2 || !strings.HasPrefix(got[0], "ok: ") || !strings.HasPrefix(got[1], "denied: ") {
		t.Errorf("results: %q", got)
	}
	b.spec.Rules = append(b.spec.Rules, permission.Rule{Tool: tool.Emit, Subject: "*", Effect: permission.Deny})
	if as, err = b.blueprint().ForClient(client); err != nil || offers(as, tool.Emit) {
		t.Errorf("the tool is offered all the same: %v", err)
	}
}
