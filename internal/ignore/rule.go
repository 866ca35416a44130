package ignore

import "strings"

// rule is one line: a glob, and what it is held against.
type rule struct {
	negated bool // it takes back what earlier ones ignore
	dirs    bool // it is about directories only
	path    bool // it is held against the path below its file, not the name alone

	// Most rules are a name, or a star and an ending.
	plain  bool
	text   string
	suffix string // what a match ends in, where there are special characters
	ending bool   // all before the suffix is a star
	glob   []token
}

// newRule reads a line; not every line has a rule.
func newRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line, r.negated = strings.CutPrefix(line, "!")
	line = trimBlanks(line)
	line, r.dirs = strings.CutSuffix(line, "/")
	r.path = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.text = line
	special := strings.LastIndexAny(line, `*?[]\`)
	if r.plain = special < 0; r.plain {
		return r, true
	}
	r.suffix = line[special+1:]
	if line[special] == '\\' && r.suffix != "" {
		r.suffix = r.suffix[1:] // what it escapes need not be an ending
	}
	r.suffix = strings.TrimPrefix(r.suffix, "/") // ** may stand for nothing, with its slash
	r.glob, ok = compile(line, r.path)
	r.ending = ok && len(r.glob) == 2 && r.glob[0].kind == star && r.glob[1].kind == literal && r.glob[1].text == r.suffix
	return r, ok
}

// trimBlanks takes the blanks at the end away that are not escaped.
func trimBlanks(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		escapes := 0
		for i := end - 2; i >= 0 && line[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 1 {
			break
		}
		end--
	}
	return line[:end]
}

func (r *rule) match(text string) bool {
	if r.plain {
		return text == r.text
	}
	if !strings.HasSuffix(text, r.suffix) {
		return false
	}
	if r.ending {
		return !r.path || !strings.Contains(text[:len(text)-len(r.suffix)], "/")
	}
	return match(r.glob, text)
}
