// Package a2a is the front door for other agents: the Agent2Agent protocol, version
// 0.3, as JSON-RPC over HTTP. Each profile is an agent with a card, a session is a
// context, and a prompt with all that it brings about is a task.
package a2a

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"

	proto "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	sdklog "github.com/a2aproject/a2a-go/log"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Options configure a Server. All functions must be safe for concurrent use.
type Options struct {
	// Host is what the HTTP interface works with. Used of it are Profiles, Profile,
	// Submit, Steer, Cancel, Follow, Backend, Approvals, Answer, Code and Log, which
	// must be set.
	Host host.Deps
	// Resume goes on with a session that waits no more, where nobody else does;
	// session.ErrNoWork: somebody is at it.
	Resume func(context.Context, session.Key) error
	// Version is that of the program.
	Version string
}

// Server serves the profiles of a workspace. It is safe for concurrent use, and
// keeps nothing: tasks are read from the log.
type Server struct{ opts Options }

// New returns a server.
func New(o Options) *Server { return &Server{o} }

// Handler answers the requests to a profile. It leaves to its caller who may come.
func (s *Server) Handler(name string) http.Handler {
	next := a2asrv.NewJSONRPCHandler(agent{s, name})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		ctx := sdklog.WithLogger(r.Context(), slog.New(slog.DiscardHandler)) // it would log texts of users
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// protocol is the version of the protocol that is spoken.
const protocol = "0.3.0"

// Card describes a profile, which is reached below base, the address of the server.
// An empty name is the only profile that could be meant: the one that is shown, or
// the one of them that is primary. secured says that callers need a token.
func (s *Server) Card(ctx context.Context, name, base string, secured bool) (any, error) {
	p, err := s.profile(ctx, name)
	if err != nil {
		return nil, err
	}
	title := p.Name
	if p.Title.V != "" {
		title = p.Title.V
	}
	card := &proto.AgentCard{
		ProtocolVersion: protocol, Name: title, Description: p.Description.V, Version: s.opts.Version,
		URL: base + "/a2a/" + url.PathEscape(p.Name), PreferredTransport: proto.TransportProtocolJSONRPC,
		Capabilities:       proto.AgentCapabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain", "image/png", "image/jpeg", "image/gif", "image/webp"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []proto.AgentSkill{{ID: p.Name, Name: title, Description: p.Description.V, Tags: []string{"agent"}}},
	}
	if secured {
		const bearer = "bearer"
		card.SecuritySchemes = proto.NamedSecuritySchemes{bearer: proto.HTTPAuthSecurityScheme{Scheme: "Bearer"}}
		card.Security = []proto.SecurityRequirements{{bearer: proto.SecuritySchemeScopes{}}}
	}
	return card, nil
}

func (s *Server) profile(ctx context.Context, name string) (*profile.Profile, error) {
	if name != "" {
		return s.opts.Host.Profile(ctx, name)
	}
	all, _, err := s.opts.Host.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	var shown, primary []*profile.Profile
	for _, p := range all {
		if p.Hidden.V {
			continue
		}
		shown = append(shown, p)
		if p.Mode.V == "primary" {
			primary = append(primary, p)
		}
	}
	switch {
	case len(shown) == 1:
		return shown[0], nil
	case len(primary) == 1:
		return primary[0], nil
	}
	return nil, &host.Error{
		Status: http.StatusNotFound, Code: string(profile.ProfileNotFound),
		Message: fmt.Sprintf("there are %d agents, and none of them is the one: each has its card at /a2a/{profile}%s", len(shown), a2asrv.WellKnownAgentCardPath),
	}
}

// agent answers for one profile.
type agent struct {
	*Server
	name string
}

var _ a2asrv.RequestHandler = agent{}

func (agent) OnGetTaskPushConfig(context.Context, *proto.GetTaskPushConfigParams) (*proto.TaskPushConfig, error) {
	return nil, proto.ErrPushNotificationNotSupported
}

func (agent) OnListTaskPushConfig(context.Context, *proto.ListTaskPushConfigParams) ([]*proto.TaskPushConfig, error) {
	return nil, proto.ErrPushNotificationNotSupported
}

func (agent) OnSetTaskPushConfig(context.Context, *proto.TaskPushConfig) (*proto.TaskPushConfig, error) {
	return nil, proto.ErrPushNotificationNotSupported
}

func (agent) OnDeleteTaskPushConfig(context.Context, *proto.DeleteTaskPushConfigParams) error {
	return proto.ErrPushNotificationNotSupported
}

func (agent) OnGetExtendedAgentCard(context.Context) (*proto.AgentCard, error) {
	return nil, proto.ErrAuthenticatedExtendedCardNotConfigured
}

// OnSendMessage gives a task what it waits for, or begins one, and answers when it
// has ended or waits; with blocking false at once.
func (a agent) OnSendMessage(ctx context.Context, p *proto.MessageSendParams) (proto.SendMessageResult, error) {
	sub, err := a.send(ctx, p)
	if err != nil {
		return nil, a.fault(err)
	}
	if c := p.Config; c == nil || c.Blocking == nil || *c.Blocking {
		if _, err := host.AwaitPerson(ctx, a.opts.Host, sub, func([]session.Event) {}); err != nil {
			return nil, a.fault(err)
		}
	}
	task, err := a.task(ctx, sub.Key, sub.Post)
	if err != nil {
		return nil, a.fault(err)
	}
	if p.Config != nil {
		keep(task, p.Config.HistoryLength)
	}
	return task, nil
}

// OnSendMessageStream is OnSendMessage that shows what goes on.
func (a agent) OnSendMessageStream(ctx context.Context, p *proto.MessageSendParams) iter.Seq2[proto.Event, error] {
	return func(yield func(proto.Event, error) bool) {
		sub, err := a.send(ctx, p)
		if err != nil {
			yield(nil, a.fault(err))
			return
		}
		a.stream(ctx, sub)(yield)
	}
}

// OnResubscribeToTask shows a task again, from its beginning.
func (a agent) OnResubscribeToTask(ctx context.Context, p *proto.TaskIDParams) iter.Seq2[proto.Event, error] {
	return func(yield func(proto.Event, error) bool) {
		key, post, err := a.find(ctx, p.ID)
		if err != nil {
			yield(nil, a.fault(err))
			return
		}
		a.stream(ctx, host.Submitted{Key: key, Asked: key, Post: post})(yield)
	}
}

// OnGetTask shows a task as it is.
func (a agent) OnGetTask(ctx context.Context, q *proto.TaskQueryParams) (*proto.Task, error) {
	key, post, err := a.find(ctx, q.ID)
	if err != nil {
		return nil, a.fault(err)
	}
	task, err := a.task(ctx, key, post)
	if err != nil {
		return nil, a.fault(err)
	}
	keep(task, q.HistoryLength)
	return task, nil
}

// OnCancelTask ends the run of a task.
func (a agent) OnCancelTask(ctx context.Context, p *proto.TaskIDParams) (*proto.Task, error) {
	key, post, err := a.find(ctx, p.ID)
	if err != nil {
		return nil, a.fault(err)
	}
	task, err := a.task(ctx, key, post)
	if err != nil {
		return nil, a.fault(err)
	}
	if task.Status.State.Terminal() {
		return nil, fmt.Errorf("the task has ended: %w", proto.ErrTaskNotCancelable)
	}
	if err := a.opts.Host.Cancel(ctx, key, "cancelled by an agent"); err != nil {
		return nil, a.fault(err)
	}
	host.Resume(ctx, a.opts.Host, a.opts.Resume, key)
	if _, err := host.Await(ctx, a.opts.Host, host.Submitted{Key: key, Asked: key, Post: post}, func([]session.Event) {}); err != nil {
		return nil, a.fault(err)
	}
	return a.task(ctx, key, post)
}
