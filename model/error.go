package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind sorts the ways in which a model call fails, by what can be done about it.
type Kind string

const (
	BadRequest Kind = "bad-request" // the provider refuses this request; trying again cannot help
	Auth       Kind = "auth"        // 401, 403: the key is missing, wrong or not allowed
	NotFound   Kind = "not-found"   // the provider does not have this model or endpoint
	RateLimit  Kind = "rate-limit"  // 429
	Overloaded Kind = "overloaded"  // 503, 529
	Server     Kind = "server"      // other 5xx
	Network    Kind = "network"     // no connection, or it broke before an answer
	Cut        Kind = "cut"         // the stream ended in the middle of an answer
	Timeout    Kind = "timeout"     // no byte came for the provider's timeout
	Protocol   Kind = "protocol"    // what came back is not this protocol
	Overflow   Kind = "overflow"    // the conversation does not fit the model's window
	Exhausted  Kind = "exhausted"   // a script or a recording has no answer left
	NotReady   Kind = "not-ready"   // the model cannot be asked here: its key is missing
)

// Error is a failed model call. Use errors.As to reach it.
type Error struct {
	Kind       Kind
	Model      string        // provider/model-id
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // what the provider asked for, 0 if nothing
	Message    string        // what the provider said, cut to a line, without secrets
	Remedy     string        // what the user can do; may be empty
	Err        error
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s: %s", e.Model, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	} else if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; it asks to wait %s", e.RetryAfter.Round(time.Second))
	}
	if e.Remedy != "" {
		b.WriteString(" (" + e.Remedy + ")")
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same call may succeed a little later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Server, Network, Cut, Timeout, Protocol:
		return true
	}
	return false
}

// Refused says that the key did not count (HTTP 401), which may pass with another.
func (e *Error) Refused() bool { return e.Kind == Auth && e.Status == 401 }

// Outage says whether another provider may do what this one does not at present.
func (e *Error) Outage() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Server, Network, Cut, Timeout, NotReady:
		return true
	}
	return false
}

// AsError returns err as *Error, or nil if it is none.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
