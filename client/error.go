package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Error is a refusal of the server. Code is a stable name, such as ProfileNotFound or
// Busy; it is empty for an answer that is not the server's own, as of a proxy. The
// fields below it are there where they have a meaning.
type Error struct {
	Status  int    `json:"-"` // of HTTP
	Message string `json:"error"`
	Code    string `json:"code"`

	Field      string         `json:"field,omitempty"`      // of the body, or the parameter, that is wrong
	Part       string         `json:"part,omitempty"`       // of the server, that is not ready
	SessionID  string         `json:"sessionId,omitempty"`  // whose loop failed, or goes on
	StopReason session.Reason `json:"stopReason,omitempty"` // of a loop that failed
	Text       string         `json:"text,omitempty"`       // said before it failed
	Usage      *message.Usage `json:"usage,omitempty"`      // of a loop that failed
	RequestID  string         `json:"requestId,omitempty"`  // by which the server's log knows the request

	Diagnostics []profile.Diagnostic `json:"diagnostics,omitempty"` // of a profile's file that does not load

	after time.Duration // that the server asks to wait
}

func (e *Error) Error() string { return e.Message }

// Is serves errors.Is: a refusal is the profile.ErrorName of its code, and
// session.ErrNoStream for a session that is not there.
func (e *Error) Is(target error) bool {
	if name, ok := target.(profile.ErrorName); ok {
		return string(name) == e.Code
	}
	return target == session.ErrNoStream && e.Code == "SessionNotFound"
}

// maxRefusal bounds what is read of a refusal, in bytes.
const maxRefusal = 1 << 20

// refusal reads the answer to a request that was refused.
func refusal(r request, res *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal)) // what came is told
	e := &Error{}
	if json.Unmarshal(data, e) != nil || e.Message == "" {
		e = &Error{Message: fmt.Sprintf("%s %s: %s", r.method, r.path, unknown(res, data))}
	}
	e.Status, e.after = res.StatusCode, retryAfter(res.Header)
	if e.RequestID == "" {
		e.RequestID = res.Header.Get("X-Request-Id")
	}
	return e
}

// unknown describes an answer that is not a Roster server's.
func unknown(res *http.Response, data []byte) string {
	const most = 200 // bytes that are shown
	if to := res.Header.Get("Location"); to != "" && res.StatusCode/100 == 3 {
		return fmt.Sprintf("it is at %.200q now: use that URL", to)
	}
	text := strings.Join(strings.Fields(string(data[:min(len(data), most)])), " ")
	if text == "" {
		return res.Status
	}
	return fmt.Sprintf("%s: %q", res.Status, text)
}
