package record

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/internal/offline"
)

// Recorder is a model that records another one. It is safe for concurrent use,
// and one process at a time records to a file.
type Recorder struct {
	inner model.Model
	*target
}

// target is the file, which several models may be recorded to.
type target struct {
	path   string
	redact func(string) string
	known  marks
	notes  []string

	mu    sync.Mutex
	file  *os.File
	size  int64 // of whole lines
	lines int
	err   error // the first failure to write, which ends the recording
}

// New records m to a file, which it makes (for its owner only) or appends to.
// A line that a crash cut off is removed, and a note says so. redact returns a
// text without its secrets; nil changes nothing.
func New(m model.Model, path string, redact func(string) string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{m, &target{path: path, redact: redact, file: f}}
	if err := r.open(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// With records another model to the same file. Close closes it for both.
func (r *Recorder) With(m model.Model) *Recorder { return &Recorder{m, r.target} }

func (r *Recorder) open() error {
	if err := syscall.Flock(int(r.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("record: %s: another process records to it (%w); name another file", r.path, err)
	}
	rec, err := load(r.path, io.NewSectionReader(r.file, 0, maxFile+1))
	if err != nil {
		return err
	}
	r.lines, r.size = len(rec.calls), rec.size
	if rec.cut == "" {
		return nil
	}
	r.notes = append(r.notes, rec.cut+"; it was removed")
	if err := r.file.Truncate(r.size); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// Notes says what was odd about the file when it was opened.
func (r *Recorder) Notes() []string { return r.notes }

// Close closes the file and returns the error that ended the recording, if
// any. Calls must have ended.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}

func (r *Recorder) Name() string { return r.inner.Name() }

// Renderer, Render and Wire are those of the recorded model; one that has none
// is shown in a canonical form.
func (r *Recorder) Renderer() string {
	if in, ok := r.inner.(model.Renderer); ok {
		return in.Renderer()
	}
	return "record/1"
}

func (r *Recorder) Render(q *model.Request) ([]byte, error) {
	if in, ok := r.inner.(model.Renderer); ok {
		return in.Render(q)
	}
	return offline.Render(q, r.Wire)
}

func (r *Recorder) Wire(m *message.Message) ([]byte, error) {
	if in, ok := r.inner.(model.Renderer); ok {
		return in.Wire(m)
	}
	return m.Wire("record/1", offline.Message)
}

// Stream passes on what the model answers while it comes. The last chunk, or
// the error, is passed on when the call is on disk; a call that cannot be
// recorded fails.
func (r *Recorder) Stream(ctx context.Context, q *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err := r.failed(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		c := &call{V: version, Time: time.Now().UTC(), Model: r.inner.Name()}
		ended := false
		for ch, err := range r.inner.Stream(ctx, q) {
			if err != nil {
				c.fail(err)
			} else {
				c.add(ch, time.Since(c.Time))
			}
			if !ended && (err != nil || ch.Done != nil) {
				ended = true
				if werr := r.keep(c, q); werr != nil {
					yield(model.Chunk{}, werr)
					return
				}
			}
			if !yield(ch, err) || err != nil {
				break
			}
		}
		if !ended {
			c.Interrupted = true
			_ = r.keep(c, q) // the caller has left; the next call and Close tell
		}
	}
}

// keep writes the call as a line.
func (r *Recorder) keep(c *call, q *model.Request) error {
	c.Took = time.Since(c.Time).Microseconds()
	known := r.known.get(q.Messages)
	s, wires, err := extend(known.sum, q.Messages[known.n:])
	if err != nil {
		return r.fail(err)
	}
	prefix := prefixJSON(q.Prefix)
	c.Turn = turnJSON(q)
	c.Conversation = hex.EncodeToString(s[:])
	c.Digest = digest(s, prefix, c.Turn)
	c.After, c.Keep, c.Messages = known.line, known.n, wires
	next := mark{sum: s, prefix: q.Prefix, prefixLine: known.prefixLine}
	if known.prefixLine > 0 && known.prefix == q.Prefix {
		c.PrefixOf = known.prefixLine
	} else {
		c.Prefix, next.prefixLine = prefix, 0
	}
	if next.line, err = r.append(c); err != nil {
		return r.fail(err)
	}
	if next.prefixLine == 0 {
		next.prefixLine = next.line
	}
	r.known.put(q.Messages, next)
	return nil
}

// append writes the line durably and returns its number.
func (r *Recorder) append(c *call) (int, error) {
	if r.redact != nil {
		c.redactChunks(r.redact)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	c.N = r.lines + 1
	line, err := r.encode(c)
	if err != nil {
		return 0, err
	}
	if len(line) > maxLine || r.size+int64(len(line)) > maxFile {
		return 0, fmt.Errorf("a call of %d bytes is too large for the recording (%d MiB a call, %d MiB in all)", len(line), maxLine>>20, maxFile>>20)
	}
	if _, err = r.file.Write(line); err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return 0, errors.Join(err, r.file.Truncate(r.size))
	}
	r.size += int64(len(line))
	r.lines = c.N
	return c.N, nil
}

func (r *Recorder) encode(c *call) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil || r.redact == nil {
		return b.Bytes(), err
	}
	line, err := redactJSON(b.Bytes(), r.redact)
	return append(line, '\n'), err
}

func (r *Recorder) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = &model.Error{
			Kind: model.BadRequest, Model: r.inner.Name(), Err: err,
			Message: fmt.Sprintf("the call could not be recorded to %s: %v", r.path, err),
			Remedy:  "make room, or run without recording",
		}
	}
	return r.err
}

func (r *Recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
