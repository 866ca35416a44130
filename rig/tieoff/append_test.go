package tieoff_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/tieoff"
)

// book is a ledger of one job.
type book struct {
	offset int64
	writes int
	done   int
	before func() // called by Write
}

func (b *book) Write(offset int64, digest func() (string, error)) error {
	b.offset = offset
	b.writes++
	if b.before != nil {
		b.before()
	}
	return nil
}

func (b *book) Done() error { b.done++; return nil }

const name = "tie-offs/loom/tie-off-k.md"

func rig(t testing.TB) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return root, filepath.Join(dir, name)
}

func section(t testing.TB, job, answer string) string {
	t.Helper()
	return string(render(t, tieoff.Section{Job: job, Knot: "k", Event: "created", Answer: answer}))
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func put(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestAppend(t *testing.T) {
	root, path := rig(t)
	one, two := section(t, "1", "first"), section(t, "2", "second")
	b := &book{}
	must(t, tieoff.Append(t.Context(), root, name, []byte(one), b))
	if b.offset != 0 || b.done != 1 || read(t, path) != one {
		t.Errorf("%+v, %q", b, read(t, path))
	}
	put(t, path, one+"a note without a line end")
	must(t, tieoff.Append(t.Context(), root, name, []byte(two), b))
	if want := one + "a note without a line end\n" + two; read(t, path) != want || b.offset != int64(len(one)+25) || b.done != 2 {
		t.Errorf("%+v, %q", b, read(t, path))
	}
}

var errStop = errors.New("stop")

type refuses struct{ write, done error }

func (r refuses) Write(int64, func() (string, error)) error { return r.write }
func (r refuses) Done() error                               { return r.done }

func TestAppendStopsWithTheLedger(t *testing.T) {
	root, path := rig(t)
	one := section(t, "1", "first")
	if err := tieoff.Append(t.Context(), root, name, []byte(one), refuses{write: errStop}); !errors.Is(err, errStop) || read(t, path) != "" {
		t.Errorf("%v, %q", err, read(t, path))
	}
	if err := tieoff.Append(t.Context(), root, name, []byte(one), refuses{done: errStop}); !errors.Is(err, errStop) || read(t, path) != one {
		t.Errorf("%v, %q", err, read(t, path))
	}
}

func TestLinksAreRefused(t *testing.T) {
	for _, at := range []string{"tie-offs", "tie-offs/loom", name} {
		root, _ := rig(t)
		elsewhere := filepath.Join(root.Name(), "elsewhere")
		put(t, filepath.Join(elsewhere, "loom", "tie-off-k.md"), "mine")
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root.Name(), at)), 0o755))
		target := elsewhere
		if at == name {
			target = filepath.Join(elsewhere, "loom", "tie-off-k.md")
		}
		rel, err := filepath.Rel(filepath.Dir(filepath.Join(root.Name(), at)), target)
		must(t, err)
		must(t, os.Symlink(rel, filepath.Join(root.Name(), at)))
		var refused *tieoff.LinkError
		if err := tieoff.Append(t.Context(), root, name, []byte("x"), &book{}); !errors.As(err, &refused) || refused.Path != at {
			t.Errorf("%s: %v", at, err)
		}
		if got := read(t, filepath.Join(elsewhere, "loom", "tie-off-k.md")); got != "mine" {
			t.Errorf("%s: %q was written", at, got)
		}
	}
	root, path := rig(t)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, syscall.Mkfifo(path, 0o644))
	var refused *tieoff.LinkError
	if err := tieoff.Append(t.Context(), root, name, []byte("x"), &book{}); !errors.As(err, &refused) {
		t.Errorf("a FIFO: %v", err)
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o755))
	if err := tieoff.Append(t.Context(), root, name, []byte("x"), &book{}); err == nil || !strings.Contains(err.Error(), "put a file there") {
		t.Errorf("a folder: %v", err)
	}
}

func TestLock(t *testing.T) {
	root, path := rig(t)
	put(t, path, "")
	f, err := os.Open(path)
	must(t, err)
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := tieoff.Append(ctx, root, name, []byte("x"), &book{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked: %v", err)
	}
	f.Close()
	var all sync.WaitGroup
	for _, job := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		all.Go(func() {
			if err := tieoff.Append(t.Context(), root, name, []byte(section(t, job, strings.Repeat(job, 10_000))), &book{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, problems := tieoff.Parse([]byte(read(t, path))); len(got) != 8 || len(problems) != 0 {
		t.Errorf("%d sections, %v", len(got), problems)
	}
}

// TestReplacedMeanwhile has an editor save the file, as it had it, under its name
// while a section is added: it is added to that.
func TestReplacedMeanwhile(t *testing.T) {
	root, path := rig(t)
	put(t, path, "old\n")
	b := &book{}
	b.before = func() {
		if b.writes == 1 {
			put(t, path+".tmp", "saved by a person\n")
			must(t, os.Rename(path+".tmp", path))
		}
	}
	one := section(t, "1", "first")
	must(t, tieoff.Append(t.Context(), root, name, []byte(one), b))
	if got := read(t, path); got != "saved by a person\n"+one || b.done != 1 || b.writes != 2 {
		t.Errorf("%q, %+v", got, b)
	}
	b = &book{before: func() {
		put(t, path+".tmp", "again\n")
		must(t, os.Rename(path+".tmp", path))
	}}
	if err := tieoff.Append(t.Context(), root, name, []byte(one), b); !errors.Is(err, tieoff.ErrMoved) || b.done != 0 || b.writes > 5 {
		t.Errorf("%v, %+v", err, b)
	}
}

func TestRecover(t *testing.T) {
	one, two, before := section(t, "1", "first\nanswer"), section(t, "2", "second"), "a note\n"
	at := int64(len(before))
	for _, c := range []struct {
		name, file string
		offset     int64
		want       string
		writes     int
	}{
		{"nothing was written", before, at, before + one, 1},
		{"all was", before + one, at, before + one, 0},
		{"all, and more", before + one + two, at, before + one + two, 0},
		{"all, and a person wrote above", "more\n" + before + one, at, "more\n" + before + one, 0},
		{"all, and a person cut above", one, at, one, 0},
		{"all, and a person edited it", before + strings.Replace(one, "first", "1st", 1), at, before + strings.Replace(one, "first", "1st", 1), 0},
		{"all but the line end", before + one[:len(one)-2], at, before + one[:len(one)-2], 0},
		{"a part", before + one[:50], at, before + one, 1},
		{"a part, and NULs", before + one[:50] + "\x00\x00\x00", at, before + one, 1},
		{"one byte", before + one[:1], at, before + one, 1},
		{"a part, and a person's text", before + one[:50] + "mine", at, before + one[:50] + "mine\n" + one, 1},
		{"a part, and another's section", before + one[:50] + "\n" + two, at, before + one[:50] + "\n" + two + one, 1},
		{"another's text", before + "hello\n", at, before + "hello\n" + one, 1},
		{"the marker is within a line", before + "x <!-- roster job=1 sha256=\n", at, before + "x <!-- roster job=1 sha256=\n" + one, 1},
		{"the marker of a job with a longer name", before + section(t, "11", "x"), at, before + section(t, "11", "x") + one, 1},
		{"the file is shorter", "a", at, "a\n" + one, 1},
		{"after a line without an end: only that", "a note", 6, "a note\n" + one, 1},
		{"after a line without an end: a part", "a note\n" + one[:20], 6, "a note\n" + one, 1},
		{"the file is empty", "", 0, one, 1},
		{"a part is all", one[:30], 0, one, 1},
		{"a marker far from the begin of a part that is read", strings.Repeat("x", 64<<10-20) + "\n" + one, 3, strings.Repeat("x", 64<<10-20) + "\n" + one, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, path := rig(t)
			put(t, path, c.file)
			for range 2 { // the second time, it is done
				b := &book{}
				must(t, tieoff.Recover(t.Context(), root, name, "1", c.offset, []byte(one), b))
				if got := read(t, path); got != c.want || b.writes != c.writes || b.done != 1 {
					t.Fatalf("got %q\nwant %q, %+v", got, c.want, b)
				}
				c.writes = 0
			}
		})
	}
	t.Run("the file is gone", func(t *testing.T) {
		root, path := rig(t)
		b := &book{}
		must(t, tieoff.Recover(t.Context(), root, name, "1", 100, []byte(one), b))
		if read(t, path) != one || b.done != 1 {
			t.Errorf("%q", read(t, path))
		}
	})
	t.Run("a job that cannot be", func(t *testing.T) {
		root, _ := rig(t)
		var refused *tieoff.JobError
		if err := tieoff.Recover(t.Context(), root, name, "a b", 0, nil, &book{}); !errors.As(err, &refused) {
			t.Error(err)
		}
	})
}
