package history

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// big makes a tree of 10,000 files of 4 KiB in 500 directories, at rest.
func (w *world) big() {
	text := make([]byte, 4096)
	for i := range text {
		text[i] = byte('a' + i%26)
	}
	for d := range 500 {
		dir := w.path(fmt.Sprintf("d%d/d%d", d%20, d))
		w.must(os.MkdirAll(dir, 0o777))
		for f := range 20 {
			copy(text, fmt.Sprint(d, " ", f))
			w.must(os.WriteFile(filepath.Join(dir, fmt.Sprint("f", f)), text, 0o666))
		}
	}
	w.file(".gitignore", "*.o\n*.log\n/build/\nnode_modules/\n*.tmp\n")
	time.Sleep(2 * settled)
}

// BenchmarkCommand is what a command that changes nothing costs more in a tree of
// 10,000 files.
func BenchmarkCommand(b *testing.B) {
	w := newWorld(b)
	w.big()
	w.call(func() {})
	b.ReportAllocs()
	for b.Loop() {
		w.call(func() {})
	}
}

// BenchmarkCommandThatChanges is one that changes three files.
func BenchmarkCommandThatChanges(b *testing.B) {
	w := newWorld(b)
	w.big()
	w.call(func() {})
	n := 0
	for b.Loop() {
		n++
		w.call(func() {
			for i := range 3 {
				w.file(fmt.Sprintf("d0/d0/f%d", i), fmt.Sprint(n))
			}
		})
	}
}

// BenchmarkFirstCommand is the first one in a workspace, for which all is read.
func BenchmarkFirstCommand(b *testing.B) {
	w := newWorld(b)
	w.big()
	for b.Loop() {
		b.StopTimer()
		w.must(w.keeper.Close())
		w.must(os.RemoveAll(w.state))
		w.keeper = NewKeeper(w.state + "/history")
		b.StartTimer()
		w.call(func() {})
	}
}

// BenchmarkNewProcess is the first command of a process in a workspace that
// another one has worked in.
func BenchmarkNewProcess(b *testing.B) {
	w := newWorld(b)
	w.big()
	w.call(func() {})
	for b.Loop() {
		b.StopTimer()
		w.must(w.keeper.Close())
		w.keeper = NewKeeper(w.state + "/history")
		b.StartTimer()
		w.call(func() {})
	}
}

// BenchmarkWrite is what a call that names its file costs more.
func BenchmarkWrite(b *testing.B) {
	w := newWorld(b)
	w.file("sub/a.txt", verse)
	n := 0
	for b.Loop() {
		n++
		w.call(func() { w.file("sub/a.txt", fmt.Sprint(n)) }, "sub/a.txt", "sub")
	}
}

func BenchmarkMerge(b *testing.B) {
	var base, mine, yours []byte
	for i := range 2000 {
		line := fmt.Sprintf("line %d\n", i)
		base = append(base, line...)
		if i%40 == 0 {
			mine = append(mine, "mine "+line...)
		} else {
			mine = append(mine, line...)
		}
		if i%40 == 20 {
			yours = append(yours, "yours "+line...)
		} else {
			yours = append(yours, line...)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := merge(base, mine, yours); !ok {
			b.Fatal("they do not merge")
		}
	}
}
