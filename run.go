package roster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/trail"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// runAny is the dispatcher's Runner: it runs a stream in the workspace of its
// tenant.
func (a *App) runAny(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
	b, err := a.workspaceOf(j.Key.Tenant)
	if err != nil {
		b = a // which refuses it
	}
	if b != a {
		if _, err := b.Backend(ctx); err != nil {
			return func(yield func(session.Event, error) bool) { yield(session.Event{}, err) }
		}
	}
	return a.watched(ctx, j, b.run(ctx, j))
}

// run runs loops of a stream until nothing is left to do.
func (a *App) run(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		defer a.forget(j.Posted)
		st, err := a.states.take(ctx, j)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		for st.Root.Runnable() {
			for e, err := range a.loop(ctx, j, st) {
				if !yield(e, err) || err != nil {
					return // st may hold events that were not committed
				}
			}
		}
		a.states.put(st)
	}
}

// forget drops what Submit compiled for a run that has not come to it.
func (a *App) forget(posted []session.Event) {
	for i := range posted {
		if p, ok := posted[i].Body.(*session.Prompt); ok {
			a.ready.Delete(p)
		}
	}
}

// loop runs one loop of the stream, or refuses it if its profile or model is
// not to be had.
func (a *App) loop(ctx context.Context, j *dispatch.Job, st *session.State) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		ctx := trail.With(ctx, slog.String("tenant", st.Key.Tenant), slog.String("session", st.Key.Stream), slog.String("chainId", chainOf(st)))
		cancelled, steered, release := j.Loop(st.Last)
		defer release()
		d := engine.Deps{
			Store: a.observed().Timed(j.Store), Blobs: a.backend, Cancelled: cancelled, Steered: steered, Redact: a.redact, Refresh: a.refreshKey,
			Grants: a.grantsOf(st), AnswerTime: a.Config().AnswerTime.V, Child: a.child, Jobs: a.jobs, Switch: a.switcher(st.Root.Settings),
			Files: files{a.files, a.backend},
		}
		guard := a.guardOf(st)
		guard.over(&d)
		b, err := a.blueprintFor(ctx, st)
		if err != nil {
			var unread *unreadError
			if ctx.Err() != nil || errors.As(err, &unread) {
				yield(session.Event{}, cmp.Or(ctx.Err(), err))
				return
			}
			cause := &session.Error{Code: Code(err), Error: err.Error()}
			engine.Refuse(ctx, d, profileOf(st), st, j.Lease, cause)(yield)
			return
		}
		engine.Run(ctx, d, guard.of(b), st, j.Lease)(yield)
	}
}

// chainOf is the chain of the loop that is open, or else of the next one.
func chainOf(st *session.State) string {
	if l := st.Root.Loop; l != nil {
		return l.Chain
	}
	if p := engine.NextPost(&st.Root); p != nil {
		return p.Chain
	}
	return ""
}

// profileOf names the profile that the next loop of a session runs.
func profileOf(st *session.State) string {
	if p := engine.NextPost(&st.Root); p != nil && p.Prompt != nil && p.Prompt.Profile != "" {
		return p.Prompt.Profile
	}
	return st.Root.Profile
}

// blueprintFor makes what the next loop runs by: of an open loop what stands in
// the log, else the profile as it is now.
func (a *App) blueprintFor(ctx context.Context, st *session.State) (*engine.Blueprint, error) {
	if err := a.serves(st.Key.Tenant); err != nil {
		return nil, err
	}
	if l := st.Root.Loop; l != nil {
		return a.storedBlueprint(ctx, st.Key, l.Start)
	}
	in := st.Worktree(st.Root.ID)
	over, headless := st.Root.Asked, st.Root.Headless
	if p := engine.NextPost(&st.Root); p != nil && p.Prompt != nil {
		if v, ok := a.ready.LoadAndDelete(p.Prompt); ok {
			if r := v.(ready); r.blueprint.Spec.Name == profileOf(st) && r.settings == st.Root.Settings && in == nil && r.blueprint.Spec.Worktree == nil {
				return r.blueprint, nil
			}
		}
		over, headless = p.Prompt.Overrides, p.Prompt.Headless
	}
	over.Session = st.Root.Settings
	return a.housed(ctx, st.Root.ID, in, compiling{name: profileOf(st), of: requestOf(st), over: over, headless: headless})
}

// requestOf says for whom the next loop of a session is.
func requestOf(st *session.State) request {
	r := request{key: st.Key, session: st.Root.ID, user: st.Root.User}
	if p := engine.NextPost(&st.Root); p != nil {
		r.chain = p.Chain
		if p.Prompt != nil {
			r.user = p.Prompt.User
		}
	}
	return r
}

// ready is what Submit compiled, and the settings of the session that it went by.
type ready struct {
	blueprint *engine.Blueprint
	settings  session.Settings
}

func (a *App) storedBlueprint(ctx context.Context, k session.Key, start *session.LoopStart) (*engine.Blueprint, error) {
	if start.Spec == "" {
		return nil, fmt.Errorf("profile %s: the loop was refused before it had a spec", start.Profile)
	}
	data, err := a.blob(ctx, k, start.Spec)
	if err != nil {
		return nil, fmt.Errorf("spec of the open loop: %w", err)
	}
	var s spec.Spec
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("spec of the open loop: %w", err)
	}
	if err := there(s.Worktree); err != nil {
		return nil, err
	}
	if err := a.recall(ctx, k.Tenant, &s); err != nil {
		return nil, err
	}
	prefix, err := a.blob(ctx, k, start.Prefix)
	if err != nil {
		return nil, fmt.Errorf("request prefix of the open loop: %w", err)
	}
	from := a.now()
	now, err := narrow(&s, from.view, from.config.Policy, a.lookupEnv)
	if err != nil {
		return nil, err
	}
	now.Hooks = resolve.HooksNow(now, from.config)
	b, err := a.blueprint(ctx, from, now, start.Headless)
	if err != nil {
		return nil, err
	}
	return b.WithPrefix(prefix)
}

// unreadError says that the store could not be read, which may pass: it does
// not end a loop.
type unreadError struct{ error }

func (e *unreadError) Unwrap() error { return e.error }

func (a *App) blob(ctx context.Context, k session.Key, digest string) ([]byte, error) {
	data, err := a.backend.Blob(ctx, k.Tenant, digest)
	if err != nil && !errors.Is(err, session.ErrNoBlob) {
		err = &unreadError{err}
	}
	return data, err
}

// blueprint compiles a spec, once for each spec and setup. One that needs what
// nobody has trusted is refused.
func (a *App) blueprint(ctx context.Context, from *setup, s *spec.Spec, headless bool) (*engine.Blueprint, error) {
	return a.blueprintNow(ctx, from, s, headless, true)
}

// blueprintNow is blueprint with the tools that servers have. connect has them started
// and waited for.
func (a *App) blueprintNow(ctx context.Context, from *setup, s *spec.Spec, headless, connect bool) (*engine.Blueprint, error) {
	if from.err != nil {
		return nil, from.err
	}
	if len(s.Withheld) > 0 {
		return nil, fmt.Errorf("profile %s cannot be run: %w", s.Name, s.Withheld[0])
	}
	_, digest, err := s.Encode()
	if err != nil {
		return nil, err
	}
	a.fetchDocuments(ctx, s)
	now, key := time.Now(), blueprintKey{digest: digest, headless: headless, of: ownOf(s.Code)}
	scripts := stamps(a.Dir(), append(a.scripts(s), a.documentFiles(s)...)...)
	if len(scripts) > 0 {
		key.scripts = fmt.Sprint(scripts)
	}
	var served *serving
	if len(s.Servers) > 0 {
		served = a.serve(ctx, s, connect)
		served.headless, key.servers = headless, served.key()
	}
	kept := from.blueprints
	if isBuilt(s.Code) {
		kept = from.built.blueprints
	}
	if b := kept.get(key); b != nil {
		return b, nil
	}
	m, err := a.model(ctx, s)
	if err != nil {
		return nil, err
	}
	all, noted, err := a.capabilities(s)
	if err != nil {
		return nil, err
	}
	for _, d := range noted {
		a.opts.Log.WarnContext(ctx, d.Message, "profile", s.Name, "at", source.Origin{File: d.File, Line: d.Line}.String())
	}
	if served != nil {
		all = served.beside(all)
	}
	b, err := engine.Compile(s, m, all, headless, a.fallbacks(ctx, s)...)
	if err != nil {
		return nil, err
	}
	if b.Hooks, err = a.hooks(s); err != nil {
		return nil, err
	}
	if served != nil {
		b.Live = served
	}
	if b.Box, err = a.box(s); err != nil {
		return nil, err
	}
	if err := a.furnishContext(ctx, s, b); err != nil {
		return nil, err
	}
	if areSettled(scripts, now) && worthKeeping(s) {
		kept.put(key, b)
	}
	return b, nil
}

type blueprintKey struct {
	digest   string
	headless bool
	of       *Profile // that the program has; nil: it is of a file
	scripts  string   // and the documents of services, as they were when they were read
	servers  string   // what is known of their tools
}

// blueprints keeps what was compiled of late. A model's key is read anew for
// each call; what fills in its headers is that of the time of compiling.
type blueprints struct {
	mu   sync.Mutex
	kept map[blueprintKey]*engine.Blueprint
	most int // 0: keptBlueprints
}

const keptBlueprints = 256

func (c *blueprints) get(k blueprintKey) *engine.Blueprint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[k]
}

func (c *blueprints) put(k blueprintKey, b *engine.Blueprint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= cmp.Or(c.most, keptBlueprints) {
		c.kept = map[blueprintKey]*engine.Blueprint{}
	}
	c.kept[k] = b
}
