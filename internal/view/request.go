package view

import (
	"encoding/json"
	"fmt"
)

// Request is what a model was sent, rebuilt from the log.
type Request struct {
	Session  string `json:"session"`
	Loop     string `json:"loop"`
	For      string `json:"for,omitempty"` // what was asked aside; empty: the turn's own
	Turn     int    `json:"turn"`          // of the session, from 1
	Attempt  int    `json:"attempt"`       // of the turn: the last that was made
	Model    string `json:"model"`
	Renderer string `json:"renderer"` // the form of the body, and its version
	// Body is the body of the call, byte for byte.
	Body json.RawMessage `json:"body"`
	// Differs says why Body may not be what was sent; empty: it is, as the
	// digest in the log shows.
	Differs string `json:"differs,omitempty"`
}

// RequestError says that a request cannot be rebuilt, or that there is none.
type RequestError struct {
	Session string
	Turn    int
	For     string
	Reason  string
	None    bool // the session has no such turn
}

func (e *RequestError) Error() string {
	which := "the last request"
	if e.Turn > 0 {
		which = fmt.Sprintf("the request of turn %d", e.Turn)
	}
	if e.For != "" {
		which += " for " + e.For
	}
	return fmt.Sprintf("session %s: %s: %s", e.Session, which, e.Reason)
}
