package resolve

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestIDs: a profile that gives itself no ids has two UUIDs of its own, the same
// each time; those that it gives are its own, and not its children's.
func TestIDs(t *testing.T) {
	w := newWorld(t, nil)
	ids := func(file, keys string) (string, string) {
		t.Helper()
		s, _, err := Spec(w.input(t, file, "---\nmodel: builtin/demo\n"+keys+"---\n."))
		if err != nil {
			t.Fatal(err)
		}
		return s.ProfileID, s.ConfigID
	}
	a, config := ids("profiles/a.md", "")
	if uuid.Validate(a) != nil || uuid.Validate(config) != nil || a == config {
		t.Errorf("%s, %s", a, config)
	}
	if again, _ := ids("profiles/a.md", "temperature: 0.5\n"); again != a {
		t.Errorf("another id after a change: %s, %s", a, again)
	}
	if b, _ := ids("profiles/b.md", ""); b == a {
		t.Errorf("two profiles have the id %s", a)
	}
	if p, c := ids("profiles/a.md", "profile-id: 7\nconfig-id: fast\n"); p != "7" || c != "fast" {
		t.Errorf("%q, %q", p, c)
	}
	for _, keys := range []string{"profile-id: [a]", "config-id: a b", "config-id: " + strings.Repeat("x", 201)} {
		if _, _, err := Spec(w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n"+keys+"\n---\n.")); err == nil {
			t.Errorf("%.40s is taken", keys)
		}
	}
}
