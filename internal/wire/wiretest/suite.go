package wiretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// Key is the key that the suite plants. It must not come back in any error.
const Key = "sk-planted-0123456789abcdef"

// Settings are what a test may ask of an adapter's model. Its name must be
// fake/small, its key Key.
type Settings struct {
	URL  string
	Idle time.Duration // 0: the default
}

// Suite is what every adapter must do, whatever its protocol.
type Suite struct {
	New     func(Settings, *http.Client) model.Model
	Answer  []byte   // a whole recorded stream
	Garbage []string // streams that are not this protocol
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	t.Run("refusals", s.refusals)
	t.Run("broken answers", s.broken)
	t.Run("no connection", s.noConnection)
	t.Run("secrets", s.secrets)
	t.Run("redirects", s.redirects)
	t.Run("time", s.timeouts)
	t.Run("cancel", s.cancel)
	t.Run("leaving", s.leaving)
	t.Run("deltas come at once", s.atOnce)
	t.Run("connections", s.connections)
	t.Run("the body", s.body)
}

func request() *model.Request {
	return &model.Request{
		Prefix:   &model.Prefix{System: []string{"Be brief."}},
		Messages: []*message.Message{{Role: message.User, Parts: []message.Part{message.Text{Text: "hi"}}}},
	}
}

// Collect reads an answer to its end.
func Collect(ctx context.Context, m model.Model, r *model.Request) (chunks []model.Chunk, err error) {
	for c, err := range m.Stream(ctx, r) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// fails calls a provider and checks the kind of the error.
func (s Suite) fails(t *testing.T, set Settings, want model.Kind) *model.Error {
	t.Helper()
	_, err := Collect(t.Context(), s.New(set, Client(t)), request())
	e := model.AsError(err)
	switch {
	case e == nil:
		t.Fatalf("got %v, want an *Error of kind %s", err, want)
	case e.Kind != want:
		t.Errorf("got %v, want kind %s", err, want)
	case e.Model != "fake/small":
		t.Errorf("the error is said of the model %q", e.Model)
	case strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000:
		t.Errorf("%d bytes are no line to show: %q", len(err.Error()), err)
	case leaks(err):
		t.Errorf("the key stands in %v", err)
	}
	return e
}

func leaks(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(fmt.Sprintf("%+v %#v", err, err), Key) {
			return true
		}
	}
	return false
}

func (s Suite) refusals(t *testing.T) {
	const tooLong = `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error"}}`
	for _, c := range []struct {
		status      int
		body        string
		kind        model.Kind
		said, cures string
	}{
		{400, `{"error":{"message":"no such field","type":"invalid_request_error"}}`, model.BadRequest, "no such field", ""},
		{400, tooLong, model.Overflow, "maximum context length", "shorten"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}`, model.Overflow, "prompt is too long", ""},
		{400, `{"error":{"code":"context_length_exceeded","message":"no"}}`, model.Overflow, "no", ""},
		{401, `{"error":{"message":"bad key"}}`, model.Auth, "bad key", "FAKE_KEY"},
		{403, `{"error":"not yours"}`, model.Auth, "not yours", "FAKE_KEY"},
		{404, `{"detail":"no model"}`, model.NotFound, "no model", "model's id"},
		{413, `{"error":{"type":"request_too_large","message":"32 MB"}}`, model.Overflow, "32 MB", ""},
		{422, `{"detail":[{"msg":"extra field","type":"extra_forbidden"}]}`, model.BadRequest, "extra field", ""},
		{429, `{"message":"slow down"}`, model.RateLimit, "slow down", "wait"},
		{500, "oh\nno\x00", model.Server, "oh no", ""},
		{502, "<html>\n<h1>Bad gateway</h1>", model.Server, "Bad gateway", ""},
		{503, ``, model.Overloaded, "", ""},
		{529, `[{"error":{"message":"busy","status":"UNAVAILABLE"}}]`, model.Overloaded, "busy", ""},
		{500, strings.Repeat("long ", 100_000), model.Server, "long", ""},
		{204, ``, model.BadRequest, "204", ""},
	} {
		t.Run(fmt.Sprint(c.status, " ", string(c.kind)), func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			e := s.fails(t, Settings{URL: url}, c.kind)
			if e.Status != c.status || e.RetryAfter != 7*time.Second {
				t.Errorf("status %d, retry after %s", e.Status, e.RetryAfter)
			}
			if !strings.Contains(e.Message, c.said) || !strings.Contains(e.Remedy, c.cures) {
				t.Errorf("got %v, want %q and the remedy %q", e, c.said, c.cures)
			}
		})
	}
}

func (s Suite) broken(t *testing.T) {
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		kind model.Kind
	}{
		{"half a stream", Stream(s.Answer[:len(s.Answer)/2]), model.Cut},
		{"an empty stream", Stream(nil), model.Cut},
		{"a connection that breaks", breaks(s.Answer), model.Cut},
		{"a web page", Reply("text/html; charset=utf-8", []byte("<html>Welcome")), model.Protocol},
		{"text in place of events", Stream([]byte("Welcome to nginx\n\n")), model.Protocol},
		{"a document that is none", Reply("application/json", []byte("{")), model.Protocol},
		{"an empty document", Reply("application/json", []byte("{}")), model.Cut},
		{"no HTTP", speaks("SSH-2.0-OpenSSH_9.2\r\n\r\n"), model.Protocol},
		{"a line of 17 MiB", Stream([]byte("data: " + strings.Repeat("x", 17<<20))), model.Protocol},
		{"a document of 17 MiB", Reply("application/json", []byte(strings.Repeat(" ", 17<<20))), model.Protocol},
	} {
		t.Run(c.name, func(t *testing.T) { s.fails(t, Settings{URL: Serve(t, c.h)}, c.kind) })
	}
	for _, g := range s.Garbage {
		t.Run("garbage", func(t *testing.T) {
			s.fails(t, Settings{URL: Serve(t, Stream([]byte(g)))}, model.Protocol)
		})
	}
	t.Run("bytes that nobody can read are shown", func(t *testing.T) {
		err := s.fails(t, Settings{URL: Serve(t, Stream([]byte("\x00\x01\xff\n")))}, model.Protocol)
		if want := `this is no event stream: "\x00\x01?"`; err.Message != want {
			t.Errorf("message %s, want %s", err.Message, want)
		}
	})
}

// breaks sends half an answer and then breaks the connection.
func breaks(answer []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer[:len(answer)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// speaks answers with raw bytes.
func speaks(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, raw)
			conn.Close()
		}
	}
}

func (s Suite) noConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	e := s.fails(t, Settings{URL: closed}, model.Network)
	if !strings.Contains(e.Remedy, closed) {
		t.Errorf("the remedy %q does not name the address", e.Remedy)
	}
	s.fails(t, Settings{URL: Serve(t, speaks(""))}, model.Network)
	s.fails(t, Settings{URL: "localhost:1"}, model.BadRequest)
	s.fails(t, Settings{URL: "http://[::1"}, model.BadRequest)
}

func (s Suite) secrets(t *testing.T) {
	say := "your key " + Key + " is bad"
	for _, c := range []struct {
		name string
		h    http.HandlerFunc
		kind model.Kind
	}{
		{"in an error", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, say), http.StatusUnauthorized)
		}, model.Auth},
		{"in an error's text", func(w http.ResponseWriter, r *http.Request) { http.Error(w, say, 500) }, model.Server},
		{"in an event", Stream([]byte("data: {" + Key + "}\n\n")), model.Protocol},
		{"in place of events", Stream([]byte(say + "\n\n")), model.Protocol},
		{"in place of HTTP", speaks(say + "\r\n\r\n"), model.Protocol},
		{"in a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/?"+Key, http.StatusTemporaryRedirect)
		}, model.BadRequest},
	} {
		t.Run(c.name, func(t *testing.T) { s.fails(t, Settings{URL: Serve(t, c.h)}, c.kind) })
	}
}

func (s Suite) redirects(t *testing.T) {
	other := Serve(t, func(w http.ResponseWriter, r *http.Request) { t.Errorf("the redirect was followed, with %v", r.Header) })
	url := Serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) })
	if e := s.fails(t, Settings{URL: url}, model.BadRequest); !strings.Contains(e.Message, other) {
		t.Errorf("the error %v does not name the address", e)
	}
}

func (s Suite) timeouts(t *testing.T) {
	begun := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(s.Answer[:len(s.Answer)/2])
		w.(http.Flusher).Flush()
	}
	for _, c := range []struct {
		name  string
		begin http.HandlerFunc
	}{
		{"no answer", func(w http.ResponseWriter, r *http.Request) {}},
		{"no more", begun},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				c.begin(w, r)
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			})
			s.fails(t, Settings{URL: url, Idle: 50 * time.Millisecond}, model.Timeout)
		})
	}
}

// hang answers with half a stream, or nothing, says that it has, and waits for
// the end of the call.
func hang(answer []byte, said chan<- struct{}, ended chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answer != nil {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(answer)
			w.(http.Flusher).Flush()
		}
		close(said)
		<-r.Context().Done()
		close(ended)
	}
}

func (s Suite) cancel(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer []byte
	}{
		{"before the answer", nil},
		{"in the answer", s.Answer[:len(s.Answer)/2]},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, ended := make(chan struct{}), make(chan struct{})
			m := s.New(Settings{URL: Serve(t, hang(c.answer, said, ended))}, Client(t))
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-said; cancel() }()
			_, err := Collect(ctx, m, request())
			if err != context.Canceled {
				t.Errorf("got %v, want the context's error", err)
			}
			<-ended
		})
	}
	t.Run("before the call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m := s.New(Settings{URL: Serve(t, func(w http.ResponseWriter, r *http.Request) { t.Error("called") })}, Client(t))
		if _, err := Collect(ctx, m, request()); err != context.Canceled {
			t.Errorf("got %v, want the context's error", err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		said, ended := make(chan struct{}), make(chan struct{})
		m := s.New(Settings{URL: Serve(t, hang(nil, said, ended))}, Client(t))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := Collect(ctx, m, request()); err != context.DeadlineExceeded {
			t.Errorf("got %v, want the context's error", err)
		}
		<-ended
	})
}

func (s Suite) leaving(t *testing.T) {
	said, ended := make(chan struct{}), make(chan struct{})
	m := s.New(Settings{URL: Serve(t, hang(s.Answer[:len(s.Answer)/2], said, ended))}, Client(t))
	for _, err := range m.Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	<-ended // the provider sees that nobody reads any more
}

// atOnce lets the provider go on only when the first delta has arrived.
func (s Suite) atOnce(t *testing.T) {
	arrived := make(chan struct{})
	half := len(s.Answer) / 2
	url := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(s.Answer[:half])
		w.(http.Flusher).Flush()
		<-arrived
		_, _ = w.Write(s.Answer[half:])
	})
	var once sync.Once
	for _, err := range s.New(Settings{URL: url}, Client(t)).Stream(t.Context(), request()) {
		if err != nil {
			t.Fatal(err)
		}
		once.Do(func() { close(arrived) })
	}
}

func (s Suite) connections(t *testing.T) {
	var mu sync.Mutex
	opened := 0
	server := httptest.NewUnstartedServer(Stream(s.Answer))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			opened++
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	m := s.New(Settings{URL: server.URL}, Client(t))
	for range 5 {
		if _, err := Collect(t.Context(), m, request()); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	if opened != 1 {
		t.Errorf("%d connections for 5 calls, want 1", opened)
	}
	mu.Unlock()
	var wg sync.WaitGroup
	shared := request()
	for range 16 {
		wg.Go(func() {
			if _, err := Collect(t.Context(), m, shared); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// body checks that what is sent is what Render returns, twice the same.
func (s Suite) body(t *testing.T) {
	var sent []byte
	var header http.Header
	var length int64
	stream := Stream(s.Answer)
	url := Serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		header, length = r.Header, r.ContentLength
		stream(w, r)
	})
	m := s.New(Settings{URL: url}, Client(t))
	r := request()
	for i := range 200 {
		r.Messages = append(r.Messages, &message.Message{
			Role:  []message.Role{message.Assistant, message.User}[i%2],
			Parts: []message.Part{message.Text{Text: strings.Repeat("words ", i)}},
		})
	}
	rendered, err := m.(model.Renderer).Render(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	if string(sent) != string(rendered) {
		t.Errorf("sent %d bytes, rendered %d others", len(sent), len(rendered))
	}
	if length != int64(len(rendered)) || header.Get("Content-Type") != "application/json" {
		t.Errorf("length %d, header %v", length, header)
	}
}
