package host

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// sessionView is a session as clients see it.
type sessionView struct {
	view.Session
	Last    int64 `json:"last"`    // the number of the newest event
	Waiting int   `json:"waiting"` // prompts and messages that no loop has taken

	Seq   int64  `json:"seq,omitempty"`   // with ?q=, the first event that has what was looked for
	Match string `json:"match,omitempty"` // and the line in which it stands
}

func viewSession(s *session.Summary) sessionView {
	return sessionView{Session: view.NewSession(s), Last: s.Last, Waiting: s.Prompts + s.Notes}
}

// The bounds of one page of GET /sessions.
const (
	defaultPage = 100
	maxPage     = 1000
	searchPage  = 20 // by default, as each session is read
)

// listSessions answers with the newest sessions first. If there are more, the
// Link header names the next page.
func (h *Host) listSessions(w *response, r *http.Request) error {
	q := r.URL.Query()
	query, err := sessionQuery(q)
	if err != nil {
		return err
	}
	store, err := h.deps.Backend(r.Context())
	if err != nil {
		return err
	}
	limit := query.Limit
	query.Limit++ // one more tells whether there are more
	var views []sessionView
	for sum, err := range store.List(r.Context(), identity.From(r.Context()).Tenant, query) {
		if err != nil {
			return err
		}
		v := viewSession(&sum)
		if query.Search != nil {
			found, err := view.NewFound(r.Context(), store, &sum, query.Search)
			if err != nil {
				return err
			}
			v.Seq, v.Match = found.Seq, found.Match
		}
		views = append(views, v)
	}
	if len(views) > limit {
		views = views[:limit]
		q.Set("before", views[limit-1].ID)
		w.Header().Set("Link", "</sessions?"+q.Encode()+`>; rel="next"`)
	}
	return writeJSON(w, http.StatusOK, views)
}

func sessionQuery(q url.Values) (session.Query, error) {
	query := session.Query{Status: session.Status(q.Get("status")), Profile: q.Get("profile"), Before: q.Get("before"), Limit: defaultPage}
	known := []string{string(session.Idle), string(session.Running), string(session.Waiting), string(session.Failed)}
	if err := oneOf("status", string(query.Status), known...); err != nil {
		return query, err
	}
	if query.Profile != "" && profile.CheckName(query.Profile) != nil {
		return query, invalid("profile", "is no name of a profile")
	}
	if query.Before != "" && !sessionID(query.Before) {
		return query, invalid("before", badSession)
	}
	if q.Has("q") {
		if query.Search = session.ParseSearch(q.Get("q")); len(query.Search) == 0 {
			return query, invalid("q", "has no word to look for")
		}
		query.Limit = searchPage
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return query, invalid("limit", "must be a number from 1 to "+strconv.Itoa(maxPage)+", not "+quote(text))
		}
		query.Limit = n
	}
	return query, nil
}

func (h *Host) getSession(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	sum, err := h.summary(r.Context(), k)
	if err != nil {
		return err
	}
	if id == k.Stream {
		return writeJSON(w, http.StatusOK, viewSession(&sum))
	}
	c, err := h.conversation(r.Context(), k, id, false)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessionView{Session: c.Session, Last: sum.Last})
}

// conversation reads a session of a stream.
func (h *Host) conversation(ctx context.Context, k session.Key, id string, full bool) (view.Conversation, error) {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return view.Conversation{}, err
	}
	c, err := view.ReadConversation(ctx, store, k, id, full)
	return c, notFound(err, session.Key{Tenant: k.Tenant, Stream: id})
}

// messages answers with the branch that the next request to the model sends; with
// full, as it was before any of it was summed up, cut or left out to save room.
func (h *Host) messages(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	full := r.URL.Query()["full"]
	if err := oneOf("full", strings.Join(full, ""), "1", "true"); err != nil {
		return err
	}
	c, err := h.conversation(r.Context(), k, id, len(full) > 0)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, c.Messages)
}

// events shows the events of a session from any number on; of a child, those of
// it and of what is below it. With until=idle it ends when the session has
// nothing left to do.
func (h *Host) events(w *response, r *http.Request) error {
	k, id, err := pathKey(r)
	if err != nil {
		return err
	}
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID") // of a client that comes back to its first address
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	after, err := number(name, text)
	if err != nil {
		return err
	}
	until := r.URL.Query().Get("until")
	if err := oneOf("until", until, "idle"); err != nil {
		return err
	}
	sum, err := h.summary(r.Context(), k)
	if err != nil {
		return err
	}
	if after > sum.Last {
		return noEvent(name, after)
	}
	if id != k.Stream {
		if _, err := h.conversation(r.Context(), k, id, false); err != nil {
			return err
		}
	}
	ctx, stop := whichever(r.Context(), h.streams)
	defer stop()
	s, err := h.newStream(w, k)
	if err != nil {
		return nil // the client left
	}
	defer s.Close()
	if id != k.Stream {
		s.frames.only = id
	}
	rest := rest{host: h, key: k, never: until == "", due: true, upTo: sum.Last}
	if until != "" && after == sum.Last && !sum.Open && !sum.Runnable() {
		return nil
	}
	h.show(ctx, s, &rest, after)
	return nil
}

// show writes events until the client leaves or the session rests.
func (h *Host) show(ctx context.Context, s *stream, rest *rest, after int64) {
	for batch, err := range h.deps.Follow(ctx, s.frames.key, after) {
		if err != nil {
			s.fail(err)
			return
		}
		if s.show(ctx, batch) != nil {
			return // the client left; the run goes on
		}
		quiet, err := rest.after(ctx, batch)
		if err != nil {
			s.fail(err)
		}
		if quiet || err != nil {
			return
		}
	}
}

func noEvent(name string, seq int64) *Error {
	return invalid(name, "is "+strconv.FormatInt(seq, 10)+", and the session has no such event yet")
}

// acceptedBody is the answer to what was stored and will be done.
type acceptedBody struct {
	SessionID string `json:"sessionId"`
	Seq       int64  `json:"seq,omitempty"` // of the prompt's event
}

// prompt stores a prompt and does not wait for its answer.
func (h *Host) prompt(w *response, r *http.Request) error {
	id, err := pathSession(r)
	if err != nil {
		return err
	}
	sub, err := h.start(w, r, id)
	if err != nil {
		return err
	}
	w.Header().Set("X-Session-Id", sub.Key.Stream)
	return writeJSON(w, http.StatusAccepted, acceptedBody{sub.Key.Stream, sub.Post})
}

// noteBody is the body of steer and followup.
type noteBody struct {
	Message  string `json:"message" schema:"required;pattern=\\S"`
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

func (h *Host) steer(w *response, r *http.Request) error    { return h.note(w, r, h.deps.Steer) }
func (h *Host) followup(w *response, r *http.Request) error { return h.note(w, r, h.deps.Followup) }

func (h *Host) note(w *response, r *http.Request, post func(context.Context, session.Key, []message.Part) error) error {
	var body noteBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	k, _, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	if strings.TrimSpace(body.Message) == "" {
		return missing("message", "say what the agent is to know")
	}
	if err := h.exists(r.Context(), k); err != nil {
		return err
	}
	if err := post(r.Context(), k, []message.Part{message.Text{Text: body.Message}}); err != nil {
		return err
	}
	return writeJSON(w, http.StatusAccepted, acceptedBody{SessionID: k.Stream})
}

// forkBody is the body of fork, which may be empty.
type forkBody struct {
	Message  string `json:"message"` // the last one that is copied; empty: all
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

// forkedBody names a session that was begun with a copy of another one.
type forkedBody struct {
	SessionID string `json:"sessionId"`
	Origin    string `json:"origin"`
}

func (h *Host) fork(w *response, r *http.Request) error {
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	var body forkBody
	if len(data) > 0 {
		if err := decode(data, &body); err != nil {
			return err
		}
	}
	k, _, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	to, err := h.deps.Fork(r.Context(), k, k.Stream, body.Message)
	if err != nil {
		return notFound(err, k)
	}
	return writeJSON(w, http.StatusCreated, forkedBody{to.Stream, k.Stream})
}

// cancelBody is the body of cancel, which may be empty.
type cancelBody struct {
	Reason   string `json:"reason"`
	TenantID string `json:"tenantId"`
	UserID   string `json:"userId"`
}

// cancel ends the running loop. For a session that is idle it changes nothing.
func (h *Host) cancel(w *response, r *http.Request) error {
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	var body cancelBody
	if len(data) > 0 {
		if err := decode(data, &body); err != nil {
			return err
		}
	}
	k, _, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	if err := h.exists(r.Context(), k); err != nil {
		return err
	}
	if err := h.deps.Cancel(r.Context(), k, body.Reason); err != nil {
		return err
	}
	return writeJSON(w, http.StatusAccepted, acceptedBody{SessionID: k.Stream})
}

// pathSession is the session that a path names, for those that only a root
// session takes.
func pathSession(r *http.Request) (string, error) {
	id := chi.URLParam(r, "id")
	if !sessionID(id) {
		if root := session.StreamOf(id); root != id && sessionID(root) {
			return "", invalid("id", quote(id)+" works for the session "+root+": name that one")
		}
		return "", invalid("id", quote(id)+" "+badSession)
	}
	return id, nil
}

// pathKey is the stream of a GET, and the session in it; the tenant is a
// parameter.
func pathKey(r *http.Request) (k session.Key, id string, err error) {
	id = chi.URLParam(r, "id")
	k.Stream = session.StreamOf(id)
	if !sessionID(k.Stream) || len(id) > maxID || !identity.PlainName(id) {
		return k, id, invalid("id", quote(id)+" "+badSession)
	}
	k.Tenant = identity.From(r.Context()).Tenant
	return k, id, nil
}

// bodyKey is the session of a POST, and who sends it: the body may name them.
func bodyKey(r *http.Request, tenant, user string) (session.Key, identity.Caller, error) {
	id, err := pathSession(r)
	if err != nil {
		return session.Key{}, identity.Caller{}, err
	}
	c, err := callerOf(r, tenant, user)
	return session.Key{Tenant: c.Tenant, Stream: id}, c, err
}

// summary describes a session. One that is not there is SessionNotFound.
func (h *Host) summary(ctx context.Context, k session.Key) (session.Summary, error) {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	sum, err := store.Summary(ctx, k)
	if err != nil {
		return sum, notFound(err, k)
	}
	return sum, nil
}

func (h *Host) exists(ctx context.Context, k session.Key) error {
	_, err := h.summary(ctx, k)
	return err
}
