package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
)

// Agent is one running instance of a profile: an identity, and the session that
// it is prompted in. Many agents may share a profile. It keeps nothing that is
// not in the log: another process that opens the workspace finds the same
// session. It needs no closing, and costs no more than its fields until it is
// prompted.
//
// What DefineAgent makes is an Agent too, of which there is only what it is: it runs
// nowhere, and App.NewAgent makes none of it.
//
// An Agent is safe for concurrent use, also while a prompt runs.
type Agent struct {
	app  *App      // nil: it runs nowhere
	def  *AgentDef // of one that runs nowhere
	id   string
	opts AgentOptions

	mu    sync.Mutex
	key   session.Key
	known bool              // the session is in the store
	own   string            // the profile that it was made of; empty: the session's
	named bool              // a prompt of the session has named it
	set   map[string]string // never changed in place

	viewing sync.Mutex     // taken before mu; held also while the session is left
	view    *session.State // the fold that State goes on from
}

// AgentOptions configure an agent. The zero AgentOptions are those of a new agent
// in a new session, who asks a person where the rules say so.
type AgentOptions struct {
	// ID is the agent_id, a UUID; empty: a new one. It stands in every event of
	// the agent's loops, and does not change.
	ID string
	// Session goes on with one that there is. An empty Stream is a new session,
	// begun by the first prompt; an empty Tenant is "local".
	Session session.Key
	// Set are profile keys over those of the profile, and their values as text,
	// such as "steering": "all". See Agent.Set.
	Set map[string]string
	// Hooks are as for Agent.SetHooks.
	Hooks []Hook
	// Schema, AllowAll, Headless, OnDeny, OnBusy and User are as in Ask.
	Schema               []byte
	AllowAll, Headless   bool
	OnDeny, OnBusy, User string
}

// NewAgent makes an agent of a profile; without one, of the profile that its
// session has. It reads and starts nothing: what a profile cannot be run for is
// the error of Prompt.
func (a *App) NewAgent(profile string, o AgentOptions) (*Agent, error) {
	if profile == "" && o.Session.Stream == "" {
		return nil, errors.New("roster: an agent has a profile, or a session that has one: name either")
	}
	if o.ID == "" {
		o.ID = clock.AgentID()
	} else if err := uuid.Validate(o.ID); err != nil {
		return nil, fmt.Errorf("roster: the agent_id %q is no UUID: %w", o.ID, err)
	}
	g := &Agent{app: a, id: o.ID, opts: o, key: a.withTenant(o.Session), known: o.Session.Stream != "", own: profile}
	for key, text := range o.Set {
		if err := g.Set(key, text); err != nil {
			return nil, err
		}
	}
	if len(o.Hooks) > 0 {
		if err := g.SetHooks(o.Hooks...); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// ID is the agent_id; of what DefineAgent made, that of the definition.
func (g *Agent) ID() string { return g.id }

// Session is the agent's session. Its Stream is empty before the first prompt, and
// after Reset until the next.
func (g *Agent) Session() session.Key {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.known {
		return session.Key{Tenant: g.key.Tenant}
	}
	return g.key
}

// Set sets a profile key for this agent, as text, such as "model", "thinking" or
// "follow-up"; an empty text takes it back. It holds from the next prompt on, and
// is bounded as a request's overrides are: it narrows limits, tools and
// permissions, and never widens them.
func (g *Agent) Set(key, text string) error {
	if g.app == nil {
		return ErrNotRunning
	}
	if _, err := resolve.Keys(source.Override, map[string]string{key: text}); text != "" && err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	next := maps.Clone(g.set)
	if next == nil {
		next = map[string]string{}
	}
	if next[key] = text; text == "" {
		delete(next, key)
	}
	g.set = next
	return nil
}

// Prompt gives the agent a message to answer: a text, and after it more, such as
// images. It is stored, durably, when Prompt returns, and runs by itself: ctx
// bounds only the storing. While the agent is at work, what happens is up to
// AgentOptions.OnBusy: by default it is a *session.Busy.
func (g *Agent) Prompt(ctx context.Context, text string, more ...message.Part) (*Run, error) {
	if g.app == nil {
		return nil, ErrNotRunning
	}
	parts, err := partsOf(text, more)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	if g.key.Stream == "" { // so that two first prompts are of one session
		g.key.Stream = clock.From(ctx).ID()
	}
	ask := Ask{
		Key: g.key, Profile: g.profile(), Parts: parts, Set: g.set, Agent: g.id, User: g.opts.User,
		AllowAll: g.opts.AllowAll, Headless: g.opts.Headless, OnDeny: g.opts.OnDeny, OnBusy: g.opts.OnBusy,
		Schema: g.opts.Schema,
	}
	g.mu.Unlock()
	s, err := g.app.Submit(ctx, ask)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	if g.key == ask.Key { // it may go on in another one (session.rotate-after)
		g.key, g.known, g.named = s.Key, true, true
	}
	g.mu.Unlock()
	return &Run{app: g.app, Key: s.Key, Post: s.Post, after: s.After()}, nil
}

// profile is what the next prompt names: nothing once the session has it, for it
// may have been switched to another by then. The caller holds mu.
func (g *Agent) profile() string {
	if g.named {
		return ""
	}
	return g.own
}

func partsOf(text string, more []message.Part) ([]message.Part, error) {
	if text == "" && len(more) == 0 {
		return nil, errors.New("roster: the message is empty: give a text or a part")
	}
	if text == "" {
		return more, nil
	}
	return append([]message.Part{message.Text{Text: text}}, more...), nil
}

// Continue takes up what the session has left to do, such as a loop whose process
// died. session.ErrNoWork: there is nothing, or somebody is at it.
func (g *Agent) Continue(ctx context.Context) (*Run, error) {
	k, err := g.begun()
	if err != nil {
		return nil, err
	}
	b, err := g.app.Backend(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return nil, err
	}
	if err := g.app.Resume(ctx, k); err != nil {
		return nil, err
	}
	return &Run{app: g.app, Key: k, after: sum.Last}, nil
}

// Steer gives the agent a message while it is at work: it is delivered after the
// tool calls that have started, and those that have not are skipped. One that comes
// too late begins a loop of its own.
func (g *Agent) Steer(ctx context.Context, text string, more ...message.Part) error {
	return g.post(ctx, (*App).Steer, text, more)
}

// FollowUp gives the agent a message for when it is done. One that comes too late
// begins a loop of its own.
func (g *Agent) FollowUp(ctx context.Context, text string, more ...message.Part) error {
	return g.post(ctx, (*App).Followup, text, more)
}

func (g *Agent) post(ctx context.Context, post func(*App, context.Context, session.Key, []message.Part) error, text string, more []message.Part) error {
	parts, err := partsOf(text, more)
	if err != nil {
		return err
	}
	k, err := g.begun()
	if err != nil {
		return err
	}
	if err := post(g.app, ctx, k, parts); err != nil {
		return err
	}
	if err := g.app.Resume(ctx, k); !errors.Is(err, session.ErrNoWork) {
		return err
	}
	return nil
}

// Abort ends the loop that runs, and the tools and agents that work for it. What
// was said so far is kept, and so are messages that wait. It returns when the wish
// is stored; Run.Wait returns when the loop has ended.
func (g *Agent) Abort(ctx context.Context) error {
	k, err := g.begun()
	if err != nil {
		return err
	}
	return g.app.Cancel(ctx, k, "aborted")
}

// Reset aborts what runs, and begins a new session with the next prompt: nothing
// that was said, and nothing that waits, is in it. The session before stays in the
// store.
func (g *Agent) Reset(ctx context.Context) error {
	if g.app == nil {
		return ErrNotRunning
	}
	k, err := g.begun()
	if err != nil {
		return nil // there is nothing to leave
	}
	b, err := g.app.Backend(ctx)
	if err != nil {
		return err
	}
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return err
	}
	if !sum.AtRest() {
		if err := g.app.Cancel(ctx, k, "reset"); err != nil {
			return err
		}
	}
	g.leave(sum)
	return nil
}

// leave has the next prompt begin a session, of the agent's own profile.
func (g *Agent) leave(sum session.Summary) {
	g.viewing.Lock()
	defer g.viewing.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.key == sum.Key {
		g.key.Stream, g.known, g.named, g.view = "", false, false, nil
		g.own = cmp.Or(g.own, sum.Profile)
	}
}

// begun is the session, or an error before the first prompt.
func (g *Agent) begun() (session.Key, error) {
	if g.app == nil {
		return session.Key{}, ErrNotRunning
	}
	k := g.Session()
	if k.Stream == "" {
		return k, fmt.Errorf("agent %s has no session yet, its first prompt begins one: %w", g.id, session.ErrNoStream)
	}
	return k, nil
}

// AgentState is what there is to know of an agent at one moment.
type AgentState struct {
	ID      string
	Session session.Key // as Agent.Session
	Profile string      // of the session, which may have been switched
	// Messages are what the next request sends. They must not be changed.
	Messages []*message.Message
	// Streaming says that the agent is at work: a prompt would find it busy. What
	// it has begun shows here a little later, when it is in the log.
	// Waiting says that it waits for a person (App.Approvals).
	Streaming, Waiting bool
	Loop               string           // the open loop; empty: none
	LastLoop           string           // the newest, open or not
	Loops              int              // how many there were
	Turn               int              // of the open loop
	Queued             []session.Letter // prompts, steering and follow-up messages that wait
	Usage              message.Usage    // of the session
	LastActive         time.Time        // of the last prompt or other message
}

// State is the state of the agent as the log tells it, whoever runs it. The first
// call reads the whole log of the session; the next read on from there.
func (g *Agent) State(ctx context.Context) (AgentState, error) {
	if g.app == nil {
		return AgentState{ID: g.id}, ErrNotRunning
	}
	g.viewing.Lock()
	defer g.viewing.Unlock()
	k := g.Session()
	out := AgentState{ID: g.id, Session: k}
	g.mu.Lock()
	out.Profile = g.own
	g.mu.Unlock()
	if k.Stream == "" {
		return out, nil
	}
	st, err := g.fold(ctx, k)
	if err != nil {
		return out, err
	}
	s := &st.Root
	n := len(s.Messages)
	out.Profile, out.Messages, out.Usage, out.LastActive = cmp.Or(s.Profile, out.Profile), s.Messages[:n:n], s.Usage, s.LastUsed
	out.Loops, out.LastLoop, out.Streaming = s.Loops, s.LastLoop, s.Runnable()
	out.Queued = append(out.Queued, s.Inbox...)
	if l := s.Loop; l != nil {
		out.Loop, out.Turn, out.Waiting = l.ID, l.Turn, l.Waiting
		out.Streaming = true
	}
	return out, nil
}

// fold brings the view up to date. The caller holds viewing.
func (g *Agent) fold(ctx context.Context, k session.Key) (*session.State, error) {
	b, err := g.app.Backend(ctx)
	if err != nil {
		return nil, err
	}
	st := g.view
	if g.view = nil; st == nil || st.Key != k { // until it is known to be whole
		st = session.NewState(k)
	}
	for e, err := range b.Read(ctx, k, st.Last) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			return nil, err
		}
	}
	g.view = st
	return st, nil
}

// CheckAndRotate goes on in a new session where nobody has said anything in this
// one for so long (App.Rotate). A session that has something to do, or waits for a
// person, is not left. It says whether the session was left.
func (g *Agent) CheckAndRotate(ctx context.Context, after time.Duration) (bool, error) {
	if g.app == nil {
		return false, ErrNotRunning
	}
	g.viewing.Lock() // one call at a time: two would begin a session each
	defer g.viewing.Unlock()
	k := g.Session()
	if k.Stream == "" {
		return false, nil
	}
	to, err := g.app.Rotate(ctx, k, after)
	if err != nil || to == k {
		return false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.key, g.named = to, true // it has the profile of the one before
	return true, nil
}

// Run is an agent at work on one message.
type Run struct {
	app   *App
	Key   session.Key // the session
	Post  int64       // the number of the prompt's event; 0: the run goes on with what there was
	after int64
}

// Events yields what happens from the message on, stored and live, each with its
// Body, up to the loop's end. Leaving the range, or the end of ctx, does not end the loop; Abort
// does. *dispatch.FellBehind ends the range of one who is too slow.
func (r *Run) Events(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		watch := Watch{Post: r.Post}
		for batch, err := range r.app.Follow(ctx, r.Key, r.after) {
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			for _, e := range batch {
				end := watch.See(&e)
				if r.Post == 0 && e.Type == "loop.end" && e.Depth == 0 {
					end = new(session.LoopEnd)
				}
				e.Body, err = e.Decode()
				if !yield(e, err) || end != nil || err != nil {
					return
				}
			}
		}
	}
}

// Wait waits for the end of the loop, also while a person is asked.
func (r *Run) Wait(ctx context.Context) (*session.LoopEnd, error) {
	var last session.Event
	for e, err := range r.Events(ctx) {
		if err != nil {
			return nil, err
		}
		last = e
	}
	end, ok := last.Body.(*session.LoopEnd)
	if !ok {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("session %s: the run has no end: %w", r.Key, ErrClosed))
	}
	return end, nil
}
