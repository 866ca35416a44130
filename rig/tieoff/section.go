// Package tieoff keeps the answers of knots: Markdown files to which sections are
// added, each exactly once, whatever crashes, and which are never rewritten. People
// read them, and may write in them.
//
// A section is a heading, a front block of YAML, the answer, and a marker, which says
// of which job it is and what it was when it was written:
//
//	## review triggered by modified docs/a.md
//
//	---
//	job: "0198…"
//	time: 2026-01-01T00:00:00Z
//	---
//
//	The answer.
//
//	<!-- roster job=0198… sha256=… -->
package tieoff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/message"
)

// Section is the answer of one job.
type Section struct {
	Job      string
	Knot     string
	Event    string // what triggered it, as "modified"
	Path     string // of the strand; empty: there is none
	Digest   string // of what the model was shown of it, SHA-256 in hex; empty: nothing
	Time     time.Time
	Session  string
	Profile  string
	Revision string // of the profile
	Model    string
	Hops     int
	Usage    message.Usage // its Cost is not written: Cost is
	Cost     float64       // USD
	Answer   string

	// Of a section that was read: the line of its heading, from 1, and whether it is
	// other than it was when it was written.
	Line   int
	Edited bool
}

// JobError says that the name of a job cannot stand in a marker.
type JobError struct{ Job string }

func (e *JobError) Error() string {
	return fmt.Sprintf("the job %q cannot be named in a tie-off: its id has to be of letters, digits, dots, dashes and underscores", e.Job)
}

const maxJob = 128

func validJob(job string) bool {
	if job == "" || len(job) > maxJob {
		return false
	}
	for i := range len(job) {
		c := job[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return !strings.Contains(job, "--") // it would end a comment
}

// Render is the text of a section, with its marker. The answer may be any text: what
// in it could be taken for a part of the file is indented, and Parse takes that back.
// *JobError.
func (s *Section) Render() ([]byte, error) {
	if !validJob(s.Job) {
		return nil, &JobError{s.Job}
	}
	var b bytes.Buffer
	b.WriteString(headingMark + word(s.Knot) + triggered + word(s.Event))
	if s.Path != "" {
		b.WriteString(" " + line(s.Path))
	}
	b.WriteString("\n\n")
	fence := openFence(s.Answer)
	s.front(&b, fence)
	b.WriteString("\n" + escape(s.Answer))
	if fence != "" {
		b.WriteString("\n" + fence)
	}
	b.WriteString("\n\n")
	sum := sha256.Sum256(b.Bytes())
	fmt.Fprintf(&b, "%s%s sha256=%s -->\n\n", markerMark, s.Job, hex.EncodeToString(sum[:]))
	return b.Bytes(), nil
}

// What the parts of a section begin with.
const (
	headingMark = "## "
	triggered   = " triggered by "
	dashes      = "---"
	markerMark  = "<!-- roster job="
	commentMark = "<!-- roster "
)

// front writes the front block. closes is the fence that ends a code block which the
// answer leaves open, and which would take in all that follows.
func (s *Section) front(b *bytes.Buffer, closes string) {
	b.WriteString(dashes + "\n")
	text := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + quoted(value) + "\n")
		}
	}
	text("job", s.Job)
	if !s.Time.IsZero() {
		b.WriteString("time: " + s.Time.UTC().Format(time.RFC3339Nano) + "\n")
	}
	text("strand", s.Digest)
	text("session", s.Session)
	text("profile", s.Profile)
	text("revision", s.Revision)
	text("model", s.Model)
	if s.Hops != 0 {
		fmt.Fprintf(b, "hops: %d\n", s.Hops)
	}
	u := s.Usage
	fmt.Fprintf(b, "usage: {input: %d, output: %d, cache-read: %d, cache-write: %d", u.Input, u.Output, u.CacheRead, u.CacheWrite)
	if u.Estimated {
		b.WriteString(", estimated: true")
	}
	b.WriteString("}\ncost: " + dollars(s.Cost) + "\n")
	text("closes", closes)
	b.WriteString(dashes + "\n")
}

// quoted is a string that YAML cannot take for anything else. What is not UTF-8 in
// it becomes U+FFFD.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // a string can always be encoded
	}
	out := strings.TrimSuffix(b.String(), "\n")
	// What JSON leaves as it is and YAML does not, or takes for the end of a line.
	return strings.NewReplacer("\u007f", `\u007f`, "\u0085", `\u0085`, "\ufeff", `\ufeff`, "\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(c1(out))
}

// c1 escapes the control characters that come after those of ASCII.
func c1(s string) string {
	if !strings.ContainsFunc(s, isC1) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isC1(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isC1(r rune) bool { return r >= 0x80 && r < 0xa0 }

func dollars(cost float64) string {
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		cost = 0
	}
	return strconv.FormatFloat(cost, 'f', -1, 64)
}

// word is a name in a heading: quoted, where it would not end with the next blank.
func word(s string) string {
	if s == "" || strings.ContainsAny(s, " \"") {
		return strconv.Quote(s)
	}
	return line(s)
}

// line is a text in a heading: quoted, where it would not be read as it is.
func line(s string) string {
	plain := utf8.ValidString(s) && s[0] != '"' && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// unquoted takes back what line and word do.
func unquoted(s string) string {
	if out, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		return out
	}
	return s
}
