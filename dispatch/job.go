package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rosterrun/roster/session"
)

// runJob runs a stream until nothing is left to do. A job that fails is begun
// again a few times, as what it failed at may pass: its readers wait, and
// nobody else may run a stream that is not shared.
func (l *Local) runJob(j *Job, t *topic) {
	log := l.opts.Log.With("session", j.Key.Stream, "epoch", j.Lease.Epoch)
	pause := firstPause
	for try := 1; ; try++ {
		err := l.runOnce(j, t)
		var fenced *session.Fenced
		switch {
		case err == nil:
			return
		case errors.As(err, &fenced):
			log.Warn("another worker took the session over")
			return
		case j.ctx.Err() != nil:
			l.handOver(j, log)
			if !l.opts.Claim {
				t.fail(stuck(j, context.Cause(j.ctx)))
			}
			return
		case try == maxTries:
			log.Error("the session cannot go on here", "error", err)
			t.fail(stuck(j, err))
			l.handOver(j, log)
			return
		}
		log.Warn("the session failed and is taken up again", "error", err)
		l.pause(pause)
		pause *= 4
	}
}

// stuck is what readers of a job are told that nobody goes on with here.
func stuck(j *Job, err error) error {
	return fmt.Errorf("session %s cannot go on here: %w (when that is mended, resume it)", j.Key.Stream, err)
}

func (l *Local) runOnce(j *Job, t *topic) (failed error) {
	for e, err := range l.run(j.ctx, j) {
		switch {
		case err != nil:
			failed = err
		case e.Seq == 0:
			t.show(e)
		}
	}
	j.Posted = nil // they may have been run
	return failed
}

// handOver sets a stream free that is left with work to do. It does not give up
// before Close: a stream whose worker lives is taken up by nobody else.
func (l *Local) handOver(j *Job, log *slog.Logger) {
	for {
		ctx, cancel := context.WithTimeout(l.base, beatEvery)
		err := l.backend.Release(ctx, j.Key, j.Lease)
		cancel()
		var fenced *session.Fenced
		if err == nil || errors.As(err, &fenced) {
			return
		}
		log.Warn("the session could not be released", "error", err)
		if !l.pause(sweepEvery) {
			return // Close says goodbye for all of the worker's streams
		}
	}
}

// pause waits, and says whether the time is over; if not, Close has begun.
func (l *Local) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closing.Done():
		return false
	}
}
