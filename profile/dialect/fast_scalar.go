package dialect

import (
	"cmp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// scalar reads a plain or quoted text that ends in its line, and stops behind
// it; behind a plain text also behind the blanks that follow.
func (f *fast) scalar(inFlow bool) *yaml.Node {
	at := f.pos
	switch c := f.src[at]; {
	case c == '"':
		return f.doubleQuoted()
	case c == '\'':
		return f.singleQuoted()
	case !startsPlain(c) && (c != '-' || !startsPlain(f.src[at+1])):
		return nil
	}
	end := f.plainEnd(inFlow)
	if end < 0 {
		return nil
	}
	text := strings.TrimRight(f.src[at:end], " ")
	tag := plainTag(text)
	if tag == "" {
		return nil
	}
	f.pos = end
	return f.node(yaml.ScalarNode, 0, tag, text, at)
}

// startsPlain says whether a plain text may start with c, whatever follows.
func startsPlain(c byte) bool {
	return c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("/_$(.~+<=;^", c) >= 0
}

// plainEnd finds where a plain text ends: at the colon that makes it a key, at
// a comment, in a flow collection at its punctuation, at the end of the line.
// It gives -1 where a colon leaves a doubt.
func (f *fast) plainEnd(inFlow bool) int {
	for i := f.pos; ; i++ {
		switch f.src[i] {
		case '\n':
			return i
		case '#':
			if f.src[i-1] == ' ' {
				return i
			}
		case ':':
			next := f.src[i+1]
			if next == ' ' || next == '\n' {
				return i
			}
			if inFlow && strings.IndexByte(",[]{}", next) >= 0 {
				return -1
			}
		case ',', '[', ']', '{', '}':
			if inFlow {
				return i
			}
		}
	}
}

// plainTag gives the tag of a plain text, empty where the rules of numbers and
// times would have to be followed.
func plainTag(s string) string {
	switch s {
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "!!bool"
	case "~", "null", "Null", "NULL":
		return "!!null"
	case "<<":
		return ""
	}
	if c := s[0]; c != '.' && c != '+' && c != '-' && (c < '0' || c > '9') {
		return "!!str"
	}
	if len(s) == len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, s); err == nil {
			return "!!timestamp"
		}
	}
	return numberTag(s)
}

// numberTag tells plain decimal numbers from texts that no number and no time
// can be: versions, and those with a character that has no part in any of their
// notations.
func numberTag(s string) string {
	const short = 15 // digits: exact for every kind of number
	digits, dots := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c == '.':
			dots++
		case !inNumber(c):
			return "!!str"
		}
	}
	switch {
	case digits+dots < len(s) || s[0] == '.' || digits > short:
		return ""
	case dots > 1:
		return "!!str"
	case dots == 1:
		return "!!float"
	case dots == 0 && (s[0] != '0' || len(s) == 1):
		return "!!int"
	}
	return ""
}

// inNumber says whether c may be part of a number or a time: signs, points,
// digits and prefixes of any base, exponents, "inf", "nan", the T and Z of times.
func inNumber(c byte) bool {
	return 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' || strings.IndexByte("+-._: xXoObBpPtTzZiInN", c) >= 0
}

func (f *fast) singleQuoted() *yaml.Node {
	at := f.pos
	rest := f.src[at+1:]
	end, doubled := 0, false
	for {
		i := strings.IndexAny(rest[end:], "'\n")
		if i < 0 || rest[end+i] == '\n' {
			return nil
		}
		if end += i; rest[end+1] != '\'' {
			break
		}
		end, doubled = end+2, true
	}
	text := rest[:end]
	if doubled {
		text = strings.ReplaceAll(text, "''", "'")
	}
	f.pos = at + end + 2
	return f.node(yaml.ScalarNode, yaml.SingleQuotedStyle, "!!str", text, at)
}

func (f *fast) doubleQuoted() *yaml.Node {
	at := f.pos
	escaped := false
	i := at + 1
	for ; f.src[i] != '"'; i++ {
		switch f.src[i] {
		case '\n':
			return nil
		case '\\':
			escaped = true
			i++
			if strings.IndexByte(`nt"\/`, f.src[i]) < 0 {
				return nil
			}
		}
	}
	text := f.src[at+1 : i]
	if escaped {
		text = unescape(text)
	}
	f.pos = i + 1
	return f.node(yaml.ScalarNode, yaml.DoubleQuotedStyle, "!!str", text, at)
}

func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			switch c = s[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func (f *fast) flowValue(indent int) *yaml.Node {
	n := f.flow(indent)
	if n == nil || !f.endLine() {
		return nil
	}
	return n
}

// flow reads a flow collection in the value of a key or dash of the indent, and
// stops behind it.
func (f *fast) flow(indent int) *yaml.Node {
	if f.depth++; f.depth > fastDepth {
		return nil
	}
	kind, tag, closer := yaml.SequenceNode, "!!seq", byte(']')
	if f.src[f.pos] == '{' {
		kind, tag, closer = yaml.MappingNode, "!!map", '}'
	}
	n := f.node(kind, yaml.FlowStyle, tag, "", f.pos)
	mark := len(f.stack)
	f.pos++
	ok := f.inFlow(indent, closer)
	for ok && f.src[f.pos] != closer {
		ok = f.flowItem(indent, kind == yaml.MappingNode) && f.inFlow(indent, closer)
		if ok && f.src[f.pos] == ',' {
			f.pos++
			ok = f.inFlow(indent, closer)
		} else if ok && f.src[f.pos] != closer {
			ok = false
		}
	}
	if !ok {
		return nil
	}
	f.pos++
	return f.fill(n, mark)
}

// inFlow goes to what comes next in a flow collection. It must be indented
// deeper than the collection's key, but for the end, which people write below
// the key.
func (f *fast) inFlow(indent int, closer byte) bool {
	f.next()
	return f.indent > indent || f.indent >= 0 && f.src[f.pos] == closer
}

// flowItem reads an item of a flow list, or a key and its value.
func (f *fast) flowItem(indent int, keyed bool) bool {
	if keyed {
		key := f.scalar(true)
		if key == nil || !f.atColon() {
			return false
		}
		f.stack = append(f.stack, key)
		f.pos++
		if f.next(); f.indent <= indent {
			return false
		}
	}
	var item *yaml.Node
	if c := f.src[f.pos]; c == '[' || c == '{' {
		item = f.flow(indent)
	} else {
		item = f.scalar(true)
	}
	f.stack = append(f.stack, item)
	return item != nil
}

func (f *fast) blanks() {
	for f.src[f.pos] == ' ' {
		f.pos++
	}
}

// blockText reads a literal or folded text below a key or dash of the indent.
// Its own indent is that of its first line; where blank lines or deeper lines
// would need rules of their own, there is a doubt.
func (f *fast) blockText(indent int) *yaml.Node {
	folded, style := false, yaml.LiteralStyle
	if f.src[f.pos] == '>' {
		folded, style = true, yaml.FoldedStyle
	}
	n := f.node(yaml.ScalarNode, style, "!!str", "", f.pos)
	f.pos++
	chomp := f.src[f.pos]
	if chomp == '-' || chomp == '+' {
		f.pos++
	}
	f.blanks()
	if f.src[f.pos] != '\n' {
		return nil
	}
	f.startLine(f.pos + 1)
	var text strings.Builder
	own, breaks := 0, 0 // its indent, 0 before its first line; line feeds that are still to be written
	for f.pos < len(f.src) {
		start := f.pos
		f.blanks()
		deep, end := f.pos-start, f.pos+strings.IndexByte(f.src[f.pos:], '\n')
		switch blank := end == f.pos; {
		case blank && deep > own, !blank && own == 0 && deep <= indent, !blank && own > 0 && deep > own && folded:
			return nil
		case !blank && deep < own:
			return f.endText(n, &text, chomp, breaks)
		case !blank:
			own = cmp.Or(own, deep)
			writeBreaks(&text, breaks, folded)
			text.WriteString(f.src[start+own : end])
			breaks = 0
		}
		breaks++
		f.startLine(end + 1)
	}
	return f.endText(n, &text, chomp, breaks)
}

// writeBreaks writes the line feeds between two lines, or before the first.
func writeBreaks(text *strings.Builder, breaks int, folded bool) {
	if folded && text.Len() > 0 {
		if breaks--; breaks == 0 {
			text.WriteByte(' ')
		}
	}
	for range breaks {
		text.WriteByte('\n')
	}
}

// endText gives a text its end and goes on to what follows it.
func (f *fast) endText(n *yaml.Node, text *strings.Builder, chomp byte, breaks int) *yaml.Node {
	switch {
	case text.Len() == 0:
		return nil
	case chomp == '+':
		writeBreaks(text, breaks, false)
	case chomp != '-':
		writeBreaks(text, 1, false)
	}
	n.Value = text.String()
	f.pos = f.bol
	f.next()
	return n
}
