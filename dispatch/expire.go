package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/rosterrun/roster/session"
)

// expireDue refuses what nobody has answered in time.
func (l *Local) expireDue(ctx context.Context) {
	due, err := l.backend.Due(ctx)
	for _, k := range due {
		if err == nil {
			err = l.Expire(ctx, k)
		}
	}
	if err != nil && ctx.Err() == nil {
		l.opts.Log.Error("look for questions that nobody has answered", "error", err)
	}
}

// Expire refuses what the stream asks for and nobody has answered in time.
// Nobody has to watch a stream that waits: it is called for those that are due,
// and before one is taken up.
func (l *Local) Expire(ctx context.Context, k session.Key) error {
	sum, err := l.backend.Summary(ctx, k)
	if err != nil || !sum.Suspended || sum.Until.IsZero() {
		return err
	}
	st, err := session.ReadState(ctx, l.backend, k)
	if err != nil {
		return err
	}
	for q := range st.Questions() {
		if !q.Expired(time.Now()) {
			continue
		}
		no := session.Event{Session: k.Stream, Chain: q.Chain, Body: q.Resolved(session.AnswerTimeout)}
		_, err := l.Submit(ctx, k, session.Post{Idem: session.AnswerIdem(q.Ask), Events: []session.Event{no}})
		if conflict := (*session.Conflict)(nil); err != nil && !errors.As(err, &conflict) { // somebody has, after all
			return err
		}
	}
	return nil
}
