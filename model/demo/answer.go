package demo

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxQuotes  = 8   // lines quoted in an answer
	perFile    = 4   // of one file
	maxNames   = 20  // files named in a list
	maxQuote   = 240 // bytes of a quoted line
	headerSize = 40  // lines of a file in which it says what it is
)

// selfDescription is said once in each answer.
const selfDescription = "not a language model"

const advice = "For a written answer set a model that has a key, or run Ollama."

// answer says what was found.
func (s *search) answer() string {
	return "I am " + Name + ", a rule-based stand-in and " + selfDescription + ": I look for a question's words and quote what I find.\n\n" +
		strings.ReplaceAll(s.found(), selfDescription, "…") + "\n" + advice
}

// found is the answer without what the stand-in says of itself.
func (s *search) found() string {
	var b strings.Builder
	switch {
	case s.q.text == "":
		b.WriteString("There is no question in the conversation.\n")
	case s.glob == nil && s.grep == nil && s.read == nil:
		b.WriteString("No tool to look into files (glob, grep, read) is offered to me here, so I cannot look anything up.")
		if len(s.q.words) > 0 {
			b.WriteString(" I would have looked for " + s.q.quotedWords() + ".")
		}
		b.WriteString("\n")
	case s.q.list && len(s.listing()) > 0:
		s.answerList(&b)
	default:
		s.answerQuotes(&b)
	}
	if len(s.refused) > 0 {
		b.WriteString("\nI did not get all that I asked for: " + strings.Join(s.refused[:min(len(s.refused), 3)], "; ") + ".\n")
	}
	return b.String()
}

// listing is what a question for a list is answered with.
func (s *search) listing() []string {
	return slices.DeleteFunc(s.ranked(), func(p string) bool {
		return len(s.q.words) > 0 && s.q.matches(p) == 0
	})
}

func (s *search) answerList(b *strings.Builder) {
	paths := s.listing()
	what := "files"
	if len(s.q.words) > 0 {
		what = "files for " + s.q.quotedWords()
	}
	fmt.Fprintf(b, "I find %d %s:\n\n", len(paths), what)
	for _, p := range paths[:min(len(paths), maxNames)] {
		b.WriteString("- " + p + "\n")
		for _, l := range header(s.files[p]) {
			b.WriteString("  " + quote(l) + "\n")
		}
	}
	if n := len(paths) - maxNames; n > 0 {
		fmt.Fprintf(b, "- and %d more\n", n)
	}
}

func (s *search) answerQuotes(b *strings.Builder) {
	about := ""
	if len(s.q.words) > 0 {
		about = " about " + s.q.quotedWords()
	}
	quotes := s.quotes()
	switch {
	case len(quotes) > 0:
		b.WriteString("What the files say" + about + ":\n\n")
	case len(s.beginnings()) > 0:
		quotes = s.beginnings()
		if about != "" {
			b.WriteString("I find nothing" + about + ". ")
		}
		b.WriteString("What I read begins so:\n\n")
	default:
		b.WriteString("I find nothing" + about + ".\n")
		if len(s.listed) > 0 {
			fmt.Fprintf(b, "There are these files: %s.\n", strings.Join(s.listed[:min(len(s.listed), maxNames)], ", "))
		}
		return
	}
	last := ""
	for _, l := range quotes {
		if last != "" && l.path != last {
			b.WriteString("\n")
		}
		last = l.path
		b.WriteString("- " + quote(l) + "\n")
	}
	if others := s.others(quotes); len(others) > 0 {
		b.WriteString("\nMore of it stands in " + strings.Join(others, ", ") + ".\n")
	}
}

// quotes picks the lines that have most of the question's words and look most
// like an explanation or a definition, by file and in their order there.
func (s *search) quotes() []line {
	if len(s.q.words) == 0 {
		return nil
	}
	type scored struct {
		line
		score int
	}
	var all []scored
	for _, l := range s.known() {
		if n := s.lineScore(l); n > 0 {
			all = append(all, scored{l, n})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path), cmp.Compare(a.n, b.n))
	})
	all = slices.DeleteFunc(all, func(c scored) bool { return 2*c.score < all[0].score })
	var picked []line
	rank, count, seen := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, c := range all {
		if len(picked) == maxQuotes {
			break
		}
		if count[c.path] == perFile || seen[strings.TrimSpace(c.text)] {
			continue
		}
		seen[strings.TrimSpace(c.text)] = true
		count[c.path]++
		if _, ok := rank[c.path]; !ok {
			rank[c.path] = len(rank)
		}
		picked = append(picked, c.line)
	}
	picked = s.withRest(picked)
	slices.SortStableFunc(picked, func(a, b line) int {
		return cmp.Or(cmp.Compare(rank[a.path], rank[b.path]), cmp.Compare(a.n, b.n))
	})
	return picked
}

// known returns all lines that were seen: of files that were read, and the
// matches in others, by path and number.
func (s *search) known() []line {
	var out []line
	for _, p := range s.ranked() {
		out = append(out, s.files[p]...)
	}
	for _, p := range s.q.paths {
		if !slices.Contains(s.ranked(), p) {
			out = append(out, s.files[p]...)
		}
	}
	for _, h := range s.hits {
		if _, ok := s.files[h.path]; !ok {
			out = append(out, h)
		}
	}
	return out
}

var definition = regexp.MustCompile(`^\s*(?:func|type|class|def|interface|struct|const|var|fn|pub|export|public|function|\w[\w-]*:)\b?`)

func (s *search) lineScore(l line) int {
	n := 10 * s.q.matches(l.text)
	if n == 0 && prose(strings.TrimSpace(l.text)) {
		n = 8 * s.q.matches(path.Base(l.path)) // what a file of that name explains
	}
	if n == 0 {
		return 0
	}
	text := strings.TrimSpace(l.text)
	switch {
	case prose(text):
		n += 6
	case definition.MatchString(l.text):
		n += 5
	}
	if strings.HasPrefix(text, "#") {
		n += 3
	}
	if len(text) > maxQuote || len(strings.Fields(text)) < 3 && !strings.HasPrefix(text, "#") {
		n -= 8
	}
	return n + min(s.pathScore(l.path), 12)
}

// prose says whether a line is a sentence, in a comment or in a text.
func prose(text string) bool {
	words := strings.Fields(text)
	if len(words) < 5 {
		return false
	}
	comment := strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "--")
	return comment || !strings.ContainsAny(text, "{}();=<>")
}

// withRest adds the next lines of a sentence that goes on, two at most.
func (s *search) withRest(picked []line) []line {
	has := func(p string, n int) bool {
		return slices.ContainsFunc(picked, func(l line) bool { return l.path == p && l.n == n })
	}
	for _, l := range slices.Clone(picked) {
		for range 2 {
			text := strings.TrimSpace(l.text)
			if !prose(text) || strings.HasSuffix(text, ".") || strings.HasPrefix(text, "# ") {
				break
			}
			i := slices.IndexFunc(s.files[l.path], func(o line) bool { return o.n == l.n+1 })
			if i < 0 {
				break
			}
			l = s.files[l.path][i]
			t := strings.TrimSpace(l.text)
			if len(strings.Fields(t)) < 2 || has(l.path, l.n) || marker(t) != marker(text) {
				break
			}
			picked = append(picked, l)
		}
	}
	return picked
}

// marker is what a comment's line begins with.
func marker(text string) string {
	for _, m := range []string{"//", "--", "#", "*", "- "} {
		if strings.HasPrefix(text, m) {
			return m
		}
	}
	return ""
}

// beginnings quotes how the files begin, for a question without a subject.
func (s *search) beginnings() []line {
	var out []line
	for _, p := range append(s.ranked(), s.q.paths...) {
		n := 0
		for _, l := range s.files[p] {
			text := strings.TrimSpace(l.text)
			if n == perFile || len(out) == maxQuotes {
				break
			}
			if (strings.HasPrefix(text, "#") || prose(text)) && !slices.Contains(out, l) {
				out = append(out, l)
				n++
			}
		}
	}
	return out
}

var headerKey = regexp.MustCompile(`^(?:name|title|description|summary)\s*[:=]`)

// header is what a file says of itself: its name and description in the front
// matter, else its heading or first sentence.
func header(file []line) []line {
	var keys, first []line
	for _, l := range file[:min(len(file), headerSize)] {
		text := strings.TrimSpace(l.text)
		switch {
		case headerKey.MatchString(text):
			keys = append(keys, l)
		case len(first) == 0 && (strings.HasPrefix(text, "# ") || prose(text)):
			first = append(first, l)
		}
	}
	if len(keys) > 0 {
		return keys[:min(len(keys), 2)]
	}
	return first
}

// others names files with matches that are not quoted.
func (s *search) others(quoted []line) []string {
	var out []string
	for _, h := range s.hits {
		in := slices.ContainsFunc(quoted, func(l line) bool { return l.path == h.path })
		if !in && !slices.Contains(out, h.path) && len(out) < 5 {
			out = append(out, h.path)
		}
	}
	slices.Sort(out)
	return out
}

func quote(l line) string {
	return fmt.Sprintf("%s:%d: %s", l.path, l.n, clip(strings.TrimSpace(l.text)))
}

// clip cuts a text to the size of a quote, on the bounds of characters.
func clip(s string) string {
	if len(s) <= maxQuote {
		return s
	}
	n := maxQuote
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
