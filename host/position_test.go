package host

import (
	"testing"

	"github.com/rosterrun/roster/session"
)

// FuzzPosition holds that a position is read back as it was, that none is good for
// another tenant, and that nothing else is taken for one.
func FuzzPosition(f *testing.F) {
	f.Add("local", "other", "AQEAAAAAAAA", int64(1), int64(1))
	f.Add("local", "local", "", int64(1<<62), int64(0))
	f.Fuzz(func(t *testing.T, tenant, other, text string, commit, seq int64) {
		if at, ok := parsePosition(tenant, text); ok && (at.Commit < 0 || at.Seq < 0) {
			t.Errorf("%q is %v", text, at)
		}
		if commit < 0 || seq < 0 {
			return
		}
		want := session.Position{Commit: commit, Seq: seq}
		got, ok := parsePosition(tenant, positionText(tenant, want))
		if !ok || got != want {
			t.Errorf("%v became %v, %v", want, got, ok)
		}
		if _, ok := parsePosition(other, positionText(tenant, want)); ok && other != tenant {
			t.Errorf("a position of %q is one of %q", tenant, other)
		}
	})
}
