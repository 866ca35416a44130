package dispatch

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is a clock that goes on while the machine sleeps, as the store's
// does: a lease that ran out in the meantime is noticed.
func bootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(ts.Nano())
}
