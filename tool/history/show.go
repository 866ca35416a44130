package history

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/rosterrun/roster/session"
)

// maxShown bounds the texts that are compared for a person, in bytes.
const maxShown = 1 << 20

// difference shows what becomes of a path.
func difference(path string, now, then *state) string {
	var b strings.Builder
	a, c := "a/"+path, "b/"+path
	if now == nil {
		a = "/dev/null"
	}
	if then == nil {
		c = "/dev/null"
	}
	if now != nil && then != nil && now.Kind == then.Kind && now.Mode != then.Mode {
		fmt.Fprintf(&b, "mode of %q: %#o becomes %#o\n", path, now.Mode, then.Mode)
	}
	was, text1 := shown(now)
	is, text2 := shown(then)
	switch {
	case bytes.Equal(was, is) && now != nil && then != nil:
	case !text1 || !text2:
		fmt.Fprintf(&b, "--- %s\n+++ %s\nnot shown: binary, or longer than %d bytes\n", a, c, maxShown)
	case len(was) == 0 && len(is) == 0:
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", a, c)
	default:
		d := diff.Diff(a, was, c, is)
		_, d, _ = bytes.Cut(d, []byte("\n")) // its first line is a command
		b.Write(d)
	}
	return b.String()
}

// shown is what a diff has of a state, and whether it can.
func shown(s *state) ([]byte, bool) {
	switch {
	case s == nil:
		return nil, true
	case s.Kind == session.KindLink:
		return []byte("(link to " + s.Target + ")\n"), true
	case s.Kind == session.KindDir:
		return []byte("(directory)\n"), true
	case s.Unkept != "" || len(s.data) > maxShown:
		return nil, false
	}
	return s.data, isText(s.data)
}
