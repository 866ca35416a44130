package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxChain bounds wrappers in wrappers: env env env …
const maxChain = 16

// call is a simple command whose words are expanded.
type call struct {
	front  []Word // assignments
	words  []word // at least one
	redirs []*syntax.Redirect
}

// run lists what a command runs: itself, or what its words give it to run.
func (a *analyzer) run(c call) (success directory) {
	name, known := c.words[0].Literal()
	// A name that could pass for an assignment and a name is not taken for one.
	if !known || name == "" || strings.ContainsAny(name, " \t\n=") || strings.Contains(name, "[") && name != "[" || a.chain == maxChain {
		a.add(c.front, c.words)
		a.unknown()
		return a.dir
	}
	a.chain++
	defer func() { a.chain-- }()
	base := path.Base(name)
	lower := strings.ToLower(base)
	if (lower != base || base != name && !systemDir(path.Dir(name))) && seenThrough(lower) {
		a.add(c.front, c.words) // perhaps not the program of that name
	}
	base = lower
	if base == "cd" {
		return a.cd(c)
	}
	if base == "command" || base == "builtin" || base == "eval" {
		return a.inShell(base, c)
	}
	a.launch(base, c)
	return a.dir
}

// seenThrough says whether the table may list what a program runs and not the
// program itself.
func seenThrough(base string) bool {
	switch base {
	case "env", "xargs", "bash", "sh", "dash", "ash", "eval", "command", "builtin":
		return true
	}
	_, wraps := wrappers[base]
	return wraps
}

func systemDir(dir string) bool {
	switch dir {
	case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin":
		return true
	}
	return false
}

// launch goes through the table of programs that run what they are given.
func (a *analyzer) launch(base string, c call) {
	if w, ok := wrappers[base]; ok {
		a.wrapper(c, w)
		return
	}
	if o, ok := optionLaunchers[base]; ok {
		a.judged(c, o.launches(c.words[1:]))
		return
	}
	if subs, ok := subLaunchers[base]; ok {
		a.subLauncher(c, subs)
		return
	}
	if holes[base] {
		a.judged(c, true)
		return
	}
	switch base {
	case "env":
		a.env(c)
	case "xargs":
		a.xargs(c)
	case "find":
		a.find(c)
	case "bash", "sh", "dash", "ash":
		a.sh(base, c)
	case "git":
		a.git(c)
	case "awk", "gawk", "mawk", "nawk":
		a.judged(c, awkLaunches(c.words[1:]))
	case "sed", "gsed":
		a.judged(c, sedLaunches(c.words[1:]))
	case "make", "gmake":
		a.judged(c, makeLaunches(c.words[1:]))
	default:
		if a.builtin(base, c) {
			return
		}
		if safe, ok := interpreter(base); ok {
			a.judged(c, interprets(c.words[1:], safe))
			return
		}
		a.judged(c, strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld.so"))
	}
}

// judged lists the command as it is written. If it launches, anything may run.
func (a *analyzer) judged(c call, launches bool) {
	a.add(c.front, c.words)
	if launches {
		a.unknown()
	}
}

// through runs the rest of a command's words, as another process.
func (a *analyzer) through(c call, words []word) {
	c.words = words
	a.subshell(func() { a.run(c) })
}

// cd walks cd, the one builtin whose success matters.
func (a *analyzer) cd(c call) (success directory) {
	a.add(c.front, c.words)
	a.moves++
	start := a.dir
	a.dir = directory{unknown: true}
	if len(c.words) != 2 {
		return a.dir
	}
	if to, ok := c.words[1].Literal(); ok {
		return start.enter(to)
	}
	return a.dir
}

// inShell runs a command's words in the shell itself.
func (a *analyzer) inShell(base string, c call) (success directory) {
	if base == "eval" {
		a.eval(c)
		return a.dir
	}
	opts, rest, ok := options(c.words[1:], "pvV", "", "")
	if !ok || len(rest) == 0 {
		a.judged(c, !ok)
		return a.dir
	}
	for _, o := range opts {
		if o.name != "p" { // only says what it would run
			a.judged(c, false)
			return a.dir
		}
	}
	c.words = rest
	return a.run(c)
}

// given walks the script that a command is given, by f. The assignments before
// the command are the environment of all that the script runs. A command that
// is given nothing is judged itself.
func (a *analyzer) given(c call, f func()) {
	first, files := len(a.line.Commands), len(a.line.Redirects)
	f()
	if len(a.line.Commands) == first && len(a.line.Redirects) == files && !a.line.Unknown {
		a.judged(c, false)
		return
	}
	for i := first; len(c.front) > 0 && i < len(a.line.Commands) && a.room(len(c.front)); i++ {
		to := &a.line.Commands[i]
		to.Words = append(slices.Clone(c.front), to.Words...)
	}
}

func (a *analyzer) eval(c call) {
	var script []string
	for i, w := range c.words[1:] {
		s, ok := w.Literal()
		if !ok {
			a.judged(c, true)
			return
		}
		if i > 0 || s != "--" {
			script = append(script, s)
		}
	}
	a.given(c, func() { a.nested(strings.Join(script, " "), a.lang) })
}

// option is an option of a program, without its dashes, and its value.
type option struct {
	name  string
	value word
}

// options reads the options of a program as getopt does, up to the first other
// word: single letters in flags or, with a value, in valued; long names, those
// with a value ending in "=". ok is false if there are others, or if what
// stands there is known only at run time.
func options(words []word, flags, valued, long string) (opts []option, rest []word, ok bool) {
	for len(words) > 0 {
		if words[0].opens() || words[0].split {
			return opts, words, false
		}
		s := ""
		if len(words[0].Word) > 0 {
			s = words[0].Word[0].Text
		}
		if len(s) < 2 || s[0] != '-' {
			return opts, words, true
		}
		if s == "--" && len(words[0].Word) == 1 {
			return opts, words[1:], true
		}
		var o []option
		read := short
		if s[1] == '-' {
			read = longOption
		}
		o, words, ok = read(words, flags, valued, long)
		if !ok {
			return opts, words, false
		}
		opts = append(opts, o...)
	}
	return opts, nil, true
}

// short reads a word of single letters: -ab, -n5, -n 5.
func short(words []word, flags, valued, _ string) (opts []option, rest []word, ok bool) {
	s := words[0].Word[0].Text
	for i := 1; i < len(s); i++ {
		switch letter := s[i : i+1]; {
		case strings.Contains(valued, letter):
			value := word{Word: append(Word{{Text: s[i+1:]}}, words[0].Word[1:]...)}
			if s[i+1:] != "" || len(words[0].Word) > 1 {
				return append(opts, option{letter, value}), words[1:], true
			}
			if len(words) < 2 || words[1].split {
				return nil, words, false
			}
			return append(opts, option{letter, words[1]}), words[2:], true
		case strings.Contains(flags, letter):
			opts = append(opts, option{name: letter})
		default:
			return nil, words, false
		}
	}
	return opts, words[1:], len(words[0].Word) == 1
}

// longOption reads --name, --name=value or --name value.
func longOption(words []word, _, _, long string) (opts []option, rest []word, ok bool) {
	name, value, has := strings.Cut(words[0].Word[0].Text[2:], "=")
	for known := range strings.FieldsSeq(long) {
		bare, takes := strings.CutSuffix(known, "=")
		if bare != name {
			continue
		}
		switch {
		case has && takes:
			w := word{Word: append(Word{{Text: value}}, words[0].Word[1:]...)}
			return []option{{name, w}}, words[1:], true
		case has, len(words[0].Word) > 1:
			return nil, words, false
		case !takes:
			return []option{{name: name}}, words[1:], true
		case len(words) > 1 && !words[1].split:
			return []option{{name, words[1]}}, words[2:], true
		}
	}
	return nil, words, false
}
