package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/session"
)

const (
	maxOffered = 20               // words that could be meant are shown
	maxFiles   = 50               // of those that fit best are looked at
	maxListed  = 1000             // sessions are, the newest
	finishTime = 10 * time.Second // after which nobody waits for it any more
)

// chatWords are the commands of the chat.
var chatWords = []string{"/cancel", "/copy", "/exit", "/fork", "/help", "/model", "/new", "/quit", "/resume", "/show", "/switch"}

// unfinished is a word that is to be finished: the one before the cursor.
type unfinished struct {
	text   string // of the field
	word   string
	last   bool                                              // nothing follows the word
	begins func(ctx context.Context) ([]string, bool, error) // words, of which it may begin one, and whether there are more; nil: there are none
	loose  bool                                              // the letters of the word need not stand together in what it means
}

// completed are words that an unfinished one could mean.
type completed struct {
	*unfinished
	words []string
	more  bool // others fit too
	err   error
}

// complete finishes the word before the cursor as far as all agree that could be meant.
// Where that adds nothing, they are shown. Keys that are pressed meanwhile come after it.
func (m *chat) complete() tea.Cmd {
	u := m.unfinished()
	if u.begins == nil {
		return nil
	}
	m.finishing = u
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, finishTime)
		defer cancel()
		words, more, err := u.begins(ctx)
		if !u.loose || slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, u.word) }) {
			words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, u.word) })
		}
		slices.Sort(words)
		return completed{u, slices.Compact(words), more, err}
	}
}

// hold keeps what is typed for when the word is finished; Ctrl-C leaves the word as it is.
func (m *chat) hold(typed tea.Msg) bool {
	if m.finishing == nil {
		return false
	}
	key, pressed := typed.(tea.KeyPressMsg)
	_, pasted := typed.(tea.PasteMsg)
	switch {
	case pressed && key.String() == "ctrl+c":
		m.finishing, m.held = nil, nil
	case pressed, pasted:
		m.held = append(m.held, typed)
	default:
		return false
	}
	return true
}

// completed takes what a word could mean, and then the keys that came meanwhile.
func (m *chat) completed(c completed) tea.Cmd {
	if c.unfinished != m.finishing {
		return nil // somebody did not want to wait
	}
	held := m.held
	m.finishing, m.held = nil, nil
	var cmds []tea.Cmd
	if m.input.Value() == c.text {
		cmds = append(cmds, m.finish(c))
	}
	for _, typed := range held {
		_, cmd := m.Update(typed)
		cmds = append(cmds, cmd)
	}
	return tea.Batch(cmds...)
}

// unfinished finds out what stands before the cursor.
func (m *chat) unfinished() *unfinished {
	u := &unfinished{text: m.input.Value()}
	line := []rune(strings.Split(u.text, "\n")[m.input.Line()])
	before := string(line[:min(m.input.Column(), len(line))])
	at := strings.LastIndexByte(before, ' ') + 1
	if quoted := strings.LastIndex(before, `@"`); quoted >= 0 && !strings.Contains(before[quoted+2:], `"`) {
		at = quoted
	}
	u.word = before[at:]
	first := strings.TrimSpace(before[:at])
	switch {
	case strings.HasPrefix(u.word, "@"):
		u.begins, u.loose = m.filesLike(strings.TrimPrefix(u.word[1:], `"`)), true
	case m.input.Line() > 0:
	case first == "" && strings.HasPrefix(u.word, "/"):
		u.begins = m.commandWords
	case first == "/switch":
		u.begins, u.last = m.profileNames, true
	case first == "/model":
		u.begins, u.last = m.modelNames, true
	case first == "/resume":
		u.begins, u.last = m.sessionIDs, true
	}
	return u
}

// finish puts what fits in the place of the word.
func (m *chat) finish(c completed) tea.Cmd {
	if c.err != nil {
		return m.failure(c.err)
	}
	more, fits := strings.CutPrefix(common(c.words), c.word)
	switch {
	case len(c.words) == 0:
		return m.print(m.style.Dim("· nothing fits " + render.Safe(c.word)))
	case len(c.words) == 1 && !c.more:
		for range []rune(c.word) {
			m.input, _ = m.input.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		}
		m.input.InsertString(c.words[0])
		if !c.last {
			m.input.InsertRune(' ')
		}
	case fits && more != "" && !c.more:
		m.input.InsertString(more)
	default:
		return m.print(m.style.Dim(m.wrap(listed(c.words, c.more))))
	}
	return nil
}

// listed is what is shown of words.
func listed(words []string, more bool) string {
	text := "· " + render.Safe(strings.Join(words[:min(len(words), maxOffered)], "  "))
	if n := len(words) - maxOffered; n > 0 {
		text += fmt.Sprintf("  and %d more", n)
	}
	if more {
		text += "  and others: type more of it"
	}
	return text
}

// common is what all words begin with.
func common(words []string) string {
	if len(words) == 0 {
		return ""
	}
	begin := []rune(words[0])
	for _, w := range words[1:] {
		n := 0
		for _, r := range w {
			if n == len(begin) || begin[n] != r {
				break
			}
			n++
		}
		begin = begin[:n]
	}
	return string(begin)
}

func (m *chat) commandWords(ctx context.Context) (words []string, more bool, err error) {
	all, err := m.at.AllCommands(ctx)
	words = slices.Clone(chatWords)
	for _, c := range all.Commands {
		words = append(words, "/"+c.Name)
	}
	return words, false, err
}

func (m *chat) profileNames(ctx context.Context) (names []string, more bool, err error) {
	items, _, err := m.at.Profiles(ctx)
	for _, p := range items {
		names = append(names, p.Name)
	}
	return names, false, err
}

func (m *chat) modelNames(ctx context.Context) (names []string, more bool, err error) {
	models, err := m.at.AllModels(ctx)
	for _, i := range models {
		if i.Configured {
			names = append(names, i.Provider+"/"+i.ID)
		}
	}
	return names, false, err
}

func (m *chat) sessionIDs(ctx context.Context) (ids []string, more bool, err error) {
	log, err := m.at.Reader(ctx)
	if err != nil {
		return nil, false, err
	}
	for s, err := range log.List(ctx, roster.LocalTenant, session.Query{Limit: maxListed}) {
		if err != nil {
			return nil, false, err
		}
		ids = append(ids, s.Key.Stream)
	}
	return ids, len(ids) == maxListed, nil
}

// filesLike are files of the workspace whose paths have some letters in their order.
func (m *chat) filesLike(part string) func(context.Context) ([]string, bool, error) {
	return func(ctx context.Context) (names []string, more bool, err error) {
		found, err := m.at.Files(ctx, part, maxFiles)
		for _, f := range found.Files {
			if name, ok := mention(f); ok {
				names = append(names, name)
			}
		}
		return names, found.More, err
	}
}

// mention is how a text names a file: in quotes where the path has what ends a word. Not
// all can be.
func mention(file string) (name string, ok bool) {
	switch {
	case strings.ContainsFunc(file, unicode.IsControl) || strings.Contains(file, `"`):
		return "", false
	case strings.ContainsAny(file, " <>|'"):
		return `@"` + file + `"`, true
	}
	return "@" + file, true
}
