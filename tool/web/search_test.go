package web

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

// search calls the tool with a service of this test.
func search(t *testing.T, s Service, in map[string]any) (string, error) {
	t.Helper()
	made, err := NewSearch(nil, &s, Reach{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := call(t, made, []permission.Rule{allow("*")}, in)
	return textOf(r), err
}

func TestServices(t *testing.T) {
	const hits = `[{"title": "A &amp; <b>b</b>", "url": "https://a.example/x", "content": "One <strong>two</strong>\n three"},` +
		`{"title": "bad", "url": "javascript:alert(1)", "content": "x"}, {"title": "C", "url": "https://c.example"}]`
	for _, c := range []struct {
		name, kind, path, body string
		request                []string // in the request as it is sent
	}{
		{"searxng", "searxng", "", `{"query": "q", "number_of_results": 0, "results": ` + hits + `}`, []string{"GET /search?format=json&q=caf%C3%A9+%26+cr%C3%A8me HTTP", "Authorization: Bearer key-123"}},
		{"searxng in a folder", "searxng", "/sx/", `{"results": ` + hits + `}`, []string{"GET /sx/search?format=json&"}},
		{"searxng, whole address", "searxng", "/search", `{"results": ` + hits + `}`, []string{"GET /search?format=json&"}},
		{"brave", "brave", "/res/v1/web/search", `{"query": {}, "web": {"results": ` + strings.ReplaceAll(hits, "content", "description") + `}}`,
			[]string{"GET /res/v1/web/search?count=7&q=caf", "X-Subscription-Token: key-123"}},
		{"tavily", "tavily", "/search", `{"query": "q", "results": ` + hits + `}`, []string{"POST /search HTTP", "Authorization: Bearer key-123", `{"max_results":7,"query":"café \u0026 crème"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				sent = fmt.Sprintf("%s %s HTTP\n", r.Method, r.RequestURI)
				for name := range r.Header {
					sent += name + ": " + r.Header.Get(name) + "\n"
				}
				sent += string(body)
				io.WriteString(w, c.body)
			})
			got, err := search(t, Service{Kind: c.kind, URL: s.URL + c.path, Key: func() string { return "key-123\n" }, KeyName: "K"}, map[string]any{"query": "café & crème", "limit": 7})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.request {
				if !strings.Contains(sent, want) {
					t.Errorf("%q is not in\n%s", want, sent)
				}
			}
			want := "1. A & b\n   https://a.example/x\n   One two three\n2. C\n   https://c.example/\n[end of results"
			if !strings.Contains(got, want) || !strings.HasPrefix(got, "Results from 127.0.0.1:") || strings.Contains(got, "javascript") {
				t.Errorf("%s", got)
			}
		})
	}
}

func TestServiceFaults(t *testing.T) {
	key := func() string { return "key-123456789" }
	for _, c := range []struct {
		name, kind, body string
		status           int
		key              func() string
		want             string // of the text or the error
	}{
		{"nothing found", "searxng", `{"results": []}`, 200, nil, "Nothing was found."},
		{"nothing found by brave", "brave", `{"query": {"original": "q"}}`, 200, nil, "Nothing was found."},
		{"only results that cannot be fetched", "tavily", `{"results": [{"url": "file:///etc/passwd"}]}`, 200, nil, "Nothing was found."},
		{"not JSON", "searxng", `<html>`, 200, nil, "cannot be read as that of searxng"},
		{"another kind's answer", "brave", `{"results": []}`, 200, nil, "it has no list of results"},
		{"null", "tavily", `null`, 200, nil, "it has no list of results"},
		{"refused", "searxng", "<p>Forbidden</p>", 403, nil, "403 Forbidden: <p>Forbidden</p> (a SearXNG server answers programs only with json"},
		{"the key said again", "brave", "no such key: key-123456789", 401, key, "401 Unauthorized: no such key: [secret]"},
		{"too many", "tavily", "", 429, key, "429 Too Many Requests"},
		{"no key", "brave", `{}`, 200, func() string { return " " }, "K is not set"},
		{"elsewhere", "brave", "http://127.0.0.1:1/", 302, key, "302 Found"},
		{"long", "searxng", `{"results": [{"url": "http://a.example/", "title": "` + strings.Repeat("é", 3000) + `"}]}`, 200, nil, strings.Repeat("é", maxSnippet) + " …\n"},
		{"a bomb", "searxng", strings.Repeat("[", maxAnswer+1), 200, nil, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.status == 302 {
					w.Header().Set("Location", c.body)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			got, err := search(t, Service{Kind: c.kind, URL: s.URL, Key: c.key, KeyName: "K"}, map[string]any{"query": "q"})
			if got += fmt.Sprint(err); !strings.Contains(got, c.want) || strings.Contains(got, "key-123456789") {
				t.Errorf("%.300s", got)
			}
		})
	}
}

func TestSearchInputs(t *testing.T) {
	for _, in := range []map[string]any{{}, {"query": ""}, {"query": strings.Repeat("q", 401)}, {"query": "q", "limit": 0}, {"query": "q", "limit": 21}, {"query": "q", "page": 2}} {
		if _, err := search(t, Service{Kind: "searxng", URL: "http://127.0.0.1:1"}, in); err == nil {
			t.Errorf("%v is taken", in)
		}
	}
	none, err := NewSearch(nil, nil, Reach{})
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := none.(tool.Withheld); !ok || w.Withheld() == "" {
		t.Error("a search that nobody answers is offered")
	}
	if _, err := NewSearch(json.RawMessage(`{"engine": "x"}`), nil, Reach{}); err == nil {
		t.Error("an unknown setting is taken")
	}
}

func FuzzResults(f *testing.F) {
	f.Add(`{"results": [{"url": "http://a", "title": "<b>x", "content": null}]}`)
	f.Add(`{"web": {"results": [{"url": "http://a/\u0000"}]}}`)
	f.Fuzz(func(t *testing.T, data string) {
		for _, kind := range []string{"brave", "searxng", "tavily"} {
			list, err := results(kind, []byte(data), 5)
			if err != nil {
				continue
			}
			for _, r := range list {
				if strings.ContainsAny(r.title+r.url+r.snippet, "\n\r\x1b") || !utf8.ValidString(r.title+r.url+r.snippet) || len(list) > 5 {
					t.Errorf("%q", list)
				}
			}
		}
	})
}
