package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// watched is a run of a session that is followed to its end.
type watched struct {
	at    conversations
	key   session.Key
	after int64 // the number of the last event that is not shown
	begun bool  // it went on before, with the loop's start
	// attended: somebody is asked here for what has to be allowed; waits: the run
	// does so already.
	attended, waits bool
	// end looks at each event and returns the one that ends the run.
	end func(*session.Event) *session.LoopEnd
}

// shower writes events, and flush makes them seen.
type shower struct {
	event func(*session.Event) error
	flush func() error
}

// follow shows the events of a run as they come, until its end.
func (c *cli) follow(ctx context.Context, w watched) error {
	stop := c.cancelOnSignal(ctx, w.at, w.key)
	defer stop()
	show := c.shower(w.begun)
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	p := &approver{cli: c, at: w.at, key: w.key, attended: w.attended, leave: leave}
	defer p.dismiss()
	if w.waits {
		if waits, err := p.wait(ctx); waits || err != nil {
			return cmp.Or(err, c.sayWaiting(ctx, w, show))
		}
	}
	for {
		end, err := followOnce(ctx, w, show, p)
		if behind := (*dispatch.FellBehind)(nil); errors.As(err, &behind) {
			w.after = behind.From
			continue
		}
		if p.dismiss(); p.left {
			return c.sayWaiting(context.WithoutCancel(ctx), w, show)
		}
		if err != nil {
			return err
		}
		if end.Reason == session.ReasonWaiting {
			return c.sayWaiting(ctx, w, show)
		}
		if h, ok := w.at.(here); ok { // those of a server are its own
			c.sayWorktrees(context.WithoutCancel(ctx), h.App, w.key)
		}
		if end.Error != nil && end.Error.Code == string(profile.ExecutingKey) {
			return exit(exitDenied)
		}
		return exitFor(end.Reason)
	}
}

var errNoEnd = errors.New("the session's events ended before its run did: see roster sessions resume")

func followOnce(ctx context.Context, w watched, show shower, p *approver) (*session.LoopEnd, error) {
	for events, err := range w.at.Follow(ctx, w.key, w.after) {
		if err != nil {
			return nil, err
		}
		for i := range events {
			if err := show.event(&events[i]); err != nil {
				return nil, err
			}
			if end := w.end(&events[i]); end != nil {
				return end, show.flush()
			}
			if waits, err := p.see(ctx, &events[i]); err != nil {
				return nil, err
			} else if waits {
				return &session.LoopEnd{Reason: session.ReasonWaiting}, show.flush()
			}
		}
		if err := show.flush(); err != nil {
			return nil, err
		}
	}
	return nil, errNoEnd
}

// sayWaiting ends the watch of a run that waits. For programs the last line is a
// loop.end as always; it has no number, as the loop goes on.
func (c *cli) sayWaiting(ctx context.Context, w watched, show shower) error {
	list, err := w.at.Approvals(ctx, w.key)
	if err != nil {
		return err
	}
	if !c.json {
		if !c.quiet {
			render.Waiting(c.stderr, c.style(c.stderr), w.key.Stream, list)
		}
		return exit(exitDenied)
	}
	b, err := w.at.Reader(ctx)
	if err != nil {
		return err
	}
	st, err := session.ReadState(ctx, b, w.key)
	if err != nil {
		return err
	}
	e := session.Event{V: 1, Session: w.key.Stream, Time: time.Now().UTC().Truncate(time.Microsecond)}
	end := &session.LoopEnd{Reason: session.ReasonWaiting}
	if l := st.Root.Loop; l != nil {
		e.Loop, e.Turn, e.Agent, e.Chain = l.ID, l.Turn, l.Agent, l.Chain
		end.Text, end.Usage, end.Denied = l.Text, l.Usage, l.Denied
	}
	e.Body = end
	if err := cmp.Or(show.event(&e), show.flush()); err != nil {
		return err
	}
	return exit(exitDenied)
}

func (c *cli) shower(begun bool) shower {
	if c.json {
		out := bufio.NewWriter(c.stdout)
		var buf []byte
		return shower{func(e *session.Event) error {
			buf = append(e.AppendJSON(buf[:0]), '\n')
			_, err := out.Write(buf)
			return err
		}, out.Flush}
	}
	r := &render.Run{Out: c.stdout, Stream: terminal(c.stdout.file) && !c.quiet, Tame: terminal(c.stdout.file), Style: c.style(c.stderr), Begun: begun}
	if !c.quiet {
		r.Err = c.stderr
	}
	return shower{r.Event, func() error { return nil }}
}

// cancelOnSignal cancels the run at the first interrupt, whose end is still
// waited for, and ends the program at the second. The function that it returns
// ends the watch.
func (c *cli) cancelOnSignal(ctx context.Context, at conversations, k session.Key) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case <-signals:
			}
			if !first {
				os.Exit(exitInterrupted)
			}
			fmt.Fprintln(c.stderr, "roster: cancelling the run; interrupt again to end at once")
			if err := at.Cancel(ctx, k, "interrupted"); err != nil {
				fmt.Fprintf(c.stderr, "roster: the run could not be cancelled: %v\n", err)
				os.Exit(exitInterrupted)
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(done)
		wg.Wait()
	}
}
