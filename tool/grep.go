package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// grepBuffer is the longest line that is searched as a whole, in bytes.
const grepBuffer = 1 << 20

type grepTool struct {
	defined
	*workspace
	grepSet
}

func (t *grepTool) Recovery(Call) Recovery { return Repeat }

type grepInput struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	Glob           string `json:"glob"`
	IgnoreCase     bool   `json:"ignore-case"`
	IncludeIgnored bool   `json:"include-ignored"`
}

func (t *grepTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[grepInput](c)
	if err != nil {
		return nil, err
	}
	var names globs
	if in.Glob != "" {
		if names, err = parseGlob("glob", in.Glob); err != nil {
			return nil, err
		}
	}
	m, err := newMatcher(in.Pattern, in.IgnoreCase)
	if err != nil {
		return nil, err
	}
	p, err := t.prepareSearch("grep", in.Path, c)
	if err != nil {
		return nil, err
	}
	p.search.all = in.IncludeIgnored
	if len(names) > 0 {
		p.search.match = names.matchName
	}
	return &grepPlan{searchPlan: p, grepSet: t.grepSet, matcher: m}, nil
}

type grepPlan struct {
	*searchPlan
	grepSet
	*matcher

	reader  *bufio.Reader
	out     strings.Builder
	matches int
	binary  int
	long    int // lines longer than grepBuffer, searched in pieces
}

func (p *grepPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	if err := p.find(ctx); err != nil {
		return Result{}, err
	}
	for _, f := range p.search.found.files {
		if err := p.file(ctx, f); errors.Is(err, errEnough) {
			fmt.Fprintf(&p.out, "[stopped at %d matching lines: there are more, narrow the search]\n", p.limit)
			break
		} else if ctx.Err() != nil {
			return Result{}, ctx.Err()
		} else if err != nil {
			p.search.unread(f.subject)
		}
	}
	if p.matches == 0 {
		p.out.WriteString("[no line matches]\n")
	}
	if p.binary > 0 {
		fmt.Fprintf(&p.out, "[%s skipped]\n", count(p.binary, "binary file"))
	}
	if p.long > 0 {
		fmt.Fprintf(&p.out, "[%s of more than %d bytes searched in pieces]\n", count(p.long, "line"), grepBuffer)
	}
	p.out.WriteString(p.search.notes())
	return Text(p.out.String()), nil
}

var errEnough = errors.New("the limit is reached")

func (p *grepPlan) file(ctx context.Context, f foundFile) error {
	file, _, err := p.openFound(f)
	if err != nil {
		return err
	}
	defer file.Close()
	if p.reader == nil {
		p.reader = bufio.NewReaderSize(nil, grepBuffer)
	}
	p.reader.Reset(cancelled{ctx, file})
	head, err := p.reader.Peek(sniffBytes)
	if err != nil && err != io.EOF {
		return err
	}
	if bytes.IndexByte(head, 0) >= 0 {
		p.binary++
		return nil
	}
	return p.lines(ctx, f)
}

func (p *grepPlan) lines(ctx context.Context, f foundFile) error {
	number, whole := 1, true
	for n := 0; ; n++ {
		if n%16 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := p.reader.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if len(line) > 0 && p.match(ctx, bytes.TrimRight(line, "\r\n")) {
			if p.matches == p.limit {
				return errEnough
			}
			p.matches++
			p.hit(f, number, line)
		}
		switch {
		case err == io.EOF:
			return nil
		case err == nil:
			number++
			whole = true
		case whole:
			p.long++
			whole = false
		}
	}
}

func (p *grepPlan) hit(f foundFile, number int, line []byte) {
	p.out.WriteString(strings.ToValidUTF8(f.subject, "\uFFFD"))
	if p.lineNumbers {
		fmt.Fprintf(&p.out, ":%d", number)
	}
	p.out.WriteString(": ")
	p.out.WriteString(valid(string(appendLine(nil, bytes.TrimRight(line, "\r\n"), p.maxLineLength, 0))))
	p.out.WriteByte('\n')
}
