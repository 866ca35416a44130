package resolve

import (
	"strings"
	"testing"
)

// TestCacheBreakpoints: manual marks what is named, in the order of a request; all
// where nothing is.
func TestCacheBreakpoints(t *testing.T) {
	for _, c := range []struct{ name, keys, flag, want, fails string }{
		{"auto has none", "cache-breakpoints: [system]", "", "", ""},
		{"all", "cache: manual", "", "tools system messages", ""},
		{"two", "cache: manual\ncache-breakpoints: [messages, tools]", "", "tools messages", ""},
		{"one text", "cache: manual\ncache-breakpoints: system, tools", "", "tools system", ""},
		{"none", "cache: manual\ncache-breakpoints: []", "", "", ""},
		{"the stronger layer's", "cache: manual\ncache-breakpoints: [system]", "messages", "messages", ""},
		{"another word", "cache: manual\ncache-breakpoints: [system, all]", "", "", `a.md:4:1: cache-breakpoints: "all" is none of tools, system, messages`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			in := w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n"+c.keys+"\n---\n.")
			if c.flag != "" {
				in.Flags = map[string]string{"cache-breakpoints": c.flag}
			}
			s, _, err := Spec(in)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.CacheBreakpoints, " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
