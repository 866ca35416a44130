package demo

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const (
	maxSteps  = 3   // turns with tools for one prompt
	maxReads  = 3   // files read for a question
	maxListed = 5   // files read for a list
	readLines = 400 // lines asked for of each
	farDown   = 200 // a first match below this line is read from a little above it
	above     = 30
)

// search is how far the work on the last prompt has come.
type search struct {
	q                question
	glob, grep, read *offered
	withheld         bool // tools are offered but may not be called now
	steps            int  // turns with tools since the prompt

	listed  []string          // by glob
	hits    []line            // by grep
	files   map[string][]line // that were read
	tried   map[string]bool   // reads that were asked for
	refused []string          // what tools said instead of a result
}

// look reads the conversation since the last prompt.
func look(r *model.Request) *search {
	s := &search{
		glob: find(r.Prefix, "glob"), grep: find(r.Prefix, "grep"), read: find(r.Prefix, "read"),
		withheld: r.Params.ToolChoice == "none",
		files:    map[string][]line{}, tried: map[string]bool{},
	}
	start := len(r.Messages) - 1
	for start >= 0 && r.Messages[start].Role != message.User {
		start--
	}
	if start < 0 {
		return s
	}
	s.q = parseQuestion(r.Messages[start].Text())
	calls := map[string]message.ToolCall{}
	for _, m := range r.Messages[start+1:] {
		if m.Role == message.Assistant && len(m.Calls()) > 0 {
			s.steps++
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case message.ToolCall:
				calls[p.ID] = p
			case message.ToolResult:
				s.take(calls[p.Call], p)
			}
		}
	}
	return s
}

// take learns from one result.
func (s *search) take(c message.ToolCall, r message.ToolResult) {
	text := message.PartsText(r.Parts)
	p := value[string](c, pathArg(""))
	if c.Name == "read" {
		s.tried[p] = true
	}
	if r.Error {
		s.refused = append(s.refused, c.Name+": "+clip(strings.SplitN(text, "\n", 2)[0]))
		return
	}
	switch c.Name {
	case "glob":
		s.list(parsePaths(text))
	case "grep":
		s.hits = append(s.hits, parseHits(text)...)
		s.hits = s.hits[:min(len(s.hits), maxFound)]
	case "read":
		if p == "." {
			s.list(parsePaths(text))
			return
		}
		s.files[p] = parseFile(p, text, value[int](c, offsetArg(0)))
	}
}

func (s *search) list(paths []string) {
	for _, p := range paths {
		if len(s.listed) < maxFound && !slices.Contains(s.listed, p) {
			s.listed = append(s.listed, p)
		}
	}
}

// next returns the tools to ask for and what to say with them; none if it is
// time to answer.
func (s *search) next() (string, []message.ToolCall) {
	if s.withheld || s.q.text == "" || s.steps >= maxSteps {
		return "", nil
	}
	if s.steps == 0 {
		return s.begin()
	}
	if len(s.files) > 0 {
		return "", nil
	}
	if text, calls := s.readBest(); len(calls) > 0 {
		return text, calls
	}
	switch {
	case s.steps > 1 || len(s.listed)+len(s.hits) > 0:
		return "", nil
	case len(s.q.paths) > 0 && len(s.q.words) > 0:
		return s.lookForWords()
	case len(s.q.paths)+len(s.q.words) > 0:
		return s.orient()
	}
	return "", nil
}

// begin looks for what the question names: files, else words, else anything.
func (s *search) begin() (string, []message.ToolCall) {
	var calls []message.ToolCall
	for _, p := range s.q.paths {
		calls = append(calls, s.read.call(pathArg(p), limitArg(readLines))...)
		calls = append(calls, s.glob.call(patternArg("**/"+escape(path.Base(p))))...)
	}
	if len(calls) > 0 {
		return "I look at " + strings.Join(s.q.paths, ", ") + ".", calls
	}
	if text, calls := s.lookForWords(); len(calls) > 0 {
		return text, calls
	}
	if calls := s.glob.call(patternArg("**/*")); s.q.list && len(calls) > 0 {
		return "I look at which files there are.", calls
	}
	return s.orient()
}

func (s *search) lookForWords() (string, []message.ToolCall) {
	if len(s.q.words) == 0 {
		return "", nil
	}
	b := s.q.brace()
	calls := s.glob.call(patternArg("**/*" + b + "*"))
	calls = append(calls, s.glob.call(patternArg("**/*"+b+"*/**"))...)
	calls = append(calls, s.grep.call(patternArg(s.q.pattern()))...)
	return "I look for " + s.q.quotedWords() + " in the names and the text of the files.", calls
}

// escape keeps a file's name from being read as a pattern.
func escape(name string) string {
	return strings.NewReplacer("*", "?", "[", "?", "]", "?", "{", "?", "}", "?", `\`, "?").Replace(name)
}

// orient looks at what the workspace says of itself.
func (s *search) orient() (string, []message.ToolCall) {
	calls := s.glob.call(patternArg("**/README*"))
	calls = append(calls, s.glob.call(patternArg("*"))...)
	if s.glob == nil {
		for _, p := range []string{"README.md", "."} {
			if !s.tried[p] {
				calls = append(calls, s.read.call(pathArg(p), limitArg(readLines))...)
			}
		}
	}
	return "I look at what the workspace says of itself.", calls
}

// readBest asks for the files that promise most.
func (s *search) readBest() (string, []message.ToolCall) {
	most := maxReads
	if s.q.list {
		most = maxListed
	}
	var calls []message.ToolCall
	var names []string
	for _, p := range s.ranked() {
		promising := s.q.list || s.firstHit(p) > 0 || s.pathScore(p) > 0
		if s.tried[p] || len(calls) >= most || strings.HasSuffix(p, "/") || !promising && len(calls) > 0 {
			continue
		}
		args := []argument{limitArg(readLines)}
		if n := s.firstHit(p); n > farDown {
			args = append(args, offsetArg(n-above))
		}
		if c := s.read.call(pathArg(p), args...); len(c) > 0 {
			calls = append(calls, c...)
			names = append(names, p)
		}
	}
	return "I read " + strings.Join(names, ", ") + ".", calls
}

// ranked returns the files that were found, the best first.
func (s *search) ranked() []string {
	score := map[string]int{}
	for _, p := range s.listed {
		score[p] = s.pathScore(p)
	}
	perFile := map[string][]line{}
	for _, h := range s.hits {
		perFile[h.path] = append(perFile[h.path], h)
	}
	for p, hits := range perFile {
		texts := make([]string, len(hits))
		for i, h := range hits {
			texts[i] = h.text
		}
		score[p] = s.pathScore(p) + 10*s.q.matches(strings.Join(texts, "\n")) + min(len(hits), 10)
	}
	paths := make([]string, 0, len(score))
	for p := range score {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return paths
}

// pathScore prefers names that have the question's words, then what explains
// (a README) over what only tests.
func (s *search) pathScore(p string) int {
	n := 8 * s.q.matches(strings.TrimSuffix(path.Base(p), path.Ext(p)))
	n += 4 * s.q.matches(path.Dir(p))
	lower := strings.ToLower(p)
	if strings.HasPrefix(path.Base(lower), "readme") {
		n += 3
	}
	if strings.Contains(lower, "test") {
		n -= 6
	}
	for _, named := range s.q.paths {
		if path.Base(p) == path.Base(named) {
			n += 20
		}
	}
	return n
}

func (s *search) firstHit(p string) int {
	first := 0
	for _, h := range s.hits {
		if h.path == p && (first == 0 || h.n < first) {
			first = h.n
		}
	}
	return first
}
