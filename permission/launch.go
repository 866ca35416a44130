package permission

import (
	"path"
	"strings"

	"github.com/rosterrun/roster/permission/shell"
)

// Launch is an allow that covers more than the program that it names. Name is a
// program that runs what it is given; empty: the rule covers every command line.
type Launch struct {
	Rule Rule
	Name string
}

// Launches lists the allow rules for command lines that cover a program which
// runs what it is given, with any words: an interpreter, or one that starts
// others. A rule that a later one takes the place of is not among them. Git is
// not either: what it starts is named by options, which are judged, or in .git,
// which is protected.
func Launches(rules []Rule) []Launch {
	steps := maxSteps
	var out []Launch
	for i, r := range rules {
		if r.Effect != Allow || !forLines(r) {
			continue
		}
		name, found := launched(r.Subject)
		for _, later := range rules[i+1:] {
			found = found && !(later.Effect != Allow && forLines(later) && covers(later.Subject, r.Subject, &steps))
		}
		if found {
			out = append(out, Launch{r, name})
		}
	}
	return out
}

func forLines(r Rule) bool {
	p, err := ParsePattern(r.Tool)
	return err == nil && p.Match(bash)
}

// launched finds what a pattern of command lines covers.
func launched(subject string) (name string, found bool) {
	wild := strings.IndexAny(subject, "*?")
	if wild < 0 {
		return "", false
	}
	words := strings.Fields(subject[:wild])
	for len(words) > 0 && assigns(shell.Word{{Text: words[0]}}) {
		words = words[1:]
	}
	open := !strings.HasSuffix(subject[:wild], " ") // the wildcard is within the last word
	switch p, err := ParsePattern(subject); {
	case err != nil:
		return "", false
	case p.Any():
		return "", true
	case len(words) == 0 || len(words) == 1 && open:
		return shell.FirstLauncher(func(name string) bool { return name != "git" && (p.Match(name) || p.Match(name+" x")) })
	}
	name = path.Base(words[0])
	for _, w := range words[1:] {
		if strings.Trim(w[:1], "-0123456789") != "" && !strings.Contains(w, "=") {
			return "", false // it says what is run
		}
	}
	return name, name != "git" && shell.Launcher(name)
}
