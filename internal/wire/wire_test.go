package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, header, value string
		want                time.Duration
	}{
		{"absent", "X-Other", "7", 0},
		{"seconds", "Retry-After", "7", 7 * time.Second},
		{"parts of a second", "Retry-After", "0.5", 500 * time.Millisecond},
		{"milliseconds", "Retry-After-Ms", "250", 250 * time.Millisecond},
		{"a date", "Retry-After", "Sat, 01 Mar 2025 12:00:30 GMT", 30 * time.Second},
		{"a date that has passed", "Retry-After", "Sat, 01 Mar 2025 11:00:00 GMT", 0},
		{"negative", "Retry-After", "-3", 0},
		{"not a number", "Retry-After", "NaN", 0},
		{"words", "Retry-After", "soon", 0},
		{"more than a day", "Retry-After", "1e300", 24 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := retryAfter(http.Header{c.header: {c.value}}, now); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestBody(t *testing.T) {
	b := NewBody(4)
	b.Add([]byte("one "), nil, []byte("two "))
	b.Add([]byte("three"))
	const want = "one two three"
	if string(b.Bytes()) != want || b.Len() != int64(len(want)) {
		t.Errorf("got %q of %d bytes", b.Bytes(), b.Len())
	}
	for range 2 { // a body can be read again, for a connection that had gone stale
		r := &bodyReader{pieces: b.pieces, sent: func() {}}
		if err := iotest.TestReader(r, []byte(want)); err != nil {
			t.Error(err)
		}
	}
}

// TestBodyIsSentAgain takes the request as net/http would after a connection
// had gone stale.
func TestBodyIsSentAgain(t *testing.T) {
	b := NewBody(1)
	b.Add([]byte("hello"))
	a := &Answer{e: NewEndpoint(Config{BaseURL: "http://localhost"}), parent: t.Context(), ctx: t.Context(), idle: time.NewTimer(time.Hour)}
	req, err := a.request(b)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(req.Body)
	again, err := req.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(again); string(got) != "hello" {
		t.Errorf("got %q", got)
	}
}

func TestEndpointURL(t *testing.T) {
	for _, c := range []struct{ base, query, want string }{
		{"http://h", "", "http://h/chat"},
		{"http://h/", "", "http://h/chat"},
		{"https://h:1/v1", "", "https://h:1/v1/chat"},
		{"https://h/v1/?api-version=2", "", "https://h/v1/chat?api-version=2"},
		{"http://h/v1", "alt=sse", "http://h/v1/chat?alt=sse"},
		{"http://h/v1?a=b", "alt=sse", "http://h/v1/chat?a=b&alt=sse"},
		{"h/v1", "", ""},
		{"ftp://h", "", ""},
		{"http://", "", ""},
		{"http://[::1", "", ""},
	} {
		u, err := endpointURL(Config{BaseURL: c.base, Path: "chat", Query: c.query})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: no error", c.base)
			}
		} else if err != nil || u.String() != c.want {
			t.Errorf("%s: got %v, %v, want %s", c.base, u, err, c.want)
		}
	}
}

func TestInput(t *testing.T) {
	for _, c := range []struct {
		name, in, sent string
		invalid        bool
	}{
		{"an object", `{"a":1}`, `{"a":1}`, false},
		{"empty", "", "{}", false},
		{"blank", " \n", "{}", false},
		{"repeated names", `{"a":1,"a":2}`, `{"a":1,"a":2}`, false},
		{"cut", `{"a":`, `{"INVALID_JSON":"{\"a\":"}`, true},
		{"a list", `[1]`, `{"INVALID_JSON":"[1]"}`, false},
		{"not UTF-8", "{\"a\":\"\xff\"}", `{"INVALID_JSON":"{\"a\":\"�\"}"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, invalid := CallInput([]byte(c.in)); invalid != c.invalid {
				t.Errorf("invalid: %v", invalid)
			}
			got := AppendInput(nil, []byte(c.in))
			if string(got) != c.sent || !json.Valid(got) {
				t.Errorf("got %s, want %s", got, c.sent)
			}
		})
	}
}

func TestSecretsOfHeaders(t *testing.T) {
	e := NewEndpoint(Config{BaseURL: "http://localhost", Headers: map[string]string{
		"Authorization": "Bearer token-0123456789", "X-Team": "blue",
	}})
	a := &Answer{e: e}
	got := a.Fail(model.Server, "blue sent Bearer token-0123456789, or token-0123456789", errors.New("token-0123456789")).Error()
	if strings.Contains(got, "0123456789") || !strings.Contains(got, "blue") {
		t.Error(got)
	}
	if cause := a.Fail(model.Server, "", errors.New("x token-0123456789")).Err.Error(); cause != "x [redacted]" {
		t.Error(cause)
	}
}

func TestNoKey(t *testing.T) {
	e := NewEndpoint(Config{Model: "p/m", BaseURL: "http://localhost:1", KeyHeader: "Authorization", KeyName: "P_KEY",
		Key: func(context.Context) (string, error) { return "", errors.New("P_KEY is not set") }})
	_, err := e.Call(t.Context(), NewBody(0))
	if got := model.AsError(err); got == nil || got.Kind != model.Auth || !strings.Contains(got.Error(), "P_KEY is not set") {
		t.Errorf("got %v", err)
	}
}

func TestText(t *testing.T) {
	var text Text
	var pieces []string
	var want strings.Builder
	for i := range 500 {
		piece := strings.Repeat(string(rune('a'+i%26)), i%7)
		want.WriteString(piece)
		if i%2 == 0 {
			pieces = append(pieces, text.Add(piece))
		} else {
			pieces = append(pieces, text.AddBytes([]byte(piece)))
		}
	}
	if text.String() != want.String() || strings.Join(pieces, "") != want.String() {
		t.Errorf("got %q and %q, want %q", text.String(), pieces, want.String())
	}
}

// FuzzFault: whatever a provider says, it becomes one short line.
func FuzzFault(f *testing.F) {
	for _, s := range []string{
		`{"error":{"message":"m","type":"t","code":"c"}}`, `{"error":"text"}`, `[{"error":{"code":429}}]`,
		`{"detail":[{"msg":"m"}]}`, `{"message":{"a":1}}`, "text\nmore", `{"error":{"error":{"error":{"error":1}}}}`,
	} {
		f.Add([]byte(s), 400)
	}
	a := &Answer{e: NewEndpoint(Config{Model: "p/m", BaseURL: "http://localhost"})}
	f.Fuzz(func(t *testing.T, raw []byte, status int) {
		fault := parseFault(raw)
		e := a.fail(fault.kind(status), status, fault.said, nil)
		if e.Kind == "" || len(e.Message) > maxMessage+10 || bytes.ContainsAny([]byte(e.Message), "\n\r\x00") {
			t.Errorf("%+v", e)
		}
	})
}

func TestFaultKinds(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		status    int
		want      model.Kind
	}{
		{"in a stream, overloaded", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, 0, model.Overloaded},
		{"in a stream, a rate", `{"error":{"type":"rate_limit_error","message":"m"}}`, 0, model.RateLimit},
		{"in a stream, the request", `{"error":{"type":"invalid_request_error","message":"m"}}`, 0, model.BadRequest},
		{"in a stream, the provider", `{"error":{"type":"api_error","message":"m"}}`, 0, model.Server},
		{"in a stream, words only", `{"error":"something"}`, 0, model.Server},
		{"no credit", `{"error":{"code":"insufficient_quota","message":"m"}}`, 429, model.RateLimit},
		{"a model that is none", `{"error":{"code":"model_not_found","type":"invalid_request_error","message":"m"}}`, 400, model.NotFound},
		{"a bad key with another status", `{"error":{"code":"invalid_api_key","message":"m"}}`, 400, model.Auth},
		{"words about the context elsewhere", `{"error":{"message":"context length service is down"}}`, 500, model.Server},
		{"a method", ``, 405, model.NotFound},
		{"a timeout", ``, 408, model.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parseFault([]byte(c.raw)).kind(c.status); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
