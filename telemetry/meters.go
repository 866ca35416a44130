package telemetry

import (
	"bufio"
	"io"
	"runtime"
	"strconv"
	"time"

	"github.com/rosterrun/roster/session"
)

// meters are what is counted of this process since it began. Tenants and users are no
// labels: there may be any number of them.
type meters struct {
	version string
	begun   time.Time

	requests, requestTime                         *family
	started, loops, ended, running                *family
	turns, tokens, cost, retries, asked           *family
	models, modelTime, firstTime, tools, toolTime *family
	commits                                       *family
}

// The bounds of histograms, in seconds.
var (
	quick = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	slow  = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}
)

func newMeters(version string) *meters {
	counter := func(name, help string, labels ...string) *family { return newFamily("counter", name, help, labels...) }
	return &meters{
		version: version, begun: time.Now(),
		requests:    counter("roster_http_requests_total", "HTTP requests that were answered.", "method", "route", "code"),
		requestTime: newHistogram("roster_http_request_duration_seconds", "How long they took, event streams apart.", quick, "method", "route"),
		started:     counter("roster_sessions_started_total", "Sessions whose first loop began here.", "profile"),
		loops:       counter("roster_loops_started_total", "Loops that began, those of subagents too.", "profile", "why"),
		ended:       counter("roster_loops_ended_total", "Loops that ended, by their reason.", "profile", "reason"),
		running:     newFamily("gauge", "roster_loops_open", "Loops that began here less those that ended here."),
		turns:       counter("roster_turns_total", "Turns that began.", "profile", "model"),
		tokens:      counter("roster_tokens_total", "Tokens that model calls took.", "model", "kind"),
		cost:        counter("roster_cost_usd_total", "What they cost, in US dollars.", "model"),
		retries:     counter("roster_model_retries_total", "Model calls that failed and were tried again.", "model", "code"),
		asked:       counter("roster_approvals_asked_total", "Questions that people were asked.", "profile"),
		models:      counter("roster_model_calls_total", "Model calls that ended.", "model", "outcome"),
		modelTime:   newHistogram("roster_model_call_duration_seconds", "How long they took.", slow, "model"),
		firstTime:   newHistogram("roster_model_first_token_seconds", "How long their first text took.", slow, "model"),
		tools:       counter("roster_tool_calls_total", "Tool calls that ended.", "tool", "outcome"),
		toolTime:    newHistogram("roster_tool_call_duration_seconds", "How long they took.", quick, "tool"),
		commits:     newHistogram("roster_store_commit_duration_seconds", "How long a commit of events took.", quick),
	}
}

func (m *meters) requested(q *Request) {
	route := q.Route
	if route == "" {
		route = "none"
	}
	m.requests.add(1, method(q.Method), route, strconv.Itoa(q.Status/100)+"xx")
	if !q.Stream {
		m.requestTime.observe(q.Took.Seconds(), method(q.Method), route)
	}
}

// method bounds what clients may write there.
func method(name string) string {
	switch name {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return name
	}
	return "other"
}

func (m *meters) loopBegan(l *loop) {
	if l.start.Number == 1 && l.start.Parent == "" {
		m.started.add(1, l.profile)
	}
	m.loops.add(1, l.profile, l.start.Why)
	m.running.add(1)
}

func (m *meters) loopEnded(l *loop, b *session.LoopEnd) {
	m.ended.add(1, l.profile, string(b.Reason))
	m.running.add(-1)
}

func (m *meters) modelAnswered(c *chat) {
	outcome := c.code
	if outcome == "" {
		outcome = "ok"
	}
	m.models.add(1, c.model, outcome)
	m.modelTime.observe(c.end.Sub(c.begun).Seconds(), c.model)
	if c.wait > 0 {
		m.firstTime.observe(c.wait.Seconds(), c.model)
	}
	if c.answered == "" {
		return
	}
	for _, n := range []struct {
		kind   string
		tokens int64
	}{{"input", c.usage.Input}, {"output", c.usage.Output}, {"cache_read", c.usage.CacheRead}, {"cache_write", c.usage.CacheWrite}} {
		m.tokens.add(float64(n.tokens), c.answered, n.kind)
	}
	m.cost.add(c.usage.Cost, c.answered)
}

func (m *meters) toolEnded(c *call) {
	m.tools.add(1, c.before.Tool, string(c.after.Outcome))
	m.toolTime.observe(c.after.Duration.Seconds(), c.before.Tool)
}

// Gauge is something that is read when the metrics are asked for.
type Gauge struct {
	Name, Help string
	Counts     bool // it only grows
	Value      float64
}

// WriteMetrics writes what was counted, with gauges, the Go runtime and the process, in
// the text format of Prometheus.
func (t *Telemetry) WriteMetrics(w io.Writer, gauges ...Gauge) error {
	b := bufio.NewWriter(w)
	if t != nil && t.meters != nil {
		m := t.meters
		for _, f := range []*family{
			m.requests, m.requestTime, m.started, m.loops, m.ended, m.running, m.turns, m.tokens, m.cost, m.retries, m.asked,
			m.models, m.modelTime, m.firstTime, m.tools, m.toolTime, m.commits,
		} {
			f.write(b)
		}
		gauges = append(gauges, process(m.begun)...)
		info := newFamily("gauge", "roster_build_info", "The version of the program.", "version", "goversion")
		info.add(1, m.version, runtime.Version())
		info.write(b)
	}
	for _, g := range gauges {
		kind := "gauge"
		if g.Counts {
			kind = "counter"
		}
		f := newFamily(kind, g.Name, g.Help)
		f.add(g.Value)
		f.write(b)
	}
	return b.Flush()
}
