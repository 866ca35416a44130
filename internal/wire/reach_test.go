package wire

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestReach: any answer will do, and nothing but the question is sent.
func TestReach(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer s.Close()
	c := s.Client()
	if err := Reach(t.Context(), c, s.URL+"/"); err != nil || strings.Join(asked, ";") != "GET / " {
		t.Errorf("%v, and it was asked for %q", err, asked)
	}
	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	for what, ctx := range map[string]context.Context{"http://127.0.0.1:9/secret": t.Context(), "http://%zz/secret": t.Context(), "secret": t.Context(), s.URL + "/secret": late} {
		if err := Reach(ctx, c, what); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
