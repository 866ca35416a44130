package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// Emit is the name of the tool that fires an event. The subject of its rules is the
// event.
const Emit = "emit"

// NewEmit makes the tool emit for a run that may fire the events. A call does nothing
// but stand in the log: whoever has asked for the run reads it there at its end.
func NewEmit(events []session.ClientEvent) Tool {
	var list strings.Builder
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.Name
		fmt.Fprintf(&list, "- %s", e.Name)
		if e.Description != "" {
			fmt.Fprintf(&list, ": %s", e.Description)
		}
		list.WriteString("\n")
	}
	plain := Define(Emit, nil)
	return &emitTool{&model.ToolDef{Name: Emit, Description: plain.Description + list.String(), Schema: plain.Schema}, names}
}

type emitTool struct {
	def   *model.ToolDef
	names []string
}

func (t *emitTool) Def() *model.ToolDef { return t.def }

// Recovery implements Recoverer: nothing happens but that the call is in the log.
func (t *emitTool) Recovery(Call) Recovery { return Repeat }

// Emitted is what a call of the tool says.
type Emitted struct {
	Event       string `json:"event"`
	Description string `json:"description"`
	Payload     string `json:"payload"`
}

func (t *emitTool) Prepare(_ context.Context, c Call) (Plan, error) {
	var e Emitted
	if err := json.Unmarshal(c.Input, &e); err != nil {
		return nil, err
	}
	if !slices.Contains(t.names, e.Event) {
		return nil, fmt.Errorf("there is no event %q that anybody waits for: the events are %s", e.Event, strings.Join(t.names, ", "))
	}
	return emitPlan(e.Event), nil
}

type emitPlan string

func (p emitPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: Emit, Subject: string(p)}}
}

func (p emitPlan) Run(context.Context, func(string)) (Result, error) {
	return Text("The event " + string(p) + " is sent when your work has ended."), nil
}

func (p emitPlan) Close() error { return nil }
