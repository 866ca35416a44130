package session

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rosterrun/roster/message"
)

// Decode returns the body, from Data if it is not there yet. It does not change
// the event, which readers share. A type that this version does not know, or a
// version of it that is newer, is *Raw.
func (e *Event) Decode() (Body, error) {
	if e.Body != nil {
		return e.Body, nil
	}
	b := newBody(e.Type)
	if b == nil || e.V > version {
		return &Raw{Name: e.Type, JSON: e.Data}, nil
	}
	if string(e.Data) == "{}" {
		return b, nil // as is each start of a turn
	}
	if err := json.Unmarshal(e.Data, b); err != nil {
		return nil, fmt.Errorf("session %s: event %d (%s): %w", e.Session, e.Seq, e.Type, err)
	}
	return b, nil
}

// version is the newest version of each body's form that this program knows.
const version = 1

// Known says whether this version knows events of a type.
func Known(typ string) bool { return newBody(typ) != nil }

func newBody(typ string) Body {
	switch typ {
	case "prompt":
		return new(Prompt)
	case "steer":
		return new(Steer)
	case "followup":
		return new(Followup)
	case "cancel":
		return new(Cancel)
	case "branch":
		return new(Branch)
	case "input.answered":
		return new(InputAnswered)
	case "session.imported":
		return new(Imported)
	case "session.set":
		return new(Set)
	case "permission.resolved":
		return new(PermissionResolved)
	case "worktree.ended":
		return new(WorktreeEnded)
	case "worktree":
		return new(Worktree)
	case "session.start":
		return new(Start)
	case "loop.start":
		return new(LoopStart)
	case "loop.resumed":
		return new(LoopResumed)
	case "profile.switched":
		return new(Switched)
	case "turn.start":
		return new(TurnStart)
	case "turn.request":
		return new(TurnRequest)
	case "message":
		return new(Message)
	case "tools.changed":
		return new(ToolsChanged)
	case "revert":
		return new(Reverted)
	case "lent":
		return new(Lent)
	case "input.asked":
		return new(InputAsked)
	case "permission.asked":
		return new(PermissionAsked)
	case "loop.waiting":
		return new(LoopWaiting)
	case "tool.before":
		return new(ToolBefore)
	case "tool.update":
		return new(ToolUpdate)
	case "tool.after":
		return new(ToolAfter)
	case "hook":
		return new(Hooked)
	case "files.changed":
		return new(FilesChanged)
	case "files.undone":
		return new(FilesUndone)
	case "todo":
		return new(Todo)
	case "scratchpad":
		return new(Scratchpad)
	case "plan":
		return new(Plan)
	case "anchor":
		return new(Anchor)
	case "job":
		return new(Job)
	case "step.checked":
		return new(Checked)
	case "usage":
		return new(Usage)
	case "retry":
		return new(Retry)
	case "model.fallback":
		return new(Fallback)
	case "limit":
		return new(Limit)
	case "compaction":
		return new(Compaction)
	case "error":
		return new(Error)
	case "loop.end":
		return new(LoopEnd)
	}
	return nil
}

func (b *Prompt) UnmarshalJSON(data []byte) error {
	type plain Prompt
	j := struct {
		*plain
		Parts message.Parts `json:"parts"`
	}{plain: (*plain)(b)}
	err := json.Unmarshal(data, &j)
	b.Parts = j.Parts
	return err
}

func (b *Steer) UnmarshalJSON(data []byte) error {
	var j struct {
		Parts message.Parts `json:"parts"`
	}
	err := json.Unmarshal(data, &j)
	b.Parts = j.Parts
	return err
}

func (b *Followup) UnmarshalJSON(data []byte) error { return (*Steer)(b).UnmarshalJSON(data) }

func (b *Message) UnmarshalJSON(data []byte) error {
	var j struct {
		ID      string        `json:"id"`
		Parent  string        `json:"parent"`
		Role    message.Role  `json:"role"`
		Source  string        `json:"source"`
		Post    int64         `json:"post"`
		Why     string        `json:"why"`
		Calls   []string      `json:"calls"`
		Parts   message.Parts `json:"parts"`
		Partial bool          `json:"partial"`
		Stop    string        `json:"stop"`
	}
	err := json.Unmarshal(data, &j)
	*b = Message{j.ID, j.Parent, j.Role, j.Source, j.Post, j.Why, j.Calls, j.Parts, j.Partial, j.Stop}
	return err
}

func (b *ToolBefore) UnmarshalJSON(data []byte) error {
	var j struct {
		Call     string          `json:"call"`
		Tool     string          `json:"tool"`
		Input    json.RawMessage `json:"input"`
		Invalid  *string         `json:"invalid_input"`
		Recovery string          `json:"recovery"`
		Child    string          `json:"child"`
		Effect   string          `json:"effect"`
		Rule     *Rule           `json:"rule"`
		Reason   string          `json:"reason"`
	}
	err := json.Unmarshal(data, &j)
	*b = ToolBefore{j.Call, j.Tool, j.Input, j.Recovery, j.Child, j.Effect, j.Rule, j.Reason}
	if j.Invalid != nil {
		b.Input = []byte(*j.Invalid)
	}
	return err
}

func (b *ToolAfter) UnmarshalJSON(data []byte) error {
	var j struct {
		Call     string        `json:"call"`
		Tool     string        `json:"tool"`
		Outcome  Outcome       `json:"outcome"`
		Parts    message.Parts `json:"parts"`
		Artifact string        `json:"artifact"`
		Duration time.Duration `json:"duration_ns"`
		Seen     *Seen         `json:"seen"`
	}
	err := json.Unmarshal(data, &j)
	*b = ToolAfter{j.Call, j.Tool, j.Outcome, j.Parts, j.Artifact, j.Duration, j.Seen}
	return err
}

// UnmarshalJSON reads a stored event as MarshalJSON writes it; Body is left to
// Decode. What is no such event is an error.
func (e *Event) UnmarshalJSON(data []byte) error {
	var j struct {
		V       uint16          `json:"v"`
		Seq     int64           `json:"seq"`
		Session string          `json:"session"`
		Loop    string          `json:"loop"`
		Turn    int             `json:"turn"`
		Agent   string          `json:"agent_id"`
		Depth   int             `json:"depth"`
		Chain   string          `json:"chainId"`
		Time    time.Time       `json:"time"`
		Type    string          `json:"type"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Type == "" || j.V == 0 || len(j.Data) == 0 {
		return fmt.Errorf("an event of session %q lacks its type, version or data", j.Session)
	}
	*e = Event{
		V: j.V, Seq: j.Seq, Session: j.Session, Loop: j.Loop, Turn: j.Turn, Agent: j.Agent, Depth: j.Depth, Chain: j.Chain,
		Time: j.Time, Type: j.Type, Data: []byte(j.Data),
	}
	return nil
}
