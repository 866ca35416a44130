package event_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/rig/event"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         []event.Event
		problems     []string
	}{
		{name: "none", answer: "Nothing.\n\n## event: no\n\n    event: indented\n"},
		{
			name:   "one",
			answer: "Done.\n\n```event\nevent: Ready\ndescription: It is.\npayload: docs/a.md\n```\n\nBye.",
			want:   []event.Event{{"Ready", "It is.", "docs/a.md"}},
		},
		{
			name:   "of other languages",
			answer: "~~~yaml\nevent: A\n~~~\n```\nevent: B\npayload: |\n  two\n  lines\n```\n```yaml\nname: no\n```\n```json\n{\"event\": \"C\"}\n```\n",
			want:   []event.Event{{Name: "A"}, {Name: "B", Payload: "two\nlines\n"}},
		},
		{
			name:   "in a list, with a mapping, and a fence in the payload",
			answer: "- so:\n\n  ````event\n  event: A.b_c-1\n  payload:\n    file: x\n    code: \"```\"\n  ````\n",
			want:   []event.Event{{Name: "A.b_c-1", Payload: "file: x\ncode: \"```\"\n"}},
		},
		{name: "numbers", answer: "```event\nevent: A\npayload: 12\n```", want: []event.Event{{Name: "A", Payload: "12"}}},
		{
			name:   "the ones that cannot be read",
			answer: "one\n\n```event\n: [\n```\n\n```event\ndescription: x\n```\n```\nevent: ../x\n```\n```event\n```\n",
			problems: []string{
				"line 3 of the answer: the event cannot be read as YAML", "line 7 of the answer: the event has no name",
				`line 10 of the answer: "../x" is no name`, "line 13 of the answer: the event has no name",
			},
		},
		{name: "a large one", answer: "```event\nevent: A\npayload: " + strings.Repeat("x", event.MaxPayload+1) + "\n```", problems: []string{"the payload has 262145 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problems := event.Find(c.answer)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if len(problems) != len(c.problems) {
				t.Fatalf("problems %v, want %q", problems, c.problems)
			}
			for i, p := range problems {
				if !strings.Contains(p.Error(), c.problems[i]) {
					t.Errorf("%v, want %q", p, c.problems[i])
				}
			}
		})
	}
}

// TestManyEvents: those past the bound are said.
func TestManyEvents(t *testing.T) {
	got, problems := event.Find(strings.Repeat("```event\nevent: A\n```\n\n", event.MaxEvents+2))
	if len(got) != event.MaxEvents || len(problems) != 2 {
		t.Errorf("%d events, problems %v", len(got), problems)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("```event\nevent: Ready\npayload: [a, {b: c}]\n```\n")
	f.Add("> ~~~\n> event: x\n> ~~~")
	f.Fuzz(func(t *testing.T, answer string) {
		events, problems := event.Find(answer)
		for _, e := range events {
			if event.CheckName(e.Name) != nil || len(e.Payload) > event.MaxPayload {
				t.Errorf("%+v", e)
			}
		}
		for _, p := range problems {
			if p.Line < 1 || p.Line > strings.Count(answer, "\n")+1 {
				t.Errorf("line %d of %q: %v", p.Line, answer, p)
			}
		}
	})
}
