package postgres_test

import (
	"testing"

	"github.com/rosterrun/roster/identity/storetest"
	"github.com/rosterrun/roster/store/postgres"
)

func TestKeysAndAudit(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, postgres.Options{Schema: newSchema()}) })
}
