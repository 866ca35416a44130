package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

const chatHelp = `/switch PROFILE   the next prompts go to PROFILE, in the same session
/model MODEL      they are answered by MODEL; without one by the profile's own
/fork             go on in a new session that begins with this conversation
/resume ID        show another session, and go on with it
/new              begin a new session
/copy             put the last answer into the clipboard
/show             what the last tool call gave (Ctrl-O)
/cancel           end the run (Ctrl-C)
/quit             leave (Ctrl-D)
//TEXT            send a text that begins with a slash
A line break is Alt-Enter or Ctrl-J. Up brings back what was typed before. Tab finishes
commands, names and @files. Other words behind a slash call the commands of the
workspace: roster commands.`

// typed does what a line asks for: an answer to what is asked, a command of the chat, or
// something that is said to the profile.
func (m *chat) typed(text string) tea.Cmd {
	word, rest, _ := strings.Cut(text, " ")
	if m.posting && word != "/quit" && word != "/exit" && word != "/cancel" {
		m.waiting = append(m.waiting, text)
		return nil
	}
	rest = strings.TrimSpace(rest)
	switch word {
	case "/help":
		return m.print(chatHelp)
	case "/quit", "/exit":
		return m.leave()
	case "/cancel":
		return m.cancel()
	case "/show":
		return m.unfold()
	case "/copy":
		if m.last == "" {
			return m.print(m.style.Dim("· there is no answer yet"))
		}
		return tea.Sequence(tea.SetClipboard(m.last), m.print(m.style.Dim("· copied")))
	case "/new":
		return m.fresh()
	case "/model":
		return m.model(rest)
	case "/switch":
		return m.switchTo(rest)
	case "/fork":
		return m.fork()
	case "/resume":
		return m.resumeOther(rest)
	}
	if len(m.asks) > 0 {
		return m.answer(text)
	}
	if m.busy && !strings.HasPrefix(text, "/") {
		return m.steer(text)
	}
	return m.prompt(text)
}

// fresh begins a new session with the next prompt.
func (m *chat) fresh() tea.Cmd {
	if m.busy {
		return m.print("· the run has to end first: /cancel ends it")
	}
	if m.unsee != nil {
		m.unsee()
		m.unsee = nil
	}
	m.ask.Key.Stream, m.notes, m.ended, m.after = "", m.newNotes(), 0, 0
	return m.print(m.style.Dim("· a new session begins with what you say next"))
}

func (m *chat) model(name string) tea.Cmd {
	flags := maps.Clone(m.ask.Flags)
	if flags == nil {
		flags = map[string]string{}
	}
	delete(flags, "model")
	if name != "" {
		flags["model"] = name
	}
	m.ask.Flags = flags
	return m.print(m.style.Dim("· from the next prompt on: " + cmp.Or(name, "the profile's own model")))
}

func (m *chat) switchTo(profile string) tea.Cmd {
	if profile == "" {
		return m.print("· name the profile: /switch PROFILE")
	}
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		if _, err := m.at.Profile(ctx, profile); err != nil {
			return nil, err
		}
		return switchedTo(profile), nil
	})
}

// switchedTo names the profile that answers from the next prompt on.
type switchedTo string

func (m *chat) fork() tea.Cmd {
	k := m.ask.Key
	if k.Stream == "" {
		return m.print("· nothing has been said yet")
	}
	if m.busy {
		return m.print("· the run has to end first: /cancel ends it")
	}
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		forked, err := m.at.Fork(ctx, k, k.Stream, "")
		return moved{forked}, err
	})
}

func (m *chat) resumeOther(id string) tea.Cmd {
	if m.busy {
		return m.print("· the run has to end first: /cancel ends it")
	}
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		if id == "" {
			return nil, fmt.Errorf("name the session: /resume ID (see roster sessions list)")
		}
		if err := knownSession(ctx, m.at, id); err != nil {
			return nil, err
		}
		return moved{session.Key{Tenant: roster.LocalTenant, Stream: id}}, nil
	})
}

// answer answers the question that is shown.
func (m *chat) answer(text string) tea.Cmd {
	a := m.asks[0]
	answer, hint := answerTo(&a, text)
	if hint != "" {
		return m.print("· " + hint)
	}
	answer.By = roster.LocalTenant
	k := m.ask.Key
	m.answering = true
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		_, err := m.at.Answer(ctx, k.Tenant, a.ID, answer)
		return answered{a.ID, text, err}, nil
	})
}

func (m *chat) steer(text string) tea.Cmd {
	ask := m.ask
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		parts := []message.Part{message.Text{Text: text}}
		var err error
		if h, ok := m.at.(here); ok {
			parts, err = m.cli.parts(ctx, h.App, []string{ask.Profile, text}, text, ask.Flags)
		}
		if err == nil {
			err = m.at.Steer(ctx, ask.Key, parts)
		}
		if err != nil {
			return unsent{text, err}, nil
		}
		return nil, nil
	})
}

// prompt says something to the profile.
func (m *chat) prompt(text string) tea.Cmd {
	ask := m.ask
	m.posting = true
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		if err := m.cli.speak(ctx, m.at, m.f, text, &ask); err != nil {
			return unsent{text, err}, nil
		}
		sub, err := m.at.Submit(ctx, ask)
		if err != nil {
			return unsent{text, err}, nil
		}
		return posted{sub}, nil
	})
}
