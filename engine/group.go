package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// updateEvery bounds how often a call may show something.
const updateEvery = time.Second

// group is the calls that run at the same time. While they do, they alone write
// to the run's log, one at a time.
type group struct {
	*run
	mu     sync.Mutex
	open   int // calls that have not ended
	closed bool
}

// runGroup runs jobs side by side and logs each end as it comes. The last one
// runs in this goroutine.
func (r *run) runGroup(jobs []job) {
	g := &group{run: r, open: len(jobs)}
	r.log.flushSoon()
	defer g.close()
	ctx, cancel := context.WithTimeout(r.work, toolTimeout)
	defer cancel()
	var others sync.WaitGroup
	last := len(jobs) - 1
	for i := range last {
		others.Go(func() { g.runJob(ctx, &jobs[i]) })
	}
	g.runJob(ctx, &jobs[last])
	others.Wait()
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.log.waited()
}

func (g *group) runJob(ctx context.Context, j *job) {
	start := time.Now()
	result, err := safely(func() (tool.Result, error) {
		var shown time.Time
		return j.plan.Run(ctx, func(text string) { g.update(j, &shown, text) })
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tick()
	g.logEnd(j, result, err, time.Since(start))
	if g.open--; g.open > 0 {
		g.flush()
	}
}

// flush lets what is queued be committed soon.
func (g *group) flush() {
	g.log.waited()
	g.log.flushSoon()
}

// safely turns a tool's panic into an error.
func safely[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool failed: %v", p)
		}
	}()
	return f()
}

// update logs something to show.
func (g *group) update(j *job, shown *time.Time, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.closed || text == "" || now.Sub(*shown) < updateEvery {
		return
	}
	*shown = now
	g.tick()
	g.emit(&session.ToolUpdate{Call: j.call.ID, Text: text})
	g.flush()
}

// logEnd logs how a call ended. When the worker gives the stream up, calls that
// it broke off have no end: the next owner decides about them.
func (r *run) logEnd(j *job, result tool.Result, err error, took time.Duration) {
	if err != nil && r.ctx.Err() != nil {
		return
	}
	a := &session.ToolAfter{
		Call: j.call.ID, Tool: j.call.Name, Outcome: session.OK, Parts: result.Parts, Duration: took,
	}
	if err != nil {
		a.Parts = append(a.Parts, message.Text{Text: err.Error()})
	}
	if err != nil || result.Error {
		a.Outcome = session.ToolError
	}
	if a.Parts == nil {
		a.Parts = []message.Part{message.Text{Text: "(no output)"}}
	}
	r.emit(a)
}
