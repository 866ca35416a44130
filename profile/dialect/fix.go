package dialect

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// Fix writes into a Markdown file what its reader had to repair: the quotes that
// YAML wants, spaces for tabs, and nothing before the frontmatter. A byte order
// mark and blank lines before it go; a comment becomes "#" lines at its top. All
// else stays as it is, to the byte: order, comments, line ends. fixed says what
// was done, at the places of the file as it was.
//
// A file that needs nothing, or that is refused for its frontmatter, is given
// back as it is. Fixing a fixed file changes nothing.
func Fix(f *File) (data []byte, fixed []profile.Diagnostic) {
	doc := f.document()
	if doc.broken || len(doc.diags) == 0 || isDataFile(f) {
		return f.Data, nil
	}
	from := yamlStart(f.Data, doc.front.YAMLLine)
	head, moved := fixHead(f.Data[:from])
	var out bytes.Buffer
	out.Write(head)
	out.Write(fixYAML(f.Data[from:], doc.edits))
	if !sameReading(doc, parseDocument(f.Name, out.Bytes())) {
		return f.Data, nil
	}
	for _, d := range doc.diags {
		if isRepair(d.Code) || moved && d.Code == profile.CodeBeforeOpener {
			fixed = append(fixed, d)
		}
	}
	if len(fixed) == 0 {
		return f.Data, nil
	}
	return out.Bytes(), fixed
}

func isDataFile(f *File) bool {
	return isData(cmp.Or(f.Path, f.Name))
}

// yamlStart gives where a line of the file starts, from 1.
func yamlStart(data []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return len(data)
		}
		at += n + 1
	}
	return at
}

// fixHead gives the opening line without what stands before it, and the
// comments that stood there. It leaves a comment that YAML could not hold.
func fixHead(head []byte) (out []byte, moved bool) {
	open := len(bytes.TrimRight(head, " \t\r\n")) - len("---")
	before, opener := head[:open], head[open:]
	if len(before) == 0 {
		return head, false
	}
	out = slices.Clone(opener)
	for rest := before; ; {
		start := bytes.Index(rest, []byte("<!--"))
		if start < 0 {
			return out, true
		}
		text, after, _ := bytes.Cut(rest[start+len("<!--"):], []byte("-->"))
		lines, ok := commentLines(text, eol(opener))
		if !ok {
			return head, false
		}
		out, rest = append(out, lines...), after
	}
}

// commentLines writes the text of an HTML comment as YAML comments.
func commentLines(text []byte, eol string) ([]byte, bool) {
	var out []byte
	var blank []byte // lines that count only when another follows
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if bytes.ContainsAny(text, oddBreaks) || hasControl(text) {
		return nil, false
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimRight(line, " \t")
		if len(line) == 0 {
			if len(out) > 0 {
				blank = append(blank, "#"+eol...)
			}
			continue
		}
		out = append(append(out, blank...), '#')
		blank = nil
		if line[0] != ' ' {
			out = append(out, ' ')
		}
		out = append(append(out, line...), eol...)
	}
	return out, true
}

func eol(line []byte) string {
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// fixYAML makes the edits of a frontmatter, which count line breaks as one byte,
// in the bytes of the file that start with it.
func fixYAML(data []byte, edits []edit) []byte {
	at, seen := 0, 0 // in data, and without the carriage returns of line ends
	seek := func(to int) int {
		for seen < to && at < len(data) {
			if data[at] == '\r' && at+1 < len(data) && data[at+1] == '\n' {
				at++
			}
			at++
			seen++
		}
		return at
	}
	raw := make([]edit, 0, len(edits))
	for _, e := range edits {
		from := seek(e.from)
		text := e.text
		if n := bytes.IndexByte(data[from:], '\n'); n >= 0 {
			text = strings.ReplaceAll(text, "\n", eol(data[from:from+n+1]))
		}
		raw = append(raw, edit{from, seek(e.to), text})
	}
	return applyEdits(data, raw)
}

// sameReading says whether two documents say the same, whatever their form.
func sameReading(a, b *document) bool {
	if b.broken || b.repaired != nil || len(a.fields) != len(b.fields) || !bytes.Equal(a.front.Body, b.front.Body) {
		return false
	}
	for i, f := range a.fields {
		if f.written != b.fields[i].written || !sameNode(f.node, b.fields[i].node) {
			return false
		}
	}
	return true
}
