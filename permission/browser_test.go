package permission

import "testing"

// TestBrowserRulesAreAboutAddresses: rules for the browser are read as those for
// webfetch are, also where a pattern names several of its tools.
func TestBrowserRulesAreAboutAddresses(t *testing.T) {
	e := compile(t, Layers{Rules: append(Builtin(),
		Rule{Tool: "browser_*", Subject: "https://docs.example/*", Effect: Allow},
		Rule{Tool: "browser_open", Subject: "https://docs.example/private/*", Effect: Deny},
		Rule{Tool: "*", Subject: "evil.example/*", Effect: Deny},
	)})
	for _, c := range []struct {
		tool, url string
		want      Effect
	}{
		{"browser_open", "https://docs.example/a", Allow},
		{"browser_click", "https://docs.example/a", Allow},
		{"browser_open", "https://docs.example:443/a", Allow},
		{"browser_open", "https://docs.example.evil.org/a", Ask},
		{"browser_open", "http://docs.example/a", Ask},
		{"browser_open", "https://docs.example/private/x", Deny},
		{"browser_open", "https://docs.example/%70rivate/x", Deny},
		{"browser_open", "https://docs.example/a/../private/x", Deny},
		{"browser_open", "https://evil.example/x", Deny},
		{"browser_read", "https://evil.example/x", Deny},
		{"browser_open", "https://docs.example@other.example/", Deny},
		{"browser_open", "file:///etc/passwd", Deny},
		{"browser_open", "https://other.example/", Ask},
		{"browser_fill", "https://other.example/", Ask},
		{"browser_read", "https://other.example/", Allow},
		{"browser_screenshot", "https://other.example/", Allow},
		{"webfetch", "https://docs.example/a", Ask},
	} {
		if got := e.Decide(Query{Tool: c.tool, Subject: c.url}).Effect; got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.url, got, c.want)
		}
	}
	plan := compile(t, Layers{Rules: []Rule{{Tool: "*", Subject: "*", Effect: Allow}}, Mode: ModePlan})
	for tool, want := range map[string]Effect{"browser_open": Allow, "browser_read": Allow, "browser_click": Deny, "browser_fill": Deny} {
		if got := plan.Decide(Query{Tool: tool, Subject: "https://docs.example/"}).Effect; got != want {
			t.Errorf("in mode plan, %s: %s, want %s", tool, got, want)
		}
	}
}
