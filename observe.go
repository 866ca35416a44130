package roster

import (
	"context"
	"io"
	"iter"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/telemetry"
)

// observed is who is told what happens; nil: nobody wants to know.
func (a *App) observed() *telemetry.Telemetry {
	if a.host != nil {
		return a.host.observed()
	}
	return a.telemetry.Load()
}

// observe begins to tell, if somebody is to be told: where the configuration, or the
// environment, names a collector, or with Options.Metrics. It is called with mu held.
func (a *App) observe() error {
	if a.telemetry.Load() != nil {
		return nil
	}
	cfg := &a.now().config.Telemetry
	endpoint, headers, why := cfg.TracesURL(a.opts.Getenv)
	if why != "" {
		a.opts.Log.Warn("no traces are sent", "why", why)
	}
	t, err := telemetry.New(telemetry.Options{
		Endpoint: endpoint, Headers: headers, Service: cfg.ServiceName(a.opts.Getenv), Sample: cfg.Sample, Content: cfg.Content,
		Redact: a.redact, Version: version(), Metrics: a.opts.Metrics, Client: a.client, Log: a.opts.Log,
	})
	if err != nil || t == nil {
		return err
	}
	a.telemetry.Store(t)
	return nil
}

// watched has the run of a job told to who wants to know.
func (a *App) watched(ctx context.Context, j *dispatch.Job, run iter.Seq2[session.Event, error]) iter.Seq2[session.Event, error] {
	r := a.observed().Run(j.Key)
	if r == nil {
		return run
	}
	return func(yield func(session.Event, error) bool) {
		a.catchUp(ctx, j, r)
		for e, err := range run {
			if err == nil {
				r.See(&e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// catchUp tells of a loop that is taken up what has happened in it so far. What cannot
// be read is left out: the run will say so.
func (a *App) catchUp(ctx context.Context, j *dispatch.Job, r *telemetry.Run) {
	if len(j.Posted) > 0 && j.Posted[0].Seq == 1 {
		return // it is new
	}
	sum, err := j.Store.Summary(ctx, j.Key)
	if err != nil || !sum.Open {
		return
	}
	for e, err := range j.Store.Read(ctx, j.Key, 0) {
		if err != nil || e.Seq > sum.Last {
			return
		}
		r.Recall(&e)
	}
}

// requested tells of a request that was answered.
func (a *App) requested(q host.Request) { a.observed().Requested(telemetry.Request(q)) }

// WriteMetrics writes, with Options.Metrics, what this process has counted since it
// began, in the text format of Prometheus, beside what s counts.
func (a *App) WriteMetrics(w io.Writer, s host.Stats) error {
	gauges := []telemetry.Gauge{
		{Name: "roster_http_streams_open", Help: "Event streams that are open.", Value: float64(s.Streams)},
		{Name: "roster_http_streams_fell_behind_total", Help: "Event streams that were closed as their readers were too slow.", Counts: true, Value: float64(s.FellBehind)},
	}
	a.mu.Lock()
	local := a.local
	a.mu.Unlock()
	if local != nil {
		busy, slots := local.Load()
		gauges = append(gauges,
			telemetry.Gauge{Name: "roster_dispatch_jobs", Help: "Sessions that run here now.", Value: float64(busy)},
			telemetry.Gauge{Name: "roster_dispatch_slots", Help: "Sessions that may run here at once.", Value: float64(slots)})
	}
	return a.observed().WriteMetrics(w, gauges...)
}
