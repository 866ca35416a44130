package habit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/session"
)

// Ask is what a model is to be asked aside before the loop goes on. The event
// holds what came of it.
type Ask struct {
	About string // stands in the log
	Say   string
	// Answer makes the event of the answer, and Failed that of a call that failed.
	Answer func(text string) session.Body
	Failed func(why string) session.Body
}

// Offer is what the steps of a plan can be done with.
type Offer struct {
	Tools  []string
	Agents []string // profiles that can be given a task
}

// maxSteps is the most that a plan has.
const maxSteps = 15

// form says how a plan is written, which parse reads.
func form(o Offer) string {
	text := "Each step is one action, and says who does it: `tool: NAME`"
	if len(o.Tools) > 0 {
		text += " (" + strings.Join(o.Tools, ", ") + ")"
	}
	if len(o.Agents) > 0 {
		text += ", `agent: PROFILE` (" + strings.Join(o.Agents, ", ") + "; a subtask with clear bounds)"
	}
	return text + `, or ` + "`self`" + `. 1 to 3 steps for simple work, 5 to 9 for medium, 8 to 15 for complex work, never more than 15. Answer in this form, and with nothing else:

MILESTONES
- what will have been reached
STEPS
1. one action | tool: NAME
2. another one | self`
}

// parse reads a plan. Steps beyond the most are cut and counted.
func parse(p *session.Plan, o Offer) *session.Plan {
	steps := false
	for line := range strings.Lines(p.Text) {
		line = strings.Trim(strings.TrimSpace(line), "*# ")
		head := strings.ToUpper(strings.TrimSuffix(line, ":"))
		number, text, numbered := strings.Cut(strings.Replace(line, ")", ".", 1), ".")
		_, err := strconv.Atoi(number)
		switch {
		case line == "" || head == "MILESTONES":
		case head == "STEPS":
			steps = true
		case numbered && err == nil && strings.TrimSpace(text) != "":
			steps = true
			_, text, _ = strings.Cut(line, line[len(number):len(number)+1])
			if len(p.Steps) == maxSteps {
				p.Cut++
				continue
			}
			p.Steps = append(p.Steps, step(text, o))
		case !steps && strings.HasPrefix(line, "-") && len(p.Milestones) < maxSteps:
			p.Milestones = append(p.Milestones, strings.TrimSpace(line[1:]))
		}
	}
	if len(p.Steps) == 0 {
		p.Milestones, p.Failed = nil, "the answer has no numbered steps"
	}
	return p
}

// step reads one, with who does it. What is not offered the agent does itself.
func step(text string, o Offer) session.Step {
	s := session.Step{Text: strings.TrimSpace(text), Status: session.StepPending}
	at := strings.LastIndexByte(s.Text, '|')
	if at < 0 {
		return s
	}
	by := strings.Trim(strings.TrimSpace(s.Text[at+1:]), "`")
	kind, name, _ := strings.Cut(by, ":")
	kind, name = strings.ToLower(strings.TrimSpace(kind)), strings.TrimSpace(name)
	switch {
	case kind == "tool" && slices.Contains(o.Tools, name), kind == "agent" && slices.Contains(o.Agents, name):
		s.By = kind + ": " + name
	case kind != "tool" && kind != "agent" && kind != "self":
		return s // the bar was part of the text
	}
	s.Text = cmp.Or(strings.TrimSpace(s.Text[:at]), by)
	return s
}

// Next is what a model is asked aside before another turn, if anything.
func Next(s State, offer func() Offer) *Ask {
	h := &s.Spec.Habits
	if h.StepValidation {
		if a := validate(s); a != nil {
			return a
		}
	}
	if h.AdaptiveReplan {
		if a := replan(s, offer); a != nil {
			return a
		}
	}
	if h.Planning.On {
		return plan(s, offer)
	}
	return nil
}

// verdict is the first word of an answer, in capitals, and what follows it.
func verdict(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t\r\n*#`\"")
	n := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if n < 0 {
		n = len(text)
	}
	return strings.ToUpper(text[:n]), strings.Trim(text[n:], " \t\r\n*`\":.-")
}

func section(title, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return fmt.Sprintf("%s\n\n%s\n\n", title, text)
}
