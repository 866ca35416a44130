package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	maxProgram = 50_000  // instructions of a regular expression
	quickSteps = 1 << 18 // instructions times bytes that take a few milliseconds at most
)

// matcher is a regular expression whose search of a long line can be
// cancelled: it may take instructions times bytes.
type matcher struct {
	re   *regexp.Regexp
	size int // instructions
}

func newMatcher(expr string, ignoreCase bool) (*matcher, error) {
	if len(expr) > maxPattern {
		return nil, fmt.Errorf("pattern: at most %d bytes", maxPattern)
	}
	if ignoreCase {
		expr = "(?i)" + expr
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w (the syntax is RE2: no look-around, no back-references)", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	if len(program.Inst) > maxProgram {
		return nil, errors.New("pattern: its counted repetitions are too many; write * or + for large counts")
	}
	re, err := regexp.Compile(expr)
	return &matcher{re, len(program.Inst)}, err
}

// match is false when ctx ends.
func (m *matcher) match(ctx context.Context, line []byte) bool {
	if m.size*len(line) <= quickSteps {
		return m.re.Match(line)
	}
	found := m.re.MatchReader(&runes{ctx: ctx, rest: line})
	return found && ctx.Err() == nil
}

// runes reads the characters of a line until ctx ends.
type runes struct {
	ctx  context.Context
	rest []byte
	n    int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; r.n%64 == 0 && r.ctx.Err() != nil {
		return 0, 0, r.ctx.Err()
	}
	if len(r.rest) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.rest)
	r.rest = r.rest[size:]
	return c, size, nil
}
