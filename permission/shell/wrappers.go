package shell

import (
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper runs the command behind a wrapper's options.
func (a *analyzer) wrapper(c call, w wrapper) {
	_, rest, ok := options(c.words[1:], w.flags, w.valued, w.long)
	for i := range w.skip {
		ok = ok && (i >= len(rest) || !rest[i].opens() && !rest[i].split)
	}
	if !ok || len(rest) <= w.skip {
		a.judged(c, !ok)
		return
	}
	if w.also {
		a.add(c.front, c.words)
	}
	rest = rest[w.skip:]
	if w.assigns {
		if rest, ok = a.assignments(&c, rest); !ok || len(rest) == 0 {
			a.judged(c, !ok)
			return
		}
	}
	a.through(c, rest)
}

// assignments takes X=1 from the words and puts it before the command. ok is
// false if a word may or may not be one.
func (a *analyzer) assignments(c *call, words []word) (rest []word, ok bool) {
	front := slices.Clip(c.front)
	for len(words) > 0 {
		w := words[0]
		if w.opens() || w.split {
			return words, false
		}
		if len(w.Word) == 0 {
			break
		}
		name, value, found := strings.Cut(w.Word[0].Text, "=")
		if !found {
			break
		}
		if strings.ContainsAny(name, " \t\n") {
			return words, false
		}
		a.assign(name, len(w.Word) == 1 && text(value).number())
		if len(w.Word) == 1 && strings.ContainsAny(value, " \t\n") {
			w.Word = Word{{Text: name + "="}, {Text: value, Hole: true}}
		}
		front, words = append(front, w.Word), words[1:]
	}
	c.front = front
	return words, true
}

func (a *analyzer) env(c call) {
	opts, rest, ok := options(c.words[1:], "i0v", "uCS", "ignore-environment null debug unset= chdir= split-string=")
	if ok && len(rest) > 0 && rest[0].String() == "-" {
		rest = rest[1:]
	}
	moved := false
	for _, o := range opts {
		switch o.name {
		case "u", "unset":
			a.assign(o.value.String(), true)
		case "C", "chdir":
			moved = true
		case "S", "split-string":
			s, known := o.value.Literal()
			if !known || strings.ContainsAny(s, "\\'\"$#\n\v\f\r") || strings.HasPrefix(strings.TrimSpace(s), "-") {
				ok = false
				continue
			}
			var words []word
			for field := range strings.FieldsSeq(s) {
				words = append(words, text(field))
			}
			rest = append(words, rest...)
		}
	}
	if ok {
		rest, ok = a.assignments(&c, rest)
	}
	if !ok || len(rest) == 0 {
		a.judged(c, !ok)
		return
	}
	a.subshell(func() {
		if moved {
			a.dir = directory{unknown: true}
		}
		a.through(c, rest)
	})
}

// stdin is the hole for what xargs reads.
const stdin = "…"

func (a *analyzer) xargs(c call) {
	opts, rest, ok := options(c.words[1:], "0oprtx", "adEILnPs", "null open-tty interactive no-run-if-empty verbose exit show-limits "+
		"arg-file= delimiter= eof= replace= max-lines= max-args= max-procs= max-chars=")
	if !ok {
		a.judged(c, true)
		return
	}
	if len(rest) == 0 {
		rest = []word{text("echo")}
	}
	replace := ""
	for _, o := range opts {
		if o.name == "I" || o.name == "replace" {
			if replace, ok = o.value.Literal(); !ok || replace == "" {
				a.judged(c, true)
				return
			}
		}
	}
	if replace == "" {
		a.through(c, append(slices.Clip(rest), hole(stdin)))
		return
	}
	a.through(c, fill(rest, replace))
}

// fill makes holes of a placeholder.
func fill(words []word, placeholder string) []word {
	out := make([]word, len(words))
	for i, w := range words {
		b := builder{}
		for _, p := range w.Word {
			if p.Hole {
				b.hole(p.Text, !w.split)
				continue
			}
			for {
				before, after, found := strings.Cut(p.Text, placeholder)
				b.text(before)
				if !found {
					break
				}
				b.hole(placeholder, true)
				p.Text = after
			}
		}
		out[i] = b.done()
	}
	return out
}

// find lists find itself and the commands that -exec and the like give.
func (a *analyzer) find(c call) {
	a.add(c.front, c.words)
	words := c.words[1:]
	for i := 0; i < len(words); i++ {
		s, known := words[i].Literal()
		if !known {
			a.findHole(words, i)
			continue
		}
		switch s {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for ; end < len(words); end++ {
				if e, _ := words[end].Literal(); e == ";" || e == "+" && words[end-1].String() == "{}" {
					break
				}
			}
			if inner := words[i+1 : end]; len(inner) > 0 {
				a.findEnd(inner)
				a.subshell(func() {
					a.dir = directory{unknown: true}
					a.through(c, fill(inner, "{}"))
				})
			}
			i = end
		}
	}
}

// findEnd says that anything may run if a word that is known only at run time
// can end a command of find's, and another one follows.
func (a *analyzer) findEnd(inner []word) {
	ends := false
	for _, w := range inner {
		ends = ends || w.opens()
		if s := w.String(); w.split || ends && (strings.HasPrefix(s, "-exec") || strings.HasPrefix(s, "-ok")) {
			a.unknown()
		}
	}
}

// findHole says that anything may run if a word that is known only at run time
// can be an -exec whose command follows.
func (a *analyzer) findHole(words []word, i int) {
	w := words[i]
	if !w.opens() && !w.split {
		return
	}
	if w.opens() && w.split {
		a.unknown()
		return
	}
	if i+1 < len(words) && !strings.HasPrefix(words[i+1].String(), "-") || i+1 < len(words) && words[i+1].opens() {
		a.unknown()
	}
}

// sh analyses the script that a shell is given.
func (a *analyzer) sh(base string, c call) {
	opts, rest, ok := options(c.words[1:], "acefhlsuvx", "o", "norc noprofile login")
	script, command, reads := "", false, len(rest) == 0
	for _, o := range opts {
		switch o.name {
		case "c":
			command = true
		case "s":
			reads = true
		case "o":
			ok = ok && isStrictness(o.value.String())
		}
	}
	switch {
	case !ok:
		a.judged(c, true)
		return
	case command && len(rest) == 0:
		a.judged(c, false)
		return
	case command:
		script, ok = rest[0].Literal()
		ok = ok && script != "-" // which ends the options
	case reads:
		script, ok = a.input(c.redirs)
	default: // a file
		a.judged(c, interprets(rest, ""))
		return
	}
	if !ok {
		a.judged(c, true)
		return
	}
	a.subshell(func() {
		a.given(c, func() { a.shellScript(base, script) })
	})
}

// shellScript analyses a script of sh as that of any shell which may be sh.
func (a *analyzer) shellScript(base, script string) {
	if base == "bash" {
		a.nested(script, syntax.LangBash)
		return
	}
	l := &a.line
	command, redirect := len(l.Commands), len(l.Redirects)
	a.subshell(func() { a.nested(script, syntax.LangPOSIX) })
	command2, redirect2 := len(l.Commands), len(l.Redirects)
	a.nested(script, syntax.LangBash)
	if reflect.DeepEqual(l.Commands[command:command2], l.Commands[command2:]) {
		l.Commands = l.Commands[:command2]
	}
	if reflect.DeepEqual(l.Redirects[redirect:redirect2], l.Redirects[redirect2:]) {
		l.Redirects = l.Redirects[:redirect2]
	}
}

// isStrictness says whether an option of set only stops or shows more.
func isStrictness(name string) bool {
	switch name {
	case "errexit", "nounset", "pipefail", "xtrace", "verbose", "noglob", "noclobber":
		return true
	}
	return false
}
