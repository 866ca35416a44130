package dialect_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestHostile: whatever a file holds, it is refused with a reason or read, in
// little time and memory.
func TestHostile(t *testing.T) {
	const k = profile.MaxFrontmatter
	front := func(s string) string { return "---\nname: a\ndescription: d\n" + s + "\n---\nbody\n" }
	fill := func(s string) string { return strings.Repeat(s, (k-100)/len(s)) }
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	var steps strings.Builder
	for i := range 300 {
		steps.WriteString(strings.Repeat(" ", i) + "k:\n")
	}
	tests := []struct{ name, in, want string }{
		{"200 KB of brackets", front("a: " + strings.Repeat("[", 200_000)), "P106 1:1"},
		{"64 KiB of brackets", front("a: " + fill("[")), "P107"},
		{"brackets that never close a frontmatter", "---\n" + strings.Repeat("[", 200_000), "P102 1:1"},
		{"64 KiB of braces", front("a: " + fill("{")), "P107"},
		{"deep steps", front(steps.String()), "P107"},
		{"deep steps and a fault", front(steps.String()[:5000] + "\nz: y: x"), ""},
		{"alias bomb", front(bomb), "P107"},
		{"alias bomb in a list of tools", front(bomb + "tools: *a11"), ""},
		{"alias bomb and a fault", front(bomb + "z: y: x"), ""},
		{"anchor of itself", front("a: &a [*a]"), "P107"},
		{"anchor of itself as tools", front("tools: &a [*a]"), ""},
		{"anchor of itself as permission", front("permission: &a {b: *a}"), ""},
		{"NUL", front("a: b\x00c"), "P103 4:5"},
		{"NUL in the body", front("a: b") + "\x00", "P112 4:1"},
		{"not UTF-8", front("a: b\xffc"), "P105 4:5"},
		{"frontmatter of 64 KiB and one", "---\na: " + strings.Repeat("b", k-3) + "\n---\n", "P106 1:1"},
		{"file of 4 MiB and one", front("a: b") + strings.Repeat("x", profile.MaxFile), "P106 1:1"},
		{"faults in every line", front(fill("a: b: c\n")), ""},
		{"keys with faults", front(manyKeys("k%d: b: c\n", 5000)), ""},
		{"quotes that do not close", front(manyKeys("k%d: \"b\n", 6000)), "P141"},
		{"one long fault", front("a: b: " + fill("c")), "P137"},
		{"colons", front("a" + fill(": ")), ""},
		{"quotes", front("a: \"b: c\" " + fill(`"`)), ""},
		{"apostrophes", front("a: 'b: c' " + fill(`'x `)), ""},
		{"backslashes", front(`a: "\` + fill(`\`) + `d"`), ""},
		{"dashes", front("a:\n" + fill("- ")), ""},
		{"items with faults", front("a:\n" + fill("- b: c: d\n")), ""},
		{"tabs", front("a:\n" + fill("\tb: c\n")), ""},
		{"deep tabs", front("a: b: c\n" + fill("\t")), ""},
		{"text at the left edge", front(fill("x y\n")), ""},
		{"commas", front("a: [*" + fill(",") + "]"), ""},
		{"items with stars", front("a: [" + fill("*,") + "*]"), ""},
		{"line separators", front("a: b: c" + fill("\u2028")), ""},
		{"carriage returns", front("a: b: c" + fill("\r")), ""},
		{"laid out badly", front("description: b: c" + fill("\n   - x\n  # y\n")), ""},
		{"laid out", front("description: b: c" + fill("\n   - x\n")), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := []byte(tt.in)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			f := &dialect.File{Name: "f.md", Path: "profiles/f.md", Data: data, Claimed: true}
			d, _ := dialect.Detect(f)
			_, ds := d.Decode(f)
			fixed, _ := dialect.Fix(f)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d MB allocated in all, %d diagnostics", took, used, len(ds))
			if took > 10*time.Second || used > 100 { // some 50 ms and 20 MB are usual; the race detector takes its time
				t.Errorf("it took %v and %d MB", took, used)
			}
			if len(ds) > 0 {
				t.Log(&ds[0])
			}
			if !profile.Refused(ds) && !bytes.Equal(fixed, data) {
				if _, rest, ok := dialect.ReadDocument(&dialect.File{Name: "f.md", Data: fixed}); !ok || len(rest) > 0 {
					t.Errorf("fixed: %v", rest)
				}
			}
			if tt.want == "" {
				return
			}
			for _, d := range ds {
				if strings.HasPrefix(fmt.Sprintf("%s %d:%d", d.Code, d.Line, d.Column), tt.want) {
					return
				}
			}
			t.Errorf("no %s", tt.want)
		})
	}
}

func manyKeys(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()[:min(b.Len(), profile.MaxFrontmatter-100)]
}
