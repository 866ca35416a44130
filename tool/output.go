package tool

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	headBytes = 128 << 10 // kept of the beginning of a command's output
	tailBytes = 128 << 10 // kept of its end

	progressEvery = time.Second
	progressBytes = 200 // shown of the last line
)

// output keeps the beginning and the end of what a command writes, in bounded
// memory. It is written to by one goroutine at a time.
type output struct {
	head, tail []byte // tail is a ring once it is full
	at         int    // where the ring begins
	cut        int    // bytes that fell out of the middle

	progress func(string)
	last     time.Time
}

func (o *output) Write(p []byte) (int, error) {
	rest := p
	if room := headBytes - len(o.head); room > 0 {
		n := min(room, len(rest))
		o.head, rest = append(o.head, rest[:n]...), rest[n:]
	}
	if over := len(rest) - tailBytes; over > 0 {
		o.cut, rest = o.cut+over, rest[over:]
	}
	if room := tailBytes - len(o.tail); room > 0 {
		n := min(room, len(rest))
		o.tail, rest = append(o.tail, rest[:n]...), rest[n:]
	}
	for len(rest) > 0 {
		n := copy(o.tail[o.at:], rest)
		o.cut, rest = o.cut+n, rest[n:]
		o.at = (o.at + n) % tailBytes
	}
	o.show(p)
	return len(p), nil
}

// show passes the last line on, now and then.
func (o *output) show(p []byte) {
	line := bytes.TrimRight(p, "\r\n")
	if o.progress == nil || len(line) == 0 || time.Since(o.last) < progressEvery {
		return
	}
	o.last = time.Now()
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	o.progress(strings.ToValidUTF8(string(line[:min(len(line), progressBytes)]), ""))
}

// text is what was kept, as text, with what was cut said in its place,
// and end on a line of its own.
func (o *output) text(end string) string {
	var b strings.Builder
	if o.cut == 0 {
		whole := append(append([]byte{}, o.head...), o.tail...)
		b.WriteString(readable(string(whole)))
	} else {
		head, tail := string(o.head), string(o.tail[o.at:])+string(o.tail[:o.at])
		before, after := brokenEnd(head), brokenStart(tail)
		b.WriteString(readable(head[:len(head)-before]))
		fmt.Fprintf(&b, "\n[%d bytes cut]\n", before+o.cut+after)
		b.WriteString(readable(tail[after:]))
	}
	text := b.String()
	switch {
	case end == "" && text == "":
		return "[no output]"
	case end != "" && text != "" && !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	return text + end
}

// readable has one U+FFFD for each run of bytes that are no text: NUL too, which
// not all who get it take.
func readable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\xff"), "\uFFFD")
}

// brokenEnd is how many bytes at the end of text begin a character whose rest was
// cut off.
func brokenEnd(text string) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(text)); n++ {
		if rest := text[len(text)-n:]; utf8.RuneStart(rest[0]) {
			if utf8.FullRuneInString(rest) {
				return 0
			}
			return n
		}
	}
	return 0
}

// brokenStart is how many bytes at its beginning end one.
func brokenStart(text string) int {
	n := 0
	for n < min(utf8.UTFMax-1, len(text)) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}
