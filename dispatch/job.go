package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rosterrun/roster/session"
)

const takenOver = "another worker took the session over"

// runJob runs a stream until nothing is left to do. A job that fails is begun
// again a few times, as what it failed at may pass: its readers wait, and
// nobody else may run a stream that is not shared.
func (l *Local) runJob(j *Job, t *topic) {
	log := l.opts.Log.With("tenant", j.Key.Tenant, "session", j.Key.Stream, "epoch", j.Lease.Epoch)
	pause := firstPause
	for try := 1; ; try++ {
		err := l.runOnce(j, t)
		var fenced *session.Fenced
		switch {
		case err == nil:
			return
		case errors.As(err, &fenced):
			log.Warn(takenOver)
			return
		case j.ctx.Err() != nil:
			if !l.reclaim(j, t, log) {
				return
			}
			try, pause = 0, firstPause
			continue
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

// reclaim takes a stream up again whose run ended as the worker had lost its
// lease, when that is renewed: nobody else may run a stream that is not shared.
// Until then others may have it. False: it does not go on here, for somebody
// else is at it or Close has begun.
func (l *Local) reclaim(j *Job, t *topic, log *slog.Logger) bool {
	lost := context.Cause(j.ctx)
	released := false
	for began := bootTime(); ; {
		released = released || l.setFree(j, log)
		if ctx := l.running(); released && ctx.Err() == nil {
			_, lease, err := l.backend.Claim(ctx, l.worker, &j.Key)
			if err == nil {
				log.Warn("the lease is renewed, and the session goes on")
				j.Lease, j.ctx = lease, ctx
				t.fail(nil)
				return true
			}
			if errors.Is(err, session.ErrNoWork) {
				log.Warn(takenOver)
				return false
			}
			log.Warn("the session could not be claimed again", "error", err)
		}
		closes := !l.pause(beatAgain)
		if !l.opts.Claim && (closes || bootTime()-began > reclaimTime) {
			t.fail(stuck(j, lost))
		}
		if closes {
			return false // Close says goodbye for all of the worker's streams
		}
	}
}

// running is the context of jobs: it is done while the lease is lost.
func (l *Local) running() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ctx
}

// handOver sets a stream free that is left with work to do. It does not give up
// before Close: a stream whose worker lives is taken up by nobody else.
func (l *Local) handOver(j *Job, log *slog.Logger) {
	for !l.setFree(j, log) {
		if !l.pause(sweepEvery) {
			return // Close says goodbye for all of the worker's streams
		}
	}
}

// setFree tries once to set a stream free, and says whether it is.
func (l *Local) setFree(j *Job, log *slog.Logger) bool {
	ctx, cancel := context.WithTimeout(l.base, beatEvery)
	defer cancel()
	err := l.backend.Release(ctx, j.Key, j.Lease)
	var fenced *session.Fenced
	if err == nil || errors.As(err, &fenced) {
		return true
	}
	log.Warn("the session could not be released", "error", err)
	return false
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
