package main

import (
	"cmp"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// keptRows is how much of the terminal the screen may take besides the answer that
// comes: the tools at work, the line of state and what is typed.
const keptRows = maxShownCalls + 5

// above is what is to be printed above the screen, in order.
type above struct {
	texts  []string
	rows   []terminalRow // of the texts before
	flying bool          // a piece is on its way to the terminal
}

// flown says that the piece that was on its way is printed.
type flown struct{}

// print puts text above the screen, after all that was before it.
func (m *chat) print(text string) tea.Cmd {
	m.above.texts = append(m.above.texts, strings.TrimRight(text, "\n"))
	return m.flush()
}

// flush prints the next piece. A piece fits above the screen: what is taller would push
// the screen itself up, among what was said. One goes after another: commands run side
// by side.
func (m *chat) flush() tea.Cmd {
	if m.above.flying || m.width == 0 {
		return nil
	}
	piece := m.above.next(m.width, max(1, m.height-liveLines-keptRows))
	if piece == "" {
		return nil
	}
	m.above.flying = true
	return tea.Sequence(tea.Println(piece), func() tea.Msg { return flown{} })
}

// rest prints all that is left, at the end.
func (m *chat) rest() tea.Cmd {
	var cmds []tea.Cmd
	for m.width > 0 {
		piece := m.above.next(m.width, max(1, m.height-liveLines-keptRows))
		if piece == "" {
			break
		}
		cmds = append(cmds, tea.Println(piece))
	}
	return tea.Sequence(cmds...)
}

// next takes off as many rows as there is room for; "": there are none.
func (a *above) next(width, room int) string {
	var piece strings.Builder
	for n, tall := 0, 0; ; n++ {
		if len(a.rows) == 0 && len(a.texts) > 0 {
			a.rows, a.texts = terminalRows(a.texts[0], width), a.texts[1:]
		}
		if len(a.rows) == 0 || n > 0 && tall+a.rows[0].tall > room {
			break
		}
		if n > 0 {
			piece.WriteByte('\n')
		}
		piece.WriteString(cmp.Or(a.rows[0].text, " ")) // an empty piece would print nothing
		tall += a.rows[0].tall
		a.rows = a.rows[1:]
	}
	return piece.String()
}

// terminalRow is a line of text and how many rows of the terminal it takes.
type terminalRow struct {
	text string
	tall int
}

// longestFlow is how many rows a line may take that the terminal itself breaks.
const longestFlow = 4

// terminalRows takes text apart into lines of which it is sure how many rows they take.
// The terminal breaks a line of plain characters by itself, so that it is copied as one
// line. Others are broken here: terminals do not agree on how wide they are. Each line
// has the style of its own that it had within the text.
func terminalRows(text string, width int) []terminalRow {
	var rows []terminalRow
	style := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = untabbed(line)
		pieces, tall := []string{line}, 1
		if wide := max(ansi.StringWidth(line), ansi.StringWidthWc(line)); wide > width {
			tall += wide / width
			if wide%width == 0 || tall > longestFlow || wide != utf8.RuneCountInString(ansi.Strip(line)) {
				pieces, tall = strings.Split(ansi.HardwrapWc(line, width, true), "\n"), 1
			}
		}
		for _, p := range pieces {
			styled := style + p
			if i := strings.LastIndex(p, "\x1b["); i >= 0 {
				style, _, _ = strings.Cut(p[i:], "m")
				style += "m"
			}
			if style == plainStyle {
				style = ""
			}
			if style != "" {
				styled += plainStyle
			}
			rows = append(rows, terminalRow{styled, tall})
		}
	}
	return rows
}

// plainStyle ends a style of the terminal.
const plainStyle = "\x1b[0m"

// untabbed puts spaces in the place of tabs, to every eighth column as terminals do.
func untabbed(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(part)
		column += ansi.StringWidth(part)
	}
	return b.String()
}

// wrap breaks what is longer than a line: the screen would cut it off.
func (m *chat) wrap(text string) string {
	if m.width == 0 { // not known yet
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = untabbed(line)
	}
	return ansi.Wrap(strings.Join(lines, "\n"), m.width, "")
}
