package catalog_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// many writes n profiles of the size that real ones have: some 500 bytes of
// frontmatter and 4 KiB of prompt.
func many(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	body := strings.Repeat("Read the change before you judge it, and say what you did not read.\n", 60)
	for i := range n {
		put(tb, dir, fmt.Sprintf("profiles/team%d/agent%d.md", i%100, i), fmt.Sprintf(`---
name: team%d/agent%d
description: Reviews changes of team %d for risks that tests do not find, and says what was read and what was not.
mode: subagent
model: anthropic/claude-sonnet-4-5
temperature: 0.2
tools: [read, grep, glob, bash]
permission:
  edit: deny
  bash:
    "*": ask
    "git status*": allow
    "git diff*": allow
limits: {turns: 30, duration: 5m}
---
`, i%100, i, i)+body)
	}
	age(tb, dir)
	return dir
}

// BenchmarkLoadDir loads folders of files; beside it the same bytes are only
// read. x-files is the memory that a loaded catalog holds, in the bytes of its
// files.
func BenchmarkLoadDir(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		if testing.Short() && n > 10_000 {
			continue
		}
		b.Run(fmt.Sprintf("%dk", n/1000), func(b *testing.B) {
			dir := many(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if got := workspace(dir).Snapshot().Len(); got != n {
					b.Fatalf("%d profiles", got)
				}
			}
			b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "profiles/s")
			b.ReportMetric(footprint(b, dir), "x-files")
		})
		b.Run(fmt.Sprintf("%dk/reading-alone", n/1000), func(b *testing.B) {
			dir := many(b, n)
			b.ReportAllocs()
			for b.Loop() {
				readAll(b, dir)
			}
		})
	}
}

// footprint gives the memory of a loaded catalog as a multiple of its files' bytes.
func footprint(tb testing.TB, dir string) float64 {
	var bytes int64
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		bytes += info.Size()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	before := heap()
	c := workspace(dir)
	c.Snapshot()
	after := heap()
	runtime.KeepAlive(c)
	return (after - before) / float64(bytes)
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// readAll reads the same bytes with as many goroutines.
func readAll(tb testing.TB, dir string) {
	var paths []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(paths); i = int(next.Add(1)) - 1 {
				if _, err := os.ReadFile(paths[i]); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkListUnchanged(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := workspace(many(b, n))
			c.SetNow(func() time.Time { return time.Now().Add(time.Hour) }) // stamps tell every change, as they do two seconds later
			first := c.Snapshot()
			b.ReportAllocs()
			for b.Loop() {
				for range c.List() {
				}
			}
			if c.Snapshot() != first {
				b.Error("something was read again")
			}
		})
	}
}
