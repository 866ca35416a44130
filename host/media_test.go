package host_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestMediaTypes: what is not JSON is refused as such; curl need not say that it is,
// and a page has to.
func TestMediaTypes(t *testing.T) {
	s := newSite(t)
	origin := s.url
	for _, c := range []struct {
		name   string
		header []string
		want   int
	}{
		{"none", nil, 202},
		{"JSON", []string{"Content-Type", "application/json"}, 202},
		{"JSON in UTF-8", []string{"Content-Type", "application/json; charset=UTF-8"}, 202},
		{"JSON of a kind", []string{"Content-Type", "application/problem+json"}, 202},
		{"what curl says", []string{"Content-Type", "application/x-www-form-urlencoded"}, 202},
		{"JSON in Latin-1", []string{"Content-Type", "application/json; charset=iso-8859-1"}, 415},
		{"text", []string{"Content-Type", "text/plain"}, 415},
		{"a form", []string{"Content-Type", "multipart/form-data; boundary=x"}, 415},
		{"XML", []string{"Content-Type", "application/xml"}, 415},
		{"no media type", []string{"Content-Type", ";;"}, 415},
		{"a page's JSON", []string{"Content-Type", "application/json", "Origin", origin}, 202},
		{"a page's text", []string{"Content-Type", "text/plain", "Origin", origin}, 415},
		{"a page's form", []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", origin}, 415},
		{"a page that does not say", []string{"Sec-Fetch-Site", "same-origin"}, 415},
		{"gzip", []string{"Content-Encoding", "gzip"}, 415},
		{"as it is", []string{"Content-Encoding", "identity"}, 202},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := s.begin(t)
			a := s.post("/sessions/"+id+"/steer", `{"message":"x"}`, c.header...)
			if a.status != c.want {
				t.Fatalf("%d %s", a.status, a.body)
			}
			if c.want == 415 {
				a.wantError(t, 415, "UnsupportedMediaType")
			}
		})
	}
}

// begin makes a session of the profile echo, whatever becomes of its prompt.
func (s *site) begin(t *testing.T) string {
	t.Helper()
	a := s.post("/sessions", `{"agentId":"echo","message":"begin"}`)
	if a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return strings.TrimPrefix(a.header.Get("Location"), "/sessions/")
}

func TestHeadersThatAreGivenTwice(t *testing.T) {
	s := newSite(t)
	for name, want := range map[string]string{"Idempotency-Key": "InvalidField", "Content-Type": "UnsupportedMediaType"} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/chat", strings.NewReader(`{"message":"x","agentId":"echo"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header[name] = []string{"application/json", "text/plain"}
		res, err := s.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		a := read(t, res)
		if !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestMethodsThatAPathTakes(t *testing.T) {
	s := newSite(t)
	if a := s.do("OPTIONS", "/profiles/fast", ""); a.status != 204 || strings.Join(a.header["Allow"], " ") != "GET HEAD POST PUT DELETE" || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("OPTIONS: %d %v", a.status, a.header)
	}
	if a := s.do("PATCH", "/profiles/fast", ""); a.status != 405 || strings.Join(a.header["Allow"], " ") != "GET HEAD POST PUT DELETE" {
		t.Errorf("PATCH: %d %v", a.status, a.header)
	}
	if a := s.do("OPTIONS", "/nothing", ""); a.status != 404 {
		t.Errorf("no path: %d", a.status)
	}
}
