package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// askSummary asks for a summary. It stands in the place of a message of the user.
const askSummary = `<roster-summarise>
The conversation has become too long. Write a summary of all of it that stands above: from here on it is all that is left of it, besides the first and the latest turns. Write no more than %d words, and nothing but the summary. Keep:
- what the user asked for, with every requirement, constraint and preference, in their words where these matter;
- what was decided, and why;
- what was done: files, commands, findings, with names, paths, numbers and identifiers as they are;
- what failed, and what was learned from it;
- what is open, and what the next step was to be.
Call no tools.
</roster-summarise>`

// wordsPerToken is the usual rule of thumb.
const wordsPerToken = 0.7

// summarise is what the log calls the request for a summary.
const summarise = "compaction"

// replace has a summary stand for the turns that are chosen, or where there is
// none and no room is left, a note. What they say is kept as an artifact.
func (c *compaction) replace() (done, ended bool, err error) {
	span := c.s.Messages[c.first:c.recent]
	b := &session.Compaction{
		Kind: session.CompactSummary, From: span[0].ID, To: span[len(span)-1].ID, Count: len(span),
	}
	var text string
	var failed *session.Error
	if c.Spec.Context.Strategy == spec.ContextSummary {
		if text, failed, ended, err = c.summary(span); ended || err != nil {
			return false, ended, err
		}
		if failed != nil && c.why == session.CompactFull && c.now <= c.room {
			f := &session.Compaction{Kind: session.CompactFailed, Error: failed, After: c.now}
			return true, false, c.emitCompaction(f)
		}
	}
	if b.Artifact, err = c.keep(transcript(span)); err != nil {
		return false, false, err
	}
	about := fmt.Sprintf("%d messages of the conversation", len(span))
	where := c.whereIs(b.Artifact) + asked(span, c.s.Messages[c.recent:])
	if text == "" {
		b.Kind, b.Error = session.CompactDrop, failed
		b.Text = fmt.Sprintf("<roster-summary>\n%s are left out here, because there is no more room for them.\n</roster-summary>\nOf the text, %s", about, where)
	} else {
		b.Text = fmt.Sprintf("<roster-summary>\n%s\n</roster-summary>\nThis stands for %s; of the text, %s", text, about, where)
	}
	b.Message = c.clock.ID()
	b.After = max(c.now-c.tokens(span)+int64(float64(message.Tokens(len(b.Text)))*c.factor), 0)
	return true, false, c.emitCompaction(b, append(session.Artifacts(span), b.Artifact)...)
}

// summary asks for the summary of the conversation up to the end of a span.
func (c *compaction) summary(span []*message.Message) (text string, failed *session.Error, ended bool, err error) {
	words := int(float64(c.summaryTokens()) * wordsPerToken)
	a := aside{about: summarise, to: c.recent, say: fmt.Sprintf(askSummary, words)}
	if c.summariser != nil {
		a.link, a.system = &c.summariser.link, c.summariser.system
		b := c.budgetOf(a.link)
		for a.from < c.first && c.tokens(c.s.Messages[a.from:a.to]) > b.room {
			a.from = c.next(a.from)
		}
	}
	if text, failed, ended, err = c.aside(a); failed != nil || ended || err != nil {
		return "", failed, ended, err
	}
	text = strings.TrimSpace(c.clean(text))
	switch n := int64(float64(message.Tokens(len(text))) * c.factor); {
	case text == "":
		failed = &session.Error{Code: "EmptySummary", Error: "the model wrote no summary"}
	case n > c.tokens(span)/2 && n > c.summaryTokens():
		failed = &session.Error{Code: "LongSummary", Error: fmt.Sprintf("the summary has about %d tokens, and what it is of %d", n, c.tokens(span))}
		text = ""
	}
	return text, failed, false, nil
}

// The marks of what stands for messages.
const (
	summaryMark = "<roster-summary>"
	userMark    = "<roster-user-message>"
	userEnd     = "</roster-user-message>"
)

// maxAsked bounds the user's message that is kept beside a summary, in bytes.
const maxAsked = 8000

// asked is the latest message of the user, where that is among those that are
// taken out: what the work is for must not hang on a summary.
func asked(span, rest []*message.Message) string {
	for _, m := range rest {
		if m.Role == message.User {
			return ""
		}
	}
	for _, m := range slices.Backward(span) {
		text := m.Text()
		switch {
		case m.Role != message.User:
			continue
		case strings.HasPrefix(text, summaryMark):
			from, to := strings.LastIndex(text, userMark), strings.LastIndex(text, userEnd)
			if from < 0 || to < from {
				continue
			}
			text = text[from+len(userMark) : to]
		case len(text) > maxAsked:
			text = cutText(text, maxAsked, "see there")
		}
		return "\nThe latest message of the user:\n" + userMark + text + userEnd
	}
	return ""
}

// next is where the turn after a message begins.
func (c *compaction) next(from int) int {
	for _, s := range c.starts {
		if s > from {
			return s
		}
	}
	return len(c.s.Messages)
}

// transcript writes messages out, for one who looks something up.
func transcript(list []*message.Message) string {
	var b strings.Builder
	for _, m := range list {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.Text:
				fmt.Fprintf(&b, "## %s\n%s\n\n", m.Role, p.Text)
			case message.Image:
				fmt.Fprintf(&b, "## %s\n[an image]\n\n", m.Role)
			case message.ToolCall:
				fmt.Fprintf(&b, "## %s calls %s\n%s\n\n", m.Role, p.Name, p.Input)
			case message.ToolResult:
				fmt.Fprintf(&b, "## result of %s\n%s\n\n", p.Name, message.PartsText(p.Parts))
			}
		}
	}
	return b.String()
}

// summariser is the model of the profile that writes summaries.
type summariser struct {
	link
	system []string
}
