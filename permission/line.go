package permission

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/permission/shell"
)

// decideLine judges a command line by all that it runs, reads and writes.
func (e *Engine) decideLine(q Query) Decision {
	l := e.read(q)
	v, host := verdict{effect: Allow + 1}, verdict{Allow, nil, StepHost}
	parts := make([]Part, len(l.parts))
	for i := range l.parts {
		p := &l.parts[i]
		own, cap := e.judge(&p.target), e.cap(&p.target)
		if own.effect < v.effect {
			v = own
		}
		if cap.effect < host.effect {
			host = cap
		}
		if cap.effect < own.effect {
			own = cap
		}
		parts[i] = Part{Query: p.Query, Effect: own.effect, Rule: own.rule}
	}
	d := e.conclude(q, v, host, l.unknown)
	d.Parts = parts
	return d
}

// line is what is known of a command line.
type line struct {
	parts   []linePart
	unknown bool // something in it is not known before it runs
}

// linePart is one thing that a line does: as people see it, and as rules do.
type linePart struct {
	Query
	target
}

func (l *line) add(shown, tool string, t target) {
	t.tool = tool
	l.unknown = l.unknown || t.holes != nil
	l.parts = append(l.parts, linePart{Query{Tool: tool, Subject: shown}, t})
}

// read takes a line apart. There is always a part: one that is not understood
// is all hole.
func (e *Engine) read(q Query) *line {
	l := &line{}
	all, err := shell.Analyze(q.Subject)
	if err != nil {
		l.add(q.Subject, bash, anything())
		return l
	}
	l.parts = make([]linePart, 0, len(all.Commands)+2*len(all.Redirects)+1)
	for _, c := range all.Commands {
		e.command(l, c)
		if !e.does(ofEveryPart) {
			return l
		}
	}
	if all.Unknown {
		l.add(q.Subject, bash, anything())
	}
	for _, r := range all.Redirects {
		if e.does(ofRedirects) {
			e.redirect(l, r, q.Dir)
		}
	}
	return l
}

// command adds a simple command. Its command word may have assignments in front;
// if it is not known, anything may run.
func (e *Engine) command(l *line, c shell.Command) {
	words := e.seen(c.Words)
	first := 0
	for first < len(words) && assigns(words[first]) {
		first++
	}
	t := target{text: joined(words)}
	shown := t.s
	if t.holes != nil {
		shown = c.String()
	}
	if first == len(words) {
		l.add(shown, bash, t)
		return
	}
	name, known := words[first].Literal()
	if !known {
		l.add(shown, bash, anything())
		return
	}
	var based *text
	if base := path.Base(name); base != name && e.does(ofBaseNames) {
		b := joined(append([]shell.Word{{{Text: base}}}, words[first+1:]...))
		based = &b
	}
	switch {
	case first == 0:
		t.base = based
	case based == nil:
		t.bare = []text{joined(words[first:])}
	default:
		t.bare = []text{joined(words[first:]), *based}
	}
	l.add(shown, bash, t)
}

// seen gives words as they are, or for the test without their holes.
func (e *Engine) seen(words []shell.Word) []shell.Word {
	if e.does(ofHoles) {
		return words
	}
	out := make([]shell.Word, len(words))
	for i, w := range words {
		out[i] = shell.Word{{Text: w.String()}}
	}
	return out
}

func anything() target { return target{text: textOf(hole)} }

// assigns says whether a word in front of a command sets a variable.
func assigns(w shell.Word) bool {
	if len(w) == 0 || w[0].Hole {
		return false
	}
	n := nameLen(w[0].Text)
	if n == 0 {
		return false
	}
	rest := w[0].Text[n:]
	return strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "+=") || strings.HasPrefix(rest, "[")
}

// redirect adds what reading or writing a file by redirection needs. The path
// is taken as it is written: what links make of it is for the sandbox.
func (e *Engine) redirect(l *line, r shell.Redirect, dir string) {
	tool, shown := "read", r.Path.String()
	if r.Write {
		tool = "write"
	}
	name := joined(e.seen([]shell.Word{r.Path})).s
	subject, real := e.place(name, dir)
	l.add(shown, tool, target{text: textOf(subject)})
	if !inside(subject) {
		l.add(shown, ExternalDirectory, target{text: textOf(subject)})
	}
	if r.Write && (holed(subject) || DefaultProtected().Has(real, subject)) {
		l.add(shown, Protected, target{text: textOf(subject)})
	}
}

// place gives a path of a redirection as rules see it, and in full if that is
// known. Of a path with holes only the end of its last name is sure.
func (e *Engine) place(name, dir string) (subject, real string) {
	if holed(name) {
		tail := name[strings.LastIndexAny(name, "/"+hole)+1:]
		if strings.Trim(tail, ".") == "" {
			tail = ""
		}
		return hole + tail, ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(e.workspace, name)
	}
	real = filepath.Clean(name)
	if rel, err := filepath.Rel(e.workspace, real); err == nil && filepath.IsLocal(rel) {
		return rel, real
	}
	return real, real
}
