package mcp

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/secret"
)

const (
	// maxKept bounds what is kept of what a server wrote to its standard error.
	maxKept = 64 << 10
	// maxLine bounds a line of it, in bytes.
	maxLine = 1 << 10
	// burst is how many lines are passed on at once, and perSecond how many for long.
	burst     = 200
	perSecond = 20
)

// discard is for what the library notices: what matters comes back as an error.
var discard = slog.New(slog.DiscardHandler)

// logger keeps the last lines and passes lines on, but not more than somebody could
// read. It is an io.Writer, and safe for concurrent use.
type logger struct {
	pass    func(line string)
	secrets []string // values that are not shown

	mu      sync.Mutex
	part    []byte // of a line
	cut     bool   // it was too long
	kept    []string
	size    int
	tokens  float64
	at      time.Time
	dropped int
}

func newLogger(pass func(string), secrets []string) *logger {
	return &logger{pass: pass, secrets: secrets, tokens: burst, at: time.Now()}
}

// Write implements io.Writer for the standard error of a program.
func (l *logger) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		head, tail, whole := bytes.Cut(rest, []byte("\n"))
		n := min(len(head), maxLine-len(l.part))
		l.part, l.cut = append(l.part, head[:n]...), l.cut || n < len(head)
		if whole {
			l.end()
		}
		rest = tail
	}
	return len(p), nil
}

// flush ends a line that has no end.
func (l *logger) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
}

func (l *logger) end() {
	text := line(string(l.part), maxLine)
	if l.cut {
		text += " […]"
	}
	l.part, l.cut = l.part[:0], false
	if text != "" {
		l.add(text)
	}
}

// note adds a line of ours.
func (l *logger) note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add("[" + line(text, 2*maxLine) + "]")
}

func (l *logger) add(text string) {
	text = secret.Hide(text, l.secrets)
	l.kept, l.size = append(l.kept, text), l.size+len(text)
	for l.size > maxKept {
		l.size -= len(l.kept[0])
		l.kept = l.kept[1:]
	}
	now := time.Now()
	l.tokens = min(burst, l.tokens+now.Sub(l.at).Seconds()*perSecond)
	l.at = now
	if l.tokens < 1 {
		l.dropped++
		return
	}
	l.tokens--
	if l.dropped > 0 {
		l.pass(fmt.Sprintf("[%d lines were left out]", l.dropped))
		l.dropped = 0
	}
	l.pass(text)
}

// lines are the lines that are kept.
func (l *logger) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.kept...)
}

// last is the last line that the server wrote or, where one of the last names an
// error, that: what runs JavaScript ends with its own version.
func (l *logger) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := ""
	for i := len(l.kept) - 1; i >= max(0, len(l.kept)-lastLines); i-- {
		switch text := l.kept[i]; {
		case text[0] == '[':
		case namesError(text):
			return text
		case last == "":
			last = text
		}
	}
	return last
}

const lastLines = 30

// namesError says of a line that it begins as errors do, such as "TypeError: …".
func namesError(text string) bool {
	kind, _, ok := strings.Cut(text, ":")
	kind = strings.ToLower(kind)
	return ok && !strings.Contains(kind, " ") && (strings.HasSuffix(kind, "error") || strings.HasSuffix(kind, "exception") || kind == "fatal")
}
