package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// Switch says as which profile a session is to go on.
type Switch struct {
	Key       session.Key
	From      *Blueprint
	To        string
	User      string // whose prompt it is
	Chain     string // the request that it is done for
	Headless  bool
	Overrides session.Overrides // of the prompt
}

// flapTurns is for how many turns a session does not go back to a profile that
// it was switched from, unless the user says something.
const flapTurns = 3

// next is what a session may go on by when a batch has ended.
type next struct {
	name string
	by   *Blueprint
}

// switches gives the test of a call that would switch the profile.
func (r *run) switches(c session.CallState) func(name string) error {
	return func(name string) error {
		if r.above != nil || r.deps.Switch == nil {
			return errors.New("the profile cannot be switched here")
		}
		l := r.s.Loop
		for i := range l.Calls {
			if o := &l.Calls[i]; o.ID != c.ID && r.switched(o) {
				return errors.New("the profile is switched by another call of this answer; one is enough")
			}
		}
		for _, left := range l.Left {
			if n := l.Turn - left.Turn; left.Profile == name && n <= flapTurns {
				return fmt.Errorf("you were %s until %d turns ago: do not switch back and forth; go on as you are, or ask the user", name, n)
			}
		}
		_, err := r.become(name)
		return err
	}
}

// switched says that a call switches the profile, as far as it has come.
func (r *run) switched(c *session.CallState) bool {
	_, ok := r.tools[c.Name].Tool.(tool.Switching)
	return ok && (c.Before != nil && c.After == nil || c.After != nil && c.After.Outcome == session.OK)
}

func (r *run) become(name string) (*Blueprint, error) {
	if r.next != nil && r.next.name == name {
		return r.next.by, nil
	}
	b, err := r.deps.Switch(r.work, Switch{
		Key: r.st.Key, From: r.Blueprint, To: name, User: r.st.Root.User, Chain: r.chain, Headless: r.s.Loop.Start.Headless, Overrides: r.st.Root.Asked,
	})
	if err == nil {
		b, err = b.within(r.Spec.Limits)
	}
	if err != nil {
		return nil, err
	}
	r.next = &next{name, b}
	return b, nil
}

// within returns the blueprint with budgets that are no larger than those of a
// loop that is going on: a switch does not give it more.
func (b *Blueprint) within(most spec.Limits) (*Blueprint, error) {
	s := *b.Spec
	l := &s.Limits
	l.Set = maps.Clone(l.Set)
	smaller(l, &most, "tokens", &l.Tokens, most.Tokens)
	smaller(l, &most, "duration", &l.Duration, most.Duration)
	smaller(l, &most, "cost", &l.Cost, most.Cost)
	c := b.clone()
	c.Spec, c.Prefix, c.prefixJSON, c.prefixDigest = &s, b.Prefix, b.prefixJSON, b.prefixDigest
	var err error
	c.specJSON, c.specDigest, err = s.Encode()
	return c, err
}

func smaller[T int64 | float64 | time.Duration](l, most *spec.Limits, name string, v *T, bound T) {
	if bound <= 0 || *v > 0 && *v <= bound {
		return
	}
	*v = bound
	if l.Set == nil {
		l.Set = map[string]string{}
	}
	delete(l.Set, name)
	if at := most.Set[name]; at != "" {
		l.Set[name] = at
	}
}

// results ends a batch: what its calls came to is one message, and if one of
// them has switched the profile, the session is that one's from here on.
func (r *run) results(l *session.Loop, ids []string) error {
	for i := range l.Calls {
		c := &l.Calls[i]
		if !r.switched(c) {
			continue
		}
		name, reason := r.tools[c.Name].Tool.(tool.Switching).Target(c.Before.Input)
		if name == r.Spec.Name { // taken up after the event
			break
		}
		if err := r.goOnAs(name, session.Switched{Call: c.ID, Reason: r.clean(reason)}); err != nil {
			return err
		}
		break
	}
	r.revert(l)
	r.emit(&session.Message{ID: r.clock.ID(), Parent: r.head(), Role: message.Tool, Calls: ids})
	return nil
}

// goOnAs makes the session another profile's.
func (r *run) goOnAs(name string, s session.Switched) error {
	b, err := r.become(name)
	r.next = nil
	if err != nil {
		return cmp.Or(r.ctx.Err(), error(&unswitched{name, err}))
	}
	if err := b.storeBlobs(r.ctx, r.deps.Blobs, r.st.Key.Tenant); err != nil {
		return err
	}
	s.From, s.To, s.Revision, s.Model = r.Spec.Name, name, b.Spec.Revision, b.Model.Name()
	s.Spec, s.Prefix = b.specDigest, b.prefixDigest
	r.emitRefs(&s, s.Spec, s.Prefix)
	r.Blueprint = b
	r.observers.drop(r.id)
	r.observers.add(r.id, b)
	r.closeOpened()
	r.bound()
	return nil
}

// unswitched says that a profile is not to be had any more that the model was
// told it is: between the call and the end of its batch the worker has stopped,
// and the profile was changed.
type unswitched struct {
	to  string
	why error
}

func (e *unswitched) Error() string {
	return fmt.Sprintf("the session was to go on as %s, which cannot be run any more: %v", e.to, e.why)
}

// storeBlobs puts what a loop or a switch refers to, once for each tenant.
func (b *Blueprint) storeBlobs(ctx context.Context, blobs session.Blobs, tenant string) error {
	if _, ok := b.stored.Load(tenant); ok {
		return nil
	}
	for _, data := range [][]byte{b.specJSON, b.prefixJSON} {
		if _, err := blobs.PutBlob(ctx, tenant, data); err != nil {
			return err
		}
	}
	b.stored.Store(tenant, struct{}{})
	return nil
}
