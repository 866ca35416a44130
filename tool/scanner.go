package tool

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/tool/internal/expr"
)

const (
	grepBuffer = 1 << 20   // the longest line that is searched as a whole, in bytes
	grepBegin  = 128 << 10 // what is read at once of a file with shorter lines
)

// scanner searches files one after the other.
type scanner struct {
	*grepPlan
	ctx  context.Context
	expr *expr.Searcher
	buf  []byte
	line []byte

	lines, bytes int // that the batch has come to
}

func newScanner(ctx context.Context, p *grepPlan) *scanner {
	return &scanner{grepPlan: p, ctx: ctx, expr: p.expr.Searcher(ctx), buf: make([]byte, grepBegin)}
}

// batch searches files until no more of them can be shown. It gives what is to
// be said of some of them.
func (w *scanner) batch(files []foundFile) (found []inFile) {
	w.lines, w.bytes = 0, 0
	for _, f := range files {
		if w.ctx.Err() != nil || w.enough(w.lines, w.bytes) {
			break
		}
		in := inFile{subject: f.subject}
		if err := w.file(f, &in); err != nil {
			in.unreadable = true
		}
		if in.unreadable || in.binary || in.long > 0 || len(in.lines) > 0 {
			found = append(found, in)
		}
	}
	return found
}

func (w *scanner) file(f foundFile, in *inFile) error {
	file, size, err := w.openFound(f)
	if err != nil {
		return err
	}
	defer file.Close()
	t := &fileText{r: file, size: size}
	if err := t.fill(w.buf); err != nil {
		return err
	}
	if bytes.IndexByte(t.text[:min(len(t.text), sniffBytes)], 0) >= 0 {
		in.binary = true
		return nil
	}
	t.text = bytes.TrimPrefix(t.text, []byte("\xef\xbb\xbf"))
	return w.search(t, in)
}

// search goes through a file by as much as the buffer holds of it, in whole lines
// where that is possible.
func (w *scanner) search(t *fileText, in *inFile) error {
	number, shown, inLong := 1, 0, false
	for {
		whole := t.text
		if !t.end {
			whole = t.text[:bytes.LastIndexByte(t.text, '\n')+1]
		}
		if len(whole) == 0 && len(t.text) > 0 { // a line longer than the buffer
			if len(w.buf) < grepBuffer {
				w.buf = make([]byte, grepBuffer)
				if err := t.fill(w.buf); err != nil {
					return err
				}
				continue
			}
			whole = t.text
			if !inLong {
				in.long++
			}
		}
		counted := 0
		for start, end := range w.expr.Lines(whole) {
			number += bytes.Count(whole[counted:start], newline)
			counted = start
			if number == shown {
				continue // another piece of the same line
			}
			shown = number
			w.show(in, number, whole[start:end])
			if w.enough(w.lines, w.bytes) {
				return nil
			}
		}
		if t.end || w.ctx.Err() != nil {
			return nil
		}
		number += bytes.Count(whole[counted:], newline)
		inLong = len(whole) > 0 && whole[len(whole)-1] != '\n'
		t.text = t.text[len(whole):]
		if err := t.fill(w.buf); err != nil {
			return err
		}
	}
}

var newline = []byte{'\n'}

func (w *scanner) show(in *inFile, number int, line []byte) {
	w.line = append(append(w.line[:0], named(in.subject)...), ':')
	if w.lineNumbers {
		w.line = append(strconv.AppendInt(w.line, int64(number), 10), ':')
	}
	w.line = appendLine(append(w.line, ' '), bytes.TrimRight(line, "\r"), w.maxLineLength, 0)
	text := strings.ToValidUTF8(string(append(w.line, '\n')), "\uFFFD")
	in.lines = append(in.lines, text)
	w.lines++
	w.bytes += len(text)
}

// fileText is a file that is read piece by piece.
type fileText struct {
	r    io.Reader
	size int64 // when it was opened
	read int64
	text []byte // read and not searched yet
	end  bool   // there is no more
}

// fill puts what follows behind text, which it moves to the front of buf. A file
// that has been read as far as it was long has ended: it is read as it was.
func (t *fileText) fill(buf []byte) error {
	n := copy(buf, t.text)
	defer func() { t.text = buf[:n] }()
	for n < len(buf) {
		more, err := t.r.Read(buf[n:])
		n, t.read = n+more, t.read+int64(more)
		if err == io.EOF || err == nil && t.size > 0 && t.read >= t.size {
			t.end = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
