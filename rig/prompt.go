package rig

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Strand is one thing that a prompt shows: a file that changed, an event, or a time.
type Strand struct {
	Event Event
	Path  string // of the file, relative to the workspace; absolute where it is outside
	// Content is that of the file, or the payload of an event.
	Content []byte
	// Diff is what changed in the file, as a unified diff; only diff bundling shows it,
	// and the content where there is none.
	Diff string
	// From is the knot that sent the event, as LOOM/NAME, About the file that its work was
	// about, if there is one, and Description what it says of the event.
	From, About, Description string
	At                       time.Time // when the schedule was due
}

// Prompt is what the agent of a knot is asked: the task, the events that other knots
// wait for (none where it has a tool for them), and the strands, each as the knot's bundling shows it. It shows all strands,
// whatever the bundling; only Batch is meant for more than one.
func (k *Knot) Prompt(awaited []Awaited, strands ...Strand) string {
	parts := []string{k.Task()}
	if len(awaited) > 0 {
		parts = append(parts, tellEvents(awaited))
	}
	if k.Bundling.V == Batch && len(strands) > 1 {
		parts = append(parts, fmt.Sprintf("%d files changed:", len(strands)))
	}
	for i := range strands {
		parts = append(parts, strands[i].show(k.Bundling.V))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// tellEvents says how the agent sends events, and which.
func tellEvents(awaited []Awaited) string {
	var b strings.Builder
	b.WriteString(`Other knots wait for events of this work. For each that has happened, add a block such as
this to your answer:

` + "```event" + `
event: ` + awaited[0].ID + `
description: what happened, in a sentence
payload: what they need to know
` + "```" + `

The events are:
`)
	for _, a := range awaited {
		b.WriteString("\n- " + a.ID)
		if len(a.Descriptions) > 0 {
			b.WriteString(": " + strings.Join(a.Descriptions, " / "))
		}
	}
	b.WriteString("\n\nIf none has happened, add no such block.")
	return b.String()
}

func (s *Strand) show(how Bundling) string {
	name := shownPath(s.Path)
	switch s.Event {
	case Deleted:
		return fmt.Sprintf("The file %s was deleted.", name)
	case Scheduled:
		return "This is a run by schedule, due at " + s.At.Format("2006-01-02 15:04 MST") + "."
	case Created, Modified:
		return s.file(fmt.Sprintf("The file %s was %s", name, s.Event), how)
	case Asked:
		if s.Path == "" {
			return "Somebody asked for this run; there is no file."
		}
		return s.file("The file is "+name, how)
	}
	return s.event()
}

// file shows a file behind what is said of it.
func (s *Strand) file(said string, how Bundling) string {
	switch {
	case how == PathOnly:
		return said + "."
	case how == Diff && s.Diff != "":
		return said + ". What changed in it:\n\n" + fenced("diff", s.Diff)
	case len(s.Content) == 0:
		return said + ". It is empty."
	}
	return said + ". Its content:\n\n" + fenced("", string(s.Content))
}

func (s *Strand) event() string {
	said := fmt.Sprintf("The knot %s sent the event %s", s.From, s.Event)
	if s.About != "" {
		said += " about " + shownPath(s.About)
	}
	if d := strings.Join(strings.Fields(s.Description), " "); d != "" {
		said += ": " + d
	}
	if strings.TrimSpace(string(s.Content)) == "" {
		return said
	}
	return said + "\n\nWith it came:\n\n" + fenced("", string(s.Content))
}

// shownPath is a path as one word of text: in quotes where it could be taken for
// something else.
func shownPath(p string) string {
	odd := func(r rune) bool { return r == '`' || r == '"' || !unicode.IsPrint(r) }
	if !utf8.ValidString(p) || strings.ContainsFunc(p, odd) {
		return strconv.Quote(p)
	}
	return "`" + p + "`"
}

// fenced puts text between two lines of more backticks than it has one after another,
// so that nothing in it ends it.
func fenced(language, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + language + "\n" + text + fence
}
