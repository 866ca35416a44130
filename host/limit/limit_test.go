package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/host/limit"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a limiter over a real store, with a clock that the test sets.
type desk struct {
	t     *testing.T
	now   time.Time
	store *memory.Store
	*limit.Limiter
	n int
}

func newDesk(t *testing.T, tenant, key limit.Bounds) *desk {
	d := &desk{t: t, now: time.Date(2030, 1, 30, 23, 0, 0, 0, time.UTC)}
	d.store = memory.New(memory.Options{Now: func() time.Time { return d.now }})
	t.Cleanup(func() { d.store.Close() })
	d.Limiter = limit.New(limit.Options{
		Tenant: tenant, Key: key, Now: func() time.Time { return d.now },
		Backend: func(context.Context) (session.Backend, error) { return d.store, nil },
	})
	return d
}

func caller(tenant, user, key string) identity.Caller {
	return identity.Caller{Tenant: tenant, User: user, Key: key, Roles: identity.Runner}
}

var (
	ann = caller("acme", "ann", "k1")
	bob = caller("acme", "bob", "k2")
	eve = caller("globex", "eve", "k3")
)

func (d *desk) event(b session.Body) session.Event {
	return session.Event{Session: "s", Loop: "l", Turn: 1, Agent: "a", Chain: "c", Time: d.now, Body: b}
}

// run submits a prompt and has a worker begin it; end has it cost something and end.
func (d *desk) run(c identity.Caller, stream string) (end func(cost float64, tokens int64), err error) {
	d.t.Helper()
	var posted session.Posted
	k := session.Key{Tenant: c.Tenant, Stream: stream}
	_, err = d.Submit(func(ctx context.Context, ask host.Ask) (_ host.Submitted, err error) {
		if k.Stream == "" {
			d.n++
			k.Stream = fmt.Sprintf("01890000-0000-7000-8000-%012d", d.n)
		}
		posted, err = d.store.Post(ctx, k, session.Post{
			Worker: "w", Events: []session.Event{d.event(&session.Prompt{Parts: []message.Part{message.Text{Text: "x"}}, Profile: "p", User: c.User, KeyID: c.Key})},
		})
		return host.Submitted{Key: k}, err
	})(identity.With(d.t.Context(), c), host.Ask{Key: session.Key{Tenant: c.Tenant, Stream: stream}})
	return func(cost float64, tokens int64) {
		d.t.Helper()
		_, err := d.store.Append(d.t.Context(), k, *posted.Lease, posted.Last, []session.Event{
			d.event(&session.LoopStart{Number: 1, Why: "prompt", Profile: "p", Model: "m", User: c.User, KeyID: c.Key}),
			d.event(&session.Message{ID: "m", Role: message.User, Source: "prompt", Post: posted.First}),
			d.event(&session.TurnStart{}),
			d.event(&session.Usage{Usage: message.Usage{Input: tokens, Cost: cost}, Model: "m"}),
			d.event(&session.LoopEnd{Reason: session.ReasonDone}),
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}, err
}

// want holds an error against a code; empty: there is none.
func (d *desk) want(err error, code string, wait time.Duration) {
	d.t.Helper()
	var e *host.Error
	switch {
	case code == "" && err == nil:
	case !errors.As(err, &e) || e.Code != code || e.Status != 429:
		d.t.Errorf("%v, want %q", err, code)
	case wait > 0 && e.RetryAfter != wait:
		d.t.Errorf("%s: to be tried again after %s, want %s", code, e.RetryAfter, wait)
	}
}

func TestRequests(t *testing.T) {
	d := newDesk(t, limit.Bounds{Requests: 5}, limit.Bounds{Requests: 3})
	for range 3 {
		d.want(d.Admit(ann), "", 0)
	}
	d.want(d.Admit(ann), "TooManyRequests", 20*time.Second)
	d.want(d.Admit(bob), "", 0) // ann's refused request took nothing of the tenant's
	d.want(d.Admit(bob), "", 0)
	d.want(d.Admit(bob), "TooManyRequests", 12*time.Second) // the tenant's five are gone
	d.want(d.Admit(eve), "", 0)
	d.now = d.now.Add(20 * time.Second)
	d.want(d.Admit(ann), "", 0)
	d.want(d.Admit(ann), "TooManyRequests", 20*time.Second)
	d.now = d.now.Add(time.Hour) // what is saved up is bounded
	for range 3 {
		d.want(d.Admit(ann), "", 0)
	}
	d.want(d.Admit(ann), "TooManyRequests", 20*time.Second)
}

// TestUsersWithoutKeys: whoever comes with a token is counted by his name, also where
// he has the name of a key.
func TestUsersWithoutKeys(t *testing.T) {
	d := newDesk(t, limit.Bounds{}, limit.Bounds{Requests: 1})
	d.want(d.Admit(caller("acme", "k1", "")), "", 0)
	d.want(d.Admit(ann), "", 0)
	d.want(d.Admit(caller("globex", "k1", "")), "", 0)
	d.want(d.Admit(caller("acme", "k1", "")), "TooManyRequests", time.Minute)
}

func TestRunning(t *testing.T) {
	d := newDesk(t, limit.Bounds{Running: 3}, limit.Bounds{Running: 2})
	end, err := d.run(ann, "")
	d.want(err, "", 0)
	_, err = d.run(ann, "")
	d.want(err, "", 0)
	_, err = d.run(ann, "")
	d.want(err, "TooManyRuns", 5*time.Second)
	_, err = d.run(bob, "")
	d.want(err, "", 0)
	_, err = d.run(bob, "")
	d.want(err, "TooManyRuns", 5*time.Second) // of the tenant
	_, err = d.run(eve, "")
	d.want(err, "", 0)
	end(0, 1)
	_, err = d.run(bob, "")
	d.want(err, "", 0)
	_, err = d.run(ann, "")
	d.want(err, "TooManyRuns", 0)
}

// TestComparing: each candidate takes a place, until all have answered.
func TestComparing(t *testing.T) {
	d := newDesk(t, limit.Bounds{}, limit.Bounds{Running: 3})
	ctx := identity.With(t.Context(), ann)
	asked := 0
	compare := func(inside func(), candidates int) error {
		_, err := d.Compare(func(context.Context, host.Comparison) (host.Compared, error) {
			asked++
			inside()
			return host.Compared{}, nil
		})(ctx, host.Comparison{Candidates: make([]host.Candidate, candidates)})
		return err
	}
	d.want(compare(func() {
		_, err := d.run(ann, "")
		d.want(err, "", 0)
		_, err = d.run(ann, "")
		d.want(err, "TooManyRuns", 5*time.Second)
		d.want(compare(func() {}, 2), "TooManyRuns", 5*time.Second)
	}, 2), "", 0)
	d.want(compare(func() {}, 3), "TooManyRuns", 5*time.Second) // the prompt runs
	d.want(compare(func() {}, 2), "", 0)                        // and what was refused has left its places
	if asked != 2 {
		t.Errorf("%d were passed on", asked)
	}
}

// TestFailedPromptsHoldNoPlace: neither one that is refused nor one whose handler
// panics.
func TestFailedPromptsHoldNoPlace(t *testing.T) {
	d := newDesk(t, limit.Bounds{}, limit.Bounds{Running: 1})
	ctx := identity.With(t.Context(), ann)
	for range 3 {
		broken := errors.New("no")
		if _, err := d.Submit(func(context.Context, host.Ask) (host.Submitted, error) { return host.Submitted{}, broken })(ctx, host.Ask{}); !errors.Is(err, broken) {
			t.Error(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = d.Submit(func(context.Context, host.Ask) (host.Submitted, error) { panic("broken") })(ctx, host.Ask{})
		}()
	}
	_, err := d.run(ann, "")
	d.want(err, "", 0)
}

func TestBudgets(t *testing.T) {
	const day, month = time.Hour, 25 * time.Hour // until the next, on 30 January at 23:00
	for _, c := range []struct {
		name        string
		tenant, key limit.Bounds
		wait        time.Duration
		others      bool // of the tenant are refused too
	}{
		{"cost of a day", limit.Bounds{}, limit.Bounds{CostDay: 2}, day, false},
		{"cost of a month", limit.Bounds{}, limit.Bounds{CostMonth: 2}, month, false},
		{"tokens of a day", limit.Bounds{}, limit.Bounds{TokensDay: 20}, day, false},
		{"tokens of a month", limit.Bounds{}, limit.Bounds{TokensMonth: 20}, month, false},
		{"a tenant's", limit.Bounds{CostDay: 2}, limit.Bounds{}, day, true},
		{"both", limit.Bounds{CostDay: 100}, limit.Bounds{TokensMonth: 20, CostDay: 2}, month, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.tenant, c.key)
			for range 2 {
				end, err := d.run(ann, "")
				d.want(err, "", 0)
				end(1, 10)
				d.now = d.now.Add(3 * time.Second)
			}
			wait := c.wait - 6*time.Second
			_, err := d.run(ann, "")
			d.want(err, "BudgetSpent", wait)
			steer := d.Post(func(context.Context, session.Key, []message.Part) error { return nil })
			d.want(steer(identity.With(t.Context(), ann), session.Key{}, nil), "BudgetSpent", wait)
			_, err = d.run(bob, "")
			d.want(err, map[bool]string{true: "BudgetSpent"}[c.others], 0)
			_, err = d.run(eve, "")
			d.want(err, "", 0)
			d.now = d.now.Add(wait)
			_, err = d.run(ann, "")
			d.want(err, "", 0)
		})
	}
}

// TestABudgetIsSpentAtOnce: what a run has used counts for the prompt after it, however
// soon that comes, and is told.
func TestABudgetIsSpentAtOnce(t *testing.T) {
	d := newDesk(t, limit.Bounds{TokensDay: 20}, limit.Bounds{})
	end, err := d.run(ann, "")
	d.want(err, "", 0)
	if got, err := d.Budgets(t.Context(), ann); err != nil || got[0].Used != 0 {
		t.Errorf("before it ends she is told %+v, %v", got, err)
	}
	end(1, 25)
	_, err = d.run(ann, "")
	d.want(err, "BudgetSpent", time.Hour)
	if got, err := d.Budgets(t.Context(), ann); err != nil || got[0].Used != 25 {
		t.Errorf("she is told %+v, %v", got, err)
	}
}

// TestBudgetsAreTold: what may be spent is told with what is spent, to each his own.
func TestBudgetsAreTold(t *testing.T) {
	d := newDesk(t, limit.Bounds{TokensMonth: 500}, limit.Bounds{CostDay: 2})
	end, err := d.run(ann, "")
	d.want(err, "", 0)
	end(1.5, 10)
	d.now = d.now.Add(3 * time.Second)
	for who, spent := range map[identity.Caller]float64{ann: 1.5, bob: 0} {
		got, err := d.Budgets(t.Context(), who)
		want := []host.Budget{{Of: "tenant", What: "tokens", Per: "month", Most: 500, Used: 10}, {Of: "caller", What: "cost", Per: "day", Most: 2, Used: spent}}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is told %+v, %v", who.User, got, err)
		}
	}
	if got, err := newDesk(t, limit.Bounds{Requests: 5}, limit.Bounds{}).Budgets(t.Context(), ann); err != nil || got != nil {
		t.Errorf("without a budget there is %+v, %v", got, err)
	}
}

// TestStoreThatFails: who cannot be counted is not let in.
func TestStoreThatFails(t *testing.T) {
	for _, b := range []limit.Bounds{{CostDay: 1}, {TokensMonth: 1}} {
		d := newDesk(t, limit.Bounds{}, b)
		d.store.Close()
		asked := false
		_, err := d.Submit(func(context.Context, host.Ask) (host.Submitted, error) { asked = true; return host.Submitted{}, nil })(identity.With(t.Context(), ann), host.Ask{})
		if err == nil || asked {
			t.Errorf("%+v: %v, passed on: %v", b, err, asked)
		}
		if _, err := d.Budgets(t.Context(), ann); err == nil {
			t.Error("budgets are told that nobody knows")
		}
	}
}

// TestManyCallers: memory is bounded, and who has prompts that run is remembered.
func TestManyCallers(t *testing.T) {
	d := newDesk(t, limit.Bounds{}, limit.Bounds{Running: 1, Requests: 1})
	_, err := d.run(ann, "")
	d.want(err, "", 0)
	for i := range 30_000 {
		d.want(d.Admit(caller("acme", fmt.Sprint("u", i), "")), "", 0)
	}
	if n := limit.Holders(d.Limiter); n > 10_001 {
		t.Errorf("%d are remembered", n)
	}
	_, err = d.run(ann, "")
	d.want(err, "TooManyRuns", 0)
}
