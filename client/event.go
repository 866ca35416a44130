package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/rosterrun/roster/internal/sse"
	"github.com/rosterrun/roster/session"
)

// ContextUsage says after each turn how full the context of the model is. It is the
// Body of a live event.
type ContextUsage struct {
	Session       string  `json:"session"`
	InputTokens   int64   `json:"inputTokens"` // all that was sent, cached or not
	OutputTokens  int64   `json:"outputTokens"`
	BudgetUsedPct float64 `json:"budgetUsedPct"` // of the context window
}

// Type implements session.Body.
func (*ContextUsage) Type() string { return "context_usage" }

// AppendJSON implements session.Body.
func (u *ContextUsage) AppendJSON(dst []byte) []byte {
	data, err := json.Marshal(u)
	if err != nil { // BudgetUsedPct is no number
		return append(dst, "{}"...)
	}
	return append(dst, data...)
}

// decodeFrame reads an event of a stream. Those by which the server ends it are
// errors.
func decodeFrame(f *sse.Event) (Event, error) {
	switch name := string(f.Name); name {
	case "fell_behind":
		return Event{}, errBehind
	case "stream.failed":
		e := &Error{Status: http.StatusInternalServerError}
		if err := json.Unmarshal(f.Data, e); err != nil || e.Message == "" {
			e.Message = "the stream failed, and the server does not say why"
		}
		return Event{}, e
	default:
		if len(f.ID) == 0 {
			return decodeLive(name, f.Data)
		}
	}
	var e Event
	err := json.Unmarshal(f.Data, &e)
	if err == nil && e.Seq < 1 {
		err = errors.New("it has no number")
	}
	if err == nil {
		e.Body, err = e.Decode()
	}
	if err != nil {
		return Event{}, fmt.Errorf("event %.40q of the stream cannot be read: %w", f.ID, err)
	}
	return e, nil
}

// decodeLive reads an event that is not stored.
func decodeLive(name string, data []byte) (Event, error) {
	var where struct {
		Session string `json:"session"`
		Depth   int    `json:"depth"`
	}
	var body session.Body
	switch name {
	case "delta":
		body = new(session.Delta)
	case "message.partial":
		body = new(session.Partial)
	case "message.reset":
		body = new(session.Reset)
	case "context_usage":
		body = new(ContextUsage)
	default:
		body = &session.Raw{Name: name, JSON: append([]byte{}, data...)}
	}
	err := json.Unmarshal(data, &where)
	if _, raw := body.(*session.Raw); err == nil && !raw {
		err = json.Unmarshal(data, body)
	}
	if err != nil {
		return Event{}, fmt.Errorf("the live event %.40q of the stream cannot be read: %w", name, err)
	}
	return Event{Session: where.Session, Depth: where.Depth, Type: name, Body: body}, nil
}
