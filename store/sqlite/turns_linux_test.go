package sqlite

import (
	"path/filepath"
	"testing"
)

// TestTurns: who is about to write sees that another process waits, and goes on
// when that has begun; one that does not come is not waited for again and again.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roster.db")
	a, b := openTurns(path), openTurns(path)
	defer a.close()
	defer b.close()
	if a.othersWait() || b.othersWait() {
		t.Fatal("somebody waits before anybody does")
	}
	a.wait()
	if a.othersWait() || !b.othersWait() {
		t.Errorf("the one that waits sees %v, the other %v", a.othersWait(), b.othersWait())
	}
	a.leave()
	b.makeRoom()
	if b.othersWait() || !b.polite.IsZero() {
		t.Error("it waited for one that had begun")
	}
	a.wait()
	b.makeRoom()
	if b.polite.IsZero() {
		t.Error("one that does not come is waited for for ever")
	}
	a.close() // as the kernel does with those of a process that dies
	if b.othersWait() {
		t.Error("one that is gone still waits")
	}
}

// TestTurnsWithoutTheirFile: nobody is waited for where there cannot be one.
func TestTurnsWithoutTheirFile(t *testing.T) {
	none := openTurns(filepath.Join(t.TempDir(), "none", "roster.db"))
	none.wait()
	if none.othersWait() {
		t.Error("somebody waits")
	}
	none.makeRoom()
	none.leave()
	if err := none.close(); err != nil {
		t.Error(err)
	}
}
