package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/sse"
	"github.com/rosterrun/roster/session"
)

// Event is something that happened in a session: Body says what, such as
// *session.Message, *session.Delta or *ContextUsage. Stored events have a Seq, which
// counts from 1 in each session; live ones, such as deltas, have none.
//
// A stream that is connected again in the middle of a message has a
// *session.Partial with all of its text so far, which takes the place of the deltas
// before it.
type Event = session.Event

// Stream runs a prompt and yields what happens until its run has ended, which is a
// *session.LoopEnd. It connects again where it was cut off, so that each stored event
// comes once and in order, and the prompt runs once. An error ends it. To leave the
// loop, or the end of ctx, does not end the run: Cancel does.
func (c *Client) Stream(ctx context.Context, p Prompt) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := c.asking("/stream", p)
		body, err := json.Marshal(r.body)
		if err != nil {
			yield(Event{}, fmt.Errorf("the prompt: %w", err))
			return
		}
		s := &stream{c: c, req: r, body: body, whole: true}
		loop := ownLoop{}
		s.see = loop.see
		s.over = func(ctx context.Context) (bool, error) { return c.rests(ctx, s.id, 0) }
		s.run(ctx, yield)
	}
}

// EventsOptions say which events of a session are shown.
type EventsOptions struct {
	// After is the number of the event after which to begin; 0: with the first.
	After int64
	// UntilIdle ends the stream when the session has nothing left to do; else it
	// stays open.
	UntilIdle bool
}

// Events yields the events of a session, or of a child session and what is below it:
// those that there are, and then as they come. It connects again as Stream does.
func (c *Client) Events(ctx context.Context, id string, o EventsOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &stream{c: c, last: o.After, id: id}
		s.whole = id == session.StreamOf(id) // a child's events are not all of the numbers
		s.known = s.whole
		q := url.Values{}
		if o.After > 0 {
			q.Set("after", strconv.FormatInt(o.After, 10))
		}
		if o.UntilIdle {
			q.Set("until", "idle")
			s.over = func(ctx context.Context) (bool, error) {
				if !s.whole {
					return c.rests(ctx, session.StreamOf(id), 0)
				}
				return c.rests(ctx, id, s.last)
			}
		}
		s.req = request{method: http.MethodGet, path: escaped("/sessions/%s/events", id), query: q}
		s.run(ctx, yield)
	}
}

// rests says whether a session has nothing left to do, and no event after seq; 0:
// whichever it has.
func (c *Client) rests(ctx context.Context, id string, seq int64) (bool, error) {
	s, err := c.Session(ctx, id)
	if err != nil {
		return false, err
	}
	return (s.Status == session.Idle || s.Status == session.Failed) && (seq == 0 || s.Last <= seq), nil
}

// ownLoop finds the end of the loop that answers the first event of a stream.
type ownLoop struct {
	post int64
	loop string
}

func (l *ownLoop) see(e *Event) (end bool) {
	if l.post == 0 {
		l.post = e.Seq
	}
	switch b := e.Body.(type) {
	case *session.Message:
		if b.Post == l.post {
			l.loop = e.Loop
		}
	case *session.LoopEnd:
		return l.loop != "" && e.Loop == l.loop
	}
	return false
}

// stream is an event stream over as many connections as it takes.
type stream struct {
	c    *Client
	req  request
	body []byte
	id   string // of the session; empty: not known yet

	feed     bool   // of all sessions: it has positions in place of numbers
	position string // of the newest event, or mark, of a feed

	last  int64 // the newest stored event that was yielded
	known bool  // the next one is last+1, if whole
	whole bool  // no number is left out
	begun bool  // the server has answered once
	gaps  int   // in a row
	see   func(*Event) (end bool)
	// over says, when the server ends the stream by itself, whether that was the end
	// of what was asked for; nil: there is none.
	over func(context.Context) (bool, error)
}

// How a connection ended.
var (
	errStopped = errors.New("stopped")     // nobody wants more, or there is no more
	errAgain   = errors.New("cut off")     // it is connected again
	errBehind  = errors.New("fell behind") // as well; nothing is wrong
)

// run yields the events of all connections.
func (s *stream) run(ctx context.Context, yield func(Event, error) bool) {
	for n := 1; ; n++ {
		before := s.at()
		err := s.connect(ctx, yield)
		if errors.Is(err, errStopped) {
			return
		}
		got := s.at() != before
		if got {
			n = 1
		}
		if errors.Is(err, errBehind) && got {
			continue
		}
		after, may := retryable(err)
		may = may || errors.Is(err, errAgain) || errors.Is(err, errBehind)
		if ctx.Err() != nil {
			err, may = context.Cause(ctx), false
		}
		if !may || n > s.most() {
			yield(Event{}, err)
			return
		}
		if err := s.c.pause(ctx, n, after, err); err != nil {
			yield(Event{}, err)
			return
		}
	}
}

// at is where the stream is, as the server knows it; empty: at its beginning.
func (s *stream) at() string {
	if s.feed || s.last == 0 {
		return s.position
	}
	return strconv.FormatInt(s.last, 10)
}

// most is how often in a row it is connected again.
func (s *stream) most() int {
	if s.begun {
		return s.c.opts.Reconnects
	}
	return s.c.opts.Retries
}

// connect yields the events of one connection.
func (s *stream) connect(parent context.Context, yield func(Event, error) bool) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	slow := time.AfterFunc(s.c.opts.Timeout, func() { cancel(errSlow(s.c.opts.Timeout)) })
	defer slow.Stop()
	r := s.req
	r.head = map[string]string{"Accept": "text/event-stream"}
	for name, value := range s.req.head {
		r.head[name] = value
	}
	if at := s.at(); at != "" {
		r.head["Last-Event-ID"] = at
	}
	res, err := s.c.send(ctx, r, s.body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	slow.Stop()
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return fmt.Errorf("%s %s: the answer is %.80q, and no event stream: is %s a Roster server?", r.method, r.path, kind, s.c.base)
	}
	s.begun = true
	if s.id == "" {
		s.id = res.Header.Get("X-Session-Id")
	}
	body := &awaited{r: res.Body, most: s.c.opts.Silence, cancel: cancel}
	return s.read(ctx, body, yield)
}

func (s *stream) read(ctx context.Context, body *awaited, yield func(Event, error) bool) error {
	in := sse.NewReader(body, maxEvent)
	for {
		frame, err := in.Next()
		if id := in.LastID(); s.feed && len(id) > 0 {
			s.position = string(id)
		}
		if errors.Is(err, io.EOF) {
			return s.ended(ctx)
		}
		var long *sse.TooLong
		if errors.As(err, &long) {
			return err
		}
		if err != nil {
			return s.c.unanswered(ctx, s.req, err)
		}
		e, err := decodeFrame(&frame)
		if err != nil {
			return err
		}
		if e.Seq > 0 && !s.feed {
			if err := s.follows(e.Seq); err != nil {
				return err
			}
			if e.Seq <= s.last {
				continue // it was here before
			}
			s.last, s.known, s.gaps = e.Seq, true, 0
		}
		if !yield(e, nil) {
			return errStopped
		}
		if s.see != nil && e.Seq > 0 && s.see(&e) {
			body.finish()
			return errStopped
		}
	}
}

// Gap says that a server left out events of a stream, twice.
type Gap struct {
	After, Next int64 // the events on both sides
}

func (e *Gap) Error() string {
	return fmt.Sprintf("the server's stream leaves out the events between %d and %d", e.After, e.Next)
}

// follows says whether an event may come next. After a gap the stream is read once
// more.
func (s *stream) follows(seq int64) error {
	if !s.whole || !s.known || seq <= s.last+1 {
		return nil
	}
	if s.gaps++; s.gaps > 1 {
		return &Gap{s.last, seq}
	}
	return errAgain
}

// ended says what it means that the server has ended the stream: that there is no
// more, or that the server stops.
func (s *stream) ended(ctx context.Context) error {
	if s.over == nil || s.id == "" {
		return errAgain
	}
	over, err := s.over(ctx)
	switch {
	case err != nil:
		return err
	case over:
		return errStopped
	}
	return errAgain
}

// awaited is the body of a stream, which is cut off when it is silent for too long.
// The time that its reader takes does not count.
type awaited struct {
	r      io.Reader
	most   time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (b *awaited) Read(p []byte) (int, error) {
	if b.timer == nil {
		b.timer = time.AfterFunc(b.most, func() { b.cancel(errSilent(b.most)) })
	} else {
		b.timer.Reset(b.most)
	}
	n, err := b.r.Read(p)
	b.timer.Stop()
	return n, err
}

// finish reads a stream that is over to its end, so that the connection can be used
// again. It does not wait long for that.
func (b *awaited) finish() {
	b.most = time.Second
	_, _ = io.Copy(io.Discard, io.LimitReader(b, 4<<10)) // the connection is closed then
}

// errSilent is the cause of a stream that is cut off.
type errSilent time.Duration

func (e errSilent) Error() string {
	return fmt.Sprintf("nothing came for %v, not even a ping", time.Duration(e))
}
