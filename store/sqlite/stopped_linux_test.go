package sqlite_test

import (
	"database/sql"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/store/sqlite"
)

// TestStoppedWhileItWaits: a process that is stopped while it waits for another one, and
// goes on later than it would have waited, still gets its turn.
func TestStoppedWhileItWaits(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path, sqlite.Options{})
	start(t, s, key("shared"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := child(t, "post", path, "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(time.Minute); !sqlite.OthersWait(path); <-look.C {
		if time.Now().After(late) {
			t.Fatal("the process does not wait")
		}
	}
	cmd.Process.Signal(syscall.SIGSTOP)
	<-time.After(sqlite.BusyTime + time.Second)
	cmd.Process.Signal(syscall.SIGCONT)
	<-time.After(300 * time.Millisecond) // in which it asks again, and is told to wait
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process has given up: %v", err)
	}
}
