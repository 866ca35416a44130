package host

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// answerBody is the answer of /chat.
type answerBody struct {
	SessionID  string         `json:"sessionId"`
	Text       string         `json:"text"`
	Usage      message.Usage  `json:"usage"`
	StopReason session.Reason `json:"stopReason"`
	Limit      string         `json:"limit,omitempty"`  // that ended the run
	Denied     int            `json:"denied,omitempty"` // tool calls
	Error      *session.Error `json:"error,omitempty"`  // of a run that a hook denied
}

// chat runs a prompt and answers when its loop has ended.
func (h *Host) chat(w *response, r *http.Request) error {
	sub, err := h.start(w, r, "")
	if err != nil {
		return err
	}
	w.Header().Set("X-Session-Id", sub.Key.Stream)
	ctx, stop := whichever(r.Context(), h.chats)
	defer stop()
	watch := h.watch(sub)
	watch.stops = true
	end, err := watch.wait(ctx)
	if err != nil {
		e := *h.explain(err)
		e.SessionID = sub.Key.Stream
		return &e
	}
	if end.Reason == session.ReasonWaiting {
		return h.writeWaiting(ctx, w, sub.Key)
	}
	if end.Reason == session.ReasonError || end.Reason == session.ReasonPoisoned {
		return failure(sub.Key.Stream, end)
	}
	return writeJSON(w, http.StatusOK, answerBody{sub.Key.Stream, end.Text, end.Usage, end.Reason, end.Limit, end.Denied, end.Error})
}

// failure is the answer for a loop that failed.
func failure(id string, end *session.LoopEnd) *Error {
	e := &Error{
		Code: "AgentExecutionFailed", Message: "the run failed",
		SessionID: id, StopReason: end.Reason, Text: end.Text, Usage: &end.Usage,
	}
	if end.Error != nil {
		e.Code, e.Message = end.Error.Code, end.Error.Error
	}
	e.Status = statusOf(e.Code)
	return e
}

// stream runs a prompt and shows all that happens until its loop has ended.
func (h *Host) stream(w *response, r *http.Request) error {
	seen, err := lastEventID(r)
	if err != nil {
		return err
	}
	sub, err := h.start(w, r, "")
	if err != nil {
		return err
	}
	after := sub.Post - 1
	ctx, stop := whichever(r.Context(), h.streams)
	defer stop()
	watch := h.watch(sub)
	if sub.Duplicate && seen > after { // a client that comes back
		if after, err = watch.skip(ctx, seen); err != nil {
			return err
		}
	}
	s, err := h.newStream(w, sub.Key)
	if err != nil {
		return nil // the client left
	}
	defer s.Close()
	for batch, err := range watch.until(ctx, after) {
		if err != nil {
			s.fail(err)
			break
		}
		if s.show(ctx, batch) != nil {
			break // the client left; the run goes on
		}
	}
	return nil
}

// start submits the prompt of a request.
func (h *Host) start(w *response, r *http.Request, id string) (Submitted, error) {
	ask, err := h.readAsk(w, r, id)
	if err != nil {
		return Submitted{}, err
	}
	return h.submit(w, r, ask)
}

// submit stores a prompt. One that was stored before, with the same Idempotency-Key,
// has to be for the same session.
func (h *Host) submit(w *response, r *http.Request, ask Ask) (Submitted, error) {
	if ask.Key.Stream != "" {
		if err := h.exists(r.Context(), ask.Key); err != nil {
			return Submitted{}, err
		}
	}
	sub, err := h.deps.Submit(r.Context(), ask)
	if err != nil {
		if errors.Is(err, profile.ProfileNotFound) && !unloaded(err) && ask.Profile != "" {
			return Submitted{}, profileNotFound(ask.Profile)
		}
		return Submitted{}, err
	}
	if sub.Duplicate {
		// The store does not compare what session was asked for: a new one, whose
		// first event the prompt is, after what it takes over, or which.
		began := sub.Post == 1 || sub.Post == 2 && len(ask.Said) > 0
		if began != (ask.Key.Stream == "") || !began && sub.Asked.Stream != sub.Key.Stream {
			return Submitted{}, &session.Conflict{Idem: r.Header.Get("Idempotency-Key")}
		}
		return sub, h.sameChain(r.Context(), w, sub)
	}
	return sub, nil
}

// sameChain names, in the answer to a repeated request, the chain of the first.
func (h *Host) sameChain(ctx context.Context, w *response, sub Submitted) error {
	store, err := h.deps.Backend(ctx)
	if err != nil {
		return err
	}
	for e, err := range store.Read(ctx, sub.Key, sub.Post-1) {
		if err != nil {
			return err
		}
		w.chain = e.Chain
		w.Header().Set("X-Chain-Id", e.Chain)
		break
	}
	return nil
}

// whichever is a context that ends with either of two.
func whichever(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() { stop(); cancel(nil) }
}

// route names the route of a request, without what is its own in the path.
func route(r *http.Request) string {
	return r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
}

// lastEventID reads the number after which a client wants to go on; 0: none.
func lastEventID(r *http.Request) (int64, error) {
	return number("Last-Event-ID", r.Header.Get("Last-Event-ID"))
}

func number(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(name, "must be the number of an event, not "+quote(text))
	}
	return n, nil
}
