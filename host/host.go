// Package host is the HTTP front door: profiles, prompts, sessions and their
// event streams. It reads and writes through functions that it is given, and
// knows neither files nor models.
package host

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig/graph"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

// Deps is what a Host works with. All functions must be safe for concurrent
// use; those without a default must be set.
type Deps struct {
	// Profiles lists the catalog, sorted by name, and what did not load.
	Profiles func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error)
	// Profile returns one profile, or profile.ProfileNotFound.
	Profile func(ctx context.Context, name string) (*profile.Profile, error)
	// Edit makes a profile or changes it; its errors are those of the catalog:
	// profile.ProfileExists, RevisionMismatch, ReadOnly, ParseError.
	Edit func(context.Context, Edit) (*profile.Profile, error)
	// Delete removes a profile that has the revision; empty: any.
	Delete func(ctx context.Context, name, revision string) error
	// Prompt gives the head of the requests of a profile's runs.
	Prompt func(ctx context.Context, name string) (view.Prompt, error)
	// History lists the versions of a profile, the newest first, and what of them
	// could not be read.
	History func(ctx context.Context, name string) ([]view.Version, []profile.Diagnostic, error)
	// Diff says what changed from one version of a profile to another, as a unified
	// diff: an empty to is what the file holds, an empty from the version before to.
	Diff func(ctx context.Context, name, from, to string) (string, error)
	// Rollback makes an earlier version of a profile the current one, if the
	// profile has the revision ifMatch; empty: any.
	Rollback func(ctx context.Context, name, version, ifMatch string, check func([]*profile.Profile) error) (*profile.Profile, error)
	// Check says what the catalog would make of a file.
	Check func(ctx context.Context, path, text string) (view.Checked, error)
	// Source gives the text of a file of profiles by its path, and SaveSource replaces
	// it. Their errors are those of Edit.
	Source     func(ctx context.Context, path string) (Source, error)
	SaveSource func(context.Context, SourceEdit) (Source, error)
	// Permit says what would become of a call of a tool by a profile.
	Permit func(ctx context.Context, name, tool, subject string) (view.Permit, error)
	// Tools says which tools and profiles the model of a profile is told of.
	Tools func(ctx context.Context, name string) (view.Tools, error)
	// Commands lists the prompts that are called by a name, and Call makes the prompt
	// of one: it fills in what the command says, and Parts are put behind it.
	Commands func(context.Context) (view.Commands, error)
	Call     func(ctx context.Context, ask Ask, name, arguments string) (Ask, error)
	// Skills lists the skills, or those that a profile may use; Skill gives one with
	// its text. SaveSkill writes one and says whether it is new. Their errors are
	// answered as they are.
	Skills    func(ctx context.Context, profile string) ([]view.Skill, error)
	Skill     func(ctx context.Context, name string) (view.Skill, error)
	SaveSkill func(context.Context, SkillEdit) (s view.Skill, created bool, err error)
	// Explain says what a profile resolves to, and why; Models, Model and Capabilities
	// what there is to work with, and Doctor how it stands. Export writes a session as
	// lines that Import takes. nil: none of their routes are served.
	Explain      func(ctx context.Context, profile string) (view.Explanation, error)
	Models       func(context.Context) ([]view.ModelItem, error)
	Model        func(ctx context.Context, ref string) (view.ModelView, error)
	Capabilities func(context.Context) ([]view.Capability, error)
	Doctor       func(context.Context) ([]view.Finding, error)
	Export       func(context.Context, session.Key, io.Writer) error
	Import       func(ctx context.Context, tenant string, r io.Reader) (session.Key, error)
	// Servers lists the MCP servers, or those that a profile has. SaveServer writes
	// one into the configuration, DropServer takes one out, and RestartServer starts
	// one anew. Their errors are answered as they are. nil: there are no such routes.
	Servers       func(ctx context.Context, profile string) ([]view.Server, error)
	SaveServer    func(context.Context, profile.Server) error
	DropServer    func(ctx context.Context, name string) error
	RestartServer func(ctx context.Context, name string) error
	// Rigs lists the rigs that the caller may know of, and Rig says how one stands;
	// CheckRig reports on its files, and RigGraph draws it. AskKnot queues a job for a
	// knot, once for each idem that is not empty. RigJobs, RigJob, ReplayJob and DropJob
	// are about its jobs, and TieOffs lists what its knots, or one of them, have answered,
	// with the answers if they are wanted. Their errors name what is not there:
	// RigNotFound, KnotNotFound, JobNotFound; or JobState. nil: there are no such routes.
	Rigs      func(context.Context) ([]view.Rig, error)
	Rig       func(ctx context.Context, rig string) (view.Rig, error)
	CheckRig  func(ctx context.Context, rig string) (view.Report, error)
	RigGraph  func(ctx context.Context, rig string) (*graph.Graph, error)
	AskKnot   func(ctx context.Context, rig, knot, path, idem string) (view.RigJob, error)
	RigJobs   func(ctx context.Context, rig string, q ledger.Query) (view.RigJobs, error)
	TieOffs   func(ctx context.Context, rig, knot string, limit int, answers bool) (view.TieOffs, error)
	RigJob    func(ctx context.Context, rig, id string) (view.RigJob, error)
	ReplayJob func(ctx context.Context, rig, id string) (view.RigJob, error)
	DropJob   func(ctx context.Context, rig, id string) error
	// Submit stores a prompt, durably, and begins to run it. What cannot run is
	// refused before anything is stored.
	Submit func(context.Context, Ask) (Submitted, error)
	// Compare asks several candidates at once, and has a session go on with one of
	// their answers. When ctx ends, all are cancelled.
	Compare func(context.Context, Comparison) (Compared, error)
	// Steer, Followup and Cancel post to a session, or return
	// session.ErrNoStream.
	Steer    func(context.Context, session.Key, []message.Part) error
	Followup func(context.Context, session.Key, []message.Part) error
	Cancel   func(ctx context.Context, k session.Key, reason string) error
	// Configure sets what a session has over its profile, from its next loop on:
	// keys of session.Settable and their text; empty takes one back.
	Configure func(ctx context.Context, k session.Key, set map[string]string) (session.Settings, error)
	// Approvals lists what waits for an answer: of one session, or with an empty
	// Stream of all of the tenant's. Answer answers one, and returns it.
	Approvals func(context.Context, session.Key) ([]view.Approval, error)
	// Fork begins a session with a copy of what another one has said, up to a
	// message or, without one, to its end.
	Fork func(ctx context.Context, k session.Key, id, at string) (session.Key, error)
	// Rerun has a prompt of a session answered anew, the last one where at is
	// empty. Revert has it go on from a message, or from before its last prompt;
	// it returns the message that is the last one now. Tree lists the messages of
	// all branches.
	Rerun  func(ctx context.Context, k session.Key, at string, ask Ask) (Submitted, error)
	Revert func(ctx context.Context, k session.Key, to string) (string, error)
	// Undo takes back what a session has changed of files.
	Undo   func(ctx context.Context, k session.Key, o Undo) (view.Undo, error)
	Prune  func(ctx context.Context, k session.Key) error // removes a session for good
	Tree   func(ctx context.Context, k session.Key, id string) ([]view.TreeMessage, error)
	Answer func(ctx context.Context, tenant, id string, a view.Answer) (view.Approval, error)
	// Request rebuilds what a model was sent for a turn of a session.
	Request func(ctx context.Context, k session.Key, id string, turn int, about string) (*view.Request, error)
	// Follow yields the events of a session as dispatch.Dispatcher does.
	Follow func(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error]
	// FollowFeed yields what is stored of all sessions of a tenant, as
	// dispatch.Local does.
	FollowFeed func(ctx context.Context, tenant string, after session.Position) iter.Seq2[[]session.Fed, error]
	// Backend is the store of the sessions.
	Backend func(context.Context) (session.Backend, error)
	// Identify finds out who sends a request; its errors are answered as they are.
	// nil: nobody is asked who he is, and every caller has every role.
	Identify func(*http.Request) (identity.Caller, error)
	// Admit is asked after Identify whether a caller may ask for anything now; nil:
	// he may. Its errors are answered as they are.
	Admit func(identity.Caller) error
	// Hosts are the names by which clients may call the server, besides those of
	// loopback; where Identify is set any address will do as well. Origins are the
	// pages of other servers that may use it; without Identify there are none.
	Hosts, Origins []string
	// Files lists names of files of the workspace by a part of them; nil: there is no
	// such route.
	Files func(ctx context.Context, part string, limit int) (Files, error)
	// Place gives the version of the program, and the name of the caller's workspace;
	// nil: there is no route /whoami.
	Place func(context.Context) (version, workspace string, err error)
	// Budgets are what a caller may spend, for /whoami; nil: nothing is bounded.
	Budgets func(context.Context, identity.Caller) ([]Budget, error)
	// Keys opens the store of the API keys; nil: there are no routes for them.
	Keys func(context.Context) (key.Store, error)
	// Audit gets each call that changes something or is refused, and opens what it
	// has kept; nil: nobody notes them.
	Audit Auditor
	// Code names an error for programs, such as "UnknownModel".
	Code func(error) string
	// A2A serves /a2a; nil: there are no such routes. Card describes a profile, which
	// is reached below base, or without a name the one that there is; secured says that
	// a token is asked for. Handler answers for a profile.
	A2A interface {
		Card(ctx context.Context, name, base string, secured bool) (any, error)
		Handler(name string) http.Handler
	}
	// MCP serves /mcp; nil: there is no such route. It is closed by Shutdown.
	MCP interface {
		http.Handler
		Close()
	}

	// Page serves the web page at /, and its files at /assets/NAME and /favicon.svg.
	// They hold no data, and nobody is asked who they are. nil: there is no page.
	Page http.Handler

	// Requested is told of each request that was answered, and must not wait; nil:
	// nobody is. Metrics writes what is counted, in the text format of Prometheus;
	// nil: there is no such route.
	Requested func(Request)
	Metrics   func(io.Writer, Stats) error

	// Log gets one line for each request at level debug, and failures of the
	// server at level error; nil: discarded.
	Log *slog.Logger
	// PingEvery is how long a stream may be silent; 0: 15 s.
	PingEvery time.Duration
	// MaxBody bounds the body of a request in bytes; 0: 8 MiB.
	MaxBody int64
}

// Edit is a change of a profile.
type Edit struct {
	Name string
	// Keys is a JSON object of the keys to set; null takes one out.
	Keys []byte
	// New makes a profile; if there is one of the name, that is an error.
	// Without it, Revision is the one that the profile must have.
	New      bool
	Revision string
	// Dialect of a new profile; empty: by its keys.
	Dialect string
}

// Ask is a prompt for an agent.
type Ask struct {
	// Key is the session. An empty Tenant is "local", an empty Stream makes a
	// new session.
	Key session.Key
	// Profile names the profile; empty: that of the session.
	Profile string
	Parts   []message.Part
	// Set overrides profile keys, as values in text; Flags does so over it, and
	// may name files outside of the workspace: it is what a user says himself.
	Set, Flags map[string]string
	// AllowAll lets the permission mode bypass have its effect.
	AllowAll bool
	// Shared lets any worker of the workspace run it, and take it up after a
	// crash; without it only the process that was asked, and App.Resume.
	Shared bool
	// User is whose prompt it is; empty: the one user of this machine.
	User string
	// KeyID names the API key that he has shown, and Request the request that asks;
	// empty: none.
	KeyID, Request string
	// Agent is the agent_id that the loop's events have; empty: a new one.
	Agent string
	// Headless says that nobody can answer a question. Otherwise the run waits
	// for an answer where it must.
	Headless bool
	// OnDeny is "stop" to end the run at the first denied tool call.
	OnDeny string
	// Schema is the JSON Schema that the answer has to fit; none: it is text.
	Schema []byte
	// OnBusy says what happens if the session is running: "reject" (default,
	// *session.Busy), "steer" or "queue".
	OnBusy string
	// Said is what was said before Parts elsewhere: the session takes it over in
	// the same commit. Results of calls that a client makes, there or as Parts, take
	// the place of what the session has in theirs. Ids and parents are given by
	// Submit.
	Said []session.BranchMessage
	// Client is what the program that asks brings along; nil: nothing.
	Client *session.Client
	// Lent are rules that the loop begins with, and Command what was called to get
	// Parts.
	Lent    []session.Lent
	Command *session.Command
	// Idem makes the call idempotent (session.Post).
	Idem string
	// Chain is the id that all events of this request share; empty: a new one.
	Chain string
}

// Submitted says what became of an Ask.
type Submitted struct {
	Key session.Key
	// Asked is the session that it was for: that of the Ask, or the one in which
	// that goes on (session.rotate-after).
	Asked     session.Key
	Post      int64 // the number of the prompt's event
	Duplicate bool  // it had been submitted before, with the same Idem
}

// After is where to follow from to see all that the prompt brings about.
func (s Submitted) After() int64 { return s.Post - 1 }

const (
	defaultPing    = 15 * time.Second
	defaultMaxBody = 8 << 20
)

// Host serves the HTTP interface. It is safe for concurrent use.
type Host struct {
	deps    Deps
	mux     *chi.Mux
	windows windows
	buffers sync.Pool // of *[]byte, for streams
	stats   stats

	crowdsMu sync.Mutex
	crowds   map[session.Key]*crowd // readers by session

	document func() ([]byte, error) // for clients, as JSON

	streams, chats context.Context // end with the host
	quit           func()
}

// New returns the HTTP interface. It starts nothing.
func New(d Deps) *Host {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.PingEvery == 0 {
		d.PingEvery = defaultPing
	}
	if d.MaxBody == 0 {
		d.MaxBody = defaultMaxBody
	}
	h := &Host{deps: d, mux: chi.NewMux()}
	var endStreams, endChats context.CancelCauseFunc
	h.streams, endStreams = context.WithCancelCause(context.Background())
	h.chats, endChats = context.WithCancelCause(context.Background())
	h.quit = sync.OnceFunc(func() {
		endStreams(shutsDown)
		time.AfterFunc(chatGrace, func() { endChats(shutsDown) })
		if d.MCP != nil {
			d.MCP.Close()
		}
	})
	h.document = h.documentOf()
	h.mount()
	return h
}

// chatGrace is how long a /chat may still wait for its answer when the server
// shuts down.
const chatGrace = 5 * time.Second

// Shutdown ends the event streams, at once, and the requests that wait for an
// answer, soon, so that the server can stop. The runs go on; clients connect
// again with Last-Event-ID or Idempotency-Key. Server calls it by itself.
func (h *Host) Shutdown() { h.quit() }

// ServeHTTP implements http.Handler.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := newResponse(w, r)
	defer h.finish(res, r)
	res.extend()
	r = timed(res, r)
	res.begin = func() { h.audit(res, r) }
	if err := h.guard(r); err != nil {
		h.writeError(res, err)
		return
	}
	if h.share(res, r) {
		return
	}
	h.mux.ServeHTTP(res, r)
}

// handle makes a handler of a function whose error is the answer.
func (h *Host) handle(f func(*response, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		res := w.(*response)
		if err := f(res, r); err != nil {
			h.writeError(res, err)
		}
	}
}
