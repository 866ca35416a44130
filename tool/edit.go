package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

const maxEditBytes = 64 << 20 // larger files are not edited

type editTool struct {
	defined
	*workspace
}

func (t *editTool) Conflicts(c Call) []string { return t.conflicts(c) }

type editInput struct {
	Path       string `json:"path"`
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace-all"`
	Force      bool   `json:"force"`
}

func (t *editTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[editInput](c)
	if err != nil {
		return nil, err
	}
	if in.Old == "" {
		return nil, errors.New("old is empty: give the text to replace, or use write for a whole file")
	}
	if in.Old == in.New {
		return nil, errors.New("old and new are identical: nothing would change")
	}
	to, err := t.workspace.open(in.Path)
	if err != nil {
		return nil, err
	}
	return &editPlan{to, t.workspace, in, c.Seen}, nil
}

type editPlan struct {
	*target
	w    *workspace
	in   editInput
	seen func(string) (string, bool)
}

func (p *editPlan) Needs() []permission.Query { return p.w.writes("edit", p.target) }

// State implements Stater.
func (p *editPlan) State() string { return p.target.state() }

func (p *editPlan) Run(context.Context, func(string)) (Result, error) {
	data, before, err := p.content()
	if err != nil {
		return Result{}, err
	}
	if !p.in.Force && p.changed(before, p.seen) {
		return Result{}, &ChangedError{p.subject}
	}
	if err := p.mayChange(before); err != nil {
		return Result{}, err
	}
	out, lines, err := replace(data, p.in.Old, p.in.New, p.in.ReplaceAll)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.subject, err)
	}
	after, err := p.Replace(out, before.Mode, func() error { return p.unchanged(before) })
	if err != nil {
		return Result{}, err
	}
	return p.saw(after, Text(fmt.Sprintf("edited %s at %s, %d bytes", p.subject, lineList(lines), len(out)))), nil
}

func (p *editPlan) content() ([]byte, pinned.Stat, error) {
	f, err := p.Open()
	if err != nil {
		if st, err := p.Lstat(); err == nil && !st.Mode.IsRegular() {
			return nil, st, notRegular(p.subject, st.Mode)
		}
		return nil, pinned.Stat{}, notFound(p.subject, err)
	}
	defer f.Close()
	st, err := pinned.StatFile(f)
	if err != nil {
		return nil, st, err
	}
	tooLarge := fmt.Errorf("%s has more than %d bytes, which is too large to edit", p.subject, maxEditBytes)
	if st.Size > maxEditBytes {
		return nil, st, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEditBytes+1))
	if err == nil && len(data) > maxEditBytes { // it grows
		err = tooLarge
	}
	return data, st, err
}

// replace puts new in the place of old, and says on which lines. Where the file has
// CRLF line endings, old is read as if it had too, and new gets those of its
// place; what is not replaced keeps every byte.
func replace(data []byte, old, new string, all bool) (out []byte, lines []int, err error) {
	text := data
	crlf := bytes.Contains(data, []byte("\r\n"))
	if crlf {
		text = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		old = strings.ReplaceAll(old, "\r\n", "\n")
		new = strings.ReplaceAll(new, "\r\n", "\n")
	}
	returns := strings.ReplaceAll(new, "\n", "\r\n")
	at := occurrences(text, old, !all)
	lines = lineNumbers(text, at)
	switch grown := len(data) + len(at)*(len(returns)-len(old)); {
	case len(at) == 0:
		return nil, nil, errors.New("the old text is not in the file" + nearest(text, old))
	case len(at) > 1 && !all:
		return nil, nil, fmt.Errorf("the old text is in the file %d times, at %s: add lines around it to make it unique, or set replace-all",
			len(at), lineList(lines))
	case len(at) > maxOccurrences || grown > maxEditBytes:
		return nil, nil, fmt.Errorf("%d replacements are too many: the file would have %d bytes", len(at), grown)
	}
	from, pos := 0, position{data: data}
	for _, i := range at {
		start, end := i, i+len(old)
		if crlf {
			start, end = pos.original(start), pos.original(end)
		}
		with := new
		if crlf && endsInReturn(data, start, end) {
			with = returns
		}
		out = append(append(out, data[from:start]...), with...)
		from = end
	}
	return append(out, data[from:]...), lines, nil
}

// endsInReturn says whether lines end in CRLF at a piece of the data: the last of it
// that has an end, else the one that it stands in, else the one before.
func endsInReturn(data []byte, start, end int) bool {
	if i := bytes.LastIndexByte(data[start:end], '\n'); i >= 0 {
		return returnAt(data, start+i-1)
	}
	if i := bytes.IndexByte(data[end:], '\n'); i >= 0 {
		return returnAt(data, end+i-1)
	}
	return returnAt(data, bytes.LastIndexByte(data[:start], '\n')-1)
}

func returnAt(data []byte, i int) bool { return i >= 0 && data[i] == '\r' }

const maxOccurrences = 100_000

// occurrences finds old in text; those that overlap count when it must be
// unique.
func occurrences(text []byte, old string, overlap bool) (at []int) {
	step := len(old)
	if overlap {
		step = 1
	}
	for from := 0; len(at) <= maxOccurrences; {
		i := bytes.Index(text[from:], []byte(old))
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + step
	}
	return at
}

// position maps growing positions in the text without carriage returns to the
// data: each line end before one was a byte longer.
type position struct {
	data    []byte
	in, out int
}

func (p *position) original(to int) int {
	for ; p.out < to; p.in++ {
		if p.data[p.in] != '\r' || p.in+1 == len(p.data) || p.data[p.in+1] != '\n' {
			p.out++
		}
	}
	return p.in
}

func lineNumbers(text []byte, at []int) []int {
	lines := make([]int, len(at))
	line, from := 1, 0
	for n, i := range at {
		line += bytes.Count(text[from:i], []byte("\n"))
		lines[n], from = line, i
	}
	return lines
}

const maxLinesShown = 20

func lineList(lines []int) string {
	var b strings.Builder
	b.WriteString("line ")
	for i, n := range lines {
		if i == maxLinesShown {
			fmt.Fprintf(&b, " and %d more", len(lines)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}
