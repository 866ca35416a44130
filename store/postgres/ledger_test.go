package postgres_test

import (
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger/ledgertest"
	"github.com/rosterrun/roster/store/postgres"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T, now func() time.Time) ledgertest.Store {
		return open(t, postgres.Options{Schema: newSchema(), Conns: 10, Now: now})
	})
}

func TestLedgerRace(t *testing.T) {
	schema := newSchema()
	ledgertest.Race(t, open(t, postgres.Options{Schema: schema}), open(t, postgres.Options{Schema: schema}))
}

func BenchmarkLedger(b *testing.B) {
	ledgertest.Bench(b, func(b *testing.B) ledgertest.Store { return open(b, postgres.Options{Schema: newSchema()}) })
}
