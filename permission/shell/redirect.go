package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// directory is where a shell is, relative to where the line starts.
type directory struct {
	path    string // empty: where the line starts
	unknown bool
}

// elsewhere is the hole before a relative path in an unknown directory.
var elsewhere = Piece{Text: "…/", Hole: true}

// join returns the path of a file that is opened in d.
func (d directory) join(path Word) Word {
	relative := len(path) > 0 && !strings.HasPrefix(path[0].Text, "/")
	switch {
	case len(path) == 0 || d == directory{}:
		return path
	case path[0].Hole && path[0] != elsewhere, relative && d.unknown && path[0] != elsewhere:
		return append(Word{elsewhere}, path...)
	case relative && !d.unknown:
		b := builder{}
		b.text(strings.TrimSuffix(d.path, "/") + "/")
		b.word(word{Word: path})
		return b.done().Word
	}
	return path
}

// enter returns the directory after cd PATH has succeeded. A ".." makes it
// unknown: cd goes back along the path that was typed, the system along what
// its links point to.
func (d directory) enter(path string) directory {
	switch {
	case path == "" || path[0] == '-' || strings.Contains(path, ".."):
		return directory{unknown: true}
	case path[0] == '/':
		return directory{path: path}
	case d.unknown:
		return d
	case d.path == "":
		return directory{path: path}
	}
	return directory{path: strings.TrimSuffix(d.path, "/") + "/" + path}
}

func (a *analyzer) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		name := strings.Trim(r.N.Value, "{}")
		if !syntax.ValidName(name) {
			a.unknown()
		}
		a.assign(name, true)
	}
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		a.own.note(r, nil)
		a.hereDoc(r)
		return
	}
	path := a.expand(r.Word)
	a.own.note(r, path.Word)
	if r.Op == syntax.DplIn || r.Op == syntax.DplOut {
		a.duplicated(path)
	}
	if r.Op == syntax.WordHdoc || r.Op == syntax.DplIn {
		return
	}
	if path.split || hasBrace(r.Word) {
		path = hole(a.source(r.Word))
	}
	known, ok := path.Literal()
	switch {
	case ok && known == "/dev/null":
		return
	case r.Op == syntax.DplOut && ok && isDescriptor(known):
		return
	case ok && a.own.reopens(known, r.Op != syntax.RdrIn):
		return
	}
	if r.Op == syntax.RdrInOut {
		a.open(path.Word, false)
	}
	a.open(path.Word, r.Op != syntax.RdrIn)
}

// open lists a file that is opened.
func (a *analyzer) open(path Word, write bool) {
	if a.room(1) {
		a.line.Redirects = append(a.line.Redirects, Redirect{Path: a.dir.join(path), Write: write})
	}
}

// descriptors follows the three that a shell begins with. Their names in /dev
// open once more what they are open to, so that a file which was opened to be
// read is written through /dev/stdin. While the input is only read and the
// outputs are only written, that opens nothing that is not listed already.
type descriptors struct {
	names [3]bool // opened by name: /dev/stdin to read, the other two to write
	mixed bool
}

var ownNames = [3]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}

// reopens notes the opening of a descriptor by its name, in its own direction.
func (d *descriptors) reopens(path string, write bool) bool {
	i := slices.Index(ownNames[:], path)
	if i < 0 || write != (i > 0) {
		return false
	}
	d.names[i] = true
	return true
}

func (d *descriptors) note(r *syntax.Redirect, path Word) {
	number := ""
	if r.N != nil {
		number = r.N.Value
	}
	to, known := path.Literal()
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		d.mixed = d.mixed || number != "" && number != "0"
	case syntax.DplIn, syntax.RdrInOut:
		d.mixed = true
	case syntax.DplOut:
		d.mixed = d.mixed || !known || isDescriptor(to) && to != "1" && to != "2"
		fallthrough
	default:
		d.mixed = d.mixed || number != "" && number != "1" && number != "2"
	}
}

// settle lists what was opened by name, if that may be another file.
func (d *descriptors) settle(line *Line) {
	for i, opened := range d.names {
		if opened && (d.mixed || line.Unknown) {
			line.Redirects = append(line.Redirects, Redirect{Path: Word{{Text: ownNames[i]}}, Write: i > 0})
		}
	}
}

// duplicated looks at what stands behind <& and >&. Bash reads "-x" there as
// "-" and another word, and expands the name of a file twice.
func (a *analyzer) duplicated(w word) {
	s, known := w.Literal()
	switch {
	case known && len(s) > 1 && s[0] == '-':
		a.fail("a word behind a closed descriptor")
	case !known || strings.Trim(s, nameBytes+"/,:@%") != "":
		a.unknown()
	}
}

// nameBytes stand for themselves wherever a shell expands them.
const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.+"

// isDescriptor says whether what stands behind >& is a file descriptor, to
// copy, to move or to close.
func isDescriptor(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return strings.Trim(s, "0123456789") == ""
}

// hereDoc walks the expansions in a here-document. Its end is found by a word
// that must be as plain as can be.
func (a *analyzer) hereDoc(r *syntax.Redirect) {
	if len(r.Word.Parts) != 1 {
		a.fail("a here-document with an unusual end")
		return
	}
	quoted := true
	var end string
	switch p := r.Word.Parts[0].(type) {
	case *syntax.Lit:
		end, quoted = p.Value, strings.HasPrefix(p.Value, "\\")
		end = strings.TrimPrefix(end, "\\")
	case *syntax.SglQuoted:
		end = p.Value
		if p.Dollar {
			end = ""
		}
	case *syntax.DblQuoted:
		if lit, ok := onlyLit(p.Parts); ok && !p.Dollar {
			end = lit
		}
	}
	if end == "" || strings.Trim(end, nameBytes) != "" {
		a.fail("a here-document with an unusual end")
		return
	}
	if r.Hdoc != nil && !quoted {
		b := builder{}
		a.quotedParts(&b, r.Hdoc.Parts)
	}
}

// input returns what a statement's command reads, if a here-document or
// here-string says so.
func (a *analyzer) input(redirs []*syntax.Redirect) (script string, known bool) {
	for _, r := range redirs {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			script, known = document(r)
		case syntax.WordHdoc:
			known = written(r.Word.Parts)
			if known {
				script, known = a.expand(r.Word).Literal()
			}
		case syntax.RdrIn, syntax.RdrInOut, syntax.DplIn:
			known = false
		}
	}
	return script, known
}

// document returns the text of a here-document without expansions.
func document(r *syntax.Redirect) (string, bool) {
	if r.Hdoc == nil {
		return "", true
	}
	end, bare := r.Word.Parts[0].(*syntax.Lit)
	if !bare || strings.HasPrefix(end.Value, "\\") {
		return onlyLit(r.Hdoc.Parts)
	}
	b := builder{}
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.double(lit.Value)
	}
	return b.done().Literal()
}

// written says whether the parts of a word expand to what is written.
func written(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !written(p.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func onlyLit(parts []syntax.WordPart) (string, bool) {
	if len(parts) != 1 {
		return "", len(parts) == 0
	}
	lit, ok := parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	return lit.Value, true
}
