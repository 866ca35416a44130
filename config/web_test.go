package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

func TestWebAndSearch(t *testing.T) {
	for _, c := range []struct {
		name, user string
		want       string // settings, or what the error says
		err        bool
	}{
		{"brave", "search: {kind: brave}", "search=brave https://api.search.brave.com/res/v1/web/search BRAVE_API_KEY", false},
		{"tavily, another variable", "search: {kind: tavily, key-env: MINE}", "search=tavily https://api.tavily.com/search MINE", false},
		{"elsewhere, without a key", "search: {kind: brave, url: \"https://b.example/\"}", "search=brave https://b.example", false},
		{"elsewhere, with a key", "search: {kind: brave, url: \"https://b.example/s\", key_env: K}", "search=brave https://b.example/s K", false},
		{"searxng", "search: {kind: searxng, url: \"http://localhost:8888\"}", "search=searxng http://localhost:8888", false},
		{"searxng nowhere", "search: {kind: searxng}", "1:9: error [C107]: search of kind searxng needs the url of a server", true},
		{"no kind", "search: {url: \"https://b.example\"}", "search needs its kind: one of brave, searxng, tavily", true},
		{"another kind", "search: {kind: brve}", "did you mean \"brave\"?", true},
		{"a key in the clear", "search: {kind: tavily, url: \"http://b.example\", key-env: K}", "over http", true},
		{"a key to this machine", "search: {kind: tavily, url: \"http://127.0.0.1:1\", key-env: K}", "search=tavily http://127.0.0.1:1 K", false},
		{"a password", "search: {kind: searxng, url: \"https://u:p@b.example\"}", "holds a user name or password", true},
		{"a key for a variable", "search: {kind: brave, key-env: sk-123}", "never the key", true},
		{"another key", "search: {kind: brave, count: 3}", "unknown key \"search.count\"", true},
		{"no map", "search: brave", "takes a map", true},
		{"nothing", "search:", "", false},
		{"allowed", "web: {allow: [localhost:3000, 10.0.0.0/8]}", "web.allow=localhost:3000,web.allow=10.0.0.0/8", false},
		{"a proxy", "web: {proxy: \"http://u:p@p.example:3128\"}", "web.proxy=http://p.example:3128", false},
		{"the environment's proxies", "web: {proxy: environment}", "web.proxy=environment", false},
		{"not to be allowed", "web: {allow: [\"http://a\"]}", "1:15: error [C107]: web.allow: \"http://a\" is no host", true},
		{"no list", "web: {allow: a}", "a list of hosts", true},
		{"no proxy", "web: {proxy: socks}", "takes the URL of a proxy", true},
		{"another key of the web", "web: {private: true}", "unknown key \"web.private\"", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _, err := Load(placed(t, "", c.user+"\n", nil))
			if c.err {
				if parse := (*profile.ParseError)(nil); !errors.As(err, &parse) || !strings.Contains(err.Error()+parse.Diagnostics[0].Hint, c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range cfg.Settings() {
				if s.Key == "search" || strings.HasPrefix(s.Key, "web.") {
					got = append(got, s.Key+"="+s.Value)
				}
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSearchIsOneValue: a file's service takes the place of another's as a whole, so
// that no key goes to an address that another file names.
func TestSearchIsOneValue(t *testing.T) {
	o := placed(t, "search: {kind: brave, url: \"https://evil.example\"}", "search: {kind: brave, key-env: MINE}\n", nil)
	o.Trust = func(string, string) trust.View { return trust.Everything() }
	cfg, _, err := Load(o)
	if err != nil || cfg.Search.URL != "https://evil.example" || cfg.Search.KeyEnv != "" {
		t.Errorf("%+v, %v", cfg.Search, err)
	}
}
