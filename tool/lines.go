package tool

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readBuffer is how much of a file is read at once, in bytes.
const readBuffer = 64 << 10

// lineReader reads lines of any length and keeps the first max characters. buf
// holds more than sniffBytes.
type lineReader struct {
	r    io.Reader
	buf  []byte
	rest []byte // of buf, not yet read
	max  int

	line []byte // valid until the next one
	long []byte // holds what came in pieces
	cut  int    // bytes left out
	err  error  // io.EOF at the end
}

// head is what the file begins with.
func (l *lineReader) head() ([]byte, error) {
	n := 0
	for n < sniffBytes && l.err == nil {
		var more int
		more, l.err = l.r.Read(l.buf[n:])
		n += more
	}
	l.rest = l.buf[:n]
	if l.err == io.EOF {
		return l.rest, nil
	}
	return l.rest, l.err
}

// next goes to the next line; without keep its text is not wanted.
func (l *lineReader) next(keep bool) bool {
	room := min(l.max, maxReadBytes)*utf8.UTFMax + 2
	end := bytes.IndexByte(l.rest, '\n') + 1
	if end == 0 || end > room {
		return l.pieces(keep, room)
	}
	l.line, l.rest, l.cut = l.rest[:end], l.rest[end:], 0
	return true
}

// pieces is next for a line that is not in the buffer as a whole, or too long.
func (l *lineReader) pieces(keep bool, room int) bool {
	l.long, l.cut = l.long[:0], 0
	for got := false; ; {
		end := bytes.IndexByte(l.rest, '\n') + 1
		piece := l.rest[:end]
		if end == 0 {
			piece = l.rest
		}
		l.rest = l.rest[len(piece):]
		got = got || len(piece) > 0
		if keep {
			n := min(len(piece), room-len(l.long))
			l.long = append(l.long, piece[:n]...)
			l.cut += len(piece) - n
		}
		l.line = l.long
		switch {
		case end > 0:
			l.cut = max(l.cut-1, 0) // the line's end was not text
			return true
		case l.err == io.EOF:
			return got
		case l.err != nil:
			return false
		}
		var n int
		n, l.err = l.r.Read(l.buf)
		l.rest = l.buf[:n]
	}
}

// append writes the line without its ending.
func (l *lineReader) append(out []byte) []byte {
	line := l.line
	if n := len(line); l.cut == 0 && n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return appendLine(out, line, l.max, l.cut)
}

// appendLine keeps max characters; more is the number of bytes that were left
// out before.
func appendLine(out, line []byte, max, more int) []byte {
	end := len(line)
	if end > max {
		end = 0
		for range max {
			if end == len(line) {
				break
			}
			_, n := utf8.DecodeRune(line[end:])
			end += n
		}
	}
	out = append(out, line[:end]...)
	if more += len(line) - end; more > 0 {
		out = fmt.Appendf(out, " [line cut, %d more bytes]", more)
	}
	return out
}

// valid replaces what is not UTF-8.
func valid(text string) string {
	if utf8.ValidString(text) { // which is quick where it is true
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// lineNumber is a number as it stands in front of a line, aligned with others.
type lineNumber struct {
	text [32]byte
	at   int // where it begins
}

func newLineNumber(n int) (l lineNumber) {
	text := strconv.AppendInt(nil, int64(n), 10)
	l.at = len(l.text) - 1 - max(len(text), 6)
	for i := range l.text {
		l.text[i] = ' '
	}
	l.text[len(l.text)-1] = '\t'
	copy(l.text[len(l.text)-1-len(text):], text)
	return l
}

func (l *lineNumber) bytes() []byte { return l.text[l.at:] }

// next counts on in place: writing each number anew would take a good part of
// the time of a read.
func (l *lineNumber) next() {
	for i := len(l.text) - 2; ; i-- {
		switch l.text[i] {
		case '9':
			l.text[i] = '0'
			continue
		case ' ':
			l.text[i] = '1'
			l.at = min(l.at, i)
		default:
			l.text[i]++
		}
		return
	}
}
