package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/secret"
)

const (
	connectTimeout = 10 * time.Second
	maxHeaderBytes = 256 << 10
	// maxRefusal bounds what is read of an answer that is a refusal, in bytes, and
	// maxSaid what is repeated of it.
	maxRefusal = 64 << 10
	maxSaid    = 300
	// farewell bounds how long it takes to tell a server that its session is over.
	farewell = time.Second
	// reconnects is how often a stream of events may end without having brought any,
	// until the session counts as lost.
	reconnects = 20

	sessionHeader = "Mcp-Session-Id"
)

// web sends the requests of one connection. It adds the headers that the user has
// named, to the address that he has named and to no other, and bounds what comes back.
type web struct {
	server  *Server
	origin  *url.URL
	inner   *http.Transport
	trouble func() // is called when a request did not get through

	mu      sync.Mutex
	refused string // the last refusal
}

func dialWeb(ctx context.Context, s *Server, trouble func()) (*web, sdk.Connection, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, nil, errors.New("its url is no http or https URL")
	case u.User != nil:
		return nil, nil, errors.New("its url holds a user or a password: put them into headers")
	}
	if err := headersFit(s.Headers); err != nil {
		return nil, nil, err
	}
	w := &web{server: s, origin: u, trouble: trouble, inner: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}}
	t := &sdk.StreamableClientTransport{
		Endpoint:     s.URL,
		HTTPClient:   &http.Client{Transport: w, CheckRedirect: w.redirect},
		MaxRetries:   reconnects,
		MaxEventSize: maxMessage,
	}
	if s.OAuth != nil {
		if t.OAuthHandler, err = newAuthorizer(s.OAuth); err != nil {
			return nil, nil, err
		}
	}
	conn, err := t.Connect(ctx)
	return w, conn, err
}

func (w *web) close() { w.inner.CloseIdleConnections() }

// redirect follows a server to another place on its own host, and not elsewhere: what
// is sent is for the one whom the user has named.
func (w *web) redirect(r *http.Request, via []*http.Request) error {
	if !w.own(r.URL) {
		return fmt.Errorf("it leads to %s, which is another host: if that is the server, give its url", line(r.URL.Scheme+"://"+r.URL.Host, maxSaid))
	}
	if len(via) >= 5 {
		return errors.New("it leads on and on")
	}
	return nil
}

// own says whether an address is at the server that the user has named.
func (w *web) own(u *url.URL) bool {
	return u.Host == w.origin.Host && u.Scheme == w.origin.Scheme
}

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if r.Method == http.MethodDelete {
		short, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		ctx = short
	}
	sent := r.Clone(ctx)
	if w.own(r.URL) {
		for name, value := range w.server.Headers {
			sent.Header.Set(name, value)
		}
	}
	sendingOf(ctx).begun.Store(true)
	res, err := w.inner.RoundTrip(sent)
	if err != nil {
		if ctx.Err() == nil {
			w.trouble()
		}
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return w.refusal(r, res), nil
	}
	if r.Method == http.MethodPost {
		w.said("")
	}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "text/event-stream" {
		res.Body = &bounded{ReadCloser: res.Body, left: maxMessage}
	} else {
		res.Body = &throttled{ReadCloser: res.Body, ctx: ctx, values: counter{events: true}, said: w.said}
	}
	return res, nil
}

// refusal keeps what was said, and has one form for all the ways to say that a
// session is not known any more.
func (w *web) refusal(r *http.Request, res *http.Response) *http.Response {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	_ = res.Body.Close()
	res.ContentLength = -1
	if r.Header.Get(sessionHeader) != "" && lost(res.StatusCode, body) {
		res.StatusCode, res.Status, body = http.StatusNotFound, "404 Not Found", nil
		sendingOf(r.Context()).refused.Store(true)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodPost {
		said := fmt.Sprintf("it answered with %s", line(res.Status, maxSaid))
		if text := line(string(body), maxSaid); text != "" {
			said += ": " + text
		}
		if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
			said += " (what it wants to know of you goes into headers, such as Authorization: \"Bearer ${TOKEN}\")"
		}
		w.said(said)
	}
	return res
}

// said keeps what will be said of the next failure that the library gives no reason
// for.
func (w *web) said(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = why
}

// lost says whether a refusal means that the session is not known.
func lost(status int, body []byte) bool {
	body = bytes.ToLower(body)
	return status == http.StatusNotFound || status == http.StatusGone ||
		status == http.StatusBadRequest && (bytes.Contains(body, []byte("session")) || bytes.Contains(body, []byte("not initialized")))
}

// explain says in plain words why a request has failed. What is secret is not in it.
func (w *web) explain(err error) error {
	w.mu.Lock()
	refused := w.refused
	w.mu.Unlock()
	inner, wrong, token := (*url.Error)(nil), (*net.DNSError)(nil), (*tokenError)(nil)
	switch {
	case errors.As(err, &token):
		err = token
	case answered(err) != nil, errors.Is(err, context.DeadlineExceeded):
		err = plainly(err)
	case errors.As(err, &wrong) && wrong.IsNotFound:
		err = fmt.Errorf("there is no host %s", w.origin.Hostname())
	case errors.As(err, &inner):
		err = fmt.Errorf("%s cannot be reached: %s", w.origin.Host, line(inner.Err.Error(), maxSaid))
	case refused != "":
		err = errors.New(refused)
	default:
		err = plainly(err)
	}
	text := err.Error()
	if clean := secret.Hide(text, w.server.secrets()); clean != text {
		return errors.New(clean)
	}
	return err
}

// bounded is a body of which at most left bytes are read.
type bounded struct {
	io.ReadCloser
	left   int
	values counter
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a message of more than %d bytes", maxMessage)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if !b.values.feed(p[:n]) {
		return 0, errValues
	}
	return n, err
}

// Bounds of a stream of events: what comes at once, and per second.
const (
	streamBurst     = 2 * maxMessage
	streamPerSecond = 8 << 20
)

// throttled is a stream of events that is read no faster than events can be dealt
// with: they would pile up.
type throttled struct {
	io.ReadCloser
	ctx    context.Context
	values counter
	said   func(why string)
	over   int // bytes more than should have come by at
	at     time.Time
}

func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if !t.values.feed(p[:n]) {
		t.said("it sent " + errValues.Error()) // the library would only say that the stream has ended
		return 0, errValues
	}
	now := time.Now()
	if !t.at.IsZero() {
		t.over = max(0, t.over-int(now.Sub(t.at).Seconds()*streamPerSecond))
	}
	t.over, t.at = t.over+n, now
	if t.over > streamBurst {
		wait := time.NewTimer(time.Second / 10)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-t.ctx.Done():
			return n, t.ctx.Err()
		}
	}
	return n, err
}

// headersFit says what is wrong with headers.
func headersFit(headers map[string]string) error {
	for name, value := range headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			return fmt.Errorf("its header %s holds a line break", line(name, maxTitle))
		}
	}
	return nil
}
