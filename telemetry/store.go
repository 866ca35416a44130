package telemetry

import (
	"context"
	"time"

	"github.com/rosterrun/roster/session"
)

// Timed measures the commits of a store; without metrics it is the store itself.
func (t *Telemetry) Timed(s session.Store) session.Store {
	if t == nil || t.meters == nil {
		return s
	}
	return timed{s, t.meters.commits}
}

type timed struct {
	session.Store
	took *family
}

func (s timed) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	begun := time.Now()
	last, err := s.Store.Append(ctx, k, l, after, evs)
	s.took.observe(time.Since(begun).Seconds())
	return last, err
}
