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
	moved   bool // it changes the directory, so that no relative path is known
}

// linePart is one thing that a line does: as people see it, and as rules do.
type linePart struct {
	Query
	target
}

func (l *line) add(shown, tool string, t target) {
	t.tool, t.holed = tool, holed(t.text)
	l.unknown = l.unknown || t.holed
	l.parts = append(l.parts, linePart{Query{Tool: tool, Subject: shown}, t})
}

// read takes a line apart. There is always a part.
func (e *Engine) read(q Query) *line {
	l := &line{}
	all, err := shell.Analyze(q.Subject)
	if err != nil || len(all.Commands)+len(all.Redirects) == 0 {
		l.add(q.Subject, bash, target{text: hole})
		return l
	}
	for _, c := range all.Commands {
		e.command(l, c)
		if !e.does(ofEveryPart) {
			return l
		}
	}
	if all.Unknown {
		l.add(q.Subject, bash, target{text: hole})
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
	first := 0
	for first < len(c.Words) && assigns(c.Words[first]) {
		first++
	}
	t := target{text: e.words(c.Words)}
	shown := display(c.Words)
	if first == len(c.Words) {
		l.add(shown, bash, t)
		return
	}
	name := e.words(c.Words[first : first+1])
	if holed(name) {
		l.add(shown, bash, target{text: hole})
		return
	}
	based := ""
	if base := path.Base(name); base != name && e.does(ofBaseNames) {
		based = base + e.words(c.Words[first:])[len(name):]
	}
	if first == 0 {
		t.base = based
	} else {
		t.bare = [2]string{e.words(c.Words[first:]), based}
	}
	switch path.Base(name) {
	case "cd", "pushd", "popd":
		l.moved = true
	}
	l.add(shown, bash, t)
}

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

// words joins words as rules see them. One that is all hole may vanish with the
// space before it.
func (e *Engine) words(words []shell.Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !(vanishes(w) && e.does(ofHoles)) {
			b.WriteByte(' ')
		}
		for _, p := range w {
			if p.Hole && e.does(ofHoles) {
				b.WriteString(hole)
			} else {
				b.WriteString(p.Text)
			}
		}
	}
	return b.String()
}

func vanishes(w shell.Word) bool {
	some := false
	for _, p := range w {
		if !p.Hole && p.Text != "" {
			return false
		}
		some = some || p.Hole
	}
	return some
}

// display joins words as people see them.
func display(words []shell.Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, p := range w {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// redirect adds what reading or writing a file by redirection needs. The path
// is taken as it is written: what links make of it is for the sandbox.
func (e *Engine) redirect(l *line, r shell.Redirect, dir string) {
	tool, shown := "read", display([]shell.Word{r.Path})
	if r.Write {
		tool = "write"
	}
	name := e.words([]shell.Word{r.Path})
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return
	}
	subject, real := e.place(name, dir, l.moved)
	l.add(shown, tool, target{text: subject})
	if !inside(subject) {
		l.add(shown, ExternalDirectory, target{text: subject})
	}
	if r.Write && (holed(subject) || DefaultProtected().Has(real, subject)) {
		l.add(shown, Protected, target{text: subject})
	}
}

// place gives a path of a redirection as rules see it, and in full if that is
// known. Of a path with holes only the end of its last name is sure.
func (e *Engine) place(name, dir string, moved bool) (subject, real string) {
	if holed(name) || moved && !filepath.IsAbs(name) {
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
