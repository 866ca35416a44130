// Package telemetry says what runs: as traces, by OpenTelemetry's conventions for
// generative AI, and as metrics that Prometheus reads. Both follow the events of
// streams, so that the engine knows nothing of them, and what a process takes over
// from one that has died goes on under the ids that it had.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/rosterrun/roster/session"
)

// Options of a Telemetry.
type Options struct {
	// Endpoint is where traces are sent, by OTLP over HTTP: the whole address of the
	// collector's /v1/traces. Empty: there are none.
	Endpoint string
	// Headers go with each request to it.
	Headers map[string]string
	// Service is the name that the traces have; empty: roster.
	Service string
	// Sample is the share of traces that are sent, by their ids, so that every
	// process decides alike: 0 to 1.
	Sample float64
	// Content adds what is said to the traces: the arguments and results of tools, and
	// the models' answers.
	Content bool
	// Redact hides what is secret in it; nil: nothing.
	Redact func(string) string
	// Version is the program's.
	Version string
	// Metrics counts what happens, for WriteMetrics.
	Metrics bool
	// Client sends the traces; nil: http.DefaultClient.
	Client *http.Client
	// Log is told what could not be sent; nil: discarded.
	Log *slog.Logger
}

// Telemetry is told what happens. It is safe for concurrent use, and its methods
// never wait for anybody. A nil *Telemetry may be told everything.
type Telemetry struct {
	tracer *tracer // nil: there are no traces
	meters *meters // nil: nothing is counted
}

// New returns nil if nobody wants to know anything. It opens no connection: the first
// is made when there is something to send. Close must be called.
func New(o Options) (*Telemetry, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	t := &Telemetry{}
	if o.Endpoint != "" {
		var err error
		if t.tracer, err = newTracer(o); err != nil {
			return nil, err
		}
	}
	if o.Metrics {
		t.meters = newMeters(o.Version)
	}
	if t.tracer == nil && t.meters == nil {
		return nil, nil
	}
	return t, nil
}

// flushTime bounds how long Close waits for the collector.
const flushTime = 3 * time.Second

// Close sends what has not been sent, for three seconds at most.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil || t.tracer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	err := t.tracer.provider.Shutdown(ctx)
	t.tracer.exporter.give()
	if errors.Is(err, context.DeadlineExceeded) {
		return nil // it is in the log, and no reason to fail
	}
	return err
}

// Request is an HTTP request that was answered.
type Request struct {
	// ID is the request's, which is that of its span, and Chain that of its trace.
	ID, Chain string
	// Parent is the span of the client that asked: of its traceparent; empty: none.
	Parent        string
	Method, Route string // the route's pattern
	Status        int
	Begun         time.Time
	Took          time.Duration
	Stream        bool // it was open until one of both sides had enough
	Tenant        string
}

// Requested says that a request was answered.
func (t *Telemetry) Requested(q Request) {
	if t == nil {
		return
	}
	if t.meters != nil {
		t.meters.requested(&q)
	}
	if t.tracer != nil {
		t.tracer.requested(&q)
	}
}

func (t *Telemetry) loopBegan(l *loop) {
	if t.meters != nil {
		t.meters.loopBegan(l)
	}
}

func (t *Telemetry) turnBegan(l *loop) {
	if t.meters != nil {
		t.meters.turns.add(1, l.profile, l.model)
	}
}

func (t *Telemetry) retried(l *loop, code string) {
	if t.meters != nil {
		t.meters.retries.add(1, l.model, code)
	}
}

func (t *Telemetry) asked(l *loop) {
	if t.meters != nil {
		t.meters.asked.add(1, l.profile)
	}
}

func (t *Telemetry) modelAnswered(k session.Key, c *chat) {
	if t.meters != nil {
		t.meters.modelAnswered(c)
	}
	if t.tracer != nil {
		t.tracer.modelAnswered(k, c)
	}
}

func (t *Telemetry) toolEnded(k session.Key, c *call) {
	if t.meters != nil {
		t.meters.toolEnded(c)
	}
	if t.tracer != nil {
		t.tracer.toolEnded(k, c)
	}
}

func (t *Telemetry) loopEnded(k session.Key, l *loop, b *session.LoopEnd, code string, at time.Time) {
	if t.meters != nil {
		t.meters.loopEnded(l, b)
	}
	if t.tracer != nil {
		t.tracer.loopEnded(k, l, b, code, at)
	}
}
