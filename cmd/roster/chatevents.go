package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// watch follows a session from an event on, in place of the one before.
func (m *chat) watch(k session.Key, after int64) {
	if m.unsee != nil {
		m.unsee()
	}
	ctx, cancel := context.WithCancel(m.ctx)
	m.unsee = cancel
	m.work.Go(func() {
		for ctx.Err() == nil {
			for events, err := range m.at.Follow(ctx, k, after) {
				if behind := (*dispatch.FellBehind)(nil); errors.As(err, &behind) {
					after = behind.From
					break
				}
				if err != nil {
					if ctx.Err() == nil {
						m.send(lost{k.Stream, after, err})
					}
					return
				}
				for _, e := range events {
					after = max(after, e.Seq)
				}
				m.send(seen{k.Stream, events})
			}
		}
	})
}

// show takes events of the session into the screen.
func (m *chat) show(events []session.Event) tea.Cmd {
	var cmds []tea.Cmd
	for i := range events {
		e := &events[i]
		m.tools(e)
		if err := m.notes.Event(e); err != nil {
			cmds = append(cmds, m.print(m.style.Bad(err.Error())))
			continue
		}
		if e.Depth == 0 {
			cmds = append(cmds, m.event(e)...)
		}
		if m.noted.Len() > 0 {
			cmds = append(cmds, m.print(m.noted.String()))
			m.noted.Reset()
		}
	}
	return tea.Sequence(cmds...)
}

// event takes what notes does not show: what was said, and how the run stands.
func (m *chat) event(e *session.Event) []tea.Cmd {
	body, err := e.Decode()
	if err != nil {
		return nil
	}
	switch b := body.(type) {
	case *session.Prompt:
		m.busy = true
		return []tea.Cmd{m.said(b.Parts)}
	case *session.Steer:
		return []tea.Cmd{m.said(b.Parts)}
	case *session.Followup:
		return []tea.Cmd{m.said(b.Parts)}
	case *session.LoopStart:
		m.busy, m.ask.Profile = true, b.Profile
	case *session.Switched:
		m.ask.Profile = b.To
	case *session.Delta:
		m.delta(b)
	case *session.Partial:
		m.delta(&b.Delta)
	case *session.Reset:
		m.live = liveText{}
	case *session.ToolAfter:
		m.output = message.PartsText(b.Parts)
	case *session.Message:
		if b.Role == message.Assistant {
			m.live = liveText{}
			if text := message.PartsText(b.Parts); text != "" {
				m.last = text
				return []tea.Cmd{m.print(m.markdown(text))}
			}
		}
	case *session.LoopWaiting:
		m.calls = nil
		return []tea.Cmd{m.questions()}
	case *session.PermissionResolved:
		return m.settled(b.Ask)
	case *session.InputAnswered:
		return m.settled(b.Ask)
	case *session.Cancel:
		m.asks = nil
		return []tea.Cmd{m.resume()}
	case *session.LoopEnd:
		m.own = false
		m.busy, m.ended, m.calls, m.asks, m.live = false, e.Seq, nil, nil, liveText{}
	}
	return nil
}

// settled goes on from a question that has its answer, from whomever, to the next one.
func (m *chat) settled(ask string) []tea.Cmd {
	left := slices.DeleteFunc(slices.Clone(m.asks), func(a roster.Approval) bool { return a.ID == ask })
	return []tea.Cmd{m.question(left), m.resume()}
}

// tools keeps what is at work, also for those that were delegated to.
func (m *chat) tools(e *session.Event) {
	if e.Type != "tool.before" && e.Type != "tool.after" {
		return
	}
	body, err := e.Decode()
	if err != nil {
		return
	}
	gone := func(call string) {
		m.calls = slices.DeleteFunc(m.calls, func(c workingCall) bool { return c.id == e.Session+" "+call })
	}
	switch b := body.(type) {
	case *session.ToolBefore:
		gone(b.Call) // it is begun again after a wait
		m.calls = append(m.calls, workingCall{e.Session + " " + b.Call, render.Call(b.Tool, b.Input)})
	case *session.ToolAfter:
		gone(b.Call)
	}
}

func (m *chat) failure(err error) tea.Cmd {
	return m.print(m.style.Bad(m.wrap("roster: " + render.Safe(err.Error()))))
}

func (m *chat) said(parts []message.Part) tea.Cmd {
	return m.print("\n" + m.style.Strong("> "+strings.ReplaceAll(render.Safe(message.PartsText(parts)), "\n", "\n  ")))
}

// delta adds a piece to the answer that comes. A piece that does not follow is left out:
// the message that is stored has it all.
func (m *chat) delta(d *session.Delta) {
	if d.Message != m.live.message || d.Attempt != m.live.attempt {
		m.live = liveText{message: d.Message, attempt: d.Attempt}
	}
	if had := m.live.text.Len(); d.Offset <= had && d.Offset+len(d.Text) > had {
		m.live.text.WriteString(d.Text[had-d.Offset:])
	}
}

// markdown marks what stands out in an answer, line by line, and leaves the text as the
// model wrote it, to be copied. (Drawing it as a page would have the start of every
// command take four times as long.)
func (m *chat) markdown(text string) string {
	lines := strings.Split(render.Safe(text), "\n")
	code := false
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence || code:
			lines[i] = m.style.Code(line)
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**"):
			lines[i] = m.style.Strong(line)
		}
		code = code != fence
	}
	return strings.Join(lines, "\n")
}
