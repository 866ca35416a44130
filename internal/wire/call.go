package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/sse"
	"github.com/rosterrun/roster/model"
)

const (
	defaultIdle = 120 * time.Second
	maxEvent    = 16 << 20  // bytes of one event, and of an answer that is no stream
	maxAnswer   = 256 << 20 // bytes of a whole stream
	// drainTime is how long the end of a stream may come after its last event,
	// for the connection to be used again.
	drainTime = 50 * time.Millisecond
)

// Config describes an endpoint.
type Config struct {
	Model     string // provider/model-id, for errors
	BaseURL   string
	Path      string // after the path of BaseURL, escaped
	Query     string // of the address; may be empty
	Key       func(context.Context) (string, error)
	KeyName   string            // where the key comes from, for remedies
	KeyHeader string            // the header that carries the key
	KeyPrefix string            // before the key in that header
	Headers   map[string]string // of the user; they win over those of the protocol
	Protocol  map[string]string // headers of the protocol
	Idle      time.Duration     // longest wait for a byte, the first one too; 0 means 120 s
	Client    *http.Client      // nil means NewClient()
}

// Endpoint is where a provider takes requests. It is safe for concurrent use.
type Endpoint struct {
	cfg     Config
	url     *url.URL
	urlErr  error
	header  http.Header
	secrets []string
	client  *http.Client
}

// NewEndpoint returns the endpoint of cfg. A base URL that is none is said by
// each Call.
func NewEndpoint(cfg Config) *Endpoint {
	e := &Endpoint{cfg: cfg, client: withoutRedirects(cfg.Client), header: http.Header{
		"Content-Type": {"application/json"},
		"User-Agent":   {"roster"},
	}}
	if e.cfg.Idle <= 0 {
		e.cfg.Idle = defaultIdle
	}
	e.url, e.urlErr = endpointURL(cfg)
	for name, value := range cfg.Protocol {
		e.header.Set(name, value)
	}
	for name, value := range cfg.Headers {
		e.header.Set(name, value)
		e.secrets = append(e.secrets, secretsOf(value)...)
	}
	return e
}

func endpointURL(cfg Config) (*url.URL, error) {
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, errors.New("the base URL does not parse")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the base URL %q is no http or https address", u.Redacted())
	}
	if u.Path == "" {
		u.Path = "/" // JoinPath keeps a path relative
	}
	u = u.JoinPath(cfg.Path)
	u.RawQuery = strings.Trim(u.RawQuery+"&"+cfg.Query, "&")
	return u, nil
}

// Answer is what comes back from one call. Close it.
type Answer struct {
	e      *Endpoint
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   *time.Timer
	wait   time.Duration
	key    string
	resp   *http.Response
	events *sse.Reader
	read   int64
	count  int
}

var (
	errIdle = errors.New("idle")
	errHuge = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
)

// Call posts body and returns the answer once its header says that the
// provider took the request. Errors are *model.Error or the context's.
func (e *Endpoint) Call(ctx context.Context, body *Body) (*Answer, error) {
	a := e.answer(ctx)
	if err := a.open(body); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func (e *Endpoint) answer(ctx context.Context) *Answer {
	a := &Answer{e: e, parent: ctx, wait: e.cfg.Idle}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	a.idle = time.AfterFunc(a.wait, func() { a.cancel(errIdle) })
	return a
}

// do sends a request, and takes no answer but one of success.
func (a *Answer) do(req *http.Request) (err error) {
	if a.resp, err = a.e.client.Do(req); err != nil {
		return a.broken(err)
	}
	a.touch()
	if a.resp.StatusCode != http.StatusOK {
		return a.refused()
	}
	return nil
}

// Get asks for the document at the endpoint and returns it. Errors are those of
// Call.
func (e *Endpoint) Get(ctx context.Context) ([]byte, error) {
	a := e.answer(ctx)
	defer a.Close()
	req, err := a.request(nil)
	if err == nil {
		err = a.do(req)
	}
	if err != nil {
		return nil, err
	}
	return a.JSON()
}

func (a *Answer) open(body *Body) error {
	req, err := a.request(body)
	if err == nil {
		err = a.do(req)
	}
	if err != nil {
		return err
	}
	kind, _, _ := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
	case "text/html":
		return a.Fail(model.Protocol, "a web page came back, not an answer", nil)
	default:
		a.events = sse.NewReader((*bodyBytes)(a), maxEvent)
	}
	return nil
}

// request makes a POST of a body, and without one a GET.
func (a *Answer) request(body *Body) (*http.Request, error) {
	if a.e.urlErr != nil {
		return nil, a.Fail(model.BadRequest, a.e.urlErr.Error(), nil)
	}
	header := a.e.header.Clone()
	if a.e.cfg.Key != nil {
		key, err := a.e.cfg.Key(a.ctx)
		if err != nil {
			return nil, a.noKey(err)
		}
		a.key = key
		header[a.e.cfg.KeyHeader] = []string{a.e.cfg.KeyPrefix + key}
	}
	req := &http.Request{
		Method: http.MethodGet, URL: a.e.url, Host: a.e.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body != nil {
		sent := func() { a.idle.Reset(a.e.cfg.Idle) }
		req.GetBody = func() (io.ReadCloser, error) {
			return &bodyReader{pieces: body.pieces, sent: sent}, nil
		}
		req.Method, req.ContentLength = http.MethodPost, body.Len()
		req.Body, _ = req.GetBody()
	}
	return req.WithContext(a.ctx), nil
}

func (a *Answer) noKey(err error) error {
	if a.parent.Err() != nil {
		return a.parent.Err()
	}
	return a.Fail(model.Auth, "there is no key: "+err.Error(), err)
}

// touch starts the wait for the next byte anew.
func (a *Answer) touch() { a.idle.Reset(a.wait) }

// address is where requests go, without what may be secret in it.
func (e *Endpoint) address() string {
	if e.url == nil {
		return e.cfg.BaseURL
	}
	return e.url.Scheme + "://" + e.url.Host + e.url.Path
}

// bodyBytes is the body of an answer as a bounded reader that keeps the idle
// timer going.
type bodyBytes Answer

func (b *bodyBytes) Read(p []byte) (int, error) {
	a := (*Answer)(b)
	n, err := a.resp.Body.Read(p)
	if n > 0 {
		a.touch()
	}
	if a.read += int64(n); a.read > maxAnswer {
		return 0, errHuge
	}
	return n, err
}

// Streamed says whether the answer is an event stream; otherwise it is one
// JSON document, which JSON reads.
func (a *Answer) Streamed() bool { return a.events != nil }

// JSON reads the document of an answer that is no stream.
func (a *Answer) JSON() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader((*bodyBytes)(a), maxEvent+1))
	switch {
	case err != nil:
		return nil, a.broken(err)
	case len(b) > maxEvent:
		return nil, a.Fail(model.Protocol, fmt.Sprintf("the answer is longer than %d bytes", maxEvent), nil)
	}
	return b, nil
}

// Next returns the next event. Its error is io.EOF where the provider closed
// the stream in good order, else a *model.Error or the context's.
func (a *Answer) Next() (sse.Event, error) {
	ev, err := a.events.Next()
	if err == nil {
		a.count++
		return ev, nil
	}
	if err != io.EOF {
		return ev, a.broken(err)
	}
	if stray := a.events.Stray(); a.count == 0 && stray != nil {
		return ev, a.Fail(model.Protocol, fmt.Sprintf("this is no event stream: %q", strings.ToValidUTF8(string(stray), "?")), nil)
	}
	return ev, io.EOF
}

// Cut is the error for a stream that ended in the middle of an answer.
func (a *Answer) Cut() error {
	return a.Fail(model.Cut, "the stream ended in the middle of the answer", nil)
}

// Drain reads what little may follow the last event, so that the connection
// can be used again. It takes 50 ms at most.
func (a *Answer) Drain() {
	a.wait = drainTime
	a.touch()
	_, _ = io.CopyN(io.Discard, (*bodyBytes)(a), maxEvent)
}

// Close ends the call and frees what it holds. It may be called twice.
func (a *Answer) Close() {
	a.idle.Stop()
	a.cancel(nil)
	if a.resp != nil {
		_ = a.resp.Body.Close()
	}
}
