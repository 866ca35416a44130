package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

const (
	firstOutput = time.Second      // how long a command that is left at work is waited for
	nextOutput  = 10 * time.Second // how long one that is looked at is
)

// leave starts the command as a job. One that ends at once is none.
func (p *bashPlan) leave(ctx context.Context, gone []int, last int) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	of, dir := p.call.owner(), p.dir
	c, err := p.tool.jobs.start(of, last, p.line(nil), p.Needs(), p.timeout, func() { dir.Close() })
	if err != nil {
		return Result{}, err
	}
	p.dir = nil
	c.await(ctx, firstOutput, true)
	if c.ended() {
		p.tool.jobs.drop(of, c)
		r := Text(goneText(gone) + c.take("["+c.end+"]"))
		r.Error = c.fails
		return noteJobs(r, p.call, 0, gone), nil
	}
	r := Text(goneText(gone) + c.take(fmt.Sprintf("[job %d is at work: give job to see what it writes, with stop to end it]", c.number)))
	return noteJobs(r, p.call, c.number, gone), nil
}

// look prepares to look at a job, or to end it.
func (t *bashTool) look(call Call, in bashInput, wait time.Duration) (Plan, error) {
	if in.Command != "" || in.Workdir != "" || in.Background {
		return nil, fmt.Errorf("job: it goes with stop and timeout only; leave job out to run a command")
	}
	c := t.jobs.get(call.owner(), in.Job)
	if c == nil {
		there := "there is none"
		if all := t.jobs.numbers(call.owner()); len(all) > 0 {
			there = "there are " + numbers(all)
		}
		return nil, fmt.Errorf("job: there is no job %d, %s; %s", in.Job, there, whenGone)
	}
	p := &jobPlan{command: c, tool: t, call: call, stop: in.Stop, wait: nextOutput, news: true}
	if len(in.Timeout) > 0 {
		p.wait, p.news = wait, false
	}
	return p, nil
}

// jobPlan looks at a job.
type jobPlan struct {
	*command
	tool *bashTool
	call Call
	stop bool
	wait time.Duration
	news bool // output is waited for as well
}

// Needs implements Plan: it is of the command.
func (p *jobPlan) Needs() []permission.Query { return p.needs }

// Continues implements Continuing.
func (p *jobPlan) Continues() {}

func (p *jobPlan) Close() error { return nil }

func (p *jobPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	if p.stop {
		p.cancel(errStopped)
		select {
		case <-p.done:
		case <-ctx.Done():
		}
	} else {
		p.await(ctx, p.wait, p.news)
	}
	if !p.ended() {
		return Text(p.take(fmt.Sprintf("[job %d is at work, for %v]", p.number, short(time.Since(p.began))))), nil
	}
	p.tool.jobs.drop(p.call.owner(), p.command)
	r := Text(p.take(fmt.Sprintf("[job %d has ended after %v: %s]", p.number, short(p.took), p.end)))
	r.Error = p.fails
	return noteJobs(r, p.call, 0, []int{p.number}), nil
}

// short leaves out what nobody reads of a time.
func short(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// whenGone says why there may be no job of a number.
const whenGone = "jobs end with the run that started them, and with roster itself"

// gone lists the jobs that the model takes to be at work, and that are gone.
func (t *bashTool) gone(c Call) (gone []int, w session.Work) {
	if c.Work == nil {
		return nil, w
	}
	w = c.Work()
	for _, n := range w.Jobs {
		if t.jobs.get(c.owner(), n) == nil {
			gone = append(gone, n)
		}
	}
	return gone, w
}

// goneText tells the model of them.
func goneText(gone []int) string {
	switch len(gone) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("[job %d is not at work any more: %s]\n", gone[0], whenGone)
	}
	return fmt.Sprintf("[jobs %s are not at work any more: %s]\n", numbers(gone), whenGone)
}

// noteJobs has the log say which job a call started, and which it has told of.
func noteJobs(r Result, c Call, started int, ended []int) Result {
	if started > 0 || len(ended) > 0 {
		r.Note = &session.Job{Call: c.ID, Started: started, Ended: ended}
	}
	return r
}

func numbers(all []int) string {
	slices.Sort(all)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ", "), "[]")
}

func (c *Call) owner() owner { return owner{c.Key, c.Session} }
