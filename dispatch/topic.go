package dispatch

import (
	"context"
	"slices"
	"sync"

	"github.com/rosterrun/roster/session"
)

// Bounds of what a topic keeps for its readers.
const (
	topicItems = 4096    // events; a reader further behind has fallen behind
	topicBytes = 1 << 20 // of their data
	aloneItems = 128     // events kept while nobody reads, for one who is about to
	atOnce     = 64      // messages that are being written, of as many agents
)

// topic is what happens on one stream now: a window of events in the order in
// which they were shown, which need not be the order of their numbers. Readers
// put them in order.
type topic struct {
	mu      sync.Mutex
	items   []session.Event // never changed, for readers share them
	first   int64           // the position of items[0], counted since the topic began
	bytes   int
	readers map[*reader]struct{}
	wake    chan struct{} // closed at the next show; nil if nobody waits
	last    int64         // the newest stored event shown
	writing []writing     // the oldest first
	users   int           // readers, posts and the job that hold the topic
	failed  error         // why the job ended without being done; nil once another begins
	signals signals
}

// writing is a message that is being written, and its text so far.
type writing struct {
	session string
	depth   int
	message string
	attempt int
	text    []byte
	from    int64 // the position of its first piece
}

// show adds events and wakes the readers.
func (t *topic) show(events ...session.Event) {
	for i := range events {
		t.signals.notice(&events[i])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range events {
		t.follow(&events[i], t.first+int64(len(t.items)+i))
		t.bytes += len(events[i].Data)
		t.last = max(t.last, events[i].Seq)
	}
	t.items = append(t.items, events...)
	t.trim()
	t.wakeAll()
}

// fail ends the readers that have read everything, as nobody goes on with the
// stream here. nil: somebody does.
func (t *topic) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = err
	t.wakeAll()
}

func (t *topic) wakeAll() {
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
}

// newest is the number of the newest stored event shown, 0 if none was.
func (t *topic) newest() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// reached notes that a reader has read so far in the store.
func (t *topic) reached(seq int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = max(t.last, seq)
}

// follow keeps the text of the messages that are being written.
func (t *topic) follow(e *session.Event, pos int64) {
	switch b := e.Body.(type) {
	case *session.Delta:
		w := t.written(e, b.Message, b.Attempt, pos)
		if len(w.text) == b.Offset {
			w.text = append(w.text, b.Text...)
		}
	case *session.Reset:
		t.finish(func(w *writing) bool { return w.message == b.Message })
		t.written(e, b.Message, b.Attempt, pos)
	case *session.Message:
		t.finish(func(w *writing) bool { return w.message == b.ID })
	case *session.LoopEnd:
		t.finish(func(w *writing) bool { return w.session == e.Session })
	}
}

// written finds an attempt at a message, or begins it.
func (t *topic) written(e *session.Event, message string, attempt int, pos int64) *writing {
	for i := range t.writing {
		if w := &t.writing[i]; w.message == message && w.attempt == attempt {
			return w
		}
	}
	t.finish(func(w *writing) bool { return w.message == message })
	if len(t.writing) == atOnce {
		t.writing = slices.Delete(t.writing, 0, 1)
	}
	t.writing = append(t.writing, writing{session: e.Session, depth: e.Depth, message: message, attempt: attempt, from: pos})
	return &t.writing[len(t.writing)-1]
}

func (t *topic) finish(is func(*writing) bool) {
	for i := range t.writing {
		if is(&t.writing[i]) {
			t.writing = slices.Delete(t.writing, i, i+1)
			return
		}
	}
}

// trim drops what all readers have, and what goes past the bounds.
func (t *topic) trim() {
	keep := t.first + int64(len(t.items))
	if len(t.readers) == 0 {
		keep -= aloneItems
	}
	for r := range t.readers {
		keep = min(keep, r.pos)
	}
	n := max(0, int(keep-t.first), len(t.items)-topicItems)
	for i := range n {
		t.bytes -= len(t.items[i].Data)
	}
	for n < len(t.items)-1 && t.bytes > topicBytes { // the newest is kept, however big: nobody is slow yet
		t.bytes -= len(t.items[n].Data)
		n++
	}
	t.first += int64(n)
	if t.items = t.items[n:]; len(t.items) == 0 {
		t.items = nil
	}
}

// reader is one place in a topic.
type reader struct {
	topic *topic
	pos   int64 // of the next item
}

// attach begins to read after the stored event after. If the window does not
// reach back that far, or not to the first piece of a message that is being
// written, the reader stands at its end and gets those messages so far, to show
// after the stored events.
func (t *topic) attach(after int64) (r *reader, inWindow bool, partial []session.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r = &reader{topic: t, pos: t.first + int64(len(t.items))}
	pos := r.pos
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.items[i].Seq > after {
			pos = t.first + int64(i)
			inWindow = inWindow || t.items[i].Seq == after+1
		}
	}
	for i := range t.writing {
		w := &t.writing[i]
		if len(w.text) == 0 {
			continue
		}
		inWindow = inWindow && w.from >= pos
		b := &session.Partial{Delta: session.Delta{Message: w.message, Attempt: w.attempt, Text: string(w.text)}}
		partial = append(partial, session.Event{V: 1, Session: w.session, Depth: w.depth, Type: b.Type(), Body: b})
	}
	if inWindow {
		r.pos, partial = pos, nil
	}
	t.readers[r] = struct{}{}
	return r, inWindow, partial
}

func (r *reader) detach() {
	r.topic.mu.Lock()
	defer r.topic.mu.Unlock()
	delete(r.topic.readers, r)
}

// next waits for events, which must not be changed. behind says that some were dropped before they were
// read.
func (r *reader) next(ctx context.Context) (events []session.Event, behind bool, err error) {
	t := r.topic
	for {
		t.mu.Lock()
		if r.pos < t.first {
			t.mu.Unlock()
			return nil, true, nil
		}
		if items := t.items[r.pos-t.first:]; len(items) > 0 {
			r.pos += int64(len(items))
			t.trim()
			t.mu.Unlock()
			return items[:len(items):len(items)], false, nil
		}
		if err := t.failed; err != nil {
			t.mu.Unlock()
			return nil, false, err
		}
		if t.wake == nil {
			t.wake = make(chan struct{})
		}
		wake := t.wake
		t.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}
