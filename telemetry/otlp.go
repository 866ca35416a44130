package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// exportTime bounds how long one batch of spans is tried to be sent.
const exportTime = 10 * time.Second

const (
	exportTries = 3
	exportPause = time.Second // before the second try, and twice that before the third
	exportRest  = time.Minute // between two lines in the log about what could not be sent
)

// exporter sends spans by OTLP over HTTP in its binary form. The official exporter does
// the same and brings gRPC along: 9 MB of program, and 7 MB and 5 ms for each command
// that is run, with telemetry or without.
type exporter struct {
	endpoint string
	headers  map[string]string
	client   http.Client
	log      *slog.Logger
	life     context.Context // ends what is being sent
	end      context.CancelFunc

	mu   sync.Mutex
	said time.Time // when the log was last told
	lost int       // spans since then
}

func newExporter(o Options) *exporter {
	e := &exporter{endpoint: o.Endpoint, headers: o.Headers, log: o.Log}
	e.life, e.end = context.WithCancel(context.Background())
	if o.Client != nil {
		e.client = *o.Client
	}
	e.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // headers go to the endpoint alone
	return e
}

// ExportSpans implements sdktrace.SpanExporter. What could not be sent is lost, and
// said in the log.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(e.life, cancel)
	defer stop()
	body := encodeSpans(spans)
	pause := exportPause
	var err error
	for try := 1; ; try++ {
		var again bool
		if again, err = e.send(ctx, body); err == nil {
			return nil
		}
		if !again || try == exportTries || !sleep(ctx, pause) {
			break
		}
		pause *= 2
	}
	e.complain(len(spans), err)
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error { return nil }

// give gives up what is still being sent, and the connections.
func (e *exporter) give() {
	e.end()
	e.client.CloseIdleConnections()
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// send tries once, and says whether it may be tried again.
func (e *exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for name, value := range e.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	res, err := e.client.Do(r)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection is used again
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector answers %s", res.Status)
}

// complain tells the log what was lost, not more than once a minute.
func (e *exporter) complain(spans int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	if time.Since(e.said) < exportRest {
		return
	}
	e.log.Warn("traces could not be sent", "endpoint", e.endpoint, "spans", e.lost, "error", err)
	e.said, e.lost = time.Now(), 0
}

// The numbers of fields in opentelemetry/proto/{collector,trace,resource,common}/v1.
const (
	requestResourceSpans = 1

	resourceSpansResource, resourceSpansScopeSpans = 1, 2
	resourceAttributes                             = 1
	scopeSpansScope, scopeSpansSpans               = 1, 2
	scopeName, scopeVersion                        = 1, 2

	spanTraceID, spanSpanID, spanTraceState, spanParent = 1, 2, 3, 4
	spanName, spanKind, spanStart, spanEnd              = 5, 6, 7, 8
	spanAttributes, spanStatus, spanFlags               = 9, 15, 16
	statusMessage, statusCode                           = 2, 3

	keyValueKey, keyValueValue                        = 1, 2
	valueString, valueBool, valueInt, valueFloat, arr = 1, 2, 3, 4, 5
	arrayValues                                       = 1
)

// encodeSpans makes an ExportTraceServiceRequest. All spans of a process have the same
// resource and scope.
func encodeSpans(spans []sdk.ReadOnlySpan) []byte {
	if len(spans) == 0 {
		return nil
	}
	var from []byte
	for _, a := range spans[0].Resource().Attributes() {
		from = field(from, resourceAttributes, encodeAttribute(a))
	}
	scope := spans[0].InstrumentationScope()
	in := field(nil, scopeSpansScope, text(text(nil, scopeName, scope.Name), scopeVersion, scope.Version))
	for _, s := range spans {
		in = field(in, scopeSpansSpans, encodeSpan(s))
	}
	return field(nil, requestResourceSpans, field(field(nil, resourceSpansResource, from), resourceSpansScopeSpans, in))
}

func encodeSpan(s sdk.ReadOnlySpan) []byte {
	const remote = 0x300 // the parent is in another process, which is known
	own, parent := s.SpanContext(), s.Parent()
	trace, id := own.TraceID(), own.SpanID()
	b := field(nil, spanTraceID, trace[:])
	b = field(b, spanSpanID, id[:])
	b = text(b, spanTraceState, own.TraceState().String())
	flags := uint32(own.TraceFlags())
	if parent.SpanID().IsValid() {
		id := parent.SpanID()
		b = field(b, spanParent, id[:])
		flags |= remote
	}
	b = text(b, spanName, s.Name())
	b = varint(b, spanKind, uint64(s.SpanKind()))
	b = protowire.AppendFixed64(protowire.AppendTag(b, spanStart, protowire.Fixed64Type), uint64(s.StartTime().UnixNano()))
	b = protowire.AppendFixed64(protowire.AppendTag(b, spanEnd, protowire.Fixed64Type), uint64(s.EndTime().UnixNano()))
	for _, a := range s.Attributes() {
		b = field(b, spanAttributes, encodeAttribute(a))
	}
	if status := s.Status(); status.Code == codes.Error {
		const statusError = 2
		b = field(b, spanStatus, varint(text(nil, statusMessage, status.Description), statusCode, statusError))
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, spanFlags, protowire.Fixed32Type), flags)
}

func encodeAttribute(a attribute.KeyValue) []byte {
	return field(text(nil, keyValueKey, string(a.Key)), keyValueValue, encodeValue(a.Value))
}

func encodeValue(v attribute.Value) []byte {
	switch v.Type() {
	case attribute.BOOL:
		return varint(nil, valueBool, protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		return varint(nil, valueInt, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		return double(v.AsFloat64())
	case attribute.STRINGSLICE:
		var list []byte
		for _, s := range v.AsStringSlice() {
			list = field(list, arrayValues, field(nil, valueString, []byte(valid(s))))
		}
		return field(nil, arr, list)
	}
	return field(nil, valueString, []byte(valid(v.String())))
}

func field(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

// text leaves an empty one out, as the format does.
func text(b []byte, number protowire.Number, value string) []byte {
	if value == "" {
		return b
	}
	return field(b, number, []byte(valid(value)))
}

func varint(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func double(f float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, valueFloat, protowire.Fixed64Type), math.Float64bits(f))
}

// valid is a text as the format takes it: UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
