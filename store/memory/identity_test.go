package memory_test

import (
	"testing"

	"github.com/rosterrun/roster/identity/storetest"
	"github.com/rosterrun/roster/store/memory"
)

func TestKeysAndAudit(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store { return memory.New(memory.Options{}) })
}
