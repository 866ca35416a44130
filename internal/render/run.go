package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Run shows a run as it happens. It is not safe for concurrent use. The first
// error of a stream that it writes to is kept; see Err.
type Run struct {
	// Out gets the answer: the text as it comes if Stream is set, else the
	// text of the last message when the run ends.
	Out io.Writer
	// Err gets everything else; nil: nothing else is shown.
	Err    io.Writer
	Stream bool
	// Tame says that what could drive a terminal is shown escaped on Out, as it is
	// where text streams.
	Tame  bool
	Style Style // of Err
	// Begun says that the loop has begun: its head is not shown. Otherwise text
	// that comes before it, which is not committed with it, is held back.
	Begun bool
	// Within says that it is known which session it is: it is not named.
	Within bool

	early   []session.Body
	calls   map[string]string // session and call id → what is called on what
	writing string            // id of the message whose text is being shown
	shown   int               // bytes of it
	open    bool              // the line on Out is not finished
	musing  bool              // the line on Err is not: it shows thinking
	turns   int
	since   time.Time
	fault   error
}

// Fault is the first error that Out gave.
func (r *Run) Fault() error { return r.fault }

// Event shows one event, stored or live.
func (r *Run) Event(e *session.Event) error {
	body, err := e.Decode()
	if err != nil {
		return err
	}
	if e.Depth > 0 {
		r.child(e, body)
		return r.fault
	}
	switch b := body.(type) {
	case *session.Delta:
		r.delta(b)
	case *session.Thinking:
		r.thinking(b)
	case *session.Partial:
		r.delta(&b.Delta)
	case *session.Reset:
		r.reset(b)
	case *session.Message:
		r.message(b)
		r.stopped(b)
	case *session.LoopStart:
		r.start(e, b)
	case *session.Worktree:
		r.worktree("", b)
	case *session.LoopResumed:
		r.notef("· taken up where it stood (%s)", orWord(b.Why, "the worker before is gone"))
	case *session.PermissionResolved:
		r.answered(b.By, b.Answer)
	case *session.InputAnswered:
		r.answered(b.By, b.Answer)
	case *session.Switched:
		r.notef("· %s", switched(b))
	case *session.ToolsChanged:
		r.retooled(b)
	case *session.Lent:
		r.notef("· %s", lent(b))
	case *session.TurnStart:
		r.turns++
	case *session.ToolBefore:
		r.before(e, b)
	case *session.ToolAfter:
		r.after(e, b)
	case *session.Retry:
		r.notef("· the model call failed, trying again in %s: %s", took(b.Delay), line(b.Error, noteRunes))
	case *session.Fallback:
		r.notef("· %s", fallback(b))
	case *session.Compaction:
		r.notef("· %s", compaction(b))
	case *session.Limit:
		r.notef("· %s", Limit(b))
	case *session.LoopEnd:
		r.end(e, b)
	}
	return r.fault
}

const noteRunes = 300

// retooled tells of tools that have come, gone or changed.
func (r *Run) retooled(b *session.ToolsChanged) {
	for _, x := range []struct {
		what  string
		names []string
	}{{"more tools", b.Added}, {"tools that are gone", b.Removed}, {"tools that have changed", b.Changed}} {
		if len(x.names) > 0 {
			r.notef("· %s: %s", x.what, line(strings.Join(x.names, ", "), noteRunes))
		}
	}
	for _, n := range b.Notes {
		r.notef("· %s", line(n, noteRunes))
	}
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (r *Run) start(e *session.Event, b *session.LoopStart) {
	r.since, r.Begun, r.turns = e.Time, true, 0
	head := b.Profile
	if b.Model != "" { // a run that fails before it has one
		head += " · " + b.Model
	}
	if !r.Within {
		head += " · session " + e.Session
	}
	r.notef("%s", head)
	for _, b := range r.early {
		switch b := b.(type) {
		case *session.Delta:
			r.delta(b)
		case *session.Thinking:
			r.thinking(b)
		}
	}
	r.early = nil
}

func (r *Run) delta(d *session.Delta) {
	if !r.Stream {
		return
	}
	if !r.Begun {
		r.early = append(r.early, d)
		return
	}
	if d.Message != r.writing {
		r.finishLine()
		r.writing, r.shown = d.Message, 0
	}
	r.text(d.Offset, d.Text)
}

// text shows what of a piece has not been shown. What was missed before it
// comes with the stored message.
func (r *Run) text(offset int, text string) {
	if offset > r.shown || offset+len(text) <= r.shown {
		return
	}
	r.print(text[r.shown-offset:])
	r.shown = offset + len(text)
}

func (r *Run) reset(b *session.Reset) {
	if b.Message != r.writing || r.shown == 0 {
		return
	}
	r.shown = 0
	r.notef("· the answer broke off; what was shown of it does not count")
}

func (r *Run) message(b *session.Message) {
	if b.Role != message.Assistant || !r.Stream {
		return
	}
	if b.ID != r.writing {
		r.finishLine()
		r.writing, r.shown = b.ID, 0
	}
	r.text(0, message.PartsText(b.Parts))
	r.finishLine()
}

// stopped says why an answer is not what the model would have said.
func (r *Run) stopped(b *session.Message) {
	switch b.Stop {
	case "length":
		r.notef("· the answer was cut off: it reached the most that the model may write (max-tokens)")
	case "refusal":
		r.notef("· the model or its provider refused to answer")
	}
}

func (r *Run) answered(who string, answer session.Answer) {
	by := ""
	if who != "" {
		by = " by " + line(who, callRunes)
	}
	r.notef("· answered%s: %s", by, line(string(answer), callRunes))
}

func (r *Run) before(e *session.Event, b *session.ToolBefore) {
	if r.calls == nil {
		r.calls = map[string]string{}
	}
	r.calls[e.Session+" "+b.Call] = Call(b.Tool, b.Input)
}

func (r *Run) after(e *session.Event, b *session.ToolAfter) {
	key := e.Session + " " + b.Call
	what := r.calls[key]
	delete(r.calls, key)
	if what == "" {
		what = line(b.Tool, callRunes)
	}
	note := fmt.Sprintf("%s, %s", b.Outcome, took(b.Duration))
	if b.Outcome != session.OK {
		note = fmt.Sprintf("%s: %s", b.Outcome, line(message.PartsText(b.Parts), callRunes))
	}
	r.notef("%s· %s (%s)", strings.Repeat("  ", e.Depth), what, note)
}

// child shows what happens in a session that was delegated to. Its text is not
// the answer and is left out.
func (r *Run) child(e *session.Event, body session.Body) {
	indent := strings.Repeat("  ", e.Depth)
	switch b := body.(type) {
	case *session.LoopStart:
		r.notef("%s%s · %s · session %s", indent, line(b.Profile, callRunes), line(b.Model, callRunes), e.Session)
	case *session.Worktree:
		r.worktree(indent, b)
	case *session.ToolBefore:
		r.before(e, b)
	case *session.ToolAfter:
		r.after(e, b)
	case *session.Retry:
		r.notef("%s· the model call failed, trying again in %s: %s", indent, took(b.Delay), line(b.Error, noteRunes))
	case *session.Fallback:
		r.notef("%s· %s", indent, fallback(b))
	case *session.Compaction:
		r.notef("%s· %s", indent, compaction(b))
	case *session.Limit:
		r.notef("%s· %s", indent, Limit(b))
	case *session.Lent:
		r.notef("%s· %s", indent, lent(b))
	case *session.LoopEnd:
		if b.Error != nil {
			r.notef("%s· session %s: %s: %s", indent, e.Session, b.Reason, line(b.Error.Error, noteRunes))
			return
		}
		r.notef("%s· session %s: %s%s · %s", indent, e.Session, b.Reason, detail(b), Usage(b.Usage))
	}
}

func (r *Run) end(e *session.Event, b *session.LoopEnd) {
	if r.Stream {
		r.finishLine()
	} else if b.Text != "" {
		r.print(b.Text)
		r.finishLine()
	}
	if b.Reason == session.ReasonDone && strings.TrimSpace(b.Text) == "" {
		r.notef("· the answer is empty")
	}
	if b.Error != nil {
		r.errorf("failed: %s", Safe(b.Error.Error))
	} else if b.Reason != session.ReasonDone {
		r.errorf("ended: %s%s", b.Reason, detail(b))
	}
	if r.Within {
		r.notef("%s%s", Usage(b.Usage), r.sums(e))
		return
	}
	r.notef("session: %s", e.Session)
	r.notef("usage:   %s%s", Usage(b.Usage), r.sums(e))
}

func detail(b *session.LoopEnd) string {
	switch {
	case b.Limit != "":
		return " (" + b.Limit + ")"
	case b.Denied > 0:
		return fmt.Sprintf(" (%d tool calls)", b.Denied)
	}
	return ""
}

func (r *Run) sums(e *session.Event) string {
	if r.since.IsZero() {
		return ""
	}
	return fmt.Sprintf(" · turns %d · %s", r.turns, took(e.Time.Sub(r.since)))
}

func (r *Run) print(text string) {
	if text == "" {
		return
	}
	r.endThinking()
	if r.Stream || r.Tame {
		text = Safe(text)
	}
	if _, err := io.WriteString(r.Out, text); err != nil && r.fault == nil {
		r.fault = err
	}
	r.open = !strings.HasSuffix(text, "\n")
}

func (r *Run) finishLine() {
	r.endThinking()
	if r.open {
		r.print("\n")
	}
}

func (r *Run) notef(format string, args ...any) {
	if r.Err == nil {
		return
	}
	r.finishLine()
	fmt.Fprintln(r.Err, r.Style.paint(dim, fmt.Sprintf(format, args...)))
}

func (r *Run) errorf(format string, args ...any) {
	if r.Err == nil {
		return
	}
	r.finishLine()
	fmt.Fprintln(r.Err, r.Style.paint(red, fmt.Sprintf(format, args...)))
}

// Usage writes token counts and cost.
func Usage(u message.Usage) string {
	s := fmt.Sprintf("%s tokens in, %s out", count(u.Input+u.CacheRead+u.CacheWrite), count(u.Output))
	switch {
	case u.CacheRead > 0 && u.CacheWrite > 0:
		s += fmt.Sprintf(", %s of them from the cache and %s written to it", count(u.CacheRead), count(u.CacheWrite))
	case u.CacheRead > 0:
		s += fmt.Sprintf(", %s of them from the cache", count(u.CacheRead))
	case u.CacheWrite > 0:
		s += fmt.Sprintf(", %s of them written to the cache", count(u.CacheWrite))
	}
	s += fmt.Sprintf(", $%.4f", u.Cost)
	if u.Estimated {
		s += " (estimated)"
	}
	return s
}

// Limit says which limit ended a run and where it was set.
func Limit(b *session.Limit) string {
	s := fmt.Sprintf("the limit of %s was reached: %g of %g", b.Limit, b.Used, b.Max)
	if b.Set != "" {
		s += ", set at " + b.Set
	}
	return s
}

const callRunes = 120

// Call writes a tool call in one line: the tool and what it is used on.
func Call(tool string, input []byte) string {
	var args map[string]json.RawMessage
	tool = line(tool, callRunes)
	if json.Unmarshal(input, &args) != nil {
		return tool
	}
	for _, key := range []string{"path", "command", "pattern", "url", "query", "profile", "name"} {
		var text string
		if raw, ok := args[key]; ok && json.Unmarshal(raw, &text) == nil && text != "" {
			return tool + " " + line(text, callRunes)
		}
	}
	if b := bytes.TrimSpace(input); len(b) > len("{}") {
		return tool + " " + line(string(b), callRunes)
	}
	return tool
}
