package command

import (
	"slices"
	"strings"
)

// part is a piece of a command's text.
type part struct {
	is    partKind
	text  string // as the file says it; of a file or an input, its name
	nth   int    // of an argument, from 0
	hint  string // of an input
	inner []part // of a command line
	at    int    // where it begins in the text
}

type partKind int

const (
	textPart   partKind = iota
	allPart             // all arguments
	argPart             // one of them
	shellPart           // what a command line writes
	filePart            // what a file holds
	inputPart           // an argument with a name
	folderPart          // the workspace
	basePart            // the command's own folder
	baseName            // the last name of the workspace
)

// written is a command line as the file says it.
func (p *part) written() string {
	var b strings.Builder
	for _, x := range p.inner {
		b.WriteString(x.text)
	}
	return b.String()
}

// takes says whether a text has a place for arguments.
func takes(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool {
		return p.is == allPart || p.is == argPart || p.is == inputPart || takes(p.inner)
	})
}

// parser goes over a text once, so that nothing that is put into it is read again.
type parser struct {
	c     *Command
	text  string
	from  int // of what is plain text so far
	at    int
	base  int // of the text in that of the command
	parts []part
	zero  bool // $0 is the first argument
	lost  int  // bytes that were looked through for what closes something, in vain
}

// The bounds of what a sign may begin, in bytes: a command line, lines of such, and a
// path. What is longer is text. So a text is read in a time that grows with its length.
const (
	maxLine = 16 << 10
	maxPath = 1 << 10
	maxLost = 16 << 20 // then what follows is text
)

func parse(c *Command) []part {
	p := parser{c: c, text: c.Text, zero: c.fromZero()}
	p.run(c.Kind.rules())
	return p.parts
}

// rule finds what begins at the parser's place: a part and how long it is, 0 if there
// is none.
type rule func(*parser) (part, int)

func (k Kind) rules() []rule {
	switch k {
	case Gemini:
		return []rule{geminiArgs, geminiShell, geminiFile}
	case Copilot:
		return []rule{copilotVariable, copilotFile}
	case OpenCode:
		return []rule{arguments, positional, backtickShell}
	}
	return []rule{arguments, positional, named, ownVariable, fencedShell, backtickShell}
}

// inLine are those that count within a command line.
func (k Kind) inLine() []rule {
	switch k {
	case Gemini:
		return []rule{geminiArgs}
	case OpenCode:
		return []rule{arguments, positional}
	}
	return []rule{arguments, positional, named, ownVariable}
}

// signs begin what the rules find.
const signs = "$!{@`#"

func (p *parser) run(rules []rule) {
	for p.at < len(p.text) && p.lost < maxLost {
		next := strings.IndexAny(p.text[p.at:], signs)
		if next < 0 {
			break
		}
		p.at += next
		found := 0
		for _, r := range rules {
			var x part
			if x, found = r(p); found > 0 {
				p.plain()
				x.at = p.base + p.at
				p.parts = append(p.parts, x)
				break
			}
		}
		if p.at += max(found, 1); found > 0 {
			p.from = p.at
		}
	}
	p.at = len(p.text)
	p.plain()
}

func (p *parser) plain() {
	if p.from < p.at {
		p.parts = append(p.parts, part{is: textPart, text: p.text[p.from:p.at], at: p.base + p.from})
	}
}

// rest is what follows, as far as something may begin here.
func (p *parser) rest() string { return p.text[p.at:min(len(p.text), p.at+maxLine)] }

// starts says whether a line or a word begins here.
func (p *parser) starts() bool {
	return p.at == 0 || strings.ContainsRune(" \t\n", rune(p.text[p.at-1]))
}

// line makes the part of a command line that stands skip bytes from here.
func (p *parser) line(text string, skip int) part {
	inner := parser{c: p.c, text: text, base: p.base + p.at + skip, zero: p.zero}
	inner.run(p.c.Kind.inLine())
	return part{is: shellPart, inner: inner.parts}
}

// arguments finds $ARGUMENTS and $ARGUMENTS[0].
func arguments(p *parser) (part, int) {
	const name = "$ARGUMENTS"
	rest, ok := strings.CutPrefix(p.rest(), name)
	if !ok {
		return part{}, 0
	}
	if p.c.Kind != OpenCode && len(rest) > 2 && rest[0] == '[' && isDigit(rest[1]) && rest[2] == ']' {
		text := name + rest[:3]
		return part{is: argPart, text: text, nth: int(rest[1] - '0')}, len(text)
	}
	return part{is: allPart, text: name}, len(name)
}

// positional finds $1. An amount of money, as in $150 or $9.99 or $5M, is none.
func positional(p *parser) (part, int) {
	rest := p.rest()
	if len(rest) < 2 || rest[0] != '$' || !isDigit(rest[1]) {
		return part{}, 0
	}
	if after := rest[2:]; after != "" {
		if alphanumeric(after[0]) || after[0] == '_' || len(after) > 1 && strings.ContainsRune(".,", rune(after[0])) && isDigit(after[1]) {
			return part{}, 0
		}
	}
	n := int(rest[1] - '0')
	if !p.zero {
		n--
	}
	if n < 0 {
		return part{}, 0
	}
	return part{is: argPart, text: rest[:2], nth: n}, 2
}

// fromZero says whether $0 is the first argument: in skills, and where it is named.
func (c *Command) fromZero() bool {
	if c.FromZero || c.Kind == OpenCode {
		return c.FromZero
	}
	for rest := c.Text; ; {
		i := strings.Index(rest, "$0")
		if i < 0 {
			return false
		}
		if rest = rest[i+2:]; rest == "" || !alphanumeric(rest[0]) && rest[0] != '_' && rest[0] != '.' && rest[0] != ',' {
			return true
		}
	}
}

// named finds the arguments that the command gives names to.
func named(p *parser) (part, int) {
	rest, ok := strings.CutPrefix(p.rest(), "$")
	if !ok {
		return part{}, 0
	}
	end := 0
	for end < len(rest) && (alphanumeric(rest[end]) || rest[end] == '_' || rest[end] == '-') {
		end++
	}
	if i := slices.Index(p.c.Arguments, rest[:end]); i >= 0 && end > 0 {
		return part{is: argPart, text: "$" + rest[:end], nth: i}, end + 1
	}
	return part{}, 0
}

// ownVariable finds the folder of a skill.
func ownVariable(p *parser) (part, int) {
	const name = "${CLAUDE_SKILL_DIR}"
	if p.c.Base == "" || !strings.HasPrefix(p.rest(), name) {
		return part{}, 0
	}
	return part{is: basePart, text: name}, len(name)
}

// backtickShell finds !`command`. In Claude's commands it begins a word.
func backtickShell(p *parser) (part, int) {
	rest, ok := strings.CutPrefix(p.rest(), "!`")
	if !ok || p.c.Kind != OpenCode && !p.starts() {
		return part{}, 0
	}
	line, _, ok := p.cut(rest, "`")
	if !ok || strings.TrimSpace(line) == "" || strings.Contains(line, "\n") {
		return part{}, 0
	}
	return p.line(line, 2), len(line) + 3
}

// fencedShell finds lines between ```! and ```.
func fencedShell(p *parser) (part, int) {
	rest, ok := strings.CutPrefix(p.rest(), "```!")
	if !ok || p.at > 0 && p.text[p.at-1] != '\n' {
		return part{}, 0
	}
	head, body, ok := p.cut(rest, "\n")
	if !ok || strings.TrimSpace(head) != "" {
		return part{}, 0
	}
	lines, _, ok := p.cut(body, "\n```")
	if !ok || strings.TrimSpace(lines) == "" {
		return part{}, 0
	}
	skip := 4 + len(head) + 1
	return p.line(lines, skip), skip + len(lines) + 4
}

// geminiArgs finds {{args}}.
func geminiArgs(p *parser) (part, int) {
	const name = "{{args}}"
	if !strings.HasPrefix(p.rest(), name) {
		return part{}, 0
	}
	return part{is: allPart, text: name}, len(name)
}

// geminiShell finds !{command}, and geminiFile @{path}: up to the brace that closes
// the first one.
func geminiShell(p *parser) (part, int) {
	line, n := p.braced("!{")
	if n == 0 || strings.TrimSpace(line) == "" {
		return part{}, 0
	}
	return p.line(line, 2), n
}

func geminiFile(p *parser) (part, int) {
	path, n := p.braced("@{")
	if path = strings.TrimSpace(path); n == 0 || path == "" || strings.Contains(path, "\n") {
		return part{}, 0
	}
	return part{is: filePart, text: path}, n
}

// cut is strings.Cut, and counts what it does in vain.
func (p *parser) cut(s, sep string) (before, after string, found bool) {
	if before, after, found = strings.Cut(s, sep); !found {
		p.lost += len(s)
	}
	return before, after, found
}

func (p *parser) braced(opener string) (inner string, n int) {
	rest, ok := strings.CutPrefix(p.rest(), opener)
	if !ok {
		return "", 0
	}
	depth := 1
	for i := range len(rest) {
		switch rest[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return rest[:i], len(opener) + i + 1
			}
		}
	}
	p.lost += len(rest)
	return "", 0
}

// copilotVariable finds ${input:name}, ${input:name:hint} and the folders.
func copilotVariable(p *parser) (part, int) {
	name, n := p.braced("${")
	switch what, rest, _ := strings.Cut(name, ":"); {
	case n == 0 || strings.Contains(name, "\n"):
	case what == "input" && rest != "":
		name, hint, _ := strings.Cut(rest, ":")
		return part{is: inputPart, text: name, hint: hint}, n
	case name == "workspaceFolder":
		return part{is: folderPart, text: name}, n
	case name == "workspaceFolderBasename":
		return part{is: baseName, text: name}, n
	}
	return part{}, 0
}

// copilotFile finds #file:path. It stays in the text, and the file goes along.
func copilotFile(p *parser) (part, int) {
	rest, ok := strings.CutPrefix(p.rest(), "#file:")
	if !ok || !p.starts() {
		return part{}, 0
	}
	path := rest
	if quoted, ok := strings.CutPrefix(rest, "'"); ok {
		if path, _, ok = p.cut(quoted, "'"); ok && path != "" {
			return part{is: filePart, text: path}, len(path) + 8
		}
		return part{}, 0
	}
	if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
		path = rest[:end]
	}
	if path = strings.TrimRight(path, ".,;:!?)]}"); path == "" {
		return part{}, 0
	}
	return part{is: filePart, text: path}, len(path) + 6
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
