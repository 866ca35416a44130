package limit

import (
	"context"
	"slices"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/session"
)

// begin takes a place for a prompt in a session, which may be a new one. done says
// which session it came to be in; the zero Key: none.
func (l *Limiter) begin(ctx context.Context, c identity.Caller, k session.Key) (done func(k session.Key), err error) {
	accounts := l.accounts(c)
	for i, a := range accounts {
		if err := l.afford(ctx, c, i, a); err != nil {
			return nil, err
		}
	}
	var held []*account
	for i, a := range accounts {
		if a.bounds.Running == 0 {
			continue
		}
		free, err := l.place(ctx, a, k)
		if err == nil && !free {
			err = refused("TooManyRuns", runWait, "%s may have %d prompts run at the same time: wait for one to end, or cancel it", of(i), a.bounds.Running)
		}
		if err != nil {
			l.leave(held, session.Key{})
			return nil, err
		}
		held = append(held, a)
	}
	return func(k session.Key) { l.leave(held, k) }, nil
}

// runWait is after what time a run may have ended.
const runWait = 5 * time.Second

// place takes a place among the prompts that run. Sessions whose runs have ended
// are only looked for when there would be none, so that there is nothing to pay
// for it before.
func (l *Limiter) place(ctx context.Context, a *account, k session.Key) (bool, error) {
	if free, _ := l.take(a, k); free {
		return true, nil
	}
	_, running := l.take(a, k)
	store, err := l.o.Backend(ctx)
	if err != nil {
		return false, err
	}
	for _, one := range running {
		sum, err := store.Summary(ctx, one)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err != nil || sum.Status() != session.Running { // it is gone, or waits for a person
			l.mu.Lock()
			delete(a.running, one)
			l.mu.Unlock()
		}
	}
	free, _ := l.take(a, k)
	return free, nil
}

// take takes a place, or lists what holds them. A session that runs already holds
// its own.
func (l *Limiter) take(a *account, k session.Key) (free bool, running []session.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	used := len(a.running) + a.starting
	if a.running[k] {
		used--
	}
	if used < a.bounds.Running {
		a.starting++
		return true, nil
	}
	for one := range a.running {
		running = append(running, one)
	}
	return false, running
}

func (l *Limiter) leave(held []*account, k session.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range held {
		a.starting--
		if k != (session.Key{}) {
			a.running[k] = true
		}
	}
}

// spending is what was spent on a day, and in its month.
type spending struct {
	costDay, costMonth     float64
	tokensDay, tokensMonth int64
}

// countEvery is how old a count may be by which nothing is left.
const countEvery = 2 * time.Second

// afford says whether there is something left to spend.
func (l *Limiter) afford(ctx context.Context, c identity.Caller, i int, a *account) error {
	budgets, err := l.budgets(ctx, c, i, a)
	if err != nil {
		return err
	}
	now := l.now().UTC()
	wait := map[string]time.Duration{
		"day":   time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, time.UTC).Sub(now),
		"month": time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Sub(now),
	}
	for _, b := range budgets {
		switch {
		case !reached(b):
		case b.What == "cost":
			return refused("BudgetSpent", wait[b.Per], "%s may spend %g US dollars a %s, and %.2f are spent", of(i), b.Most, b.Per, b.Used)
		default:
			return refused("BudgetSpent", wait[b.Per], "%s may use %.0f tokens a %s, and %.0f are used", of(i), b.Most, b.Per, b.Used)
		}
	}
	return nil
}

// Budgets are what a caller may spend, of his tenant and of his own, the longest time
// first, with what of it is spent. Errors are those of the store.
func (l *Limiter) Budgets(ctx context.Context, c identity.Caller) ([]host.Budget, error) {
	var all []host.Budget
	for i, a := range l.accounts(c) {
		budgets, err := l.budgets(ctx, c, i, a)
		if err != nil {
			return nil, err
		}
		all = append(all, budgets...)
	}
	return all, nil
}

func reached(b host.Budget) bool { return b.Used >= b.Most }

// budgets counts anew while something was left, as what has run since may have used
// it up. Where nothing was, more requests cost the store nothing for a while.
func (l *Limiter) budgets(ctx context.Context, c identity.Caller, i int, a *account) ([]host.Budget, error) {
	if !a.bounds.spend() {
		return nil, nil
	}
	now := l.now().UTC()
	l.mu.Lock()
	spent, fresh := a.spent, now.Sub(a.counted) < countEvery && session.DayOf(a.counted) == session.DayOf(now)
	l.mu.Unlock()
	if known := a.bounds.against(spent, i); fresh && slices.ContainsFunc(known, reached) {
		return known, nil
	}
	spent, err := l.count(ctx, c, i, now)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	a.spent, a.counted = spent, now
	l.mu.Unlock()
	return a.bounds.against(spent, i), nil
}

// against lists the budgets with what is spent of them.
func (b Bounds) against(spent spending, i int) []host.Budget {
	whose := [2]string{"tenant", "caller"}[i]
	all := []host.Budget{
		{Of: whose, What: "cost", Per: "month", Most: b.CostMonth, Used: spent.costMonth},
		{Of: whose, What: "tokens", Per: "month", Most: float64(b.TokensMonth), Used: float64(spent.tokensMonth)},
		{Of: whose, What: "cost", Per: "day", Most: b.CostDay, Used: spent.costDay},
		{Of: whose, What: "tokens", Per: "day", Most: float64(b.TokensDay), Used: float64(spent.tokensDay)},
	}
	return slices.DeleteFunc(all, func(b host.Budget) bool { return b.Most == 0 })
}

// count asks the store what was spent in the month of now, by the tenant or by one
// of its callers.
func (l *Limiter) count(ctx context.Context, c identity.Caller, i int, now time.Time) (s spending, err error) {
	store, err := l.o.Backend(ctx)
	if err != nil {
		return s, err
	}
	today := session.DayOf(now)
	q := session.UsageQuery{From: today - session.Day(now.Day()-1), To: today, By: []session.UsageBy{session.ByDay}}
	if i == 1 {
		if q.KeyID = c.Key; c.Key == "" {
			q.User = c.User
		}
	}
	rows, err := store.Usage(ctx, c.Tenant, q)
	if err != nil {
		return s, err
	}
	for _, r := range rows {
		tokens := int64(r.Usage.Input + r.Usage.Output)
		s.costMonth += r.Usage.Cost
		s.tokensMonth += tokens
		if r.Day == today {
			s.costDay += r.Usage.Cost
			s.tokensDay += tokens
		}
	}
	return s, nil
}
