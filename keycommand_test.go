package roster

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/sandbox"
)

func helper() ([]string, *os.File) { return sandbox.Self(), nil }

func TestKeyCommand(t *testing.T) {
	for _, c := range []struct{ name, line, want, fails string }{
		{"a line", "echo ' key '", "key", ""},
		{"the first of several", "printf 'one\ntwo\n'", "one", ""},
		{"nothing", "true", "", "it prints nothing"},
		{"a failure", "echo no such entry >&2; exit 4", "", "exit status 4: no such entry"},
		{"a flood", "yes | head -c 1000000", "y", ""},
		{"much to say", "yes | head -c 100000 >&2; exit 1", "", "exit status 1: y"},
		{"a child that stays", "sleep 60 & echo key", "key", ""},
		{"a daemon that stays", "setsid sh -c 'trap \"\" TERM; sleep 60' & echo key", "key", ""},
		{"no helper", "", "", "call sandbox.Main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := keyCommands{helper: helper}
			if c.line == "" {
				k.helper = func() ([]string, *os.File) { return nil, nil }
			}
			start := time.Now()
			got, err := k.run([]string{"sh", "-c", c.line})
			if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) || c.fails == "" && err != nil || got != c.want {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.fails)
			}
			if took := time.Since(start); took > keyTime/2 {
				t.Errorf("it took %s", took)
			}
		})
	}
	k := keyCommands{helper: helper}
	if _, err := k.run([]string{"no-such-program-here"}); err == nil {
		t.Error("a program that is not there gives a key")
	}
	// What was printed is kept: the second time no command is run.
	line := []string{"sh", "-c", "date +%s%N"}
	first, _ := k.run(line)
	if second, _ := k.run(line); first == "" || second != first || len(k.keys()) != 1 {
		t.Errorf("%q, then %q", first, second)
	}
}

// TestLimited: what is copied from a pipe is bounded too.
func TestLimited(t *testing.T) {
	l := limited{max: 3}
	if n, err := io.Copy(&l, io.MultiReader(strings.NewReader("ab"), strings.NewReader("cdef"))); n != 6 || err != nil || l.String() != "abc" {
		t.Errorf("%d, %v, %q", n, err, l.String())
	}
}
