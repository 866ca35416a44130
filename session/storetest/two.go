package storetest

import (
	"errors"
	"testing"

	"github.com/rosterrun/roster/session"
)

// TwoStores has two stores of one database write to one stream in turn, so that
// each finds what it remembers outdated.
func TwoStores(t *testing.T, a, b session.Backend) {
	one, other := &fixture{t, a, NewClock(), t.Context()}, &fixture{t, b, NewClock(), t.Context()}
	k := key("s")
	l := one.start(k, "w")
	last := int64(1)
	for i := range 20 {
		[]*fixture{one, other}[i%2].post(k, session.Post{Events: []session.Event{one.steer("x")}})
		_, err := a.Append(t.Context(), k, l, last, []session.Event{one.note(i)})
		if behind, ok := errors.AsType[*session.Behind](err); !ok || len(behind.Events) != 1 {
			t.Fatalf("err = %v, want *Behind with one event", err)
		}
		last = other.append(k, l, last+1, one.note(i))
	}
	other.bury("w")
	other.claim("w2", nil)
	if _, err := a.Append(t.Context(), k, l, last, []session.Event{one.note(0)}); !errors.As(err, new(*session.Fenced)) {
		t.Fatalf("err = %v, want *Fenced", err)
	}
}
