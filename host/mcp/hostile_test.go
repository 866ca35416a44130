package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// raw is a client of the HTTP interface that keeps no rules.
type raw struct {
	t    *testing.T
	url  string
	http *http.Client
	id   string // of its connection
}

func (s *site) raw(t *testing.T) *raw {
	t.Helper()
	h := s.app.Handler()
	srv := httptest.NewServer(h)
	r := &raw{t: t, url: srv.URL + "/mcp", http: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() {
		h.Shutdown()
		r.http.CloseIdleConnections()
		srv.Close()
	})
	return r
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

func (r *raw) request(ctx context.Context, method, body string, head ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, r.url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.id != "" {
		req.Header.Set("Mcp-Session-Id", r.id)
	}
	for i := 0; i < len(head); i += 2 {
		if head[i] == "Host" {
			req.Host = head[i+1]
		}
		req.Header.Set(head[i], head[i+1])
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

func (r *raw) do(method, body string, head ...string) (status int, text string) {
	r.t.Helper()
	res := r.request(r.t.Context(), method, body, head...)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// begin opens a connection, and returns the status of the answer.
func (r *raw) begin() int {
	r.t.Helper()
	r.id = ""
	res := r.request(r.t.Context(), "POST", hello)
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	r.id = res.Header.Get("Mcp-Session-Id")
	if res.StatusCode == http.StatusOK {
		if status, text := r.do("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != http.StatusAccepted {
			r.t.Fatalf("initialized: %d %s", status, text)
		}
	}
	return res.StatusCode
}

const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

func TestHostileRequests(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "ok"})
	r := s.raw(t)
	r.begin()
	good := r.id
	for _, x := range []struct {
		name, method, body string
		id                 string
		head               []string
		status             int
	}{
		{"a body too large", "POST", `{"jsonrpc":"2.0","id":3,"method":"` + strings.Repeat("x", 9<<20) + `"}`, good, nil, 413},
		{"no JSON", "POST", "garbage", good, nil, 400},
		{"deep JSON", "POST", strings.Repeat("[", 1<<20), good, nil, 400},
		{"nothing", "POST", "", good, nil, 400},
		{"a connection that is not there", "POST", ping, "nobody", nil, 404},
		{"a page of another origin", "POST", ping, good, []string{"Origin", "http://evil.example"}, 403},
		{"a name that was made point here", "POST", ping, good, []string{"Host", "evil.example"}, 403},
		{"another type", "POST", ping, good, []string{"Content-Type", "text/plain"}, 415},
		{"another method", "PUT", ping, good, nil, 405},
		{"a version that is not there", "POST", ping, good, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400},
		{"a stream of nothing", "GET", "", good, []string{"Last-Event-ID", "../../x"}, 400},
	} {
		t.Run(x.name, func(t *testing.T) {
			r.t, r.id = t, x.id
			if status, text := r.do(x.method, x.body, x.head...); status != x.status {
				t.Errorf("%d %.300s", status, text)
			}
		})
	}
	r.t, r.id = t, good
	if status, text := r.do("POST", ping); status != 200 || !strings.Contains(text, `"result":{}`) {
		t.Errorf("afterwards: %d %s", status, text)
	}
	r.id = ""
	call := `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"prompt":"x"}}}`
	if _, text := r.do("POST", call); !strings.Contains(text, "initializ") || s.sessions(t) != 0 {
		t.Errorf("without initialize: %s", text)
	}
}

func TestManyConnections(t *testing.T) {
	s := newSite(t, nil)
	r := s.raw(t)
	const most = 1000
	for i := range most {
		if status := r.begin(); status != 200 {
			t.Fatalf("connection %d: %d", i, status)
		}
	}
	last := r.id
	if status := r.begin(); status != http.StatusServiceUnavailable {
		t.Errorf("connection %d: %d", most+1, status)
	}
	r.id = last
	if status, text := r.do("POST", ping); status != 200 {
		t.Errorf("one that is there: %d %s", status, text)
	}
	if status, text := r.do("DELETE", ""); status != http.StatusNoContent {
		t.Errorf("ending one: %d %s", status, text)
	}
	if status := r.begin(); status != 200 {
		t.Errorf("after one has ended: %d", status)
	}
}

// TestConnectionBreaks: a client that lost the stream of a call takes it up where
// it was, and gets the answer.
func TestConnectionBreaks(t *testing.T) {
	gate := make(chan struct{})
	s := gatedSite(t, gate, script.Reply{Text: "late answer"})
	r := s.raw(t)
	r.begin()
	ctx, drop := context.WithCancel(t.Context())
	res := r.request(ctx, "POST", `{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{"prompt":"x"},"_meta":{"progressToken":"p"}}}`)
	id := ""
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = v
		}
		if strings.Contains(lines.Text(), "turn 1") {
			break
		}
	}
	drop()
	res.Body.Close()
	close(gate)
	if end := s.end(t); end.Reason != session.ReasonDone {
		t.Fatalf("the run ended: %+v", end)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	res = r.request(ctx, "GET", "", "Last-Event-ID", id)
	defer res.Body.Close()
	lines = bufio.NewScanner(res.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"late answer"`) {
			return
		}
	}
	t.Errorf("the answer does not come after event %q: %d %v", id, res.StatusCode, lines.Err())
}
