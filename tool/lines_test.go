package tool

import (
	"fmt"
	"strings"
	"testing"
)

func TestLineNumbersCountOn(t *testing.T) {
	for _, from := range []int{1, 8, 95, 99_990, 999_990, 99_999_990} {
		for l, n := newLineNumber(from), from; n < from+20; n++ {
			if got, want := string(l.bytes()), fmt.Sprintf("%6d\t", n); got != want {
				t.Fatalf("%d: got %q, want %q", from, got, want)
			}
			l.next()
		}
	}
}

// TestReadLinesAroundTheBuffer reads lines that end just before, at and behind
// the end of what is read at once.
func TestReadLinesAroundTheBuffer(t *testing.T) {
	f := newFixture(t, settingsOf(`{"read":{"max-line-length":1000000}}`))
	for name, end := range map[string]string{"newline": "\n", "carriage return": "\r\n", "none": ""} {
		for around := -3; around <= 3; around++ {
			text := strings.Repeat("é", (readBuffer+around)/2)
			f.file("a", text+end+"b\n"+end)
			want := "     1\t" + text
			switch end {
			case "":
				want += "b\n"
			default:
				want += "\n     2\tb\n     3\t\n"
			}
			if got := f.ok("read", object{"path": "a"}); got != want {
				t.Errorf("%s, %d bytes around: got %d bytes …%q", name, around, len(got), got[max(0, len(got)-30):])
			}
		}
	}
}

// TestReadOfHugeLimits: settings have no upper bound, results do.
func TestReadOfHugeLimits(t *testing.T) {
	f := newFixture(t, settingsOf(`{"read":{"max-line-length":9000000000000000000,"limit":9000000000000000000}}`))
	f.file("a", strings.Repeat("x", 6<<20)+"\nb\n")
	f.has(f.ok("read", object{"path": "a"}), " more bytes]\n[more lines follow: go on with offset 2]\n")
	f.same(f.ok("read", object{"path": "a", "offset": 2}), "     2\tb\n")
}
