// Package admit decides what a session store accepts, so that all backends
// refuse the same things with the same words.
package admit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/rosterrun/roster/session"
)

// ErrClosed is returned by every method of a store that was closed.
var ErrClosed = fmt.Errorf("session store: %w", fs.ErrClosed)

// The times that all backends keep.
const (
	IdemTime  = 24 * time.Hour
	IdemPurge = 16 // how many outdated keys one post removes at most
	BlobPurge = 16 // how many unneeded blobs one put removes at most

	// BlobTime is how long an unneeded blob stays after it was put. It is twice
	// what is promised, so that a blob put again within the first half needs no
	// write.
	BlobTime = 2 * time.Hour
)

// Append checks and encodes what an owner appends. An event without a time gets
// the store's.
func Append(k session.Key, evs []session.Event, now func() time.Time) error {
	if err := key(k); err != nil {
		return err
	}
	for i := range evs {
		if err := encode(&evs[i], now); err != nil {
			return fmt.Errorf("append to session %s: event %d of %d: %w", k, i+1, len(evs), err)
		}
		if session.Inbound(evs[i].Type) {
			return fmt.Errorf("append to session %s: event %d of %d: %q is an inbound event: post it", k, i+1, len(evs), evs[i].Type)
		}
	}
	return nil
}

// Post checks and encodes what is posted. An event without a time gets the
// store's.
func Post(k session.Key, p *session.Post, now func() time.Time) error {
	if err := key(k); err != nil {
		return err
	}
	if len(p.Events) == 0 {
		return fmt.Errorf("post to session %s: there is no event", k)
	}
	for i := range p.Events {
		if err := encode(&p.Events[i], now); err != nil {
			return fmt.Errorf("post to session %s: event %d of %d: %w", k, i+1, len(p.Events), err)
		}
		if !session.Inbound(p.Events[i].Type) {
			return fmt.Errorf("post to session %s: event %d of %d: %q is an owner's event: append it with a lease", k, i+1, len(p.Events), p.Events[i].Type)
		}
	}
	return nil
}

// Restore checks and encodes the events of a whole stream, and returns what
// describes it.
func Restore(k session.Key, evs []session.Event, now func() time.Time) (session.Summary, error) {
	sum := session.Summary{Key: k}
	if err := key(k); err != nil {
		return sum, err
	}
	if len(evs) == 0 || !Creates(&session.Post{Events: evs[:1]}) {
		return sum, fmt.Errorf("restore session %s: it does not begin with a prompt or a branch", k)
	}
	for i := range evs {
		err := encode(&evs[i], now)
		if err == nil && evs[i].Seq != int64(i+1) {
			err = fmt.Errorf("it has the number %d", evs[i].Seq)
		}
		if err == nil {
			err = sum.Apply(&evs[i])
		}
		if err != nil {
			return sum, fmt.Errorf("restore session %s: event %d of %d: %w", k, i+1, len(evs), err)
		}
	}
	if !sum.AtRest() {
		return sum, &session.Busy{Key: k}
	}
	return sum, nil
}

// Creates says whether a post may bring its stream into being.
func Creates(p *session.Post) bool {
	return p.Events[0].Type == "prompt" || p.Events[0].Type == "branch"
}

// Digest is the sum of what makes two posts the same: the types and bodies of
// their events. Time, ids, the request, its key and the stream asked for may differ, and so may what
// a command comes to each time that it is called.
func Digest(evs []session.Event) [sha256.Size]byte {
	h := sha256.New()
	var n [8]byte
	write := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	for i := range evs {
		write([]byte(evs[i].Type))
		if p, ok := evs[i].Body.(*session.Prompt); ok && (p.Command != nil || p.Request != "" || p.KeyID != "") {
			same := *p
			same.Request, same.KeyID = "", ""
			if p.Command != nil {
				same.Parts = nil
			}
			write(same.AppendJSON(nil))
			continue
		}
		write(evs[i].Data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// MissingBlob is the error for an event whose Refs name a blob that is not
// there; it wraps session.ErrNoBlob.
func MissingBlob(k session.Key, e *session.Event, digest string) error {
	return fmt.Errorf("session %s: %s event needs blob %s: %w: put it first", k, e.Type, digest, session.ErrNoBlob)
}

// Stale is the error for an Append after a number that cannot be right.
func Stale(k session.Key, after, last int64) error {
	if after > last {
		return fmt.Errorf("append to session %s: there is no event %d to append after, the last is %d", k, after, last)
	}
	return fmt.Errorf("append to session %s: the owner's own events follow event %d, the last is %d: read them first", k, after, last)
}

func key(k session.Key) error {
	if k.Tenant == "" || k.Stream == "" {
		return fmt.Errorf("session %q: tenant and stream must be named", k)
	}
	return nil
}

func encode(e *session.Event, now func() time.Time) error {
	if e.Data == nil && e.Body == nil {
		return errors.New("it has neither body nor data")
	}
	e.Encode()
	switch e.Type {
	case "":
		return errors.New("it has no type")
	case "delta", "thinking", "message.partial", "message.reset", "context_usage", "fell_behind":
		return fmt.Errorf("%q is a live event, which is not stored", e.Type)
	}
	if e.V == 0 {
		return fmt.Errorf("%q has no version", e.Type)
	}
	if e.Time.IsZero() {
		e.Time = now()
	}
	e.Time = e.Time.UTC()
	e.Time = e.Time.Add(-time.Duration(e.Time.Nanosecond()) % time.Microsecond)
	return nil
}
