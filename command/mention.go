package command

import (
	"path"
	"strings"
)

// Mention is a file that a text names behind an @.
type Mention struct {
	// Paths are what may be meant, the longest first: what ends a sentence may belong
	// to the path or not.
	Paths    []string
	From, To int // of the longest, with the @
}

// barrier stands in a text for what names no file.
const barrier = "\x00"

// Mentions finds the paths that a text names with @path or @"path". An @ within a
// word, as in an address, names none.
func Mentions(text string) (list []Mention) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\n\r(['\"", rune(text[i-1])) {
			continue
		}
		m := mentionAt(text, i)
		if len(m.Paths) > 0 {
			list = append(list, m)
		}
		i = max(i, m.To-1)
	}
	return list
}

func mentionAt(text string, i int) Mention {
	m := Mention{From: i, To: i + 1}
	rest := text[i+1 : min(len(text), i+1+maxPath)]
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		if path, _, closed := strings.Cut(quoted, `"`); closed && path != "" && !strings.ContainsAny(path, "\n"+barrier) {
			m.Paths, m.To = []string{path}, i+len(path)+3
		}
		return m
	}
	path := rest
	if end := strings.IndexAny(rest, " \t\n\r\"<>|"+barrier); end >= 0 {
		path = rest[:end]
	}
	m.To += len(path)
	for path != "" {
		m.Paths = append(m.Paths, path)
		if !strings.ContainsRune(".,;:!?)]}'", rune(path[len(path)-1])) {
			break
		}
		path = path[:len(path)-1]
	}
	return m
}

// LikeFile says whether a mention that names no file was rather meant to.
func (m Mention) LikeFile() bool { return strings.ContainsAny(m.Shortest(), "./") }

// Shortest is the path without what ends a sentence.
func (m Mention) Shortest() string { return m.Paths[len(m.Paths)-1] }

// masked gives a text with the samples of code in it taken out: what stands there
// behind an @ is part of the code.
func masked(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(line), fence[:1]) == "":
			fence = ""
		case fence == "":
			b.WriteString(line)
			continue
		}
		b.WriteString(strings.Repeat(barrier, len(line)-1) + "\n")
	}
	return b.String()
}

// fenceOf gives the marks with which a line begins or ends a sample of code.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t")
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// finder is how the text of a command names files that go along with it; nil: it
// names none.
func (c *Command) finder() func(text string) []Mention {
	switch c.Kind {
	case Gemini:
		return nil
	case Copilot:
		return c.links
	}
	return func(text string) []Mention { return Mentions(masked(text)) }
}

// links finds what [text](path) links to, from the command's own folder.
func (c *Command) links(text string) (list []Mention) {
	for at := 0; ; {
		i := strings.Index(text[at:], "](")
		if i < 0 {
			return list
		}
		from := at + i + 2
		at = from
		end := strings.IndexAny(text[from:min(len(text), from+maxPath)], ") \t\n"+barrier)
		if end <= 0 || text[from+end] != ')' {
			continue
		}
		target, _, _ := strings.Cut(text[from:from+end], "#")
		if target == "" || strings.Contains(target, ":") || path.IsAbs(target) {
			continue
		}
		if to := path.Join(c.Base, target); to != ".." && !strings.HasPrefix(to, "../") {
			list = append(list, Mention{Paths: []string{to}, From: from, To: from + end})
		}
	}
}
