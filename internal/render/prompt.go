package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/internal/view"
)

// Prompt writes the head of a profile's requests, with a border above each
// layer of it.
func Prompt(w io.Writer, s Style, p view.Prompt) {
	border := func(format string, args ...any) {
		fmt.Fprintln(w, s.paint(bold, "── "+Safe(fmt.Sprintf(format, args...))+" ──"))
	}
	for _, l := range p.Layers {
		border("%s · %s · ~%d tokens", l.Name, l.Source, l.Tokens)
		fmt.Fprintf(w, "%s\n", Safe(l.Text))
	}
	names, tokens := make([]string, len(p.Tools)), int64(0)
	for i, t := range p.Tools {
		names[i] = t.Name
		tokens += t.Tokens
	}
	whose := cmp.Or(p.Model, "no model")
	border("tools · %s · ~%d tokens", toolList(names), tokens)
	if p.Cache == "off" {
		border("%s · ~%d tokens · the cache is off: each call sends them anew", whose, p.Tokens)
		return
	}
	border("%s · ~%d tokens · cache %s: the same for every call of a loop, so a provider that caches reads ~%d of them again",
		whose, p.Tokens, strings.ToLower(p.Cache), p.Reused)
}
