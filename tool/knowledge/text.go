package knowledge

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxFile      = 2 << 20 // bytes of a file that are looked at
	sectionLines = 60      // of text without headings
	maxTitle     = 200     // bytes
)

// kind is what a file is, by its name.
type kind int

const (
	other kind = iota
	plain
	markdown
	markup
)

func kindOf(name string) kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return markdown
	case ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org":
		return plain
	case ".html", ".htm", ".xhtml":
		return markup
	}
	return other
}

// section is a piece of a file: what is found is found in one.
type section struct {
	line    int // of the file, from 1
	heading string
	body    string
}

// document is a file as it is searched. Its lines are those of the file.
type document struct {
	title    string
	lines    []string
	sections []section
}

// parse reads a file. What is no text has no sections.
func parse(name string, data []byte) document {
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return document{}
	}
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\uFFFD")
	var d document
	k := kindOf(name)
	if k == markup {
		d.title, text = bare(text)
	}
	d.lines = strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	d.split(k)
	if d.title == "" && len(d.sections) > 0 {
		d.title = d.sections[0].heading
	}
	d.title = clip(strings.TrimSpace(d.title), maxTitle)
	return d
}

// split cuts a file at its headings, and long pieces anew.
func (d *document) split(k kind) {
	at, heading, fenced := 0, "", false
	end := func(to int) {
		if body := strings.Join(d.lines[at:to], "\n"); strings.TrimSpace(body) != "" {
			d.sections = append(d.sections, section{at + 1, clip(heading, maxTitle), body})
		}
		at = to
	}
	for i, line := range d.lines {
		if k == markdown {
			if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
				fenced = !fenced
			}
			if text, ok := headingOf(line); ok && !fenced {
				end(i)
				heading = text
			}
		}
		if i-at >= sectionLines {
			end(i)
		}
	}
	end(len(d.lines))
}

// headingOf gives the text of a line that is a heading in Markdown.
func headingOf(line string) (string, bool) {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	if n == 0 || n > 6 || !strings.HasPrefix(rest, " ") {
		return "", false
	}
	return strings.Trim(rest, "# \t"), true
}

// bare takes the tags out of a page, and what is not for reading. Each line stays
// where it is.
func bare(source string) (title, text string) {
	var out, head strings.Builder
	z := html.NewTokenizer(strings.NewReader(source))
	skip, inTitle := atom.Atom(0), false
	for {
		t := z.Next()
		if t == html.ErrorToken {
			return strings.Join(strings.Fields(head.String()), " "), out.String()
		}
		raw := z.Raw()
		breaks := bytes.Count(raw, []byte("\n"))
		if t == html.TextToken && skip == 0 {
			content := string(z.Text())
			if inTitle {
				head.WriteString(content)
			}
			// A reference to a line break would be one more line.
			if strings.Count(content, "\n") != breaks {
				content = strings.ReplaceAll(content, "\n", " ") + strings.Repeat("\n", breaks)
			}
			out.WriteString(content)
			continue
		}
		out.WriteString(" " + strings.Repeat("\n", breaks))
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		switch {
		case t == html.StartTagToken && tag == atom.Title:
			inTitle = true
		case t == html.EndTagToken && tag == atom.Title:
			inTitle = false
		case t == html.StartTagToken && skip == 0 && (tag == atom.Script || tag == atom.Style || tag == atom.Template || tag == atom.Noscript):
			skip = tag
		case t == html.EndTagToken && tag == skip:
			skip = 0
		}
	}
}

// clip cuts a text to n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + " …"
}
