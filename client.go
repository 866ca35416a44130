package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// ResultsError says that a program gives results of tool calls that its session is
// not waiting for.
type ResultsError struct{ Session, Call string }

func (e *ResultsError) Error() string {
	return fmt.Sprintf("session %s has not given the call %q to the client, or has gone on since: send the results of the calls of its last answer, all of them", e.Session, e.Call)
}

// brought makes of a prompt that brings along what was said elsewhere the event that
// takes it over; nil: it brings nothing.
func (a *App) brought(ctx context.Context, ask *Ask) (*session.Branch, error) {
	var err error
	if ask.Client, err = a.cleanClient(ask.Client); err != nil {
		return nil, err
	}
	results := session.RoleOf(ask.Parts) == message.Tool
	if len(ask.Said) == 0 && !results {
		return nil, nil
	}
	b := &session.Branch{Why: session.BranchClient, Profile: ask.Profile, Shared: ask.Shared}
	for _, m := range ask.Said {
		m.Parts = a.redactParts(utf8Parts(m.Parts))
		if b.Title == "" && m.Role == message.User {
			b.Title = session.Title(m.Parts)
		}
		b.Messages = append(b.Messages, m)
	}
	last := ""
	if ask.Key.Stream != "" {
		if last, err = a.goOn(ctx, ask, b); err != nil {
			return nil, err
		}
	}
	for i := range b.Messages {
		m := &b.Messages[i]
		m.Parent = last
		// From what it follows on, so that the same request is the same post.
		m.ID = uuid.NewSHA1(uuid.NameSpaceURL, message.AppendParts([]byte("roster:message:"+last+":"+string(m.Role)), m.Parts)).String()
		last = m.ID
	}
	return b, nil
}

// goOn has an event that takes messages over do so for a session that there is. It
// gives the message that they follow.
func (a *App) goOn(ctx context.Context, ask *Ask, b *session.Branch) (last string, err error) {
	store, err := a.Backend(ctx)
	if err != nil {
		return "", err
	}
	st, err := session.ReadState(ctx, store, a.withTenant(ask.Key))
	if err != nil {
		return "", err
	}
	first := ask.Parts
	if len(b.Messages) > 0 {
		first = b.Messages[0].Parts
	}
	b.Seq, b.Settings, b.Title = st.Last, st.Root.Settings, ""
	if n := len(st.Root.Messages); n > 0 {
		last = st.Root.Messages[n-1].ID
	}
	if session.RoleOf(first) == message.Tool {
		m, err := given(st, first)
		if err != nil {
			return "", err
		}
		b.Cut, b.At, last = true, m.ID, m.ID
	}
	return last, nil
}

// given finds the answer whose calls results are for: the last one of the session.
func given(st *session.State, results []message.Part) (*message.Message, error) {
	var m *message.Message
	for _, said := range slices.Backward(st.Root.Messages) {
		if said.Role == message.User {
			break
		}
		if said.Role == message.Assistant {
			m = said
			break
		}
	}
	open := map[string]bool{}
	if m != nil {
		for _, c := range m.Calls() {
			open[c.ID] = true
		}
	}
	for _, p := range results {
		r := p.(message.ToolResult) // as session.RoleOf says
		if !open[r.Call] {
			return nil, &ResultsError{st.Key.Stream, r.Call}
		}
		delete(open, r.Call)
	}
	for call := range open {
		return nil, &ResultsError{st.Key.Stream, call}
	}
	return m, nil
}

// cleanClient checks what a program brings along, and hides secrets in it.
func (a *App) cleanClient(c *session.Client) (*session.Client, error) {
	if c == nil {
		return nil, nil
	}
	clean := &session.Client{System: a.redact(c.System), Calls: c.Calls}
	for _, t := range c.Tools {
		if !wire.IsObject(t.Schema) {
			return nil, &engine.ClientToolError{Tool: t.Name, Profile: "any profile", Reason: "its parameters are not a JSON Schema, which is an object"}
		}
		t.Description = a.redact(t.Description)
		clean.Tools = append(clean.Tools, t)
	}
	for _, e := range c.Events {
		clean.Events = append(clean.Events, session.ClientEvent{Name: e.Name, Description: a.redact(e.Description)})
	}
	return clean, nil
}

// clientDigest names what a program brings along; "": nothing.
func clientDigest(c *session.Client) string {
	if c == nil {
		return ""
	}
	data, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("roster: the schema of a client's tool is not JSON: %v", err)) // cleanClient has looked
	}
	return session.Digest(data)
}
