package dispatch

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/rosterrun/roster/session"
)

// readBatch bounds how many stored events are handed over at once.
const readBatch = 256

// Follow implements Dispatcher.
func (l *Local) Follow(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		t := l.use(k)
		defer l.release(k, t)
		r, inWindow, partial := t.attach(after)
		defer r.detach()
		o := order{store: l.backend, key: k, seq: after}
		if !inWindow {
			for batch, err := range o.stored(ctx, math.MaxInt64) {
				if !yield(batch, err) || err != nil {
					return
				}
			}
			t.reached(o.seq)
			if partial = o.begun(partial); len(partial) > 0 && !yield(partial, nil) {
				return
			}
		}
		for {
			events, behind, err := r.next(ctx)
			if behind {
				err = &FellBehind{From: o.seq}
			}
			if err == nil {
				events, err = o.arrange(ctx, events)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(events) > 0 && !yield(events, nil) {
				return
			}
		}
	}
}

// order makes of what a topic shows what a reader must see: stored events by
// number, each once, without gaps, and no piece of a message that is stored.
type order struct {
	store session.Store
	key   session.Key
	seq   int64    // the newest stored event given
	said  []string // the last messages given
	shown []piece  // how far messages have been given that are being written
}

// piece is how far a message has been shown.
type piece struct {
	message string
	attempt int
	length  int
}

// begun takes in what a reader is given of messages that are being written,
// without those that are stored by now.
func (o *order) begun(partial []session.Event) []session.Event {
	partial = slices.DeleteFunc(partial, func(e session.Event) bool { return slices.Contains(o.said, e.Body.(*session.Partial).Message) })
	for i := range partial {
		p := partial[i].Body.(*session.Partial)
		o.shown = append(o.shown, piece{p.Message, p.Attempt, len(p.Text)})
	}
	return partial
}

// shows says whether a live event is still news.
func (o *order) shows(e *session.Event) bool {
	switch b := e.Body.(type) {
	case *session.Delta:
		return o.follows(b)
	case *session.Thinking:
		return !slices.Contains(o.said, b.Message)
	}
	return true
}

// follows says whether a piece goes on where the last one of its message ended.
// If not, what is between has been dropped and the whole message comes in its
// event.
func (o *order) follows(d *session.Delta) bool {
	next := piece{d.Message, d.Attempt, d.Offset + len(d.Text)}
	i := slices.IndexFunc(o.shown, func(p piece) bool { return p.message == d.Message })
	switch {
	case i >= 0 && (d.Offset == 0 || o.shown[i] == piece{d.Message, d.Attempt, d.Offset}):
		o.shown[i] = next // what is said is not among them
		return true
	case i >= 0 || d.Offset > 0 || slices.Contains(o.said, d.Message):
		return false
	}
	if len(o.shown) == atOnce {
		o.shown = slices.Delete(o.shown, 0, 1)
	}
	o.shown = append(o.shown, next)
	return true
}

// saidMax bounds how many messages are remembered: pieces of a message come
// shortly before it.
const saidMax = atOnce

// stored reads on from the store, in batches, up to event upTo.
func (o *order) stored(ctx context.Context, upTo int64) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		var batch []session.Event
		for e, err := range o.store.Read(ctx, o.key, o.seq) {
			if err != nil {
				yield(nil, err)
				return
			}
			if e.Seq > upTo {
				break
			}
			o.note(&e)
			if batch = append(batch, e); len(batch) == readBatch {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

func (o *order) note(e *session.Event) {
	o.seq = e.Seq
	if e.Type != "message" {
		return
	}
	if body, err := e.Decode(); err == nil {
		if m, ok := body.(*session.Message); ok {
			if len(o.said) == saidMax {
				o.said = o.said[1:]
			}
			o.said = append(o.said, m.ID)
			o.shown = slices.DeleteFunc(o.shown, func(p piece) bool { return p.message == m.ID })
		}
	}
}

// arrange puts events in order, and reads from the store what is missing
// between them. It leaves events as they are, for other readers have them too.
func (o *order) arrange(ctx context.Context, events []session.Event) ([]session.Event, error) {
	out, own := events, false // as long as all are as they must be, they are the answer
	part := func(i int) {
		if !own {
			out, own = append(make([]session.Event, 0, len(events)), events[:i]...), true
		}
	}
	for i := range events {
		e := &events[i]
		switch {
		case e.Seq == 0:
			if !o.shows(e) {
				part(i)
				continue
			}
		case e.Seq <= o.seq:
			part(i)
			continue
		case e.Seq > o.seq+1:
			part(i)
			for batch, err := range o.stored(ctx, e.Seq-1) {
				if err != nil {
					return nil, err
				}
				out = append(out, batch...)
			}
			o.note(e)
		default:
			o.note(e)
		}
		if own {
			out = append(out, *e)
		}
	}
	return out, nil
}
