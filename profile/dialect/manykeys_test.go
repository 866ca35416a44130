package dialect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestManyUnknownKeys writes profiles of many unknown keys anew: eight times as
// many may take eight times as long, and not its square.
func TestManyUnknownKeys(t *testing.T) {
	lines := func(head, line, end string) func(int) string {
		return func(n int) string {
			var b strings.Builder
			b.WriteString(head)
			for i := range n {
				fmt.Fprintf(&b, line, i)
			}
			return b.String() + end
		}
	}
	for _, tt := range []struct {
		path string
		few  int
		text func(int) string
	}{
		{"profiles/a.md", 1000, lines("---\nname: a\ndescription: d\n", "x%x:\n", "---\nbody")},
		{"agent.json", 2000, lines(`{"agent": {"profile": {"name": "a", "system_prompt": "x"`, ",\n\"x%x\": 1", "}}}")},
		{"a/config.json", 2000, lines(`{"id": "a", "name": "a"`, ",\n\"x%x\": 1", "}")},
	} {
		t.Run(tt.path, func(t *testing.T) {
			write := func(n int) time.Duration {
				f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.text(n)), Beside: map[string][]byte{"system_prompt.txt": []byte("x")}}
				d, _ := dialect.Detect(f)
				ps, ds := d.Decode(f)
				if profile.Refused(ds) || len(ps[0].Extra) < n {
					t.Fatalf("%d keys are refused, or lost: %d, %v", n, len(ps[0].Extra), ds[:1])
				}
				other := *ps[0]
				other.Description = profile.Value[string]{V: "other", Set: true}
				begin := time.Now()
				dialect.Encode(d, ps[0])
				dialect.Update(f, &other)
				return time.Since(begin)
			}
			const more, most = 8, 24 // times as many, and as long; the square of 8 is 64
			var few, many time.Duration
			for range 3 { // other work on the machine disturbs
				few, many = write(tt.few), write(more*tt.few)
				if many < most*few {
					return
				}
			}
			t.Errorf("%d keys take %s, %d take %s", tt.few, few, more*tt.few, many)
		})
	}
}

// TestManyProblemsAreCounted has a file with more problems of one kind than
// anybody reads.
func TestManyProblemsAreCounted(t *testing.T) {
	for _, tt := range []struct{ name, path, text, line, code string }{
		{"unknown keys", "profiles/a.md", "---\nname: a\ndescription: d\n%s---\nx", "x%d:\n", profile.CodeUnknownKey},
		{"keys twice", "agent.json", `{"agent": {"profile": {%s"name": "a", "system_prompt": "x"}}}`, "\n\"x\": %d,", profile.CodeDuplicateKey},
	} {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, tt.line, i)
		}
		_, ds := dialect.Decode(tt.path, fmt.Appendf(nil, tt.text, b.String()))
		var alike []profile.Diagnostic
		for _, d := range ds {
			if d.Code == tt.code {
				alike = append(alike, d)
			}
		}
		if len(alike) != 100 || !strings.HasPrefix(alike[99].Message, "and 90") || alike[98].Message == alike[99].Message {
			t.Errorf("%s: %d, the last is %v", tt.name, len(alike), alike[max(0, len(alike)-1):])
		}
	}
}
