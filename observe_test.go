package roster_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/store/memory"
)

// TestWhatRunsIsSeen asks a server, and looks at the traces that a collector gets and
// at the metrics.
func TestWhatRunsIsSeen(t *testing.T) {
	var mu sync.Mutex
	spans := map[string]*tracev1.Span{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var got tracev1.TracesData
		if err := proto.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
			spans[s.Name] = s
		}
	}))
	defer collector.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"roster.yaml":      "telemetry: {endpoint: \"" + collector.URL + "\"}\nproviders: {fake: {api: script, base-url: x.yaml, models: {m: {context-window: 9000}}}}\n",
		"profiles/echo.md": "---\nname: echo\nmodel: fake/m\ntools: [read]\n---\nBe brief.\n",
		"a.txt":            "42\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := script.New(script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.txt"}`}}}, script.Reply{Text: "It is 42."}).Model("fake/m")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Backend: memory.New(memory.Options{}), Models: map[string]model.Model{"fake/m": m}, Claim: true, Metrics: true, Trust: true,
		Getenv: homeIn(dir),
	})
	if err != nil {
		t.Fatal(err)
	}
	h := app.Handler()
	server := httptest.NewServer(h)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/chat", strings.NewReader(`{"agentId":"echo","message":"What is in a.txt?"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	const ended = `roster_loops_ended_total{profile="echo",reason="done"} 1`
	metrics := scrape(t, server.URL)
	for start := time.Now(); !strings.Contains(metrics, ended) && time.Since(start) < 10*time.Second; runtime.Gosched() {
		metrics = scrape(t, server.URL) // the answer may come before the run has been counted
	}
	h.Shutdown()
	server.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := app.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		ended, `roster_tool_calls_total{tool="read",outcome="ok"} 1`,
		`roster_http_requests_total{method="POST",route="/chat",code="2xx"} 1`, `roster_model_calls_total{model="fake/m",outcome="ok"} 2`,
		"roster_http_streams_open 0", "roster_dispatch_slots 1024", "roster_store_commit_duration_seconds_count ",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s:\n%s", want, metrics)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, c := range []struct{ name, parent string }{
		{"POST /chat", ""}, {"invoke_agent echo", "POST /chat"}, {"chat m", "invoke_agent echo"}, {"execute_tool read", "invoke_agent echo"},
	} {
		s := spans[c.name]
		if s == nil {
			t.Errorf("there is no span %s among %v", c.name, spans)
			continue
		}
		parent := "b7ad6b7169203331"
		if c.parent != "" {
			parent = hex.EncodeToString(spans[c.parent].GetSpanId())
		}
		if got := hex.EncodeToString(s.ParentSpanId); got != parent || hex.EncodeToString(s.TraceId) != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s has the parent %s, want %s, in trace %x", c.name, got, parent, s.TraceId)
		}
	}
	if id := hex.EncodeToString(spans["POST /chat"].GetSpanId()); id != answer.Header.Get("X-Request-Id") {
		t.Errorf("the span of the request is %s, the request %s", id, answer.Header.Get("X-Request-Id"))
	}
}

// homeIn is an environment that names nothing but the user's part.
func homeIn(dir string) func(string) string {
	return func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(dir, "home")}[name] }
}

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, url string) string {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(prometheus.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(string(text))); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return string(text)
}

// TestATraceEndpointOfAWorkspaceNeedsTrust: a file that names a collector reaches
// nobody by itself.
func TestATraceEndpointOfAWorkspaceNeedsTrust(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "roster.yaml"), []byte("telemetry: {endpoint: \"https://evil.example\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []bool{false, true} {
		app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Trust: trusted, Getenv: homeIn(dir)})
		if err != nil {
			t.Fatal(err)
		}
		cfg := app.Config().Telemetry
		if got, _, _ := cfg.TracesURL(func(string) string { return "" }); (got != "") != trusted {
			t.Errorf("trusted %v: traces go to %q", trusted, got)
		}
		if err := app.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
