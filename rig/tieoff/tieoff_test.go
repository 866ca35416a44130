package tieoff_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/rig/tieoff"
)

func TestMain(m *testing.M) {
	killable()
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func render(t interface {
	Helper()
	Fatal(...any)
}, s tieoff.Section) []byte {
	t.Helper()
	out, err := s.Render()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRender(t *testing.T) {
	s := tieoff.Section{
		Job: "0198-a", Knot: "review", Event: "modified", Path: "docs/a b.md", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Digest: "abc", Session: "s1", Profile: "fast", Revision: "sha256:ab", Model: "openai/gpt", Hops: 2,
		Usage: message.Usage{Input: 10, Output: 20, CacheRead: 3, CacheWrite: 4, Estimated: true}, Cost: 0.0125,
		Answer: "Fine.\n## Not ours\n---\n    ## twice\n```go\nopen",
	}
	const want = `## review triggered by modified docs/a b.md

---
job: "0198-a"
time: 2026-01-02T03:04:05Z
strand: "abc"
session: "s1"
profile: "fast"
revision: "sha256:ab"
model: "openai/gpt"
hops: 2
usage: {input: 10, output: 20, cache-read: 3, cache-write: 4, estimated: true}
cost: 0.0125
closes: "` + "```" + `"
---

Fine.
    ## Not ours
    ---
        ## twice
` + "```go\nopen\n```" + `

<!-- roster job=0198-a sha256=`
	got := string(render(t, s))
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " -->\n\n") {
		t.Error(cmp.Diff(want, got))
	}
}

func TestJobsThatCannotBeNamed(t *testing.T) {
	for _, job := range []string{"", "a b", "a-->", "a\nb", "a--b", strings.Repeat("x", 129)} {
		s := tieoff.Section{Job: job}
		var refused *tieoff.JobError
		if _, err := s.Render(); !errors.As(err, &refused) {
			t.Errorf("%q: %v", job, err)
		}
	}
}

// hostile are texts that look like parts of a tie-off.
var hostile = []string{
	"", "\n", "\n\n", "text", "## a triggered by b c\n\n---\njob: x\n---\n\nforged\n\n<!-- roster job=x sha256=" + strings.Repeat("0", 64) + " -->\n",
	"---", "---\njob: y\n---", "    ---", "        ## x", "##", "##\tx", "## ", "<!-- roster job=x", "<!--", "-->", "```", "````\n```\n", "~~~ x\n```", "   ```", "# one\n### three",
	"a\r\n## b\r\n", "\x00\xff", "trailing\n\n\n", "--- ", "---\t", "<!-- rosterjob", "    <!-- roster job=z sha256=1 -->", "```a`b",
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4), func(p []string) string { return strings.Join(p, "\n") }))
}

func sections() *rapid.Generator[tieoff.Section] {
	count := rapid.Int64Range(0, 1<<40)
	return rapid.Custom(func(t *rapid.T) tieoff.Section {
		utf8 := rapid.Map(texts(), func(s string) string { return strings.ToValidUTF8(s, "\ufffd") })
		return tieoff.Section{
			Job: rapid.StringMatching(`[a-z0-9]{1,8}(-[a-z0-9]{1,4}){0,3}`).Draw(t, "job"), Knot: texts().Draw(t, "knot"), Event: texts().Draw(t, "event"), Path: texts().Draw(t, "path"),
			Time:   time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC(),
			Digest: utf8.Draw(t, "digest"), Session: utf8.Draw(t, "session"), Profile: utf8.Draw(t, "profile"), Revision: utf8.Draw(t, "revision"), Model: utf8.Draw(t, "model"), Hops: rapid.IntRange(0, 9).Draw(t, "hops"),
			Usage: message.Usage{Input: count.Draw(t, "in"), Output: count.Draw(t, "out"), CacheRead: count.Draw(t, "read"), CacheWrite: count.Draw(t, "write"), Estimated: rapid.Bool().Draw(t, "estimated")},
			Cost:  rapid.Float64Range(0, 1e6).Draw(t, "cost"), Answer: texts().Draw(t, "answer"),
		}
	})
}

// TestRoundTrip: sections are what they were, whatever is in them, and whatever people
// have written between them.
func TestRoundTrip(t *testing.T) {
	between := []string{"", "\n", "A note of mine.\n", "## My own heading\n\ntext\n", "## x triggered by nobody\n\nno front block\n", "---\n", "<!-- mine -->\n\n"}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(sections(), 0, 4).Draw(t, "sections")
		file := ""
		for i := range all {
			file += rapid.SampledFrom(between).Draw(t, "between")
			all[i].Line = strings.Count(file, "\n") + 1
			file += string(render(t, all[i]))
		}
		got, problems := tieoff.Parse([]byte(file + rapid.SampledFrom(between).Draw(t, "after")))
		if len(problems) > 0 {
			t.Fatal(problems, file)
		}
		if len(got) != len(all) {
			t.Fatalf("%d sections of %d\n%s", len(got), len(all), file)
		}
		for i := range all {
			if d := cmp.Diff(all[i], got[i]); d != "" {
				t.Fatal(d, file)
			}
		}
	})
}

func TestWhatPeopleDoToSections(t *testing.T) {
	one := string(render(t, tieoff.Section{Job: "1", Knot: "k", Event: "created", Path: "a", Answer: "first\nanswer"}))
	two := string(render(t, tieoff.Section{Job: "2", Knot: "k", Event: "created", Path: "b", Answer: "second"}))
	cut, _, _ := strings.Cut(one, "\n\n<!--")
	for _, c := range []struct{ name, file, want, problem string }{
		{"nothing", one + two, `1 "first\nanswer" 2 "second"`, ""},
		{"a word changed", strings.Replace(one, "first", "1st", 1) + two, `1* "1st\nanswer" 2 "second"`, ""},
		{"a heading in an answer", strings.Replace(one, "first", "first\n## Mine\n", 1) + two, `1* "first\n## Mine\n\nanswer" 2 "second"`, ""},
		{"the marker removed", cut + "\n\n" + two, `1* "first\nanswer" 2 "second"`, "line 1: this section has no marker"},
		{"the end cut off", one + two[:len(two)-30], `1 "first\nanswer" 2* "second\n\n<!-- roster job=2 `, "has no marker"},
		{"the first removed", two, `2 "second"`, ""},
		{"other line ends", strings.ReplaceAll(one, "\n", "\r\n"), `1* "first\nanswer"`, ""},
		{"the front block broken", strings.Replace(one, "usage:", "usage", 1), `1* "first\nanswer"`, "line 1: the front block of this section cannot be read"},
		{"another job in the front block", strings.Replace(one, `job: "1"`, `job: "9"`, 1), `1* "first\nanswer"`, `names the job "9"`},
		{"a copy of a section", one + one, `1 "first\nanswer" 1 "first\nanswer"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, problems := tieoff.Parse([]byte(c.file))
			var got []string
			for _, s := range all {
				edited := ""
				if s.Edited {
					edited = "*"
				}
				got = append(got, fmt.Sprintf("%s%s %q", s.Job, edited, s.Answer))
			}
			if line := strings.Join(got, " "); !strings.HasPrefix(line, c.want) {
				t.Errorf("got %s\nwant %s", line, c.want)
			}
			if (c.problem == "") != (len(problems) == 0) || c.problem != "" && !strings.Contains(problems[0].String(), c.problem) {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

// FuzzParse: what is read of any file can be written, and is read as the same again.
func FuzzParse(f *testing.F) {
	for _, text := range hostile {
		s := tieoff.Section{Job: "1", Knot: "k", Event: "e", Path: text, Answer: text}
		out, _ := s.Render()
		f.Add(out)
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _ := tieoff.Parse(data)
		for _, s := range all {
			out, err := s.Render()
			if err != nil {
				continue
			}
			again, problems := tieoff.Parse(out)
			if len(again) != 1 || len(problems) != 0 || again[0].Edited || again[0].Answer != s.Answer || again[0].Path != s.Path || again[0].Knot != s.Knot {
				t.Errorf("%q is read as %+v, and then as %+v, %v", data, s, again, problems)
			}
		}
	})
}

func TestFile(t *testing.T) {
	if got, err := tieoff.File("docs-loom", "review"); err != nil || got != "tie-offs/docs-loom/tie-off-review.md" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "a\nb", "a\x00", "\xff", strings.Repeat("x", 201)} {
		var refused *tieoff.NameError
		if _, err := tieoff.File("loom", name); !errors.As(err, &refused) {
			t.Errorf("knot %q: %v", name, err)
		}
		if _, err := tieoff.File(name, "knot"); !errors.As(err, &refused) {
			t.Errorf("loom %q: %v", name, err)
		}
	}
}
