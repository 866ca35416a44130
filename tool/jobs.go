package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
)

const (
	maxJobs  = 8  // of a session, at work at the same time
	keptJobs = 16 // of a session, with those that have ended and were not looked at
)

// Jobs are the commands that calls have left at work. They belong to the session
// whose call began them and end with its loop, so whoever drives that has to call
// End. It is safe for concurrent use. There are none in nil.
type Jobs struct {
	mu     sync.Mutex
	closed bool
	of     map[owner][]*command
	works  sync.WaitGroup
}

type owner struct {
	key     session.Key
	session string
}

// NewJobs makes an empty Jobs.
func NewJobs() *Jobs { return &Jobs{of: map[owner][]*command{}} }

// Cancel ends the jobs of a stream, or only those of one of its sessions, and does
// not wait for that.
func (j *Jobs) Cancel(k session.Key, session string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for of, list := range j.of {
		if of.key == k && (session == "" || of.session == session) {
			cancelAll(list)
		}
	}
}

// End ends the jobs of a stream, or only those of one of its sessions, and
// returns when nothing of them is left. They are forgotten.
func (j *Jobs) End(k session.Key, session string) {
	if j == nil {
		return
	}
	j.mu.Lock()
	var ended []*command
	for of, list := range j.of {
		if of.key == k && (session == "" || of.session == session) {
			cancelAll(list)
			ended = append(ended, list...)
			delete(j.of, of)
		}
	}
	j.mu.Unlock()
	for _, c := range ended {
		<-c.done
	}
}

// Close ends all jobs, and no other can be started.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	for _, list := range j.of {
		cancelAll(list)
	}
	clear(j.of)
	j.mu.Unlock()
	j.works.Wait()
}

func cancelAll(list []*command) {
	for _, c := range list {
		c.cancel(errRunEnded)
	}
}

// command is a job.
type command struct {
	number int
	needs  []permission.Query // of the call that began it
	began  time.Time
	limit  time.Duration
	cancel context.CancelCauseFunc
	fresh  chan struct{} // has something when output has come since it was taken
	done   chan struct{} // closed when nothing of the command is left

	mu  sync.Mutex
	out output

	// These hold when done is closed.
	end   string
	took  time.Duration
	fails bool
}

// Why jobs end.
var (
	errRunEnded = errors.New("the run that started it has ended")
	errStopped  = errors.New("it was stopped")
)

// start runs a command that goes on after its call, with the number after last
// and all that are there. free is called when it has ended.
func (j *Jobs) start(of owner, last int, run sandbox.Command, needs []permission.Query, limit time.Duration, free func()) (*command, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, errors.New("nothing can be left at work any more: roster is about to stop")
	}
	list := j.of[of]
	var working []string
	for _, c := range list {
		last = max(last, c.number)
		if !c.ended() {
			working = append(working, fmt.Sprint(c.number))
		}
	}
	if len(working) >= maxJobs {
		return nil, fmt.Errorf("jobs %s are at work, and more than %d cannot be; stop one first, with job and stop", strings.Join(working, ", "), maxJobs)
	}
	if len(list) >= keptJobs {
		i := slices.IndexFunc(list, (*command).ended)
		list = slices.Delete(list, i, i+1)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &command{
		number: last + 1, needs: needs, began: time.Now(), limit: limit, cancel: cancel,
		fresh: make(chan struct{}, 1), done: make(chan struct{}),
	}
	run.Stdout, run.Stderr = c, c
	j.of[of] = append(list, c)
	j.works.Go(func() {
		defer close(c.done)
		defer cancel(nil)
		defer free()
		c.run(ctx, run)
	})
	return c, nil
}

// get is a job of a session; nil: there is none of that number.
func (j *Jobs) get(of owner, number int) *command {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.of[of] {
		if c.number == number {
			return c
		}
	}
	return nil
}

// drop forgets a job that has ended.
func (j *Jobs) drop(of owner, c *command) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.of[of] = slices.DeleteFunc(j.of[of], func(o *command) bool { return o == c })
	if len(j.of[of]) == 0 {
		delete(j.of, of)
	}
}

// numbers lists the jobs of a session.
func (j *Jobs) numbers(of owner) (all []int) {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.of[of] {
		all = append(all, c.number)
	}
	return all
}

func (c *command) run(ctx context.Context, run sandbox.Command) {
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	code, err := run.Run(limited)
	c.took = time.Since(c.began)
	switch why := context.Cause(limited); {
	case err == nil:
		c.end, c.fails = fmt.Sprintf("exit code %d", code), code != 0
	case why == nil:
		c.end, c.fails = err.Error(), true
	case errors.Is(why, context.DeadlineExceeded):
		c.end, c.fails = fmt.Sprintf("timed out after %v; it and all that it started were ended", c.limit), true
	default:
		c.end = why.Error() + "; it and all that it started were ended"
	}
}

// Write takes in what the command writes.
func (c *command) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.fresh <- struct{}{}:
	default:
	}
	return c.out.Write(p)
}

// take is what came since the last take, with end on a line of its own.
func (c *command) take(end string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.fresh:
	default:
	}
	text := c.out.text(end)
	c.out = output{}
	return text
}

func (c *command) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// settle is how long more output is waited for when some has come.
const settle = 200 * time.Millisecond

// await waits for the end of the job or, with news, for output, at most so long.
func (c *command) await(ctx context.Context, most time.Duration, news bool) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	fresh := c.fresh
	if !news {
		fresh = nil
	}
	select {
	case <-c.done:
	case <-ctx.Done():
	case <-limit.C:
	case <-fresh:
		more := time.NewTimer(min(settle, most))
		defer more.Stop()
		select {
		case <-c.done:
		case <-ctx.Done():
		case <-more.C:
		}
	}
}
