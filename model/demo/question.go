package demo

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxQuestion = 4000 // bytes of a question that are looked at
	maxWords    = 5    // words that are looked for
	maxPaths    = 3    // files that a question may name
)

// question is what there is to look for in a prompt.
type question struct {
	text  string
	words []word
	paths []string // files that the prompt names
	list  bool     // it asks which things there are, not what one does
}

// word is a word to look for, with its plural and its other forms.
type word struct {
	text    string // as it is used in file patterns
	pattern string // RE2
	re      *regexp.Regexp
}

var (
	pathLike = regexp.MustCompile(`(?:[\w.@-]+/)*[\w@-]*\.?[\w-]+\.[A-Za-z][\w]{0,9}\b|(?:[\w.@-]+/)+[\w.@-]+`)
	wordLike = regexp.MustCompile(`[\p{L}_][\p{L}\p{N}_]+`)
	listing  = regexp.MustCompile(`(?i)\b(which|list|enumerate|how many)\b|\bwhat\b.*\b(are|is)\s+(there|here)\b`)
)

// stopWords carry no subject of their own, in a question about files.
const stopWords = " a about across actually all also an and any anything are as ask at be been being but by can check code could did " +
	"directory do does doing done each every everything exactly example explain file files find folder for from function get give go got had has have hello here hey hi how " +
	"i if in inside into is it its just kind let like list look made make many may me mean might more most much must my name need new not of on one only " +
	"or other our out over please project quick quickly read really repo repository s say says see should show so some something source stand such summarise " +
	"summarize summary t take tell than thank thanks that the their them then there these they thing things this those through to understand up us use used uses using very " +
	"want was way we well were what when where which while who whole why will with within work works workspace would write you your "

func parseQuestion(text string) question {
	q := question{text: text}
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "")
	}
	q.list = listing.MatchString(text)
	for _, p := range pathLike.FindAllString(text, -1) {
		p = strings.TrimSuffix(p, ".")
		if len(q.paths) < maxPaths && !slices.Contains(q.paths, p) && safePath(p) && !abbreviation(p) {
			q.paths = append(q.paths, p)
		}
	}
	for _, w := range wordLike.FindAllString(text, -1) {
		w = stem(strings.ToLower(w))
		known := slices.ContainsFunc(q.words, func(k word) bool { return k.text == w })
		if len(q.words) < maxWords && len(w) > 1 && !known && !strings.Contains(stopWords, " "+w+" ") && !inPath(w, q.paths) {
			q.words = append(q.words, newWord(w))
		}
	}
	return q
}

// stem takes the plural's ending off; other forms are left to the pattern.
func stem(w string) string {
	switch {
	case strings.Contains(stopWords, " "+w+" "):
		return w
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

func newWord(w string) word {
	p := regexp.QuoteMeta(w)
	if base, ok := strings.CutSuffix(w, "y"); ok && len(w) > 3 {
		p = regexp.QuoteMeta(base) + "(?:y|ies|ied)"
	}
	if len(w) <= 3 {
		p = `\b` + p + `\b`
	}
	return word{w, p, regexp.MustCompile(`(?i)` + p)}
}

// safePath keeps the stand-in inside the workspace: it never asks for more
// than the prompt names there.
func safePath(p string) bool {
	return !slices.Contains(strings.Split(p, "/"), "..") && strings.IndexFunc(p, unicode.IsControl) < 0
}

func abbreviation(p string) bool { return p == "e.g" || p == "i.e" }

func inPath(w string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(strings.ToLower(p), w) })
}

// matches counts the different words in a text.
func (q *question) matches(text string) int {
	n := 0
	for _, w := range q.words {
		if w.re.MatchString(text) {
			n++
		}
	}
	return n
}

// pattern finds any of the words.
func (q *question) pattern() string {
	all := make([]string, len(q.words))
	for i, w := range q.words {
		all[i] = w.pattern
	}
	return "(?i)" + strings.Join(all, "|")
}

// brace names any of the words in a file pattern.
func (q *question) brace() string {
	all := make([]string, len(q.words))
	for i, w := range q.words {
		all[i] = w.text
		if base, ok := strings.CutSuffix(w.text, "y"); ok && len(w.text) > 4 {
			all[i] = base // finds the plural too
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return "{" + strings.Join(all, ",") + "}"
}

// quotedWords lists the words for people.
func (q *question) quotedWords() string {
	all := make([]string, len(q.words))
	for i, w := range q.words {
		all[i] = "“" + w.text + "”"
	}
	return strings.Join(all, ", ")
}
