package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

// chat is a conversation on the terminal. What is finished is printed above, where it
// scrolls away; below stand the answer that comes, a question, and what is typed.
// Update and View are called by one goroutine; work that takes time is done by others,
// which send what came of it.
type chat struct {
	ctx  context.Context
	cli  *cli
	at   place
	f    runFlags
	ask  roster.Ask // of the next prompt; its key is that of the session
	send func(tea.Msg)
	work sync.WaitGroup // what watches the session

	input  textarea.Model
	past   past
	above  above
	width  int
	height int
	style  render.Style
	notes  *render.Run
	noted  *bytes.Buffer // what notes has written
	live   liveText
	busy   bool               // a loop is under way
	own    bool               // it was begun, or taken up, here
	ended  int64              // number of the event that ended the one before
	calls  []workingCall      // that are at work
	asks   []roster.Approval  // what it waits for, the first one shown
	shown  string             // id of the question that was shown last
	last   string             // the last answer
	output string             // of the last tool call
	unsee  context.CancelFunc // nil: no session is watched
	after  int64              // the last event seen of a session whose watch broke off
	left   bool               // the chat is over

	away      bool     // the server is out of reach, which has been said
	answering bool     // an answer to a question is under way
	posting   bool     // a prompt is not stored yet
	waiting   []string // what was typed since

	finishing *unfinished // a word is being finished; nil: none is
	held      []tea.Msg   // keys pressed and texts pasted since
}

// workingCall is a call that is at work.
type workingCall struct{ id, what string }

// liveText is an answer that is not finished.
type liveText struct {
	message string
	attempt int
	text    strings.Builder
}

// end is the end of the text, of whole lines, that has as many bytes at least: all of it
// would be looked at with each piece that comes.
func (l *liveText) end(bytes int) string {
	text := l.text.String()
	from := strings.LastIndexByte(text[:max(0, len(text)-bytes)], '\n') + 1
	return text[from:]
}

// What the screen is told by others.
type (
	seen struct { // events of a session
		of     string
		events []session.Event
	}
	asked   []roster.Approval              // what it waits for
	posted  struct{ sub roster.Submitted } // a prompt is stored
	moved   struct{ key session.Key }      // another session is shown from here on
	takenUp struct{}                       // a run that waited is gone on with here
	printed string                         // to be shown above
	failed  struct{ err error }
	unsent  struct { // what was typed could not be sent
		text string
		err  error
	}
	outage   struct{ err error } // the server is out of reach for now
	answered struct {            // a question, or it could not be
		id, text string
		err      error
	}
	lost struct { // the watch of a session broke off
		of    string
		after int64 // the last event that was seen
		err   error
	}
)

const (
	liveLines     = 8 // of an answer that comes, the last are shown
	maxShownCalls = 4 // of those at work
)

func newChat(ctx context.Context, c *cli, at place, f runFlags, ask roster.Ask) *chat {
	input := textarea.New()
	input.Placeholder = "Say something, or /help"
	input.ShowLineNumbers = false
	input.Prompt = "> "
	input.SetHeight(3)
	input.CharLimit = maxPrompt
	input.MaxHeight = 0 // of the text, not of the field
	input.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j")
	m := &chat{ctx: ctx, cli: c, at: at, f: f, ask: ask, input: input, style: c.style(c.stdout.file), noted: &bytes.Buffer{}}
	m.notes = m.newNotes()
	return m
}

func (m *chat) newNotes() *render.Run {
	return &render.Run{Out: io.Discard, Err: m.noted, Style: m.style, Within: true}
}

func (m *chat) Init() tea.Cmd {
	cmds := []tea.Cmd{m.input.Focus()}
	if m.ask.Key.Stream != "" {
		m.watch(m.ask.Key, 0)
	}
	return tea.Batch(cmds...)
}

func (m *chat) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.hold(msg) {
		return m, nil
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), msg.Height
		m.input.SetWidth(m.width)
		return m, m.flush()
	case flown:
		m.above.flying = false
		return m, m.flush()
	case tea.KeyPressMsg:
		if cmd, done := m.key(msg.String()); done {
			return m, cmd
		}
	case seen:
		if msg.of != m.ask.Key.Stream {
			return m, nil // another one is shown by now
		}
		m.away = false
		return m, m.show(msg.events)
	case asked:
		return m, m.question(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case posted:
		return m, m.posted(msg.sub)
	case unsent:
		m.posting, m.waiting = false, nil
		m.giveBack(msg.text)
		return m, m.failure(msg.err)
	case outage:
		if m.away {
			return m, nil
		}
		m.away = true
		return m, m.print(m.style.Dim("· the server is out of reach, and is asked again: " + render.Safe(msg.err.Error())))
	case answered:
		m.answering = false
		if msg.err != nil {
			m.giveBack(msg.text)
			return m, m.failure(msg.err)
		}
		if len(m.asks) > 0 && m.asks[0].ID == msg.id {
			return m, m.question(m.asks[1:])
		}
		return m, nil
	case lost:
		if msg.of != m.ask.Key.Stream {
			return m, nil
		}
		m.unsee, m.after = nil, msg.after
		return m, m.failure(msg.err)
	case moved:
		m.ask.Key, m.notes, m.live = msg.key, m.newNotes(), liveText{}
		m.busy, m.own, m.ended, m.calls, m.asks, m.shown = false, false, 0, nil, nil, ""
		m.watch(msg.key, 0)
		return m, m.print("· session " + msg.key.Stream)
	case switchedTo:
		m.ask.Profile = string(msg)
		return m, m.print(m.style.Dim("· " + m.ask.Profile + " answers from the next prompt on"))
	case completed:
		return m, m.completed(msg)
	case takenUp:
		m.own = true
	case printed:
		return m, m.print(string(msg))
	case failed:
		return m, m.failure(msg.err)
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

func (m *chat) View() tea.View {
	if m.left || m.width == 0 { // it is over, or how wide the terminal is comes next
		return tea.NewView("")
	}
	var b strings.Builder
	if text := m.live.end(liveLines * m.width * utf8.UTFMax); text != "" {
		lines := strings.Split(m.wrap(strings.TrimRight(render.Safe(text), "\n")), "\n")
		b.WriteString(strings.Join(lines[max(0, len(lines)-liveLines):], "\n") + "\n\n")
	}
	for _, c := range m.calls[:min(len(m.calls), maxShownCalls)] {
		b.WriteString(m.style.Dim(ansi.Truncate("· "+c.what+" …", m.width, "…")) + "\n")
	}
	b.WriteString(m.style.Dim(m.wrap(m.state())) + "\n")
	b.WriteString(m.input.View())
	rows := strings.Split(b.String(), "\n") // what is taller than the terminal would be left above by each that follows
	return tea.NewView(strings.Join(rows[max(0, len(rows)-m.height):], "\n"))
}

// state is the line above what is typed.
func (m *chat) state() string {
	who := m.ask.Profile
	if model := m.ask.Flags["model"]; model != "" {
		who += " · " + model
	}
	switch {
	case m.ask.Key.Stream != "" && m.unsee == nil:
		return who + " · out of reach: Enter looks again"
	case len(m.asks) > 0:
		return who + " · waits for your answer"
	case m.busy:
		return who + " · at work: what you type steers it, Ctrl-C cancels"
	}
	return who
}

// unfold shows what the last tool call gave.
func (m *chat) unfold() tea.Cmd {
	if m.output == "" {
		return m.print(m.style.Dim("· no tool call has given anything yet"))
	}
	return m.print(m.style.Dim(render.Safe(m.output)))
}

// do runs something that takes time, and tells what came of it.
func (m *chat) do(f func(ctx context.Context) (tea.Msg, error)) tea.Cmd {
	return func() tea.Msg {
		msg, err := f(m.ctx)
		if err != nil {
			return failed{err}
		}
		return msg
	}
}

// orphans says whether leaving would leave a run to nobody: it is at work here. One that
// only waits for an answer is taken up by whoever answers.
func (m *chat) orphans() bool {
	return m.busy && m.own && !m.at.GoesOn() && (len(m.asks) == 0 || len(m.calls) > 0)
}

// leave ends the chat, and takes the screen away.
func (m *chat) leave() tea.Cmd {
	rest := m.rest()
	m.left = true
	return tea.Sequence(rest, tea.Quit)
}

func (m *chat) cancel() tea.Cmd {
	if m.posting { // there is nothing to cancel before it is stored
		m.waiting = append(m.waiting, "/cancel")
		return nil
	}
	if !m.busy {
		return m.print(m.style.Dim("· nothing is running"))
	}
	k := m.ask.Key
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		return printed("· cancelling"), m.at.Cancel(ctx, k, "interrupted")
	})
}

// questions asks what the session waits for.
func (m *chat) questions() tea.Cmd {
	k := m.ask.Key
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		list, err := m.at.Approvals(ctx, k)
		return asked(list), err
	})
}

// question shows the first of what the session waits for, above, where it can be read
// to its beginning however long it is.
func (m *chat) question(list []roster.Approval) tea.Cmd {
	m.asks = list
	if len(list) == 0 || list[0].ID == m.shown {
		return nil
	}
	m.shown = list[0].ID
	var text strings.Builder
	render.Approval(&text, m.style, &list[0])
	return m.print(m.wrap(text.String()))
}

// posted goes on from a prompt that is stored, with what was typed meanwhile.
func (m *chat) posted(sub roster.Submitted) tea.Cmd {
	if m.unsee == nil || m.ask.Key.Stream != sub.Key.Stream {
		m.ask.Key, m.ended = sub.Key, 0
		m.watch(sub.Key, sub.After())
	}
	m.posting = false
	m.own = m.own || !m.busy
	m.busy = m.busy || m.ended <= sub.After()
	typed := m.waiting
	m.waiting = nil
	var cmds []tea.Cmd
	for _, text := range typed {
		cmds = append(cmds, m.typed(text))
	}
	return tea.Sequence(cmds...)
}

// lookAgain watches the session from where its watch broke off.
func (m *chat) lookAgain() {
	if m.unsee == nil && m.ask.Key.Stream != "" && !m.posting {
		m.watch(m.ask.Key, m.after)
	}
}

// resume goes on with a run that waits no more; nobody else does, unless it is a
// server's.
func (m *chat) resume() tea.Cmd {
	k := m.ask.Key
	return m.do(func(ctx context.Context) (tea.Msg, error) {
		err := m.at.Resume(ctx, k)
		if errors.Is(err, session.ErrNoWork) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("going on: %w", err)
		}
		return takenUp{}, nil
	})
}
