package model

import (
	"errors"
	"testing"
)

func TestPrefixWireIsKept(t *testing.T) {
	p, calls := &Prefix{System: []string{"a"}}, 0
	encode := func(p *Prefix) ([]byte, error) {
		calls++
		return []byte(p.System[0]), nil
	}
	for range 2 {
		if b, err := p.Wire("one/1", encode); err != nil || string(b) != "a" {
			t.Fatalf("got %q, %v", b, err)
		}
	}
	if calls != 1 {
		t.Errorf("encoded %d times", calls)
	}
	if _, err := p.Wire("two/1", encode); err != nil || calls != 2 {
		t.Errorf("another renderer's form was taken (%d calls, %v)", calls, err)
	}
	broken := errors.New("broken")
	if _, err := p.Wire("one/1", func(*Prefix) ([]byte, error) { return nil, broken }); err != broken {
		t.Errorf("got %v", err)
	}
}
