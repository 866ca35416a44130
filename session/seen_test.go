package session

import (
	"fmt"
	"testing"
)

// TestSeen: what calls have seen is in the fold of the log, the newest of each file,
// in bounded memory, and apart for each session.
func TestSeen(t *testing.T) {
	var s Session
	if _, ok := s.Seen("a.txt"); ok {
		t.Error("nothing has been seen yet")
	}
	see := func(path, state string) {
		if err := s.apply(&Event{Type: "tool.after"}, &ToolAfter{Seen: &Seen{path, state}}); err != nil {
			t.Fatal(err)
		}
	}
	see("a.txt", "1")
	see("b.txt", "1")
	see("a.txt", "2")
	if err := s.apply(&Event{Type: "tool.after"}, &ToolAfter{}); err != nil {
		t.Fatal(err)
	}
	if state, ok := s.Seen("a.txt"); !ok || state != "2" {
		t.Errorf("a.txt: %q, %v", state, ok)
	}
	for i := range maxSeen {
		see(fmt.Sprint(i), "1")
	}
	if _, ok := s.Seen("a.txt"); ok || len(s.seen) > maxSeen {
		t.Errorf("%d files", len(s.seen))
	}
}
