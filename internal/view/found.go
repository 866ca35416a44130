package view

import (
	"context"

	"github.com/rosterrun/roster/session"
)

// Found is a session in which something was looked for and found.
type Found struct {
	Session
	Seq   int64  `json:"seq"`   // of the first event that has it
	Match string `json:"match"` // the line in which it stands
}

// NewFound describes a session that a search has found.
func NewFound(ctx context.Context, store session.Reader, sum *session.Summary, s session.Search) (Found, error) {
	f := Found{Session: NewSession(sum)}
	for e, err := range store.Read(ctx, sum.Key, 0) {
		if err != nil {
			return f, err
		}
		if text := session.Searchable(&e); s.In(text) {
			f.Seq, f.Match = e.Seq, s.Excerpt(text)
			break
		}
	}
	return f, nil
}
