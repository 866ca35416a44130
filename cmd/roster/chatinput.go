package main

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

const (
	maxTypedLines = 10_000 // that the field for what is typed holds
	maxPast       = 200    // of what was typed can be taken up again
)

// past is what was typed, the newest last.
type past struct {
	lines []string
	back  int // how far back the one is that is shown; 0: none is
}

func (p *past) add(text string) {
	p.back = 0
	if n := len(p.lines); n > 0 && p.lines[n-1] == text {
		return
	}
	p.lines = append(p.lines, text)
	if len(p.lines) > maxPast {
		p.lines = p.lines[1:]
	}
}

// shown is the one that is shown, or nothing.
func (p *past) shown() string {
	if p.back == 0 {
		return ""
	}
	return p.lines[len(p.lines)-p.back]
}

// step goes to an older one, or with -1 to a newer one. It says whether there is one.
func (p *past) step(by int) bool {
	to := p.back + by
	if to < 0 || to > len(p.lines) {
		return false
	}
	p.back = to
	return true
}

// key takes the keys that are not text.
func (m *chat) key(key string) (tea.Cmd, bool) {
	switch key {
	case "enter":
		return m.enter(), true
	case "ctrl+c":
		return m.interrupt(), true
	case "ctrl+d":
		if m.input.Value() == "" {
			return m.leave(), true
		}
	case "tab":
		return m.complete(), true
	case "ctrl+z":
		return tea.Suspend, true
	case "ctrl+o":
		return m.unfold(), true
	case "up":
		return nil, m.recall(1)
	case "down":
		return nil, m.recall(-1)
	}
	return nil, false
}

func (m *chat) enter() tea.Cmd {
	m.lookAgain()
	if m.answering { // what is asked next has to be seen first
		return nil
	}
	text := strings.TrimSpace(m.input.Value())
	m.input.Reset()
	if text == "" {
		return nil
	}
	m.past.add(text)
	return m.typed(text)
}

// interrupt ends what is under way: the run, else what is being typed, else the chat.
func (m *chat) interrupt() tea.Cmd {
	switch {
	case m.busy, m.posting:
		return m.cancel()
	case m.input.Value() != "":
		m.past.add(m.input.Value())
		m.input.Reset()
		return nil
	}
	return m.leave()
}

// recall shows what was typed before in place of what is typed, unless that is something
// new: the keys move in it then.
func (m *chat) recall(by int) bool {
	if m.input.Value() != m.past.shown() || !m.past.step(by) {
		return false
	}
	m.input.SetValue(m.past.shown())
	return true
}

// paste takes pasted text, and refuses what the field would cut.
func (m *chat) paste(p tea.PasteMsg) tea.Cmd {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(p.Content) // terminals send the one or the other
	text = strings.TrimRight(text, "\n")
	lines := m.input.LineCount() + strings.Count(text, "\n")
	if lines > maxTypedLines || m.input.Length()+len(text) > maxPrompt {
		return m.failure(fmt.Errorf("what is pasted is more than %d lines or %d MiB: put it into a file of the workspace and name that, as @FILE", maxTypedLines, maxPrompt>>20))
	}
	m.input.InsertString(text)
	return nil
}

// giveBack returns what could not be sent to where it was typed.
func (m *chat) giveBack(text string) {
	if m.input.Value() == "" {
		m.input.SetValue(text)
	}
}
