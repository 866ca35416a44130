package memory

import (
	"encoding/binary"
	"time"

	"github.com/rosterrun/roster/session"
)

// log holds events encoded, in pages that are filled and never changed, so that
// a reader may decode a record while others are written. The collector has
// nothing to look at in them.
type log struct {
	pages [][]byte
	index []place // of event i+1
}

// place is where a record begins.
type place struct{ page, offset uint32 }

const (
	minPage = 1 << 10 // bytes
	maxPage = 32 << 10

	// What the log of a session with one answer has.
	usualEvents = 12
	usualPages  = 2
)

// overhead is more than the lengths and numbers of an envelope take.
const overhead = 96

// add stores an event.
func (l *log) add(e *session.Event) {
	size := overhead + len(e.Session) + len(e.Loop) + len(e.Agent) + len(e.Chain) + len(e.Type) + len(e.Data)
	for _, r := range e.Refs {
		size += len(r) + binary.MaxVarintLen64
	}
	if l.index == nil {
		l.index, l.pages = make([]place, 0, usualEvents), make([][]byte, 0, usualPages)
	}
	n := len(l.pages) - 1
	if n < 0 || cap(l.pages[n])-len(l.pages[n]) < size {
		page := minPage
		if n >= 0 {
			page = min(2*cap(l.pages[n]), maxPage)
		}
		l.pages = append(l.pages, make([]byte, 0, max(page, size)))
		n++
	}
	l.index = append(l.index, place{uint32(n), uint32(len(l.pages[n]))})
	l.pages[n] = appendEvent(l.pages[n], e)
}

// record returns the bytes that begin with the event's record. They must not be
// changed.
func (l *log) record(seq int64) []byte {
	at := l.index[seq-1]
	return l.pages[at.page][at.offset:]
}

func appendEvent(b []byte, e *session.Event) []byte {
	b = binary.AppendUvarint(b, uint64(e.Seq))
	b = binary.AppendUvarint(b, uint64(e.V))
	b = binary.AppendVarint(b, int64(e.Turn))
	b = binary.AppendVarint(b, int64(e.Depth))
	b = binary.AppendVarint(b, e.Time.UnixMicro())
	b = appendText(b, e.Session)
	b = appendText(b, e.Loop)
	b = appendText(b, e.Agent)
	b = appendText(b, e.Chain)
	b = appendText(b, e.Type)
	b = binary.AppendUvarint(b, uint64(len(e.Data)))
	b = append(b, e.Data...)
	b = binary.AppendUvarint(b, uint64(len(e.Refs)))
	for _, r := range e.Refs {
		b = appendText(b, r)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decode makes an event of a record; it shares no memory with it.
func decode(record []byte) session.Event {
	r := reader(record)
	e := session.Event{
		Seq:     int64(r.uint()),
		V:       uint16(r.uint()),
		Turn:    int(r.int()),
		Depth:   int(r.int()),
		Time:    time.UnixMicro(r.int()).UTC(),
		Session: string(r.bytes()),
		Loop:    string(r.bytes()),
		Agent:   string(r.bytes()),
		Chain:   string(r.bytes()),
		Type:    string(r.bytes()),
		Data:    append([]byte{}, r.bytes()...),
	}
	for range r.uint() {
		e.Refs = append(e.Refs, string(r.bytes()))
	}
	return e
}

// reader takes a record apart. Only what appendEvent wrote is read, so there is
// nothing to check.
type reader []byte

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(*r)
	*r = (*r)[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(*r)
	*r = (*r)[n:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.uint()
	b := (*r)[:n]
	*r = (*r)[n:]
	return b
}
