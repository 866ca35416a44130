package sqlite_test

import (
	"testing"

	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/storetest"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestKeysAndAudit(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, file(t), sqlite.Options{}) })
}

func TestTheDatabaseRefusesToChangeTheAuditLog(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	if err := s.Record(t.Context(), []audit.Entry{{Action: "chat"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Exec(t.Context(), "UPDATE audit SET user = 'x'"); err == nil {
		t.Error("it was changed")
	}
}
