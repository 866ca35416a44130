package seed

import (
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// speed is how much faster than the real ones times go by: a run of some milliseconds
// looks like one of some seconds.
const speed = 30

// shifted is a clock that can be set to another time. Its ids sort by that time, and
// are numbered.
type shifted struct {
	from atomic.Pointer[moment]
	ids  atomic.Uint64
}

// moment is what a clock was set to, and when.
type moment struct{ shown, real time.Time }

func newShifted(t time.Time) *shifted {
	c := &shifted{}
	c.set(t)
	return c
}

func (c *shifted) set(t time.Time) { c.from.Store(&moment{t, time.Now()}) }

// Now implements clock.Clock.
func (c *shifted) Now() time.Time {
	m := c.from.Load()
	return m.shown.Add(speed * time.Since(m.real))
}

// ID implements clock.Clock.
func (c *shifted) ID() string {
	ms, n := uint64(c.Now().UnixMilli()), c.ids.Add(1)
	var id uuid.UUID
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[7] = 0x70|byte(n>>32)&0xf, byte(n>>24)
	id[8] = 0x80
	id[13], id[14], id[15] = byte(n>>16), byte(n>>8), byte(n)
	return id.String()
}
