package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/session"
)

var users = []string{"ada", "grace", "linus", "margaret"}

// playAll plays what is planned, a day after the other, some sessions at once.
func (s *stage) playAll(ctx context.Context, plan []planning) error {
	slices.SortStableFunc(plan, func(a, b planning) int { return cmp.Compare(b.ago, a.ago) })
	for len(plan) > 0 {
		today := plan[0].ago
		n := slices.IndexFunc(plan, func(p planning) bool { return p.ago != today })
		if n < 0 {
			n = len(plan)
		}
		s.clock.set(s.o.Now.AddDate(0, 0, -today).Add(-time.Hour))
		if err := s.playDay(ctx, plan[:n]); err != nil {
			return err
		}
		plan = plan[n:]
	}
	return nil
}

func (s *stage) playDay(ctx context.Context, plan []planning) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	slots := make(chan struct{}, atOnce)
	for _, p := range plan {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := s.play(ctx, p); err != nil {
				cancel()
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("seed: session %d (%s): %w", p.n, p.scene.profile, err))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// run is a session that is played.
type run struct {
	*stage
	ctx   context.Context
	scene *scene
	user  string
	key   session.Key
	last  int64 // the newest event that was seen
}

func (s *stage) play(ctx context.Context, p planning) error {
	prompt := p.scene.prompt(p.n)
	s.cast.learn(prompt, p.scene.turns(p.n))
	if p.scene.tasks != nil {
		for task, answer := range p.scene.tasks(p.n) {
			s.cast.learn(task, []turn{say("", call("read", `{"path":"README.md"}`)), say(answer)})
		}
	}
	r := &run{stage: s, ctx: clock.With(ctx, s.clock), scene: p.scene, user: pick(p.n, users...)}
	if err := r.begin(prompt); err != nil {
		return err
	}
	if p.scene.after == nil {
		return nil
	}
	if err := r.rest(); err != nil {
		return err
	}
	return p.scene.after(r)
}

func (r *run) begin(prompt string) error {
	sub, err := r.app.Submit(r.ctx, roster.Ask{Key: session.Key{Tenant: roster.LocalTenant}, Profile: r.scene.profile, Parts: said(prompt), User: r.user, Shared: true})
	if err != nil {
		return err
	}
	r.key = sub.Key
	if r.scene.during != nil {
		if err := r.until(sub.After(), "turn.start"); err != nil {
			return err
		}
		if err := r.scene.during(r); err != nil {
			return err
		}
	}
	return r.finish(sub)
}

// ask says more in the session, and waits for the answer.
func (r *run) ask(prompt string) error {
	sub, err := r.app.Submit(r.ctx, roster.Ask{Key: r.key, Parts: said(prompt), User: r.user, Shared: true})
	if err != nil {
		return err
	}
	if err := r.finish(sub); err != nil {
		return err
	}
	return r.rest()
}

// restTime is how long a session may take to be idle, after its loop has ended.
const restTime = 10 * time.Second

// rest waits until nobody is at work on the session.
func (r *run) rest() error {
	store, err := r.app.Backend(r.ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, restTime)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		sum, err := store.Summary(ctx, r.key)
		if err != nil || sum.Status() != session.Running {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("session %s is still at work: %w", r.key.Stream, ctx.Err())
		}
	}
}

// fork goes on in another session with what was said in this one.
func (r *run) fork(prompt string) error {
	to, err := r.app.Fork(r.ctx, r.key, r.key.Stream, "")
	if err != nil {
		return err
	}
	other := *r
	other.key = to
	return other.ask(prompt)
}

// until waits for an event of a type.
func (r *run) until(after int64, kind string) error {
	for batch, err := range r.app.Follow(r.ctx, r.key, after) {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(batch, func(e session.Event) bool { return e.Type == kind }) {
			return nil
		}
	}
	return fmt.Errorf("there is no %s", kind)
}

// finish waits until the prompt is answered, or until the run waits for somebody who
// says nothing.
func (r *run) finish(sub roster.Submitted) error {
	watch, after := roster.Watch{Post: sub.Post}, sub.After()
	for {
		waits := false
		for batch, err := range r.app.Follow(r.ctx, sub.Key, after) {
			if err != nil {
				return err
			}
			for i := range batch {
				e := &batch[i]
				after = max(after, e.Seq)
				r.last = max(r.last, e.Seq)
				if watch.See(e) != nil {
					return nil
				}
				waits = waits || e.Type == "loop.waiting" && e.Depth == 0
			}
			if waits {
				break
			}
		}
		if !waits {
			return errors.New("the events end before the run does")
		}
		if r.scene.answer == nil {
			return nil
		}
		if err := r.answer(sub.Key); err != nil {
			return err
		}
	}
}

// answer says to all that is asked what the scene says.
func (r *run) answer(k session.Key) error {
	asks, err := r.app.Approvals(r.ctx, k)
	for _, a := range asks {
		_, answered := r.app.Answer(r.ctx, k.Tenant, a.ID, *r.scene.answer)
		err = errors.Join(err, answered)
	}
	return err
}
