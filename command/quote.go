package command

import "strings"

// place is where in a command line an argument is put.
type place int

const (
	plain  place = iota // outside of quotes
	single              // in '…'
	double              // in "…"
	nested              // in $(…) or (…), and there outside of quotes
	closed              // where no text is safe
)

// lineState follows a command line to where arguments stand in it.
type lineState struct {
	stack  []place
	last   byte // that was read
	unsafe bool // for what follows
	braces bool // what follows may stand in {a,b}
}

func (s *lineState) now() place {
	if s.unsafe {
		return closed
	}
	if len(s.stack) == 0 {
		return plain
	}
	return s.stack[len(s.stack)-1]
}

func (s *lineState) push(p place) { s.stack = append(s.stack, p) }
func (s *lineState) pop()         { s.stack = s.stack[:len(s.stack)-1] }

// read goes over text that the command's file says.
func (s *lineState) read(text string) {
	for i := 0; i < len(text); i++ {
		i += s.step(text[i:])
		s.last = text[min(i, len(text)-1)]
	}
}

// put notes that an argument was written.
func (s *lineState) put() { s.last = 'x' }

// step looks at one character, and says how many more it took.
func (s *lineState) step(text string) (more int) {
	c, at := text[0], s.now()
	switch {
	case at == single:
		if c == '\'' {
			s.pop()
		}
	case c == '\\':
		if len(text) == 1 {
			s.unsafe = true // it would take away the first character of the argument
		}
		return 1
	case c == '`', c == '$' && (len(text) == 1 || strings.ContainsRune("{'\"", rune(text[1]))):
		s.unsafe = true
	case strings.HasPrefix(text, "$("):
		s.push(nested)
		return 1
	case at == double:
		if c == '"' {
			s.pop()
		}
	case c == '\'':
		s.push(single)
	case c == '"':
		s.push(double)
	case c == '(':
		s.push(nested)
	case c == ')' && at == nested:
		s.pop()
	case c == '{':
		s.braces = true
	case strings.HasPrefix(text, "<<<"):
		return 2
	case strings.HasPrefix(text, "<<"), c == '#' && (s.last == 0 || strings.ContainsRune(" \t\n;|&()<>", rune(s.last))):
		s.unsafe = true // a text, or a remark, up to somewhere
	}
	return 0
}

// twice knows the words and signs of command lines that read an argument once more, as
// arithmetic or as a command line, however it is quoted; and case, whose parentheses
// are not pairs.
func twice(line string) bool {
	for _, sign := range []string{"((", "[["} {
		if strings.Contains(line, sign) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}", r) }) {
		switch word {
		case "eval", "let", "declare", "typeset", "local", "export", "readonly", "unset", "trap", "case":
			return true
		}
	}
	return false
}

// quote writes an argument so that a shell takes it for one text, whatever is in it.
func (s *lineState) quote(arg string) (string, bool) {
	switch at := s.now(); {
	case at == closed || strings.ContainsRune(arg, 0):
		return "", false
	case at == single:
		return strings.ReplaceAll(arg, "'", `'\''`), true
	case at == double:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(arg), true
	}
	if arg != "" && !s.braces && strings.Trim(arg, bare) == "" {
		return arg, true
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'", true
}

// bare are characters that mean nothing to a shell, wherever they stand.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+"
