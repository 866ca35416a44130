// Package limit bounds what callers use: how often they ask, how many of their
// prompts run at the same time, and what they spend.
package limit

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Bounds of one caller, or of a tenant; 0: none.
type Bounds struct {
	Requests int // a minute; as many may come at once
	Running  int // prompts that run at the same time
	// What may be spent before no new prompt is taken, in US dollars and in tokens
	// in and out. Days and months are those of UTC.
	CostDay, CostMonth     float64
	TokensDay, TokensMonth int64
}

func (b Bounds) spend() bool {
	return b.CostDay > 0 || b.CostMonth > 0 || b.TokensDay > 0 || b.TokensMonth > 0
}

// Options of a Limiter.
type Options struct {
	// Tenant bounds all of a tenant's callers together, Key each API key, or each
	// user who came without one.
	Tenant, Key Bounds
	// Backend is asked what runs, and what was spent.
	Backend func(context.Context) (session.Backend, error)
	Now     func() time.Time // nil: time.Now
}

// Limiter is safe for concurrent use. What runs, and how often callers ask, is
// counted in this process alone; what is spent is that of all of them.
type Limiter struct {
	o   Options
	now func() time.Time

	mu      sync.Mutex
	holders map[holder]*account
}

// holder is who is counted: a tenant, or one of its callers.
type holder struct{ tenant, caller string }

type account struct {
	bounds Bounds
	rate   *rate.Limiter // nil: none
	last   time.Time     // when it asked

	starting int                  // prompts that are on their way to the store
	running  map[session.Key]bool // sessions that had work when they were last looked at

	spent   spending
	counted time.Time // when spent was asked for
}

// New returns a limiter.
func New(o Options) *Limiter {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Limiter{o: o, now: o.Now, holders: map[holder]*account{}}
}

// maxHolders bounds who is remembered. Whoever asked long ago is forgotten first:
// his requests are as if he had waited.
const maxHolders = 10_000

// accounts are those that a caller draws on.
func (l *Limiter) accounts(c identity.Caller) [2]*account {
	caller := "key " + c.Key
	if c.Key == "" {
		caller = "user " + c.User
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return [2]*account{l.account(holder{tenant: c.Tenant}, l.o.Tenant), l.account(holder{c.Tenant, caller}, l.o.Key)}
}

func (l *Limiter) account(h holder, b Bounds) *account {
	a := l.holders[h]
	if a == nil {
		if len(l.holders) >= maxHolders {
			l.forget()
		}
		a = &account{bounds: b, running: map[session.Key]bool{}}
		if b.Requests > 0 {
			a.rate = rate.NewLimiter(rate.Limit(float64(b.Requests)/60), b.Requests)
		}
		l.holders[h] = a
	}
	a.last = l.now()
	return a
}

// forget makes room for a tenth: of those who have not asked within a minute, then of
// those who have nothing running, then of others. Who has prompts on their way stays.
func (l *Limiter) forget() {
	old := l.now().Add(-time.Minute)
	for _, may := range []func(*account) bool{
		func(a *account) bool { return len(a.running) == 0 && a.last.Before(old) },
		func(a *account) bool { return len(a.running) == 0 },
		func(*account) bool { return true },
	} {
		for h, a := range l.holders {
			if len(l.holders) <= maxHolders/10*9 {
				return
			}
			if a.starting == 0 && may(a) {
				delete(l.holders, h)
			}
		}
	}
}

// Admit says whether a caller may ask for anything now. Its errors are
// *host.Error, with the time after which he may.
func (l *Limiter) Admit(c identity.Caller) error {
	now := l.now()
	var taken []*rate.Reservation
	var longest time.Duration
	var err error
	for i, a := range l.accounts(c) {
		if a.rate == nil {
			continue
		}
		r := a.rate.ReserveN(now, 1)
		taken = append(taken, r)
		if wait := r.DelayFrom(now); wait > longest {
			longest = wait
			err = refused("TooManyRequests", wait, "%s may make %d requests a minute: wait, and ask again", of(i), a.bounds.Requests)
		}
	}
	if err != nil {
		for _, r := range taken {
			r.CancelAt(now)
		}
	}
	return err
}

// of names whose bound it is.
func of(i int) string { return [2]string{"your tenant", "you"}[i] }

func refused(code string, wait time.Duration, format string, args ...any) *host.Error {
	return &host.Error{Status: http.StatusTooManyRequests, Code: code, RetryAfter: max(wait, time.Second), Message: fmt.Sprintf(format, args...)}
}

// Submit passes prompts on while the caller, as the context names him, may have
// another one run and has something left to spend.
func (l *Limiter) Submit(next func(context.Context, host.Ask) (host.Submitted, error)) func(context.Context, host.Ask) (host.Submitted, error) {
	return func(ctx context.Context, ask host.Ask) (host.Submitted, error) {
		done, err := l.begin(ctx, identity.From(ctx), ask.Key)
		if err != nil {
			return host.Submitted{}, err
		}
		var sub host.Submitted
		defer func() { done(sub.Key) }()
		sub, err = next(ctx, ask)
		return sub, err
	}
}

// Rerun is Submit for prompts that are answered anew.
func (l *Limiter) Rerun(next func(context.Context, session.Key, string, host.Ask) (host.Submitted, error)) func(context.Context, session.Key, string, host.Ask) (host.Submitted, error) {
	return func(ctx context.Context, k session.Key, at string, ask host.Ask) (host.Submitted, error) {
		done, err := l.begin(ctx, identity.From(ctx), k)
		if err != nil {
			return host.Submitted{}, err
		}
		var sub host.Submitted
		defer func() { done(sub.Key) }()
		sub, err = next(ctx, k, at, ask)
		return sub, err
	}
}

// Compare is Submit for several candidates: each takes a place until all have
// answered. A judge is asked after them, and takes none.
func (l *Limiter) Compare(next func(context.Context, host.Comparison) (host.Compared, error)) func(context.Context, host.Comparison) (host.Compared, error) {
	return func(ctx context.Context, c host.Comparison) (host.Compared, error) {
		for range c.Candidates {
			done, err := l.begin(ctx, identity.From(ctx), session.Key{})
			if err != nil {
				return host.Compared{}, err
			}
			defer done(session.Key{})
		}
		return next(ctx, c)
	}
}

// Post passes on what is said to a prompt that runs, which would go on for it, while
// the caller has something left to spend.
func (l *Limiter) Post(next func(context.Context, session.Key, []message.Part) error) func(context.Context, session.Key, []message.Part) error {
	return func(ctx context.Context, k session.Key, parts []message.Part) error {
		c := identity.From(ctx)
		for i, a := range l.accounts(c) {
			if err := l.afford(ctx, c, i, a); err != nil {
				return err
			}
		}
		return next(ctx, k, parts)
	}
}
