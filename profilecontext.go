package roster

import (
	"context"
	"iter"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// SessionRef names a session within its tenant.
type SessionRef = session.Key

// ProfileContext says for which request an agent is built.
type ProfileContext struct {
	// AgentID is what the profile was asked for by, and goes by.
	AgentID string
	// Tenant and User are whose request it is. An empty User is the one user of this
	// machine.
	Tenant, User string
	// Session is the session's id: that of a child, for an agent that another one has
	// given a task. SessionRef names the session that all of it belongs to.
	Session    string
	SessionRef SessionRef
	// SessionStore reads the tenant's sessions.
	SessionStore SessionStore
	// ChainID is the id of the request that all of this is done for, as the events of
	// the whole chain have it; over HTTP it is the trace id. Depth is 0, and one more
	// for each agent that gave the work.
	ChainID string
	Depth   int
	// PermissionPolicy is what the agent may do. It is judged before every tool, those
	// of the program's own capabilities too (Scope.Permit); there is no need to ask it.
	PermissionPolicy *permission.Engine
}

// SessionStore reads the sessions of one tenant; there is no way from it to another's.
// The zero value has none.
type SessionStore struct {
	tenant string
	open   func(context.Context) (session.Backend, error)
}

// Events yields the stored events of a session after seq after, in order. A session
// that there is not, such as one that is about to begin, has none.
func (s SessionStore) Events(ctx context.Context, id string, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if s.open == nil {
			return
		}
		b, err := s.open(ctx)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		b.Read(ctx, session.Key{Tenant: s.tenant, Stream: id}, after)(yield)
	}
}

// Summary describes a session, or is session.ErrNoStream.
func (s SessionStore) Summary(ctx context.Context, id string) (session.Summary, error) {
	if s.open == nil {
		return session.Summary{}, session.ErrNoStream
	}
	b, err := s.open(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	return b.Summary(ctx, session.Key{Tenant: s.tenant, Stream: id})
}

// request is for whom a profile is compiled.
type request struct {
	key     session.Key // the zero Key: it is only looked at
	session string      // the root or a child
	user    string
	chain   string
	depth   int
}

// looking says that there is no request: somebody looks at a profile.
func (r request) looking() bool { return r.key.Stream == "" }

// context is what the program is told of a request.
func (a *App) context(name string, r request, permit *permission.Engine) ProfileContext {
	return ProfileContext{
		AgentID: name, Tenant: r.key.Tenant, User: r.user, Session: r.session, SessionRef: r.key,
		SessionStore: SessionStore{r.key.Tenant, a.Backend},
		ChainID:      r.chain, Depth: r.depth, PermissionPolicy: permit,
	}
}
