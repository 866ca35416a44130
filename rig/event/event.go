// Package event is about the events by which one knot starts the work of others: how an
// answer carries them, and which knots wait for them.
package event

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v4"
)

// Event is something that has happened.
type Event struct {
	Name        string // as consumers call it, without the producer
	Description string // what has happened, in a sentence; may be empty
	Payload     string // all that consumers are told: text, or YAML where it was a mapping or a list
}

// Bounds of what one answer carries.
const (
	MaxEvents  = 64
	MaxPayload = 256 << 10 // bytes
	maxName    = 128
)

// Problem is a block of an answer that was meant as an event and is none.
type Problem struct {
	Line int // of the block's first line, in the answer
	Err  error
}

func (p *Problem) Error() string { return fmt.Sprintf("line %d of the answer: %v", p.Line, p.Err) }

func (p *Problem) Unwrap() error { return p.Err }

// Find finds the events that an answer carries: fenced blocks of the language event, or
// of YAML or none that begin with event:, as
//
//	```event
//	event: NeedsReview
//	description: The summary is longer than the text.
//	payload: docs/intro.md
//	```
//
// What is meant as one and cannot be read is a *Problem, and so are those past MaxEvents.
func Find(answer string) (events []Event, problems []*Problem) {
	source := []byte(answer)
	doc := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails only if we do
		block, ok := n.(*ast.FencedCodeBlock)
		if !ok || !entering || !means(block, source) {
			return ast.WalkContinue, nil
		}
		e, err := read(content(block, source))
		if err == nil && len(events) >= MaxEvents {
			err = fmt.Errorf("an answer carries at most %d events", MaxEvents)
		}
		if err != nil {
			problems = append(problems, &Problem{line(block, source), err})
		} else {
			events = append(events, e)
		}
		return ast.WalkContinue, nil
	})
	return events, problems
}

// means says whether a block is meant as an event.
func means(b *ast.FencedCodeBlock, source []byte) bool {
	switch language := string(b.Language(source)); language {
	case "event":
		return true
	case "", "yaml", "yml":
		return bytes.HasPrefix(bytes.TrimLeft(content(b, source), " \t\r\n"), []byte("event:"))
	}
	return false
}

func content(b *ast.FencedCodeBlock, source []byte) []byte {
	var out []byte
	for i := range b.Lines().Len() {
		segment := b.Lines().At(i)
		out = append(out, segment.Value(source)...)
	}
	return out
}

// line is the one that a block begins with.
func line(b *ast.FencedCodeBlock, source []byte) int {
	switch {
	case b.Info != nil:
		return 1 + bytes.Count(source[:b.Info.Segment.Start], []byte("\n"))
	case b.Lines().Len() > 0:
		return bytes.Count(source[:b.Lines().At(0).Start], []byte("\n"))
	}
	return 1
}

func read(data []byte) (e Event, err error) {
	var in struct {
		Event       string    `yaml:"event"`
		Description string    `yaml:"description"`
		Payload     yaml.Node `yaml:"payload"`
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return e, CheckName("")
	}
	if err := yaml.Load(data, &in); err != nil {
		return e, fmt.Errorf("the event cannot be read as YAML: %w", err)
	}
	if err := CheckName(in.Event); err != nil {
		return e, err
	}
	e = Event{Name: in.Event, Description: strings.TrimSpace(in.Description)}
	switch in.Payload.Kind {
	case 0:
	case yaml.ScalarNode:
		e.Payload = in.Payload.Value
	default:
		out, err := yaml.Marshal(&in.Payload)
		if err != nil {
			return e, fmt.Errorf("payload: %w", err)
		}
		e.Payload = string(out)
	}
	if len(e.Payload) > MaxPayload {
		return e, fmt.Errorf("the payload has %d bytes, and may have %d", len(e.Payload), MaxPayload)
	}
	return e, nil
}

// CheckName says what is wrong with the name of an event: it has letters, digits and
// . _ -, and begins with a letter or a digit.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the event has no name: write event: NAME")
	case len(name) > maxName:
		return fmt.Errorf("the name of the event has %d bytes, and may have %d", len(name), maxName)
	}
	for i, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) {
			return fmt.Errorf("%q is no name of an event: it has letters, digits and . _ -", name)
		}
	}
	return nil
}
