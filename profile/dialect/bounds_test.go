package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestSmallFilesThatStandForMuch has files well below the limits of size that
// a reader would be busy with for long, or fill its memory.
func TestSmallFilesThatStandForMuch(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	const head = "---\nname: a\ndescription: d\n"
	long := "a: &a [" + strings.Repeat("x,", 4000) + "x]\n"
	tests := []struct {
		name, path, text string
		code             string
		line             int
	}{
		{"an alias under many keys", "profiles/a.md", head + long + repeat(3000, "b%d: *a") + "---\nBe.\n", profile.CodeTooDeep, 7},
		{"an alias under many tools", "profiles/a.md", head + "a: &a\n" + repeat(2000, "  s%d: deny") + "permission:\n" + repeat(2000, "  t%d: *a") + "---\nBe.\n", profile.CodeTooDeep, 2005},
		{"an alias in many agents", "docker.yaml", "a: &a [" + strings.Repeat("x,", 4000) + "x]\nagents:\n" + repeat(3000, "  a%d: {instruction: x, sub_agents: *a}"), profile.CodeTooDeep, 2},
		{"a key of many dots", "agent.toml", "[agent.profile]\nname='a'\nx." + strings.Repeat("a.", 50_000) + "b=1\n", profile.CodeTooDeep, 3},
		{"many keys of TOML", "agent.toml", "[agent.profile]\nname='a'\n" + repeat(90_000, "k%d=1"), profile.CodeTooLarge, 5001},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.text)}
			d, ok := dialect.Detect(f)
			if !ok {
				d, _ = dialect.ByName("docker")
			}
			_, ds := d.Decode(f)
			if len(ds) == 0 || ds[0].Code != tt.code || ds[0].Line != tt.line {
				t.Errorf("%.300v", ds)
			}
		})
	}
}
