package render

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/session"
)

func fallback(b *session.Fallback) string {
	if b.Error == "" {
		return fmt.Sprintf("%s answers", line(b.To, callRunes))
	}
	return fmt.Sprintf("%s answers from now on: %s", line(b.To, callRunes), line(b.Error, noteRunes))
}

// compaction says how the conversation was made smaller.
func compaction(b *session.Compaction) string {
	var what string
	switch b.Kind {
	case session.CompactSummary:
		what = fmt.Sprintf("a summary stands for %d messages", b.Count)
	case session.CompactDrop:
		what = fmt.Sprintf("%d messages are left out", b.Count)
	case session.CompactPrune:
		what = fmt.Sprintf("%d old results are cut", len(b.Results))
	default:
		what = "there is no summary of the conversation"
	}
	if b.Error != nil {
		what += ": " + line(b.Error.Error, noteRunes)
	}
	if b.Kind == session.CompactFailed {
		return what
	}
	return fmt.Sprintf("%s: %d tokens are %d", what, b.Before, b.After)
}

func switched(b *session.Switched) string {
	text := fmt.Sprintf("%s goes on as %s · %s", line(b.From, callRunes), line(b.To, callRunes), line(b.Model, callRunes))
	if b.Reason != "" {
		text += ": " + line(b.Reason, noteRunes)
	}
	return text
}

// lent says what is not asked for any more in a loop, and because of what.
func lent(b *session.Lent) string {
	var rules []string
	for _, x := range b.Rules {
		rule := x.Tool
		if x.Subject != "*" {
			rule += " " + x.Subject
		}
		rules = append(rules, rule)
	}
	return fmt.Sprintf("%s is in use, and these are not asked for: %s", line(b.Source, callRunes), line(strings.Join(rules, ", "), noteRunes))
}
