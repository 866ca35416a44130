package memory_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) session.Backend {
		return memory.New(memory.Options{Now: now})
	})
}
