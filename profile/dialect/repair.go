package dialect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// The bounds of a repair: what it may give to the parser in all, in calls and
// in bytes, and how deep below a key it looks.
const (
	maxParses      = 500
	maxParsedBytes = 8 * profile.MaxFrontmatter
	maxRepairLevel = 4
)

// repairer reads the raw lines of a frontmatter that YAML refused, a top-level
// key at a time. It changes nothing of a key that YAML accepts by itself.
type repairer struct {
	text  []byte
	rows  []row
	edits []edit
	found []finding

	anchors bool // the text has anchors, so a "*" may be a mistyped alias
	parses  int
	bytes   int
	stop    bool // what follows is not frontmatter
}

// finding is a diagnostic before it has a place in the file.
type finding struct {
	at                       int
	code, key, message, hint string
}

func (r *repairer) report(at int, code, key, message, hint string) {
	if r.spent() { // what is not known to be YAML is not known to be a fault either
		return
	}
	r.found = append(r.found, finding{at, code, key, message, hint})
}

func (r *repairer) refused() bool {
	return slices.ContainsFunc(r.found, func(f finding) bool { return !isRepair(f.code) })
}

func isRepair(code string) bool {
	return code == profile.CodeRepaired || code == profile.CodeTabs
}

// repair is called when YAML refused the frontmatter with the given error.
// Either the document is whole afterwards, with a warning for each value that
// was read in another way, or it is broken, with an error for each key that
// could not be read.
func (d *document) repair(file string, refusal profile.Diagnostic) {
	r := &repairer{text: d.front.YAML, rows: rowsOf(d.front.YAML), anchors: hasAnchor(d.front.YAML)}
	if refusal.Code == profile.CodeInvalidYAML && !hasControl(d.front.YAML) {
		r.run()
	}
	if r.spent() && !r.refused() {
		r.found, r.edits = nil, nil
	} else if odd := bytes.IndexAny(r.text, oddBreaks); len(r.found) == 0 && odd >= 0 {
		r.oddBreak(odd, "")
	}
	if len(r.found) > 0 && !r.refused() && d.adopt(file, r) {
		d.diags = append(d.diags, r.diagnose(d, file, len(r.found))...)
		return
	}
	d.broken = true
	if !r.refused() {
		d.diags = append(d.diags, refusal)
		d.fields = d.sniff(file)
		return
	}
	d.diags = append(d.diags, r.diagnose(d, file, maxProblems)...)
	d.fields = d.readable(file, r)
}

// maxProblems bounds the diagnostics of one frontmatter that YAML refuses.
const maxProblems = 50

// diagnose gives the first findings their places in the file.
func (r *repairer) diagnose(d *document, file string, most int) []profile.Diagnostic {
	slices.SortStableFunc(r.found, func(x, y finding) int { return cmp.Compare(x.at, y.at) })
	var ds []profile.Diagnostic
	for _, f := range r.found[:min(most, len(r.found))] {
		line, column := (&places{written: r.text, line: d.front.YAMLLine}).at(f.at)
		at := source.Origin{File: file, Line: line, Column: column}
		ds = append(ds, profile.Diagnose(f.code, at, f.key, f.message, f.hint))
	}
	return ds
}

// adopt reads the document with the repair; without success it stays as it was.
func (d *document) adopt(file string, r *repairer) bool {
	was := *d
	d.front.YAML = applyEdits(r.text, r.edits)
	d.lines = nil
	d.repaired = &places{written: r.text, line: d.front.YAMLLine, edits: r.edits, read: d.front.YAML, starts: yamlLines(d.front.YAML)}
	root, _, ok := d.parse(file)
	if !ok {
		*d = was
		return false
	}
	d.fields, d.edits = d.fieldsOf(file, root), r.edits
	return true
}

// readable gives the fields of the keys that could be read, and a guess of the
// others, in their order.
func (d *document) readable(file string, r *repairer) []field {
	guess := d.sniff(file)
	rest := &repairer{text: r.text, edits: r.edits, rows: r.rows}
	bad := map[int]bool{}
	for _, b := range r.entries() {
		if r.hasProblem(b) {
			bad[d.front.YAMLLine+b.first] = true
			rest.edits = blankOut(rest.edits, r.text, r.rows[b.first].from, r.rows[b.last-1].to)
		}
	}
	c := *d
	if len(r.rows) == 0 || !c.adopt(file, rest) {
		return guess
	}
	fields := c.fields
	d.partial = true
	for _, g := range guess {
		if bad[g.at.Line] {
			g.unread = true
			fields = append(fields, g)
		}
	}
	slices.SortStableFunc(fields, func(x, y field) int { return cmp.Compare(x.at.Line, y.at.Line) })
	d.repaired, d.front.YAML, d.lines = c.repaired, c.front.YAML, nil
	return fields
}

func (r *repairer) hasProblem(b chunk) bool {
	from, to := r.rows[b.first].from, r.rows[b.last-1].to
	return slices.ContainsFunc(r.found, func(f finding) bool {
		return !isRepair(f.code) && from <= f.at && f.at <= to
	})
}

// blankOut takes a range out of the text, but for its line breaks.
func blankOut(edits []edit, text []byte, from, to int) []edit {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e edit) bool { return from <= e.from && e.from <= to })
	return append(edits, edit{from, to, strings.Repeat("\n", bytes.Count(text[from:to], []byte("\n")))})
}

// run looks at each top-level key.
func (r *repairer) run() {
	entries := r.entries()
	if len(r.rows) > 0 {
		r.preamble(entries)
	}
	for i := 0; i < len(entries) && !r.stop && !r.spent(); i++ {
		b := entries[i]
		if r.accepts(b) {
			continue
		}
		if n := r.spans(entries[i:]); n > 1 {
			i += n - 1
			continue
		}
		b = r.unindented(b)
		if !r.accepts(b) {
			r.entry(b)
		}
	}
}

// entries divides the rows at the keys of the left edge.
func (r *repairer) entries() []chunk {
	var out []chunk
	for i, w := range r.rows {
		if w.indent == 0 && !w.blank && !w.comment {
			h, ok := headOf(r.text, w.from, w.to, 0)
			if ok && !h.item {
				out = append(out, chunk{first: i, last: i + 1, at: w.from})
				continue
			}
		}
		if len(out) > 0 {
			out[len(out)-1].last = i + 1
		}
	}
	return out
}

// spans gives how many entries are one value that holds what looks like keys:
// a quoted text or a flow collection over several lines. 0: it is not so.
func (r *repairer) spans(entries []chunk) int {
	const most = 8
	h, _ := headOf(r.text, entries[0].at, r.rows[entries[0].first].to, 0)
	if h.value >= len(r.text) || !strings.ContainsRune(`"'[{`, rune(r.text[h.value])) {
		return 0
	}
	for n := 2; n <= min(most, len(entries)); n++ {
		b := chunk{first: entries[0].first, last: entries[n-1].last, at: entries[0].at}
		if r.accepts(b) && r.pairs(b) == 1 {
			return n
		}
	}
	return 0
}

func (r *repairer) preamble(entries []chunk) {
	end := len(r.rows)
	if len(entries) > 0 {
		end = entries[0].first
	}
	for _, w := range r.rows[:end] {
		switch {
		case w.blank || w.comment:
			continue
		case w.indent == 0:
			r.stray(w)
		default:
			r.report(w.from, profile.CodeInvalidYAML, "", "this line is indented, and the keys after it are not", "start it at the left edge")
		}
		return
	}
}

// unindented reports a line of the left edge that is no key, and gives the
// block up to it.
func (r *repairer) unindented(b chunk) chunk {
	h, _ := headOf(r.text, b.at, r.rows[b.first].to, 0)
	list := h.value >= r.rows[b.first].to || r.text[h.value] == '#' // a list may start at the left edge
	for i := b.first + 1; i < b.last; i++ {
		w := r.rows[i]
		if w.indent > 0 || w.blank || w.comment {
			continue
		}
		if item, ok := headOf(r.text, w.from, w.to, 0); ok && item.item && list || !list && r.closesFlow(h, w) {
			continue
		}
		before := i - 1
		for before > b.first && (r.rows[before].blank || r.rows[before].comment) {
			before--
		}
		for j := b.first + 1; j < i; j++ {
			if c := r.rows[j]; c.comment && profile.LikeCloser(r.text[c.from:c.to]) {
				before = j
			}
		}
		if end := r.rows[before]; profile.LikeCloser(r.text[end.from:end.to]) {
			w = end
		}
		r.stray(w)
		b.last = i
		break
	}
	return b
}

// closesFlow says whether a row holds nothing but the end of a flow collection.
func (r *repairer) closesFlow(h head, w row) bool {
	c := r.text[h.value]
	return (c == '[' || c == '{') && len(bytes.Trim(r.text[w.from:w.to], "]}, \t")) == 0
}

// stray reports a line that is neither key nor value. Where it is a closing
// line gone wrong, the rest is no frontmatter.
func (r *repairer) stray(w row) {
	line := r.text[w.from:w.to]
	switch {
	case profile.LikeCloser(line):
		r.report(w.from, profile.CodeUnindented, "", fmt.Sprintf("the line %s is neither a key nor part of a value", shown(line, 0)),
			"if it closes the frontmatter, it must hold three dashes and nothing else")
		r.stop = true
	case bytes.HasPrefix(line, []byte("...")):
		r.report(w.from, profile.CodeUnindented, "", "a line of three dots ends the YAML, and more follows", "remove it")
	default:
		r.report(w.from, profile.CodeUnindented, "", fmt.Sprintf("the line %s stands at the left edge and is no key", shown(line, 0)),
			"indent it below its key, write key: before it, or close the frontmatter above it")
	}
}

// accepts says whether YAML accepts a chunk, with the edits made so far.
func (r *repairer) accepts(b chunk) bool { return r.load(b) == nil }

// load gives YAML's error about a block. An alias whose anchor is in another
// block is none.
func (r *repairer) load(b chunk) error {
	_, err := r.node(b)
	var le *yaml.LoadError
	if r.anchors && errors.As(err, &le) {
		if _, name, ok := strings.Cut(le.Message, "unknown anchor '"); ok {
			name, _, _ = strings.Cut(name, "'")
			if bytes.Contains(r.text, []byte("&"+name)) {
				return nil
			}
		}
	}
	return err
}

var errSpent = errors.New("the frontmatter has too many faults")

func (r *repairer) spent() bool { return r.parses > maxParses || r.bytes > maxParsedBytes }

func (r *repairer) node(b chunk) (*yaml.Node, error) {
	from, to := b.at, r.rows[b.last-1].to
	text := r.edited(from, to)
	if b.level > 0 { // stand where it stood
		text = append(bytes.Repeat([]byte(" "), b.indent), text...)
	}
	return r.parse(text)
}

func (r *repairer) parse(text []byte) (*yaml.Node, error) {
	r.parses++
	r.bytes += len(text)
	if r.spent() {
		return nil, errSpent
	}
	if root, ok := parseFast(text); ok {
		return root, nil
	}
	var n yaml.Node
	if err := yaml.Load(text, &n, depthLimit); err != nil && !onlyComments(text) {
		return nil, err
	}
	if len(n.Content) == 0 {
		return &yaml.Node{}, nil
	}
	return n.Content[0], nil
}

// edited gives a part of the text with its edits.
func (r *repairer) edited(from, to int) []byte {
	var inside []edit
	for _, e := range r.edits {
		if from <= e.from && e.to <= to {
			inside = append(inside, edit{e.from - from, e.to - from, e.text})
		}
	}
	return applyEdits(r.text[from:to], inside)
}

func (r *repairer) pairs(b chunk) int {
	n, err := r.node(b)
	if err != nil || n.Kind != yaml.MappingNode {
		return 0
	}
	return len(n.Content) / 2
}

// moved says whether the repair added lines, so that places of the file are
// none of front.YAML.
func (d *document) moved() bool {
	return d.repaired != nil && bytes.Count(d.repaired.read, []byte("\n")) != bytes.Count(d.repaired.written, []byte("\n"))
}
