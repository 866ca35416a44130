package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

type spanID = trace.SpanID

// tracer makes a span of what has ended. A trace is what events share their chain id
// with, and the ids of spans follow from the log, so that all processes that work on a
// stream name the same thing alike.
type tracer struct {
	provider *sdk.TracerProvider
	exporter *exporter
	tracer   trace.Tracer
	content  bool
	redact   func(string) string
}

func newTracer(o Options) (*tracer, error) {
	if o.Service == "" {
		o.Service = "roster"
	}
	if o.Redact == nil {
		o.Redact = func(text string) string { return text }
	}
	from, err := resource.New(context.Background(), resource.WithAttributes(
		semconv.ServiceName(o.Service), semconv.ServiceVersion(o.Version)), resource.WithTelemetrySDK())
	if err != nil {
		return nil, err
	}
	e := newExporter(o)
	p := sdk.NewTracerProvider(
		sdk.WithBatcher(e, sdk.WithExportTimeout(exportTime)), // what comes faster than it is sent is dropped
		sdk.WithIDGenerator(ids{}), sdk.WithSampler(sdk.TraceIDRatioBased(o.Sample)), sdk.WithResource(from),
	)
	return &tracer{provider: p, exporter: e, tracer: p.Tracer("github.com/rosterrun/roster", trace.WithInstrumentationVersion(o.Version)), content: o.Content, redact: o.Redact}, nil
}

// ids gives spans the ids that their context names.
type ids struct{}

type idsKey struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	c, _ := ctx.Value(idsKey{}).(trace.SpanContext)
	return c.TraceID(), c.SpanID()
}

func (g ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)
	return id
}

// traceID is the trace of a chain: the same number, where it is one.
func traceID(chain string) (id trace.TraceID) {
	if raw, err := hex.DecodeString(strings.ReplaceAll(chain, "-", "")); err == nil && len(raw) == len(id) {
		id = trace.TraceID(raw)
	}
	if !id.IsValid() {
		sum := sha256.Sum256([]byte(chain))
		copy(id[:], sum[:])
	}
	return id
}

// idOf is the id of the span of something that the log names.
func idOf(what ...any) (id spanID) {
	sum := sha256.Sum256(fmt.Append(nil, what...))
	copy(id[:], sum[:])
	return id
}

func (l *loop) span() spanID { return idOf("loop ", l.id) }

func (c *call) span() spanID { return idOf("call ", c.loop.id, " ", c.turn, " ", c.before.Call) }

func (c *chat) span() spanID {
	return idOf("chat ", c.loop.id, " ", c.turn, " ", c.request.Attempt, " ", c.request.For, " ", c.begun.UnixMicro())
}

// span is one that has ended.
type span struct {
	chain      string
	id, parent spanID
	name       string
	kind       trace.SpanKind
	begun, end time.Time
	attributes []attribute.KeyValue
	err        string // empty: none
}

func (t *tracer) add(s *span) {
	trace128 := traceID(s.chain)
	ctx := context.WithValue(context.Background(), idsKey{}, trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace128, SpanID: s.id}))
	if s.parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace128, SpanID: s.parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	_, x := t.tracer.Start(ctx, s.name, trace.WithTimestamp(s.begun), trace.WithSpanKind(s.kind))
	if x.IsRecording() {
		x.SetAttributes(s.attributes...)
		x.SetAttributes(attribute.String("roster.chain_id", s.chain))
		if s.err != "" {
			x.SetAttributes(semconv.ErrorTypeKey.String(s.err))
			x.SetStatus(codes.Error, s.err)
		}
	}
	x.End(trace.WithTimestamp(s.end))
}

// providerOf is the name that the conventions have for a model's provider, and the
// model's id.
func providerOf(model string) (attribute.KeyValue, string) {
	provider, id, _ := strings.Cut(model, "/")
	switch provider {
	case "gemini", "google":
		return semconv.GenAIProviderNameGCPGemini, id
	case "mistral":
		return semconv.GenAIProviderNameMistralAI, id
	case "xai":
		return semconv.GenAIProviderNameXAI, id
	}
	return semconv.GenAIProviderNameKey.String(provider), id
}

func tokens(u *message.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.GenAIUsageInputTokens(int(u.Input + u.CacheRead + u.CacheWrite)), semconv.GenAIUsageOutputTokens(int(u.Output)),
		semconv.GenAIUsageCacheReadInputTokens(int(u.CacheRead)), semconv.GenAIUsageCacheCreationInputTokens(int(u.CacheWrite)),
		attribute.Float64("roster.cost_usd", u.Cost),
	}
}

func (l *loop) attributes(k session.Key) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.GenAIConversationID(l.session), semconv.GenAIAgentName(l.profile), semconv.GenAIAgentID(l.agent),
		attribute.String("roster.tenant", k.Tenant), attribute.String("roster.loop_id", l.id),
	}
}

func (t *tracer) modelAnswered(k session.Key, c *chat) {
	provider, model := providerOf(c.model)
	s := &span{
		chain: c.loop.chain, id: c.span(), parent: c.loop.span(), name: "chat " + model, kind: trace.SpanKindClient,
		begun: c.begun, end: c.end, err: c.code,
		attributes: append(c.loop.attributes(k), semconv.GenAIOperationNameChat, provider, semconv.GenAIRequestModel(model),
			semconv.GenAIRequestStream(true), attribute.Int("roster.turn", c.turn), attribute.Int("roster.attempt", c.request.Attempt)),
	}
	add := func(more ...attribute.KeyValue) { s.attributes = append(s.attributes, more...) }
	var sent struct {
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"top_p"`
		MaxTokens   int      `json:"max_tokens"`
	}
	if len(c.request.Params) > 0 && json.Unmarshal(c.request.Params, &sent) == nil {
		if sent.Temperature != nil {
			add(semconv.GenAIRequestTemperature(*sent.Temperature))
		}
		if sent.TopP != nil {
			add(semconv.GenAIRequestTopP(*sent.TopP))
		}
		if sent.MaxTokens > 0 {
			add(semconv.GenAIRequestMaxTokens(sent.MaxTokens))
		}
	}
	if c.request.For != "" {
		add(attribute.String("roster.purpose", c.request.For))
	}
	if c.answered != "" {
		_, answered := providerOf(c.answered)
		add(semconv.GenAIResponseModel(answered))
		add(tokens(&c.usage)...)
	}
	if c.stop != "" {
		add(semconv.GenAIResponseFinishReasons(c.stop))
	}
	if c.wait > 0 {
		add(semconv.GenAIResponseTimeToFirstChunk(c.wait.Seconds()))
	}
	if t.content && len(c.parts) > 0 {
		add(semconv.GenAIOutputMessagesKey.String(t.said(message.PartsText(c.parts))))
	}
	t.add(s)
}

func (t *tracer) toolEnded(k session.Key, c *call) {
	s := &span{
		chain: c.loop.chain, id: c.span(), parent: c.loop.span(), name: "execute_tool " + c.before.Tool, kind: trace.SpanKindInternal,
		begun: c.begun, end: c.end,
		attributes: append(c.loop.attributes(k), semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(c.before.Tool),
			semconv.GenAIToolCallID(c.before.Call), semconv.GenAIToolType("function"),
			attribute.String("roster.outcome", string(c.after.Outcome)), attribute.Int("roster.turn", c.turn)),
	}
	if c.after.Outcome != session.OK {
		s.err = "tool_" + string(c.after.Outcome)
	}
	if c.before.Child != "" {
		s.attributes = append(s.attributes, attribute.String("roster.child", c.before.Child))
	}
	if t.content {
		s.attributes = append(s.attributes, semconv.GenAIToolCallArgumentsKey.String(t.said(string(c.before.Input))),
			semconv.GenAIToolCallResultKey.String(t.said(message.PartsText(c.after.Parts))))
	}
	t.add(s)
}

func (t *tracer) loopEnded(k session.Key, l *loop, b *session.LoopEnd, code string, at time.Time) {
	provider, model := providerOf(l.model)
	s := &span{
		chain: l.chain, id: l.span(), parent: l.above, name: "invoke_agent " + l.profile, kind: trace.SpanKindInternal,
		begun: l.begun, end: at, err: code,
		attributes: append(l.attributes(k), semconv.GenAIOperationNameInvokeAgent, provider, semconv.GenAIRequestModel(model),
			semconv.GenAIAgentVersion(l.revision), semconv.GenAIResponseFinishReasons(string(b.Reason)), attribute.Int("roster.depth", l.depth)),
	}
	s.attributes = append(s.attributes, tokens(&b.Usage)...)
	if l.start.User != "" {
		s.attributes = append(s.attributes, semconv.UserID(l.start.User))
	}
	if l.attempt > 0 {
		s.attributes = append(s.attributes, attribute.Int("roster.resumed", l.attempt))
	}
	if t.content && b.Text != "" {
		s.attributes = append(s.attributes, semconv.GenAIOutputMessagesKey.String(t.said(b.Text)))
	}
	t.add(s)
}

// requested makes the span of a request, which is the parent of the loop that it asks
// for.
func (t *tracer) requested(q *Request) {
	if q.Route == "" {
		return // there is no such thing
	}
	s := &span{
		chain: q.Chain, name: q.Method + " " + q.Route, kind: trace.SpanKindServer, begun: q.Begun, end: q.Begun.Add(q.Took),
		attributes: []attribute.KeyValue{
			semconv.HTTPRequestMethodKey.String(q.Method), semconv.HTTPRoute(q.Route), semconv.HTTPResponseStatusCode(q.Status),
			attribute.String("roster.tenant", q.Tenant),
		},
	}
	if id, err := hex.DecodeString(q.ID); err == nil && len(id) == len(s.id) {
		s.id = spanID(id)
	} else {
		_, _ = rand.Read(s.id[:]) // never fails
	}
	if id, err := hex.DecodeString(q.Parent); err == nil && len(id) == len(s.parent) {
		s.parent = spanID(id)
	}
	if q.Status >= 500 {
		s.err = fmt.Sprint(q.Status)
	}
	t.add(s)
}

// maxContent bounds a text in a span, in bytes.
const maxContent = 16 << 10

// said is a text as a span has it.
func (t *tracer) said(text string) string {
	text = t.redact(text)
	if len(text) > maxContent {
		text = strings.ToValidUTF8(text[:maxContent], "") + "…"
	}
	return text
}
