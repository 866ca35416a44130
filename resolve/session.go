package resolve

import (
	"errors"
	"time"
)

const rotateAfter = "session.rotate-after"

// session finds what is said of the session that a run belongs to.
func (r *resolver) session() {
	r.out.RotateAfter = member(r, rotateAfter, 0, func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err == nil && d <= 0 {
			err = errors.New("it is not above zero")
		}
		return d, err
	})
}
