package telemetry_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes traces by OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracev1
	headers http.Header
	names   []string // of services
	refuse  int      // requests that are refused before one is taken
}

type tracev1 = v1.Span

func collect(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.refuse > 0 {
			c.refuse--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var got v1.TracesData // has the form of an ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &got); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header, err)
		}
		c.headers = r.Header
		for _, rs := range got.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" {
					c.names = append(c.names, a.Value.GetStringValue())
				}
			}
			for _, s := range rs.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// stream makes the events of a stream.
type stream struct {
	at  time.Time
	seq int64
	evs []session.Event
}

func (s *stream) add(in, loop string, turn, depth int, b session.Body) {
	s.seq++
	s.at = s.at.Add(time.Second)
	e := session.Event{Seq: s.seq, Session: in, Loop: loop, Turn: turn, Agent: "agent-" + in, Depth: depth, Chain: chain, Time: s.at, Body: b}
	e.Encode()
	s.evs = append(s.evs, e)
}

const chain = "0af7651916cd43dd8448eb211c80319c"

// delegation is a run that gives work to a child.
func delegation() *stream {
	s := &stream{at: time.Unix(1700000000, 0).UTC()}
	s.add("root", "l1", 0, 0, &session.LoopStart{Number: 1, Why: "prompt", Profile: "lead", Revision: "rev1", Model: "openai/gpt-4o", User: "ann", Request: "b7ad6b7169203331"})
	s.add("root", "l1", 1, 0, &session.TurnStart{})
	s.add("root", "l1", 1, 0, &session.TurnRequest{Message: "m1", Attempt: 1, Params: json.RawMessage(`{"temperature":0.5,"max_tokens":100}`)})
	s.add("root", "l1", 1, 0, &session.Retry{Attempt: 1, Code: "RateLimited"})
	s.add("root", "l1", 1, 0, &session.TurnRequest{Message: "m1", Attempt: 2})
	s.add("root", "l1", 1, 0, &session.Message{ID: "m1", Role: message.Assistant, Stop: "tools", Parts: []message.Part{message.Text{Text: "secret plan"}}})
	s.add("root", "l1", 1, 0, &session.Usage{Model: "openai/gpt-4o-2024", Usage: message.Usage{Input: 10, Output: 5, CacheRead: 3, Cost: 0.25}})
	s.add("root", "l1", 1, 0, &session.ToolBefore{Call: "c1", Tool: "task", Input: []byte(`{"profile":"helper"}`), Child: "kid"})
	s.add("kid", "", 0, 1, &session.Start{Profile: "helper", Parent: "root", Call: "c1"})
	s.add("kid", "l2", 0, 1, &session.LoopStart{Number: 1, Why: "prompt", Profile: "helper", Model: "ollama/small", Request: "b7ad6b7169203331"})
	s.add("kid", "l2", 1, 1, &session.TurnStart{})
	s.add("kid", "l2", 1, 1, &session.TurnRequest{Message: "m2", Attempt: 1})
	s.add("kid", "l2", 1, 1, &session.Error{Code: "Overloaded", Error: "no"})
	s.add("kid", "l2", 0, 1, &session.LoopEnd{Reason: session.ReasonError, Error: &session.Error{Code: "Overloaded"}})
	s.add("root", "l1", 1, 0, &session.ToolAfter{Call: "c1", Tool: "task", Outcome: session.ToolError, Duration: 7 * time.Second})
	s.add("root", "l1", 0, 0, &session.LoopEnd{Reason: session.ReasonDone, Text: "done", Usage: message.Usage{Input: 10, Output: 5}})
	return s
}

type seen struct {
	Name, Parent string
	Begun, End   int64 // seconds of the run
	Err          string
}

// tree gives the spans by their names, with the names of their parents.
func (c *collector) tree(t *testing.T) map[string]seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{"b7ad6b7169203331": "REQUEST"}
	for _, s := range c.spans {
		names[hex.EncodeToString(s.SpanId)] = s.Name
	}
	all := map[string]seen{}
	for _, s := range c.spans {
		if id := hex.EncodeToString(s.TraceId); id != chain {
			t.Errorf("span %s is of trace %s, not of its chain", s.Name, id)
		}
		name := s.Name
		for all[name].Name != "" {
			name += "'"
		}
		all[name] = seen{s.Name, names[hex.EncodeToString(s.ParentSpanId)], int64(s.StartTimeUnixNano)/1e9 - 1700000000, int64(s.EndTimeUnixNano)/1e9 - 1700000000, s.Status.GetMessage()}
	}
	return all
}

var delegated = map[string]seen{
	"invoke_agent lead":   {"invoke_agent lead", "REQUEST", 1, 16, ""},
	"chat gpt-4o":         {"chat gpt-4o", "invoke_agent lead", 3, 4, "RateLimited"},
	"chat gpt-4o'":        {"chat gpt-4o", "invoke_agent lead", 5, 6, ""},
	"execute_tool task":   {"execute_tool task", "invoke_agent lead", 8, 15, "tool_error"},
	"invoke_agent helper": {"invoke_agent helper", "execute_tool task", 10, 14, "Overloaded"},
	"chat small":          {"chat small", "invoke_agent helper", 12, 13, "Overloaded"},
}

func start(t *testing.T, o telemetry.Options) *telemetry.Telemetry {
	x, err := telemetry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func flush(t *testing.T, x *telemetry.Telemetry) {
	if err := x.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestTracesNestAsTheWorkDoes(t *testing.T) {
	c := collect(t)
	x := start(t, telemetry.Options{Endpoint: c.URL + "/v1/traces", Headers: map[string]string{"Authorization": "Bearer k"}, Service: "mine", Sample: 1})
	r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
	for _, e := range delegation().evs {
		r.See(&e)
	}
	flush(t, x)
	if diff := cmp.Diff(delegated, c.tree(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.headers.Get("Authorization") != "Bearer k" || c.names[0] != "mine" {
		t.Errorf("headers %v, services %v", c.headers, c.names)
	}
	got := map[string]string{}
	for _, s := range c.spans {
		if s.Name == "chat gpt-4o" && s.Status.GetMessage() == "" {
			for _, a := range s.Attributes {
				got[a.Key] = a.Value.String()
			}
		}
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": `string_value:"chat"`, "gen_ai.provider.name": `string_value:"openai"`, "gen_ai.request.model": `string_value:"gpt-4o"`,
		"gen_ai.response.model": `string_value:"gpt-4o-2024"`, "gen_ai.usage.input_tokens": "int_value:13", "gen_ai.usage.output_tokens": "int_value:5",
		"gen_ai.agent.name": `string_value:"lead"`, "gen_ai.agent.id": `string_value:"agent-root"`, "gen_ai.conversation.id": `string_value:"root"`,
		"gen_ai.response.finish_reasons": `array_value:{values:{string_value:"tools"}}`, "roster.chain_id": `string_value:"` + chain + `"`,
		"gen_ai.usage.cache_read.input_tokens": "int_value:3", "roster.cost_usd": "double_value:0.25", "gen_ai.output.messages": "",
	} {
		if got[key] != want {
			t.Errorf("%s is %s, want %s", key, got[key], want)
		}
	}
}

// TestTracesGoOnAfterACrash: wherever a process dies, the one that takes over names
// the rest as the first would have.
func TestTracesGoOnAfterACrash(t *testing.T) {
	evs := delegation().evs
	for cut := 1; cut < len(evs); cut++ {
		c := collect(t)
		for part, own := range [][]session.Event{evs[:cut], evs[cut:]} {
			x := start(t, telemetry.Options{Endpoint: c.URL + "/v1/traces", Sample: 1})
			r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
			if part == 1 {
				for _, e := range evs[:cut] {
					r.Recall(&e)
				}
			}
			for _, e := range own {
				r.See(&e)
			}
			flush(t, x)
		}
		if diff := cmp.Diff(delegated, c.tree(t)); diff != "" {
			t.Fatalf("cut after event %d (-want +got):\n%s", cut, diff)
		}
	}
}

func TestContentIsSentOnlyWhenAsked(t *testing.T) {
	for _, content := range []bool{false, true} {
		c := collect(t)
		x := start(t, telemetry.Options{Endpoint: c.URL + "/v1/traces", Sample: 1, Content: content, Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "[hidden]") }})
		r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
		for _, e := range delegation().evs {
			r.See(&e)
		}
		flush(t, x)
		text := ""
		for _, s := range c.spans {
			text += s.String()
		}
		if strings.Contains(text, "secret") || strings.Contains(text, "[hidden] plan") != content || strings.Contains(text, `helper\"}`) != content {
			t.Errorf("content %v: %s", content, text)
		}
	}
}

func TestSampling(t *testing.T) {
	c := collect(t)
	x := start(t, telemetry.Options{Endpoint: c.URL + "/v1/traces", Sample: 0})
	x.Requested(telemetry.Request{ID: "b7ad6b7169203331", Chain: chain, Method: "GET", Route: "/x", Status: 200, Begun: time.Now()})
	flush(t, x)
	if len(c.spans) > 0 {
		t.Errorf("%v", c.spans)
	}
}

func TestRequests(t *testing.T) {
	c := collect(t)
	c.refuse = 1
	x := start(t, telemetry.Options{Endpoint: c.URL + "/v1/traces", Sample: 1})
	x.Requested(telemetry.Request{ID: "b7ad6b7169203331", Chain: chain, Parent: "00f067aa0ba902b7", Method: "POST", Route: "/chat", Status: 500, Begun: time.Now(), Took: time.Second})
	flush(t, x)
	if len(c.spans) != 1 {
		t.Fatalf("%d spans after one refusal", len(c.spans))
	}
	s := c.spans[0]
	if s.Name != "POST /chat" || hex.EncodeToString(s.SpanId) != "b7ad6b7169203331" || hex.EncodeToString(s.ParentSpanId) != "00f067aa0ba902b7" || s.Kind != v1.Span_SPAN_KIND_SERVER || s.Status.Code != v1.Status_STATUS_CODE_ERROR {
		t.Errorf("%v", s)
	}
}

// TestNobodyListens: a collector that is not there, or does not answer, costs nothing
// but a line in the log.
func TestNobodyListens(t *testing.T) {
	stuck := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-stuck:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(stuck)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, url := range map[string]string{"does not answer": slow.URL, "is not there": gone.URL} {
		var log strings.Builder
		x := start(t, telemetry.Options{Endpoint: url, Sample: 1, Log: slog.New(slog.NewTextHandler(&log, nil)), Client: &http.Client{Transport: &http.Transport{}}})
		begun := time.Now()
		for range 100 {
			r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
			for _, e := range delegation().evs {
				r.See(&e)
			}
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("one that %s: 1,600 events took %v", name, took)
		}
		begun = time.Now()
		flush(t, x)
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("one that %s: closing took %v", name, took)
		}
	}
}

func TestMetrics(t *testing.T) {
	x := start(t, telemetry.Options{Metrics: true, Version: "1.2.3"})
	r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
	for _, e := range delegation().evs {
		r.See(&e)
	}
	x.Requested(telemetry.Request{Method: "POST", Route: "/chat", Status: 200, Took: 30 * time.Millisecond})
	x.Requested(telemetry.Request{Method: "EVIL\"\n", Route: "", Status: 404})
	var b strings.Builder
	if err := x.WriteMetrics(&b, telemetry.Gauge{Name: "roster_x", Help: "X.", Value: 2}); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	all, err := parser.TextToMetricFamilies(strings.NewReader(b.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	for _, want := range []string{
		`roster_http_requests_total{method="POST",route="/chat",code="2xx"} 1`, `roster_http_requests_total{method="other",route="none",code="4xx"} 1`,
		`roster_http_request_duration_seconds_bucket{method="POST",route="/chat",le="0.025"} 0`, `roster_http_request_duration_seconds_bucket{method="POST",route="/chat",le="0.05"} 1`,
		`roster_loops_started_total{profile="helper",why="prompt"} 1`, `roster_loops_ended_total{profile="helper",reason="error"} 1`, "roster_loops_open 0",
		`roster_turns_total{profile="lead",model="openai/gpt-4o"} 1`, `roster_tokens_total{model="openai/gpt-4o-2024",kind="cache_read"} 3`, `roster_cost_usd_total{model="openai/gpt-4o-2024"} 0.25`,
		`roster_tool_calls_total{tool="task",outcome="error"} 1`, `roster_tool_call_duration_seconds_sum{tool="task"} 7`,
		`roster_model_calls_total{model="openai/gpt-4o",outcome="RateLimited"} 1`, `roster_model_retries_total{model="openai/gpt-4o",code="RateLimited"} 1`,
		"roster_x 2", `roster_build_info{version="1.2.3"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "process_start_time_seconds"} {
		if all[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestMetricsAreBounded: names that a model makes up do not grow the metrics without
// end.
func TestMetricsAreBounded(t *testing.T) {
	x := start(t, telemetry.Options{Metrics: true})
	r := x.Run(session.Key{Tenant: "acme", Stream: "root"})
	s := &stream{}
	s.add("root", "l1", 0, 0, &session.LoopStart{Number: 1, Profile: "p", Model: "m"})
	for i := range 2000 {
		name := strings.Repeat("x", i%1000) + "\n\"\\\xff" + string(rune('a'+i/1000))
		s.add("root", "l1", 1, 0, &session.ToolBefore{Call: "c", Tool: name})
		s.add("root", "l1", 1, 0, &session.ToolAfter{Call: "c", Tool: name, Outcome: session.ToolError})
	}
	for _, e := range s.evs {
		r.See(&e)
	}
	var b strings.Builder
	if err := x.WriteMetrics(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nroster_tool_calls_total{"); n > 501 || !strings.Contains(b.String(), `tool="other",outcome="other"} 1500`) {
		t.Errorf("%d series", n)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(b.String())); err != nil {
		t.Error(err)
	}
}

func TestNobodyWantsToKnow(t *testing.T) {
	x := start(t, telemetry.Options{})
	if x != nil {
		t.Fatal("there is something")
	}
	r := x.Run(session.Key{})
	r.See(&session.Event{})
	x.Requested(telemetry.Request{})
	flush(t, x)
	if err := x.WriteMetrics(io.Discard); err != nil {
		t.Error(err)
	}
}
