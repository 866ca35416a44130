package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Comparison is one prompt for several candidates at once, and Candidate one of
// them.
type (
	Comparison = host.Comparison
	Candidate  = host.Candidate
)

// The ways to pick one of several answers.
const (
	PickFirst  = host.PickFirst  // the first that is there; the others are cancelled
	PickFewest = host.PickFewest // the one that took the fewest tokens
	PickMost   = host.PickMost   // the one that took the most tokens
	PickJudge  = host.PickJudge  // the one that another profile says
)

// Bounds of a comparison: how many candidates there are, how long their ends are
// waited for after a cancel, and how much of each answer a judge is shown, in
// bytes.
const (
	MaxCandidates = host.MaxCandidates
	cancelTime    = 30 * time.Second
	maxJudged     = 50_000
)

// Compared is what came of a Comparison.
type Compared struct {
	Key     session.Key // the session that goes on with the winner
	Winner  int         // the index of the candidate
	Pick    string      // how it was picked in the end
	Note    string      // why that is not as was asked for
	Judge   *Branched   // the judge's session, if there was one
	Answers []Branched  // by candidate
}

// Branched is a session that answered for a comparison, and the end of its loop.
type Branched struct {
	Profile string
	Model   string
	Key     session.Key
	End     *session.LoopEnd
	Err     error // why it has no end, or was cancelled

	order int // of the ends, from 1
}

// tokens is what an answer took, as limits count it.
func (b *Branched) tokens() int64 { return b.End.Usage.Limited() }

func (b *Branched) done() bool { return b.End != nil && b.End.Reason == session.ReasonDone }

// View is what came of a comparison, for programs.
func (c *Compared) View() view.Compared {
	v := view.Compared{ID: c.Key.Stream, Winner: c.Winner, Pick: c.Pick, Note: c.Note, Answers: []view.Branched{}}
	for i := range c.Answers {
		v.Answers = append(v.Answers, c.Answers[i].view())
	}
	if c.Judge != nil {
		judge := c.Judge.view()
		v.Judge = &judge
	}
	return v
}

func (b *Branched) view() view.Branched {
	v := view.Branched{ID: b.Key.Stream, Profile: b.Profile, Model: b.Model}
	if b.Err != nil {
		v.Error = b.Err.Error()
	}
	if b.End != nil {
		v.Reason, v.Text, v.Usage = b.End.Reason, b.End.Text, b.End.Usage
		if b.End.Error != nil {
			v.Error = b.End.Error.Error
		}
	}
	return v
}

// ComparisonError: a comparison cannot be made, or has no winner.
type ComparisonError struct {
	Reason string
	Asked  bool // the candidates were asked, and none came to an answer
}

func (e *ComparisonError) Error() string { return "compare: " + e.Reason }

// Compare asks all candidates at once and has the session go on with one answer.
// The others are kept as sessions that branch off it. A candidate that fails does
// not end the others; with no answer at all it is an error, and the session stays
// as it is. When ctx ends, all are cancelled. What came of it is returned also
// with an error that comes after the candidates were asked.
func (a *App) Compare(ctx context.Context, c Comparison) (Compared, error) {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return Compared{}, err
	}
	if err := checkComparison(&c); err != nil {
		return Compared{}, err
	}
	if err := a.serves(a.withTenant(c.Key).Tenant); err != nil {
		return Compared{}, err
	}
	from, said, err := a.base(ctx, &c)
	if err != nil {
		return Compared{}, err
	}
	if err := a.runnable(ctx, &c, from.set); err != nil {
		return Compared{}, err
	}
	if from.last == 0 {
		b := from.branch(session.BranchCompare, nil)
		b.From = ""
		if err := a.postBranch(ctx, d, c.Key, b); err != nil {
			return Compared{}, err
		}
	}
	out := Compared{Key: c.Key, Winner: -1, Pick: c.Pick}
	out.Answers, err = a.answers(ctx, &c, from, said)
	if err == nil {
		err = a.pick(ctx, &c, from, &out)
	}
	if err != nil {
		return out, err
	}
	return out, a.goOnWith(ctx, d, &out, len(session.BranchMessages(said)))
}

func checkComparison(c *Comparison) error {
	fail := func(format string, args ...any) error { return &ComparisonError{Reason: fmt.Sprintf(format, args...)} }
	switch {
	case len(c.Candidates) < 2:
		return fail("there is nothing to compare: name at least two candidates")
	case len(c.Candidates) > MaxCandidates:
		return fail("there are %d candidates, and %d are the most", len(c.Candidates), MaxCandidates)
	case !slices.Contains([]string{PickFirst, PickFewest, PickMost, PickJudge}, c.Pick):
		return fail("%q is no way to pick: it takes first, fewest, most or judge", c.Pick)
	case (c.Pick == PickJudge) != (c.Judge != ""):
		return fail("a judge goes with the pick judge, and that needs the judge's profile")
	}
	return nil
}

// base reads what the candidates begin with, and names the profiles of those that
// have none.
func (a *App) base(ctx context.Context, c *Comparison) (from *origin, said []*message.Message, err error) {
	c.Key = a.withTenant(c.Key)
	if c.Key.Stream == "" {
		c.Key.Stream = clock.From(ctx).ID()
		from = &origin{id: c.Key.Stream}
	} else {
		sum, err := a.backend.Summary(ctx, c.Key)
		if err != nil {
			return nil, nil, err
		}
		if !sum.AtRest() {
			return nil, nil, &session.Busy{Key: c.Key}
		}
		if from, said, err = a.said(ctx, c.Key, c.Key.Stream, ""); err != nil {
			return nil, nil, err
		}
	}
	from.shared = from.shared || c.Shared
	from.title = cmp.Or(from.title, session.Title(c.Parts))
	c.Candidates = slices.Clone(c.Candidates)
	for i := range c.Candidates {
		if p := &c.Candidates[i].Profile; *p == "" {
			*p = from.profile
		}
		if c.Candidates[i].Profile == "" {
			return nil, nil, &ComparisonError{Reason: "a new session has no profile: name that of each candidate"}
		}
	}
	from.profile = cmp.Or(from.profile, c.Candidates[0].Profile)
	return from, said, nil
}

// runnable refuses what cannot run before anything is stored.
func (a *App) runnable(ctx context.Context, c *Comparison, set session.Settings) error {
	for i := range c.Candidates {
		ask := candidateAsk(c, &c.Candidates[i])
		over := session.Overrides{Set: ask.Set, Flags: ask.Flags, AllowAll: ask.AllowAll, Session: set}
		if _, err := a.compile(ctx, ask.Profile, over, true); err != nil {
			return fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	if c.Judge == "" {
		return nil
	}
	if _, err := a.compile(ctx, c.Judge, session.Overrides{}, true); err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	return nil
}

func candidateAsk(c *Comparison, who *Candidate) Ask {
	flags := map[string]string{}
	for _, m := range []map[string]string{c.Flags, who.Flags} {
		for k, v := range m {
			flags[k] = v
		}
	}
	return Ask{
		Profile: who.Profile, Parts: slices.Clone(c.Parts), Set: who.Set, Flags: flags, AllowAll: c.AllowAll,
		Shared: c.Shared, User: c.User, KeyID: c.KeyID, Request: c.Request, Chain: c.Chain, Headless: true,
	}
}

// answers asks all candidates and waits for them.
func (a *App) answers(ctx context.Context, c *Comparison, from *origin, said []*message.Message) ([]Branched, error) {
	list := make([]Branched, len(c.Candidates))
	posts := make([]Submitted, len(list))
	for i := range list {
		b := from.branch(session.BranchCompare, said)
		b.Profile = c.Candidates[i].Profile
		list[i], posts[i] = a.begin(ctx, candidateAsk(c, &c.Candidates[i]), c.Key.Tenant, b)
	}
	all, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var group sync.WaitGroup
	ended := 0
	for i := range list {
		group.Go(func() {
			b := &list[i]
			if b.Err == nil {
				a.await(all, b, posts[i])
			}
			mu.Lock()
			defer mu.Unlock()
			ended++
			b.order = ended
			if c.Pick == PickFirst && b.done() {
				stop() // the others are not needed
			}
		})
	}
	group.Wait()
	return list, ctx.Err()
}

// begin asks one profile in a session that branches off.
func (a *App) begin(ctx context.Context, ask Ask, tenant string, b *session.Branch) (Branched, Submitted) {
	ask.Key = session.Key{Tenant: tenant, Stream: clock.From(ctx).ID()}
	sub, err := a.submit(ctx, ask, b)
	return Branched{Profile: ask.Profile, Key: ask.Key, Err: err}, sub
}

// await waits for the end of what was begun. When ctx ends it is cancelled.
func (a *App) await(ctx context.Context, b *Branched, sub Submitted) {
	wait, late := context.WithCancel(context.WithoutCancel(ctx))
	defer late()
	cancelled := context.AfterFunc(ctx, func() {
		_ = a.Cancel(wait, b.Key, "the comparison was ended") // its end is waited for in any case
		time.AfterFunc(cancelTime, late)
	})
	defer cancelled()
	if b.End, b.Model, b.Err = a.end(wait, sub); b.Err == nil {
		b.Err = ctx.Err()
	}
}

// end waits for the end of the loop that answers a post.
func (a *App) end(ctx context.Context, sub Submitted) (end *session.LoopEnd, model string, err error) {
	w := Watch{Post: sub.Post}
	after := sub.After()
	for {
		for batch, err := range a.Follow(ctx, sub.Key, after) {
			if behind := (*dispatch.FellBehind)(nil); errors.As(err, &behind) {
				after = behind.From
				break
			}
			if err != nil {
				return nil, model, err
			}
			for i := range batch {
				if b, err := batch[i].Decode(); err == nil && batch[i].Depth == 0 {
					if s, ok := b.(*session.LoopStart); ok {
						model = s.Model
					}
				}
				if end := w.See(&batch[i]); end != nil {
					return end, model, nil
				}
			}
		}
		if ctx.Err() != nil {
			return nil, model, ctx.Err()
		}
	}
}

// pick finds the winner.
func (a *App) pick(ctx context.Context, c *Comparison, from *origin, out *Compared) error {
	var done []int
	for i := range out.Answers {
		if out.Answers[i].done() {
			done = append(done, i)
		}
	}
	if len(done) == 0 {
		return &ComparisonError{Reason: "no candidate came to an answer: " + whyNot(out.Answers), Asked: true}
	}
	first := slices.MinFunc(done, func(i, j int) int { return out.Answers[i].order - out.Answers[j].order })
	byTokens := func(i, j int) int { return cmp.Compare(out.Answers[i].tokens(), out.Answers[j].tokens()) }
	switch {
	case len(done) == 1:
		out.Winner = done[0]
	case c.Pick == PickFewest:
		out.Winner = slices.MinFunc(done, byTokens)
	case c.Pick == PickMost:
		out.Winner = slices.MaxFunc(done, byTokens)
	case c.Pick == PickJudge:
		winner, err := a.judge(ctx, c, from, out, done)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if out.Winner = winner; err != nil {
			out.Winner, out.Pick, out.Note = first, PickFirst, err.Error()+"; the first answer was picked"
		}
	default:
		out.Winner = first
	}
	return nil
}

// whyNot says how the candidates have ended.
func whyNot(list []Branched) string {
	var all []string
	for i := range list {
		b := &list[i]
		why := fmt.Sprint(b.Err)
		if b.End != nil {
			if why = string(b.End.Reason); b.End.Error != nil {
				why += ": " + b.End.Error.Error
			}
		}
		all = append(all, fmt.Sprintf("%s (session %s): %s", b.Profile, b.Key.Stream, why))
	}
	return strings.Join(all, "; ")
}

// goOnWith has the session go on with what the winner has said.
func (a *App) goOnWith(ctx context.Context, d *dispatch.Local, out *Compared, said int) error {
	won := &out.Answers[out.Winner]
	from, list, err := a.said(ctx, won.Key, won.Key.Stream, "")
	if err != nil {
		return err
	}
	b := from.branch(session.BranchPicked, list[said:])
	b.Denials, b.Settings, b.Pick = nil, session.Settings{}, out.Pick
	for i := range out.Answers {
		b.Among = append(b.Among, out.Answers[i].Key.Stream)
	}
	err = a.postBranch(ctx, d, out.Key, b)
	if busy := (*session.Busy)(nil); errors.As(err, &busy) {
		return fmt.Errorf("the session has gone on meanwhile, and the answer is in session %s alone: %w", won.Key.Stream, err)
	}
	return err
}

func (a *App) postBranch(ctx context.Context, d *dispatch.Local, k session.Key, b *session.Branch) error {
	post := session.Post{OnlyIdle: true, Events: []session.Event{a.inbound(clock.From(ctx), k, "", b)}}
	_, err := d.Submit(ctx, k, post)
	return err
}
