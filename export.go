package roster

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/session"
)

// Bounds of what is imported, in bytes and numbers.
const (
	maxImport       = 512 << 20
	maxImportEvents = 1_000_000
	maxImportBlobs  = 100_000
	maxEventType    = 64
)

// exportVersion is the version of the form of exports.
const exportVersion = 1

// exportLine is a line of an export: the head, then each blob, then each event,
// then the end. One of its fields is there.
type exportLine struct {
	Head  *exportHead     `json:"roster,omitempty"`
	Blob  string          `json:"blob,omitempty"` // its digest
	Data  []byte          `json:"data,omitempty"` // of the blob, as base64
	Event json.RawMessage `json:"event,omitempty"`
	Refs  []string        `json:"refs,omitempty"` // of the event
	End   *exportEnd      `json:"end,omitempty"`
}

type exportHead struct {
	Form    string `json:"form"` // "session"
	V       int    `json:"v"`
	ID      string `json:"id"`
	Profile string `json:"profile"`
	Title   string `json:"title"`
	Blobs   int    `json:"blobs"`
	Events  int64  `json:"events"`
}

type exportEnd struct {
	SHA256 string `json:"sha256"` // of all lines before
}

// exportedEvent is an event as Event.AppendJSON writes it.
type exportedEvent struct {
	V       uint16          `json:"v"`
	Seq     int64           `json:"seq"`
	Session string          `json:"session"`
	Loop    string          `json:"loop"`
	Turn    int             `json:"turn"`
	Agent   string          `json:"agent_id"`
	Depth   int             `json:"depth"`
	Chain   string          `json:"chainId"`
	Time    time.Time       `json:"time"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
}

// ImportError: what was to be imported is no whole and valid export.
type ImportError struct {
	Line   int
	Reason string
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("line %d: %s: nothing was imported", e.Line, e.Reason)
}

// Export writes a session with its children and all that they need, as lines of
// JSON. *session.Busy: it is not at rest.
func (a *App) Export(ctx context.Context, k session.Key, w io.Writer) error {
	b, err := a.Backend(ctx)
	if err != nil {
		return err
	}
	k = a.withTenant(k)
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return err
	}
	if !sum.AtRest() {
		return &session.Busy{Key: k}
	}
	var blobs []string
	for e, err := range b.Read(ctx, k, 0) {
		if err != nil {
			return err
		}
		blobs = append(blobs, e.Refs...)
	}
	slices.Sort(blobs)
	blobs = slices.Compact(blobs)
	out := &exporter{w: bufio.NewWriter(w)}
	out.line(exportLine{Head: &exportHead{
		Form: "session", V: exportVersion, ID: k.Stream, Profile: sum.Profile, Title: sum.Title, Blobs: len(blobs), Events: sum.Last,
	}})
	for _, digest := range blobs {
		data, err := b.Blob(ctx, k.Tenant, digest)
		if err != nil {
			return fmt.Errorf("session %s: blob %s: %w", k.Stream, digest, err)
		}
		out.line(exportLine{Blob: digest, Data: data})
	}
	for e, err := range b.Read(ctx, k, 0) {
		if err != nil {
			return err
		}
		if e.Seq <= sum.Last {
			out.line(exportLine{Event: e.AppendJSON(nil), Refs: e.Refs})
		}
	}
	out.line(exportLine{End: &exportEnd{hex.EncodeToString(out.sum[:])}})
	return errors.Join(out.err, out.w.Flush())
}

// exporter writes lines and sums them up.
type exporter struct {
	w   *bufio.Writer
	sum [sha256.Size]byte
	err error
}

func (x *exporter) line(l exportLine) {
	if x.err != nil {
		return
	}
	var data []byte
	if data, x.err = json.Marshal(l); x.err != nil {
		return
	}
	data = append(data, '\n')
	x.sum = chained(x.sum, data)
	_, x.err = x.w.Write(data)
}

// chained is the sum of all lines up to this one.
func chained(before [sha256.Size]byte, line []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(before[:])
	h.Write(line)
	return [sha256.Size]byte(h.Sum(nil))
}

// Import adds the session that Export has written, under its own id: all of it,
// or nothing where anything of it is not as it was written. What was allowed
// where it is from is not allowed here. *session.Exists: it is here.
func (a *App) Import(ctx context.Context, tenant string, r io.Reader) (session.Key, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return session.Key{}, err
	}
	in := importer{blobs: map[string][]byte{}, in: bufio.NewReader(io.LimitReader(r, maxImport+1))}
	if err := in.read(); err != nil {
		return session.Key{}, err
	}
	k := a.withTenant(session.Key{Tenant: tenant, Stream: in.head.ID})
	if _, err := b.Summary(ctx, k); err == nil {
		return session.Key{}, &session.Exists{Key: k}
	}
	note := a.inbound(clock.From(ctx), k, "", &session.Imported{Digest: in.digest})
	note.Seq = int64(len(in.events)) + 1
	in.events = append(in.events, note)
	if err := in.fold(k); err != nil {
		return session.Key{}, err
	}
	for _, data := range in.blobs {
		if _, err := b.PutBlob(ctx, k.Tenant, data); err != nil {
			return session.Key{}, err
		}
	}
	return k, b.Restore(ctx, k, in.events)
}

// importer reads an export and believes nothing of it.
type importer struct {
	in     *bufio.Reader
	n      int // lines
	size   int
	head   *exportHead
	blobs  map[string][]byte
	used   map[string]bool
	events []session.Event
	digest string
}

func (x *importer) fail(format string, args ...any) error {
	return &ImportError{x.n, fmt.Sprintf(format, args...)}
}

func (x *importer) read() error {
	var sum [sha256.Size]byte
	x.used = map[string]bool{}
	for {
		line, err := x.in.ReadBytes('\n')
		x.n++
		x.size += len(line)
		switch {
		case x.size > maxImport:
			return x.fail("it is over %d MiB", maxImport>>20)
		case err == io.EOF:
			return x.fail("its end is missing")
		case err != nil:
			return err
		}
		var l exportLine
		if err := json.Unmarshal(line, &l); err != nil {
			return x.fail("it is no line of an export (roster sessions export): %v", err)
		}
		if l.End != nil {
			return x.end(&l, sum)
		}
		if err := x.line(&l); err != nil {
			return err
		}
		sum = chained(sum, line)
	}
}

// end holds the whole against its sum.
func (x *importer) end(l *exportLine, sum [sha256.Size]byte) error {
	x.digest = hex.EncodeToString(sum[:])
	switch {
	case x.head == nil:
		return x.fail("its head is missing")
	case l.End.SHA256 != x.digest:
		return x.fail("the lines before have the sum %s, and it says %s: they were changed", x.digest, l.End.SHA256)
	case int64(len(x.events)) != x.head.Events || len(x.blobs) != x.head.Blobs:
		return x.fail("it has %d events and %d blobs, and its head says %d and %d", len(x.events), len(x.blobs), x.head.Events, x.head.Blobs)
	case len(x.used) != len(x.blobs):
		return x.fail("no event needs %d of its blobs", len(x.blobs)-len(x.used))
	}
	if _, err := x.in.ReadByte(); err != io.EOF {
		return x.fail("something follows its end")
	}
	return nil
}

func (x *importer) line(l *exportLine) error {
	switch {
	case x.head == nil:
		if l.Head == nil || l.Head.Form != "session" {
			return x.fail("it is no export of a session (roster sessions export)")
		}
		if l.Head.V != exportVersion {
			return x.fail("it has the form %d, and this version reads %d: use the version that wrote it, or a newer one", l.Head.V, exportVersion)
		}
		if len(l.Head.ID) != 36 || uuid.Validate(l.Head.ID) != nil {
			return x.fail("%q is not the id of a session (a UUID)", l.Head.ID)
		}
		x.head = l.Head
		return nil
	case l.Blob != "":
		return x.blob(l)
	case len(l.Event) > 0:
		return x.event(l)
	}
	return x.fail("it is neither a blob nor an event")
}

func (x *importer) blob(l *exportLine) error {
	switch {
	case len(x.blobs) == maxImportBlobs:
		return x.fail("it has more than %d blobs", maxImportBlobs)
	case session.Digest(l.Data) != l.Blob:
		return x.fail("the blob %s has the digest %s: it was changed", l.Blob, session.Digest(l.Data))
	case x.blobs[l.Blob] != nil:
		return x.fail("the blob %s is there twice", l.Blob)
	}
	x.blobs[l.Blob] = append([]byte{}, l.Data...)
	return nil
}

func (x *importer) event(l *exportLine) error {
	var e exportedEvent
	dec := json.NewDecoder(bytes.NewReader(l.Event))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return x.fail("it is no event: %v", err)
	}
	switch {
	case len(x.events) == maxImportEvents:
		return x.fail("it has more than %d events", maxImportEvents)
	case e.Seq != int64(len(x.events))+1:
		return x.fail("event %d follows event %d", e.Seq, len(x.events))
	case !session.Within(e.Session, x.head.ID):
		return x.fail("event %d is of the session %q, which is not below %s", e.Seq, e.Session, x.head.ID)
	case !plainType(e.Type) || e.V == 0 || e.Time.IsZero() || e.Turn < 0 || e.Depth < 0 || len(e.Data) == 0:
		return x.fail("event %d lacks its type, version, time or data", e.Seq)
	}
	for _, digest := range l.Refs {
		if x.blobs[digest] == nil {
			return x.fail("event %d needs the blob %q, which is not there", e.Seq, digest)
		}
		x.used[digest] = true
	}
	x.events = append(x.events, session.Event{
		V: e.V, Seq: e.Seq, Session: e.Session, Loop: e.Loop, Turn: e.Turn, Agent: e.Agent, Depth: e.Depth, Chain: e.Chain,
		Time: e.Time.UTC(), Type: e.Type, Data: []byte(e.Data), Refs: l.Refs,
	})
	return nil
}

// plainType says whether a text can be the type of an event.
func plainType(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && c != '.' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= maxEventType
}

// fold holds the events against the rules by which a log is read.
func (x *importer) fold(k session.Key) error {
	st := session.NewState(k)
	for i := range x.events {
		if err := st.Apply(&x.events[i]); err != nil {
			return &ImportError{1, err.Error()}
		}
	}
	if st.Root.Loop != nil || st.Root.Runnable() {
		return &ImportError{1, "it has work to do, which would begin here by itself"}
	}
	return nil
}
