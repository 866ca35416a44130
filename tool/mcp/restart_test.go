package mcp

import (
	"testing"
	"time"
)

// TestARestartIsNotLost: a restart that is asked for as soon as a connection is known
// ends that connection, also when nobody has begun to look after it yet.
func TestARestartIsNotLost(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	c := p.Get(Server{Name: "s", URL: "http://127.0.0.1:1/"})
	last, s := &session{}, &session{ended: make(chan struct{}), stale: make(chan struct{}, 1)}
	c.up(last)
	c.end(last, errForgotten)
	c.up(s) // what was asked for of the last one is done with it
	select {
	case why := <-c.restart:
		t.Errorf("the new connection is to end: %v", why)
	default:
	}
	c.end(s, errRestart)
	served := make(chan error, 1)
	go func() { served <- c.serve(s) }()
	select {
	case err := <-served:
		if err != errRestart {
			t.Errorf("it ended with %v, not with %v", err, errRestart)
		}
	case <-time.After(10 * time.Second):
		close(s.ended)
		t.Error("the restart was lost")
	}
}
