package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
)

// manyFiles makes n files of lines in folders of a hundred.
func manyFiles(b *testing.B, n, lines int) string {
	b.Helper()
	root := b.TempDir()
	var text strings.Builder
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("d%d/e%d", i/1000, i/100%10))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			b.Fatal(err)
		}
		text.Reset()
		for l := range lines {
			fmt.Fprintf(&text, "\tresult%d, err := function%d(ctx, value, %d) // returns what the caller asked for\n", l, i, l*i)
		}
		if i == n/2 {
			text.WriteString("the only needle in the haystack\n")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", i)), []byte(text.String()), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// searched runs a tool as the engine does.
func searched(b *testing.B, root, tool string, in object) (run func() string) {
	b.Helper()
	tools, err := Builtins(Env{Root: root, Exec: []string{"unused"}})
	if err != nil {
		b.Fatal(err)
	}
	permit, err := permission.Compile(permission.Layers{Rules: permission.Builtin()})
	if err != nil {
		b.Fatal(err)
	}
	input, _ := json.Marshal(in)
	return func() string {
		for _, t := range tools {
			if t.Def().Name != tool {
				continue
			}
			plan, err := t.Prepare(b.Context(), Call{Session: "s", Input: input, Permit: permit})
			if err != nil {
				b.Fatal(err)
			}
			r, err := plan.Run(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			plan.Close()
			return message.PartsText(r.Parts)
		}
		panic(tool)
	}
}

// plainWalk lists a tree in parallel, as one would write it at first. stat says
// whether it also asks for the times of the files.
func plainWalk(root string, stat bool) (files int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	var visit func(dir string)
	visit = func(dir string) {
		defer wg.Done()
		room <- struct{}{}
		entries, _ := os.ReadDir(dir)
		n := 0
		for _, e := range entries {
			if !e.IsDir() {
				if stat {
					e.Info()
				}
				n++
			}
		}
		<-room
		mu.Lock()
		files += n
		mu.Unlock()
		for _, e := range entries {
			if e.IsDir() {
				wg.Add(1)
				go visit(filepath.Join(dir, e.Name()))
			}
		}
	}
	wg.Add(1)
	visit(root)
	wg.Wait()
	return files
}

func BenchmarkGlob(b *testing.B) {
	const n = 100_000
	root := manyFiles(b, n, 0)
	for _, pattern := range []string{"**", "**/*7.go"} {
		glob := searched(b, root, "glob", object{"pattern": pattern})
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !strings.Contains(glob(), "more matches left out") {
					b.Fatal(glob())
				}
			}
		})
	}
	for _, stat := range []bool{false, true} {
		b.Run(fmt.Sprintf("plain walk, stat %v", stat), func(b *testing.B) {
			for b.Loop() {
				if plainWalk(root, stat) != n {
					b.Fatal("files are missing")
				}
			}
		})
	}
}

// BenchmarkGrepTree searches 200,000 lines, and has ripgrep do the same where it
// is there.
func BenchmarkGrepTree(b *testing.B) {
	root := manyFiles(b, 2000, 100)
	rg, _ := exec.LookPath("rg")
	for _, bb := range []struct {
		name, pattern string
		fold          bool
	}{
		{name: "rare word", pattern: "needle in"},
		{name: "common beginning", pattern: "result99x"},
		{name: "either", pattern: "needle|haystick|pitchfork"},
		{name: "either case", pattern: "NEEDLE", fold: true},
		{name: "word and number", pattern: `[a-z]+ needle \w+`},
		{name: "nothing literal", pattern: `[0-9]{5}[xyz]`},
		{name: "nothing literal, unicode", pattern: `\p{Greek}+\s+[A-Z]`},
		{name: "edge of words", pattern: `\bneed\b`},
		{name: "each line", pattern: `err := .*returns`},
	} {
		grep := searched(b, root, "grep", object{"pattern": bb.pattern, "ignore-case": bb.fold})
		b.Run(bb.name+"/roster", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				grep()
			}
		})
		if rg == "" {
			continue
		}
		b.Run(bb.name+"/ripgrep", func(b *testing.B) {
			for b.Loop() {
				args := []string{"-n", "--no-config", "-e", bb.pattern, root}
				if bb.fold {
					args = append([]string{"-i"}, args...)
				}
				exec.Command(rg, args...).Run()
			}
		})
	}
}
