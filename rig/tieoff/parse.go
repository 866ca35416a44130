package tieoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/message"
)

// Problem is what is wrong with a section, in a line that is counted from 1.
type Problem struct {
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// maxFront bounds a front block, in bytes.
const maxFront = 64 << 10

// front is what a front block says.
type front struct {
	Job      string    `yaml:"job"`
	Time     time.Time `yaml:"time"`
	Session  string    `yaml:"session"`
	Profile  string    `yaml:"profile"`
	Revision string    `yaml:"revision"`
	Strand   string    `yaml:"strand"`
	Model    string    `yaml:"model"`
	Hops     int       `yaml:"hops"`
	Usage    struct {
		Input      int64 `yaml:"input"`
		Output     int64 `yaml:"output"`
		CacheRead  int64 `yaml:"cache-read"`
		CacheWrite int64 `yaml:"cache-write"`
		Estimated  bool  `yaml:"estimated"`
	} `yaml:"usage"`
	Cost   float64 `yaml:"cost"`
	Closes string  `yaml:"closes"`
}

// Parse gives the sections of a tie-off, in their order. What people have written
// between them is passed over; a section that they have written in is Edited. A
// section without its marker, of which the end was cut off or removed, ends where the
// next begins.
func Parse(data []byte) ([]Section, []Problem) {
	p := &parser{data: data}
	for p.at < len(data) {
		begin, number := p.at, p.number+1
		text := p.next()
		s, ok := heading(text)
		if !ok {
			continue
		}
		after, afterNumber := p.at, p.number
		block, ok := p.block()
		if !ok {
			p.at, p.number = after, afterNumber // a heading of a person
			continue
		}
		s.Line = number
		p.section(&s, begin, block)
		p.sections = append(p.sections, s)
	}
	return p.sections, p.problems
}

// parser reads a file line by line.
type parser struct {
	data     []byte
	at       int
	number   int // of the line before at
	sections []Section
	problems []Problem
}

// next takes a line, without its end.
func (p *parser) next() string {
	text, _, _ := bytes.Cut(p.data[p.at:], []byte("\n"))
	p.at = min(p.at+len(text)+1, len(p.data))
	p.number++
	return strings.TrimSuffix(string(text), "\r")
}

func (p *parser) problem(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// heading reads a line such as "## knot triggered by event path".
func heading(text string) (s Section, ok bool) {
	text, ok = strings.CutPrefix(text, headingMark)
	if !ok {
		return s, false
	}
	knot, rest, ok := cutWord(text)
	if !ok {
		return s, false
	}
	rest, ok = strings.CutPrefix(rest, strings.TrimLeft(triggered, " "))
	if !ok {
		return s, false
	}
	event, path, _ := cutWord(rest)
	return Section{Knot: knot, Event: event, Path: unquoted(path)}, event != "" || strings.HasPrefix(rest, `""`)
}

// cutWord takes a word, in quotes where it begins with one, and the blank after it.
func cutWord(text string) (word, rest string, found bool) {
	if !strings.HasPrefix(text, `"`) {
		return strings.Cut(text, " ")
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			rest, found = strings.CutPrefix(text[i+1:], " ")
			return unquoted(text[:i+1]), rest, found
		}
	}
	return strings.Cut(text, " ")
}

// block takes a front block, with blank lines before it.
func (p *parser) block() (block []byte, ok bool) {
	for p.at < len(p.data) {
		switch text := strings.TrimRight(p.next(), " \t"); text {
		case "":
			continue
		case dashes:
			begin := p.at
			for p.at < len(p.data) && p.at-begin <= maxFront {
				end := p.at
				if text := strings.TrimRight(p.next(), " \t"); text == dashes {
					return p.data[begin:end], true
				} else if _, next := heading(text); next {
					return nil, false
				}
			}
			return nil, false
		default:
			return nil, false
		}
	}
	return nil, false
}

// section takes the rest of a section whose heading begins at begin.
func (p *parser) section(s *Section, begin int, block []byte) {
	var f front
	if err := yaml.Unmarshal(block, &f); err != nil {
		f = front{}
		p.problem(s.Line, "the front block of this section cannot be read: %v", err)
	}
	s.take(&f)
	body := p.at
	for p.at < len(p.data) {
		start, number := p.at, p.number
		text := p.next()
		if job, sum, ok := marker(text); ok {
			p.ended(s, begin, start, job, sum)
			s.Answer = answer(p.data[body:start], f.Closes)
			return
		}
		if _, ok := heading(text); ok {
			after, afterNumber := p.at, p.number
			if _, another := p.block(); another {
				p.at, p.number = start, number
				p.cut(s, body, f.Closes)
				return
			}
			p.at, p.number = after, afterNumber
		}
	}
	p.cut(s, body, f.Closes)
}

// ended is a section with a marker.
func (p *parser) ended(s *Section, begin, end int, job, sum string) {
	is := sha256.Sum256(p.data[begin:end])
	s.Edited = hex.EncodeToString(is[:]) != sum
	if s.Job != job {
		if s.Job != "" {
			p.problem(s.Line, "the front block of this section names the job %q, and its marker %s", s.Job, job)
		}
		s.Job = job
	}
}

// cut is a section without a marker.
func (p *parser) cut(s *Section, body int, closes string) {
	s.Edited = true
	s.Answer = answer(p.data[body:p.at], closes)
	p.problem(s.Line, "this section has no marker: its end was cut off, or removed")
}

// answer takes back what Render does to an answer.
func answer(text []byte, closes string) string {
	out := string(text)
	if strings.HasPrefix(out, "\r\n") { // an editor has written the file with other line ends
		out = strings.ReplaceAll(out, "\r\n", "\n")
	}
	out = strings.TrimPrefix(out, "\n")
	out = strings.TrimSuffix(out, "\n\n")
	if closes != "" {
		out = strings.TrimSuffix(out, "\n"+closes)
	}
	return unescape(out)
}

// marker reads a line such as "<!-- roster job=ID sha256=HEX -->".
func marker(text string) (job, sum string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(text, " \t"), markerMark)
	if !ok {
		return "", "", false
	}
	job, rest, _ = strings.Cut(rest, " sha256=")
	sum, ok = strings.CutSuffix(rest, " -->")
	return job, sum, ok && validJob(job) && len(sum) == 2*sha256.Size
}

func (s *Section) take(f *front) {
	s.Job, s.Time, s.Digest, s.Session, s.Profile, s.Revision, s.Model, s.Hops, s.Cost = f.Job, f.Time, f.Strand, f.Session, f.Profile, f.Revision, f.Model, f.Hops, f.Cost
	s.Usage = message.Usage{Input: f.Usage.Input, Output: f.Usage.Output, CacheRead: f.Usage.CacheRead, CacheWrite: f.Usage.CacheWrite, Estimated: f.Usage.Estimated}
}
