package dialect_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

var updateGolden = flag.Bool("update-repaired", false, "write testdata/repaired.golden anew")

// repairable are the reasons for which a file of the corpus is to load.
func repairable(reason string) bool {
	return !strings.Contains(reason, "no-closer") && slices.ContainsFunc(
		[]string{"bare-colon", "text-after-flow", "leading-blank-lines", "bom", "comment-before"},
		func(r string) bool { return strings.HasPrefix(reason, r) })
}

// TestCorpusRepaired: of the real files that YAML refuses for one of the usual
// reasons 95 in 100 load, each value is what the line says, and the golden file
// shows the raw bytes beside what was read of them.
func TestCorpusRepaired(t *testing.T) {
	var golden strings.Builder
	due, loaded := 0, 0
	for _, e := range entries(t) {
		if e.valid == "yes" {
			continue
		}
		f := e.file()
		fields, ds, ok := dialect.ReadDocument(f)
		if repairable(e.reason) {
			due++
			if ok {
				loaded++
			} else {
				t.Logf("refused: %s: %s: %v", e.reason, e.path, ds)
			}
		}
		fmt.Fprintf(&golden, "%s (%s)\n", e.path, e.reason)
		for _, d := range ds {
			fmt.Fprintf(&golden, "  %s %s %d:%d %s\n", d.Severity, d.Code, d.Line, d.Column, d.Key)
			fmt.Fprintf(&golden, "    raw  %s\n", window(lineOf(e.data, d.Line), d.Column-1))
			if i := slices.IndexFunc(fields, func(fd dialect.ReadField) bool { return fd.Key == d.Key }); ok && i >= 0 {
				fmt.Fprintf(&golden, "    read %s\n", readAround(t, e, d, fields[i]))
			} else if ok && len(fields) > 0 {
				fmt.Fprintf(&golden, "    read %s: %s\n", fields[0].Key, window(fields[0].Node.Value, 0))
			} else {
				fmt.Fprintf(&golden, "    said %s\n", window(d.Message, 0))
			}
		}
	}
	t.Logf("%d of %d load", loaded, due)
	if due < 100 || 100*loaded < 95*due {
		t.Errorf("%d of %d load", loaded, due)
	}
	file := filepath.Join("testdata", "repaired.golden")
	if *updateGolden {
		if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), golden.String()); diff != "" {
		t.Errorf("repaired values changed (-want +got):\n%s", diff)
	}
}

// readAround gives the value around what was repaired. A value of one line must
// be all of that line.
func readAround(t *testing.T, e entry, d profile.Diagnostic, f dialect.ReadField) string {
	t.Helper()
	value := f.Node.Value
	if f.Node.Kind != yaml.ScalarNode {
		return show(f.Node)
	}
	line := lineOf(e.data, d.Line)
	_, text, _ := strings.Cut(line, ":")
	if d.Line == f.At.Line && !strings.Contains(value, "\n") && !strings.HasPrefix(strings.TrimSpace(text), `"`) {
		if strings.TrimSpace(text) != value && !strings.HasPrefix(value, strings.TrimSpace(text)+" ") {
			t.Errorf("%s: %s is %q, and the line says %q", e.path, d.Key, value, text)
		}
	}
	at := strings.Index(value, strings.TrimSpace(line[max(0, d.Column-1):]))
	return window(value, max(0, at))
}

func lineOf(data []byte, line int) string {
	lines := strings.Split(string(data), "\n")
	return lines[line-1]
}

// window cuts a text around an offset, so that no more than a line of another's
// text stands in the golden file.
func window(s string, at int) string {
	const before, most = 50, 120
	r := []rune(strings.ToValidUTF8(s, "\ufffd"))
	from := max(0, min(at-before, len(r)-most))
	return fmt.Sprintf("%+q", string(r[from:min(len(r), from+most)]))
}

// TestCorpusFix: a fixed file reads as the repaired one did, with no word of a
// repair, and fixing it again changes nothing.
func TestCorpusFix(t *testing.T) {
	count := 0
	for _, e := range entries(t) {
		fields, ds, ok := dialect.ReadDocument(e.file())
		fixed, done := dialect.Fix(e.file())
		if !ok || len(ds) == 0 {
			if len(done) > 0 || !bytes.Equal(fixed, e.data) {
				t.Errorf("%s needs no fix or cannot have one: %v", e.path, done)
			}
			continue
		}
		count++
		f := &dialect.File{Name: e.path, Path: e.path, Data: fixed, Claimed: true}
		again, rest, ok := dialect.ReadDocument(f)
		if !ok || len(rest) > 0 || len(done) == 0 {
			t.Errorf("%s: fixed, it says %v", e.path, rest)
			continue
		}
		for i, fd := range fields {
			if diff := sameTree(fd.Node, again[i].Node); fd.Key != again[i].Key || diff != "" {
				t.Errorf("%s: %s: %s", e.path, fd.Key, diff)
			}
		}
		if data, done := dialect.Fix(f); len(done) > 0 || !bytes.Equal(data, fixed) {
			t.Errorf("%s: a second fix changes it: %v", e.path, done)
		}
		sameProfile(t, e, f)
	}
	if count < 100 {
		t.Errorf("only %d files were fixed", count)
	}
}

// sameProfile decodes a file as it was and fixed.
func sameProfile(t *testing.T, e entry, fixed *dialect.File) {
	t.Helper()
	d, ok := dialect.Detect(e.file())
	if !ok {
		return
	}
	ps, ds := d.Decode(e.file())
	qs, rest := d.Decode(fixed)
	if profile.Refused(ds) != profile.Refused(rest) {
		t.Errorf("%s: %v, and fixed %v", e.path, ds, rest)
	} else if !profile.Refused(ds) && ps[0].Revision() != qs[0].Revision() {
		t.Errorf("%s: the fixed file is another profile", e.path)
	}
}

// TestCorpusTime: no file keeps its reader waiting.
func TestCorpusTime(t *testing.T) {
	const most = 50 * time.Millisecond
	var slowest time.Duration
	var which string
	for _, e := range entries(t) {
		var best time.Duration
		for range 10 { // another process may have had the processor
			start := time.Now()
			f := e.file()
			if d, ok := dialect.Detect(f); ok {
				d.Decode(f)
			}
			dialect.Fix(f)
			if took := time.Since(start); best == 0 || took < best {
				best = took
			}
			if best < most {
				break
			}
		}
		if best > slowest {
			slowest, which = best, e.path
		}
		if best > most {
			t.Errorf("%s takes %v", e.path, best)
		}
	}
	t.Logf("the slowest file, %s, took %v", which, slowest)
}
