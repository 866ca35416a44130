package profile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/source"
)

// The limits that hold before any parser runs, in bytes.
const (
	MaxFile        = 4 << 20
	MaxFrontmatter = 64 << 10
)

// Frontmatter is a Markdown file split at its dashes. Lines count from 1 in the
// file. Both parts have LF line ends; CRLF says that the file had others.
type Frontmatter struct {
	YAML     []byte
	YAMLLine int
	Body     []byte
	BodyLine int
	CRLF     bool
}

// Split finds the frontmatter of a Markdown file: the opener is a line `---`,
// the closer the first following line that is `---` and optional spaces. With
// an error among the diagnostics the parts are empty, but for what shows whose
// file it is: when the closer is missing, YAML holds what follows the opener, at
// most MaxFrontmatter bytes; when the file is not UTF-8, YAML holds the
// frontmatter with U+FFFD for what is none. The parts share memory with data unless it has CRLF.
func Split(file string, data []byte) (Frontmatter, []Diagnostic) {
	at := source.Origin{File: file, Line: 1, Column: 1}
	if len(data) > MaxFile {
		return Frontmatter{}, []Diagnostic{Diagnose(CodeTooLarge, at, "",
			fmt.Sprintf("the file has more than %d bytes", MaxFile), "move the bulk of the text to a file of its own")}
	}
	if d, bad := checkUTF8(file, data); bad {
		f, _ := Split(file, bytes.ToValidUTF8(data, []byte("\ufffd")))
		return Frontmatter{YAML: f.YAML, YAMLLine: f.YAMLLine}, []Diagnostic{d}
	}
	var f Frontmatter
	if bytes.IndexByte(data, '\r') >= 0 && bytes.Contains(data, []byte("\r\n")) {
		f.CRLF = true
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	rest, line, before := skipBeforeOpener(data)
	head, after, _ := bytes.Cut(rest, []byte("\n"))
	if !isDashes(head) {
		if isDashes(bytes.TrimLeft(head, " \t")) {
			return Frontmatter{}, []Diagnostic{Diagnose(CodeMissingFrontmatter, source.Origin{File: file, Line: line, Column: 1}, "",
				"the frontmatter is indented", "take away the blanks before the three dashes, and as many before each line to the closing ones")}
		}
		return Frontmatter{}, []Diagnostic{Diagnose(CodeMissingFrontmatter, at, "",
			"the file does not start with frontmatter", "start it with a line of three dashes, the keys, and another line of three dashes")}
	}
	var ds []Diagnostic
	if before != "" {
		ds = append(ds, Diagnose(CodeBeforeOpener, at, "", before+" before the frontmatter", "start the file with the line of three dashes"))
	}
	f.YAMLLine = line + 1
	d, ok := f.cut(file, line, after)
	if !ok {
		ds = append(ds, d)
	}
	return f, ds
}

// cut divides what follows the opener, which stands on the given line.
func (f *Frontmatter) cut(file string, opener int, after []byte) (Diagnostic, bool) {
	at := source.Origin{File: file, Line: opener, Column: 1}
	end, next, ok := findCloser(after)
	if !ok {
		f.YAML = after[:min(len(after), MaxFrontmatter)]
		hint := "close it with a line of three dashes"
		if n := gluedCloser(after); n > 0 {
			at.Line = opener + n
			hint = "put nothing but three dashes on this line"
		}
		return Diagnose(CodeUnclosed, at, "", "the frontmatter is not closed", hint), false
	}
	if end > MaxFrontmatter {
		if n := gluedCloser(after[:MaxFrontmatter]); n > 0 {
			at.Line = opener + n
			return Diagnose(CodeUnclosed, at, "", "the frontmatter is not closed", "put nothing but three dashes on this line"), false
		}
		return Diagnose(CodeTooLarge, at, "", fmt.Sprintf("the frontmatter has %d bytes, more than %d", end, MaxFrontmatter),
			"move long text below the frontmatter"), false
	}
	f.YAML, f.Body = after[:end], after[next:]
	f.BodyLine = opener + 2 + bytes.Count(f.YAML, []byte("\n"))
	return Diagnostic{}, true
}

// findCloser gives where the closing line starts and where the line after it
// does.
func findCloser(b []byte) (start, next int, ok bool) {
	for start <= len(b) {
		eol := bytes.IndexByte(b[start:], '\n')
		next = start + eol + 1
		if eol < 0 {
			eol, next = len(b)-start, len(b)
		}
		if isDashes(b[start : start+eol]) {
			return start, next, true
		}
		if next == len(b) {
			break
		}
		start = next
	}
	return 0, 0, false
}

// gluedCloser gives the number of the first line of b, from 1, that was likely
// meant to close the frontmatter; 0 if there is none.
func gluedCloser(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		if LikeCloser(line) {
			return n
		}
	}
	return 0
}

// LikeCloser says whether a line was likely meant to be three dashes: it holds
// them and something else, or nearly nothing but dashes of some kind.
func LikeCloser(line []byte) bool {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return false
	case bytes.HasPrefix(line, []byte("---")), bytes.HasSuffix(line, []byte("---")):
		return true
	case len(bytes.Trim(line, "-\u2013\u2014\u2212")) == 0:
		return len(line) > 1
	}
	return bytes.Count(line, []byte("-")) >= 2 && utf8.RuneCount(line) <= 4
}

func isDashes(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t")) == 0
}

// skipBeforeOpener passes over a byte order mark, blank lines and HTML
// comments. It gives the rest, its line, and what it passed over.
func skipBeforeOpener(data []byte) (rest []byte, line int, passed string) {
	rest, line = data, 1
	var bom, blank, comment bool
	defer func() { passed = passedOver(bom, blank, comment) }()
	if r, ok := bytes.CutPrefix(rest, []byte("\xef\xbb\xbf")); ok {
		rest, bom = r, true
	}
	for {
		head, after, more := bytes.Cut(rest, []byte("\n"))
		head = bytes.TrimSpace(head)
		switch {
		case len(head) == 0 && more:
			rest, line, blank = after, line+1, true
		case bytes.HasPrefix(head, []byte("<!--")):
			end := bytes.Index(rest, []byte("-->"))
			if end < 0 {
				return rest, line, passed
			}
			line += bytes.Count(rest[:end], []byte("\n"))
			rest, comment = rest[end+3:], true
		default:
			return rest, line, passed
		}
	}
}

func passedOver(bom, blank, comment bool) string {
	var names []string
	if bom {
		names = append(names, "a byte order mark")
	}
	if blank {
		names = append(names, "blank lines")
	}
	if comment {
		names = append(names, "a comment")
	}
	return strings.Join(names, " and ")
}

func checkUTF8(file string, data []byte) (Diagnostic, bool) {
	if utf8.Valid(data) {
		return Diagnostic{}, false
	}
	off := 0
	for {
		r, n := utf8.DecodeRune(data[off:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		off += n
	}
	line := data[bytes.LastIndexByte(data[:off], '\n')+1 : off]
	at := source.Origin{File: file, Line: 1 + bytes.Count(data[:off], []byte("\n")), Column: 1 + utf8.RuneCount(line)}
	return Diagnose(CodeNotUTF8, at, "", fmt.Sprintf("the file is not UTF-8: byte %d is 0x%02x", off, data[off]), "save it as UTF-8"), true
}
