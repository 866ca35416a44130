package openapi

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzBuild: whatever an input holds, it stays where it belongs and is what it was.
func FuzzBuild(f *testing.F) {
	for _, s := range []string{"a", "", "..", "a/../b", `..\x`, "?#&=+%", "%2e%2e", "é\n", "a;b,c|d", "//evil.example/", "{x}"} {
		f.Add(s)
	}
	o := &Operation{Method: "GET", Path: "/a/{p}/b", Parameters: []Parameter{
		{Name: "p", Arg: "p", In: "path", Style: "simple", Required: true}, {Name: "q", Arg: "q", In: "query", Style: "form", Explode: true},
		{Name: "r", Arg: "r", In: "query", Style: "form", AllowReserved: true},
	}}
	at := &url.URL{Scheme: "https", Host: "x.example", Path: "/v1"}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // JSON has none
		}
		in, err := json.Marshal(map[string]string{"p": s, "q": s, "r": s})
		if err != nil {
			t.Fatal(err)
		}
		r, err := o.build(at, in, nil)
		if err != nil {
			return
		}
		u, err := url.Parse(r.url.String())
		if err != nil || u.Scheme != "https" || u.Host != "x.example" || u.Fragment != "" {
			t.Fatalf("%q leads to %s, %v", s, r.url, err)
		}
		parts := strings.Split(u.EscapedPath(), "/")
		if len(parts) != 5 || parts[1] != "v1" || parts[2] != "a" || parts[4] != "b" {
			t.Fatalf("%q has the path %s", s, u.EscapedPath())
		}
		if plain, err := url.PathUnescape(parts[3]); err != nil || plain != s {
			t.Fatalf("%q is %q in the path, %v", s, plain, err)
		}
		pairs := strings.Split(u.RawQuery, "&")
		if len(pairs) != 2 || !strings.HasPrefix(pairs[0], "q=") || !strings.HasPrefix(pairs[1], "r=") {
			t.Fatalf("%q has the query %s", s, u.RawQuery)
		}
		if plain, err := url.QueryUnescape(pairs[0][2:]); err != nil || plain != s {
			t.Fatalf("%q is %q in the query, %v", s, plain, err)
		}
	})
}
