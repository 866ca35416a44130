package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// updateEvery bounds how often a call may show something.
const updateEvery = time.Second

// group is the calls that run at the same time. While they do, the tree is left
// to those of them that have something to write.
type group struct {
	*run
	open   int // calls that have not ended
	closed atomic.Bool
}

// runGroup runs jobs side by side and logs each end as it comes.
func (r *run) runGroup(jobs []job) {
	g := &group{run: r, open: len(jobs)}
	r.log.flushSoon()
	ctx := r.work
	r.mu.Unlock()
	if r.above == nil && slices.ContainsFunc(jobs, func(j job) bool { return j.work != nil }) {
		g.runTree(ctx, jobs)
	} else {
		g.runAll(ctx, jobs)
	}
	r.mu.Lock()
	g.closed.Store(true)
	if r.above == nil {
		r.log.waited()
	}
}

// runAll runs the last job in this goroutine.
func (g *group) runAll(ctx context.Context, jobs []job) {
	var others sync.WaitGroup
	last := len(jobs) - 1
	for i := range last {
		others.Go(func() { g.runJob(ctx, &jobs[i]) })
	}
	g.runJob(ctx, &jobs[last])
	others.Wait()
}

// liveRoom is how many live events of children may wait for the reader.
const liveRoom = 8

// runTree leaves this goroutine to the reader: it yields what children show.
func (g *group) runTree(ctx context.Context, jobs []job) {
	g.out = make(chan session.Event, liveRoom)
	go func() {
		defer close(g.out)
		g.runAll(ctx, jobs)
	}()
	for e := range g.out {
		g.show()
		if e.Type != "" {
			g.give(e)
		}
	}
}

func (g *group) runJob(ctx context.Context, j *job) {
	files := g.watch(ctx, j)
	start := time.Now()
	ctx, cancel := g.bounded(ctx, j)
	defer cancel()
	result, err := safely(func() (tool.Result, error) {
		var shown time.Time
		return j.plan.Run(ctx, func(text string) { g.update(j, &shown, text) })
	})
	took := time.Since(start)
	if late := (*toolLate)(nil); err != nil && errors.As(context.Cause(ctx), &late) {
		err = late
	}
	var changed *session.FilesChanged
	if g.brokenOff(j, err) && files.kept != nil {
		files.kept.Leave()
	} else {
		changed = g.changed(&files)
	}
	parts, kept := g.artifact(g.cleanParts(result.Parts))
	result.Parts = parts
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tick()
	g.noteFiles(changed)
	g.logEnd(j, result, kept, err, took)
	if g.open--; g.open > 0 || g.above != nil {
		g.log.flushSoon()
	}
}

// bounded is the context of a call. What works for it ends by limits of its own.
func (g *group) bounded(ctx context.Context, j *job) (context.Context, context.CancelFunc) {
	if j.work != nil {
		return ctx, func() {}
	}
	limit := cmp.Or(g.Spec.ToolTimeout, toolTimeout)
	return context.WithTimeoutCause(ctx, limit, &toolLate{limit})
}

// toolLate says that a call took too long.
type toolLate struct{ limit time.Duration }

func (e *toolLate) Error() string {
	return fmt.Sprintf("Stopped after %v, the longest that a call may take here (tool-timeout). It may have taken effect in part. Do less in one call.", e.limit)
}

// safely turns a tool's panic into an error.
func safely[T any](f func() (T, error)) (T, error) { return safelyAs("the tool", f) }

// safelyAs does so for somebody else.
func safelyAs[T any](who string, f func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s failed: %v", who, p)
		}
	}()
	return f()
}

// update logs something to show.
func (g *group) update(j *job, shown *time.Time, text string) {
	if g.closed.Load() {
		return // a tool that has ended and speaks on need not wait
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.closed.Load() || text == "" || now.Sub(*shown) < updateEvery {
		return
	}
	*shown = now
	g.tick()
	g.emit(&session.ToolUpdate{Call: j.call.ID, Text: g.clean(text)})
	g.log.flushSoon()
}

// brokenOff says that a call has no end: when the worker gives the stream up, the
// next owner decides about it, and one whose child waits for a person goes on.
func (r *run) brokenOff(j *job, err error) bool {
	return err != nil && r.ctx.Err() != nil || j.work != nil && j.work.open
}

// logEnd logs how a call ended.
func (r *run) logEnd(j *job, result tool.Result, kept string, err error, took time.Duration) {
	if r.brokenOff(j, err) {
		return
	}
	a := &session.ToolAfter{
		Call: j.call.ID, Tool: j.call.Name, Outcome: session.OK, Parts: result.Parts, Artifact: kept, Duration: took, Seen: result.Seen,
	}
	if err != nil {
		a.Parts = append(a.Parts, message.Text{Text: r.clean(err.Error())})
	}
	if err != nil || result.Error {
		a.Outcome = session.ToolError
	}
	if a.Parts == nil {
		a.Parts = []message.Part{message.Text{Text: "(no output)"}}
	}
	if err == nil && result.Note != nil {
		r.emit(result.Note)
	}
	if kept == "" {
		r.emit(a)
		return
	}
	r.emitRefs(a, kept)
}
