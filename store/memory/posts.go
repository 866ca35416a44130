package memory

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

type idemKey struct{ tenant, idem string }

// posted is what came of the first post with a key.
type posted struct {
	digest [sha256.Size]byte
	done   session.Posted
	until  time.Time
}

// posts remembers idempotency keys.
type posts struct {
	mu    sync.Mutex
	kept  map[idemKey]posted
	order []used // the oldest first
}

type used struct {
	key   idemKey
	until time.Time
}

// once runs post unless the key was used before.
func (p *posts) once(k session.Key, in *session.Post, now time.Time, post func() (session.Posted, error)) (session.Posted, error) {
	key, digest := idemKey{k.Tenant, in.Idem}, admit.Digest(in.Events)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge(now)
	if old, ok := p.kept[key]; ok && now.Before(old.until) {
		if old.digest != digest {
			return session.Posted{}, &session.Conflict{Idem: in.Idem}
		}
		for i := range in.Events {
			in.Events[i].Seq = old.done.First + int64(i)
		}
		old.done.Duplicate = true
		return old.done, nil
	}
	done, err := post()
	if err != nil {
		return done, err
	}
	keep := done
	keep.Lease = nil
	until := now.Add(admit.IdemTime)
	p.kept[key] = posted{digest, keep, until}
	p.order = append(p.order, used{key, until})
	return done, nil
}

// purge forgets a few outdated keys. One that was used again since stands in
// order twice.
func (p *posts) purge(now time.Time) {
	for range min(admit.IdemPurge, len(p.order)) {
		oldest := p.order[0]
		if now.Before(oldest.until) {
			return
		}
		if p.kept[oldest.key].until.Equal(oldest.until) {
			delete(p.kept, oldest.key)
		}
		p.order = p.order[1:]
	}
}
