package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// Approval asks a person for a tool call: what it would do, why it is asked, and
// what may be answered. Nothing of it is hidden.
func Approval(w io.Writer, s Style, a *view.Approval) {
	Question(w, s, a)
	if a.Question != "" {
		hint := "answer in one line, or /no (a reason may follow)"
		if len(a.Options) > 0 {
			hint = "answer with a number or in one line, or /no (a reason may follow)"
		}
		fmt.Fprintf(w, "  %s\n", s.paint(dim, hint))
		return
	}
	choices := []string{"y once"}
	if slices.Contains(a.Answers, session.AnswerSession) {
		choices = append(choices, "s for this session")
	}
	if slices.Contains(a.Answers, session.AnswerAlways) {
		choices = append(choices, "a always in this workspace")
	}
	choices = append(choices, "n no (a reason may follow)")
	if slices.Contains(a.Answers, session.AnswerSession) {
		choices = append(choices, "never in this session")
	}
	fmt.Fprintf(w, "  %s\n", strings.Join(choices, ", "))
}

// Question says what is asked and why, and not how it is answered: that is
// another matter on each way.
func Question(w io.Writer, s Style, a *view.Approval) {
	if a.Question != "" {
		inquiry(w, s, a)
		return
	}
	fmt.Fprintf(w, "%s\n", s.paint(bold, fmt.Sprintf("%s asks to use %s:", Visible(a.AgentID), Visible(a.Tool))))
	for _, line := range a.Shown {
		fmt.Fprintf(w, "  %s\n", s.paint(yellow, line))
	}
	for _, line := range arguments(a) {
		fmt.Fprintf(w, "  %s\n", s.paint(dim, line))
	}
	fmt.Fprintf(w, "  %s\n", s.paint(dim, why(a)))
}

// inquiry asks a person what only a person can say.
func inquiry(w io.Writer, s Style, a *view.Approval) {
	fmt.Fprintf(w, "%s\n", s.paint(bold, fmt.Sprintf("%s asks:", Visible(a.AgentID))))
	for _, l := range strings.Split(a.Question, "\n") {
		fmt.Fprintf(w, "  %s\n", s.paint(yellow, Visible(l)))
	}
	for i, o := range a.Options {
		fmt.Fprintf(w, "  %d %s\n", i+1, Visible(o))
	}
}

// Choice says what an answer to an approval means, for a list to choose from.
func Choice(a session.Answer) string {
	switch a {
	case session.AnswerOnce:
		return "Allow this once"
	case session.AnswerSession:
		return "Allow for this session"
	case session.AnswerAlways:
		return "Allow always in this workspace"
	}
	return "Refuse"
}

// maxArguments bounds what is shown of the arguments, in bytes; what is cut is
// said.
const maxArguments = 4 << 10

func arguments(a *view.Approval) []string {
	text := string(a.Arguments)
	cut := ""
	if len(text) > maxArguments {
		text, cut = text[:maxArguments], fmt.Sprintf(" … and %d bytes more: see roster approvals list --json", len(text)-maxArguments)
	}
	if text == "" || text == "{}" {
		return nil
	}
	return []string{"with " + Visible(text) + cut}
}

// why says which rule asks, and why again.
func why(a *view.Approval) string {
	s := "because " + Visible(a.Reason)
	if r := a.Rule; r != nil {
		s += fmt.Sprintf(" (%s %s %q", r.Effect, Visible(r.Tool), r.Subject)
		if r.File != "" {
			s += fmt.Sprintf(" at %s:%d", Visible(r.File), r.Line)
		} else if r.Layer != "" {
			s += ", " + r.Layer
		}
		s += ")"
	}
	if a.Again != "" {
		s += "; asked again, as " + Visible(a.Again)
	}
	return s
}

// Waiting says what a run waits for and how that is answered.
func Waiting(w io.Writer, s Style, id string, list []view.Approval) {
	what := "an answer"
	if slices.ContainsFunc(list, func(a view.Approval) bool { return a.Question == "" }) {
		what = "an approval"
	}
	fmt.Fprintln(w, s.paint(yellow, "waiting for "+what))
	for i := range list {
		a := &list[i]
		fmt.Fprintf(w, "  %s\n", strings.Join(a.Shown, "; "))
		if a.Question != "" {
			fmt.Fprintf(w, "    roster approvals answer %s --text TEXT\n", a.ID)
			continue
		}
		words := make([]string, len(a.Answers))
		for i, x := range a.Answers {
			words[i] = string(x)
		}
		fmt.Fprintf(w, "    roster approvals answer %s %s\n", a.ID, strings.Join(words, "|"))
	}
	fmt.Fprintf(w, "  then: roster sessions resume %s\n", id)
}
