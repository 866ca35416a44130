package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/host/openai"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Error is an answer that is an error: its status, and its JSON body. Code is a
// stable name, Message says what is wrong and what to do. The other fields are
// there where they have a meaning.
type Error struct {
	Status     int            `json:"-"`
	Message    string         `json:"error"`
	Code       string         `json:"code"`
	Field      string         `json:"field,omitempty"`      // of the body, or the parameter, that is wrong
	Part       string         `json:"part,omitempty"`       // of the server, that is not ready
	SessionID  string         `json:"sessionId,omitempty"`  // whose loop failed, or goes on
	StopReason session.Reason `json:"stopReason,omitempty"` // of a loop that failed
	Text       string         `json:"text,omitempty"`       // said before it failed
	Usage      *message.Usage `json:"usage,omitempty"`      // of a loop that failed
	RequestID  string         `json:"requestId,omitempty"`  // of a failure of the server

	Diagnostics []profile.Diagnostic `json:"diagnostics,omitempty"` // of a profile's file that does not load

	Challenge  string        `json:"-"` // the header WWW-Authenticate
	RetryAfter time.Duration `json:"-"` // the header, in whole seconds
}

func (e *Error) Error() string { return e.Message }

// ended is why the host ends a request that it serves, as the cause of its context.
// It counts as an end like one by the client too: the run goes on.
type ended struct{ why *Error }

func (e ended) Error() string { return e.why.Message }

// Unwrap is for errors.As and errors.Is.
func (e ended) Unwrap() []error { return []error{e.why, context.Canceled} }

var shutsDown = ended{&Error{
	Status: http.StatusServiceUnavailable, Code: "ShuttingDown",
	Message: "the server shuts down: what has begun goes on without this request",
}}

// causeOf is err, or why ctx was ended if that is what err says.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

func missing(field, remedy string) *Error {
	return &Error{
		Status: http.StatusBadRequest, Code: "MissingField", Field: field,
		Message: field + " is missing or empty: " + remedy,
	}
}

func invalid(field, why string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "InvalidField", Field: field, Message: field + " " + why}
}

func profileNotFound(name string) *Error {
	return &Error{Status: http.StatusNotFound, Code: string(profile.ProfileNotFound), Message: "profile not found: " + name}
}

// unloaded says that a file has the name of a profile, and does not load.
func unloaded(err error) bool {
	var load *profile.LoadError
	return errors.As(err, &load)
}

// notFound names the session of a session.ErrNoStream.
func notFound(err error, k session.Key) error {
	if !errors.Is(err, session.ErrNoStream) {
		return err
	}
	return &Error{Status: http.StatusNotFound, Code: "SessionNotFound", Message: "session not found: " + k.Stream}
}

// explain makes an answer of any error.
func (h *Host) explain(err error) *Error {
	var (
		own      *Error
		wrong    *openai.Error
		busy     *session.Busy
		conflict *session.Conflict
		large    *http.MaxBytesError
		parse    *profile.ParseError
		found    *profile.Diagnostic
	)
	answer := func(status int, code string) *Error {
		return &Error{Status: status, Code: code, Message: err.Error()}
	}
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &wrong):
		return &Error{Status: wrong.Status, Code: wrong.Code, Message: wrong.Message, Field: wrong.Param}
	case errors.As(err, &busy):
		e := answer(http.StatusConflict, "Busy")
		e.SessionID = busy.Key.Stream
		return e
	case errors.As(err, &conflict):
		return answer(http.StatusUnprocessableEntity, "IdempotencyConflict")
	case errors.As(err, &large):
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: "BodyTooLarge",
			Message: fmt.Sprintf("the body is larger than %d bytes", large.Limit),
		}
	case errors.Is(err, session.ErrNoStream):
		return answer(http.StatusNotFound, "SessionNotFound")
	case unloaded(err) && errors.As(err, &parse) && errors.As(err, &found):
		e := answer(http.StatusNotFound, found.Name)
		e.Diagnostics = parse.Diagnostics
		return e
	case errors.As(err, &found) && found.Name != "": // in the overrides
		return answer(http.StatusBadRequest, found.Name)
	case h.streams.Err() != nil && errors.Is(err, context.Canceled):
		return shutsDown.why
	case h.streams.Err() != nil:
		return answer(http.StatusServiceUnavailable, "ShuttingDown")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return answer(http.StatusServiceUnavailable, "Interrupted")
	}
	code := h.deps.Code(err)
	e := answer(statusOf(code), code)
	if e.Status == http.StatusInternalServerError && h.deps.Identify != nil {
		e.Message = "the server failed; its log has why, under this request id" // the error may tell of the machine
	}
	return e
}

// statusOf is the status of an error by its name: of a request that cannot be
// run, and of a loop that failed.
func statusOf(code string) int {
	switch code {
	case "ProfileNotFound", "ApprovalNotFound", "MessageNotFound", "CommandNotFound", "RigNotFound", "KnotNotFound", "JobNotFound":
		return http.StatusNotFound
	case "ExecutingKey", "CommandDenied", "UnknownTenant":
		return http.StatusForbidden
	case "MalformedModelIdentifier", "MissingEffectiveModel", "UnknownProvider", "UnknownModel",
		"SchemaValidation", "EmptyProvider", "EmptyModel", "MissingSystemPrompt":
		return http.StatusBadRequest
	case "AlreadyAnswered", "OtherPlan", "SessionExists", "HoldsWorktree", "KnotWaits", "JobState":
		return http.StatusConflict
	case "InvalidAnswer", "InvalidComparison", "InvalidSchema", "InvalidCommand", "InvalidExport", "InvalidTool", "UnknownToolCall", "InvalidStrand":
		return http.StatusBadRequest
	case "MissingKey", "model.rate-limit", "model.overloaded":
		return http.StatusServiceUnavailable
	case "model.timeout":
		return http.StatusGatewayTimeout
	}
	if code == "SchemaMismatch" || code == "NoAnswer" || strings.HasPrefix(code, "model.") {
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}

// writeError answers with an error. A failure of the server is also logged,
// with the id of the request.
func (h *Host) writeError(w *response, err error) {
	e := *h.explain(err)
	if e.Challenge != "" {
		e.RequestID = w.id
	}
	if e.Status == http.StatusInternalServerError {
		e.RequestID = w.id
		h.deps.Log.Error("request failed", "request", w.id, "chainId", w.chain, "code", e.Code, "error", err)
	}
	if w.status != 0 {
		return // the answer has begun; its end says that it is not whole
	}
	w.code = e.Code
	if e.Challenge != "" {
		w.Header().Set("WWW-Authenticate", e.Challenge)
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	var werr error
	if w.openai {
		if e.RetryAfter > time.Minute { // OpenAI's libraries would ask again much sooner
			w.Header().Set("X-Should-Retry", "false")
		}
		werr = writeBytes(w, e.Status, openaiError(&e).JSON())
	} else {
		werr = writeJSON(w, e.Status, e)
	}
	if werr != nil {
		h.deps.Log.Debug("the client left before its answer", "request", w.id, "error", werr)
	}
}

// quote shows text from outside in a message: escaped, and not too much of it.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
