package memory_test

import (
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger/ledgertest"
	"github.com/rosterrun/roster/store/memory"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T, now func() time.Time) ledgertest.Store { return memory.New(memory.Options{Now: now}) })
}

func TestLedgerRace(t *testing.T) {
	s := memory.New(memory.Options{})
	ledgertest.Race(t, s, s)
}

func BenchmarkLedger(b *testing.B) {
	ledgertest.Bench(b, func(*testing.B) ledgertest.Store { return memory.New(memory.Options{}) })
}
