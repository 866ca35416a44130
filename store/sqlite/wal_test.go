package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// TestDamagedLogTail opens copies of a database whose write-ahead log was cut or
// damaged somewhere, as a disk may leave it: what comes before the damage is
// there, nothing of what comes after, and the store can be used.
func TestDamagedLogTail(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	l := start(t, s, key("a"))
	for n := int64(1); n < 120; n += 3 {
		if _, err := s.Append(t.Context(), key("a"), l, n, []session.Event{note(), note(), note()}); err != nil {
			t.Fatal(err)
		}
	}
	whole := len(read(t, s, key("a")))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil || len(wal) < 40*4096 {
		t.Fatalf("the log has %d bytes, %v", len(wal), err)
	}
	damages := []struct {
		name string
		do   func(wal []byte, at int) []byte
	}{
		{"cut", func(wal []byte, at int) []byte { return wal[:at] }},
		{"zeros", func(wal []byte, at int) []byte { clear(wal[at:]); return wal }},
		{"a flipped bit", func(wal []byte, at int) []byte { wal[at] ^= 1 << rand.IntN(8); return wal }},
		{"noise", func(wal []byte, at int) []byte {
			for i := at; i < len(wal); i++ {
				wal[i] = byte(rand.Uint32())
			}
			return wal
		}},
	}
	const head = 32 // bytes before the first page, whose damage loses all of it
	most := 0
	for _, d := range damages {
		for range 6 {
			at := len(wal)/2 + rand.IntN(len(wal)/2)
			t.Run(fmt.Sprintf("%s at %d", d.name, at), func(t *testing.T) {
				copied := filepath.Join(t.TempDir(), "roster.db")
				damaged := d.do(append([]byte(nil), wal...), at)
				if err := os.WriteFile(copied, data, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(copied+"-wal", damaged, 0o600); err != nil {
					t.Fatal(err)
				}
				got := holdsWhatIsLeft(t, copied, l)
				if got > whole || got == whole && d.name != "a flipped bit" && at < len(wal)-4096 {
					t.Errorf("%d of %d events are there", got, whole)
				}
				if least := (at - head) / (8 * (4096 + 24)); got < least { // a commit of three events writes fewer than eight pages
					t.Errorf("%d events are there, want at least %d", got, least)
				}
				most = max(most, got)
			})
		}
	}
	if most == 0 {
		t.Error("nothing was left of any")
	}
}

// holdsWhatIsLeft checks a database, and that work can go on.
func holdsWhatIsLeft(t *testing.T, path string, l session.Lease) int {
	t.Helper()
	s := open(t, path, sqlite.Options{})
	defer s.Close()
	if ok, err := s.Text(t.Context(), "PRAGMA integrity_check"); err != nil || ok != "ok" {
		t.Fatalf("integrity_check: %s, %v", ok, err)
	}
	n := len(read(t, s, key("a")))
	if sum, err := s.Summary(t.Context(), key("a")); err != nil || sum.Last != int64(n) {
		t.Fatalf("the summary says %d, %v, there are %d events", sum.Last, err, n)
	}
	if last, err := s.Append(t.Context(), key("a"), l, int64(n), []session.Event{note()}); err != nil || last != int64(n+1) {
		t.Errorf("the next event: %d, %v", last, err)
	}
	return n
}
