package clock

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestIDsSortAndAreValid(t *testing.T) {
	c := From(t.Context())
	last := ""
	for range 10_000 {
		id := c.ID()
		u, err := uuid.Parse(id)
		if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || u.String() != id {
			t.Fatalf("%s: %v, version %d", id, err, u.Version())
		}
		if id <= last {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
	}
	sec, nsec := uuid.MustParse(last).Time().UnixTime()
	if d := time.Since(time.Unix(sec, nsec)); d < -time.Minute || d > time.Minute {
		t.Errorf("the id's time is %v off", d)
	}
}

func TestIDsAreUniqueAcrossGoroutines(t *testing.T) {
	var seen sync.Map
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2_000 {
				if _, dup := seen.LoadOrStore(system{}.ID(), nil); dup {
					t.Error("the same id twice")
				}
			}
		})
	}
	all.Wait()
}

func TestAgentIDIsVersion4(t *testing.T) {
	u, err := uuid.Parse(AgentID())
	if err != nil || u.Version() != 4 || u.Variant() != uuid.RFC4122 {
		t.Errorf("%v: %v", u, err)
	}
}
