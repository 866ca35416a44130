package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// request is one thing to ask the server for.
type request struct {
	method string
	path   string // escaped; see escaped
	query  url.Values
	head   map[string]string
	body   any  // JSON; nil: none
	idem   bool // it may be sent again: it has an Idempotency-Key, or changes nothing
	long   bool // its answer may take any time
}

// escaped puts names into a path, a name with a slash as %2F. It is empty for names
// that would make another path of it.
func escaped(format string, names ...string) string {
	args := make([]any, len(names))
	for i, n := range names {
		if n == "" || n == "." || n == ".." {
			return ""
		}
		args[i] = url.PathEscape(n)
	}
	return fmt.Sprintf(format, args...)
}

var errNoName = errors.New("a name or id is empty, or only dots: say which is meant")

// newKey makes an Idempotency-Key.
func newKey() string { return rand.Text() }

// spread is a duration between half of d and d, so that clients that were cut off
// together do not come back together.
func spread(d time.Duration) time.Duration {
	return d/2 + time.Duration(mathrand.Int64N(int64(d/2)+1))
}

// call sends a request and decodes the answer into out; nil: it is not looked at, and
// bytes are given as they came. A request that may be repeated is, when no answer came or the server is not ready.
func (c *Client) call(ctx context.Context, r request, out any) (http.Header, error) {
	var data []byte
	if r.body != nil {
		var err error
		if data, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
	}
	again := r.idem || r.method == http.MethodGet
	for n := 1; ; n++ {
		head, err := c.once(ctx, r, data, out)
		after, may := retryable(err)
		if err == nil || !may || !again || n > c.opts.Retries || ctx.Err() != nil {
			return head, err
		}
		if c.pause(ctx, n, after, err) != nil {
			return head, err
		}
	}
}

func (c *Client) once(ctx context.Context, r request, body []byte, out any) (http.Header, error) {
	if !r.long {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.opts.Timeout, errSlow(c.opts.Timeout))
		defer cancel()
	}
	res, err := c.send(ctx, r, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, c.unanswered(ctx, r, err)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%s %s: the answer is larger than %d MiB", r.method, r.path, maxAnswer>>20)
	}
	if out == nil || len(data) == 0 {
		return res.Header, nil
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = data
		return res.Header, nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%s %s: the answer is not what was asked for: %w: is %s a Roster server of this version?", r.method, r.path, err, c.base)
	}
	return res.Header, nil
}

// send sends a request, and returns the answer if it is no refusal.
func (c *Client) send(ctx context.Context, r request, body []byte) (*http.Response, error) {
	if r.path == "" {
		return nil, errNoName
	}
	at := c.base + r.path
	if c.opts.Tenant != "" {
		if r.query == nil {
			r.query = url.Values{}
		}
		r.query.Set("tenantId", c.opts.Tenant)
	}
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, at, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.head {
		req.Header.Set(name, value)
	}
	if c.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Key)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(ctx, r, err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		return nil, refusal(r, res)
	}
	return res, nil
}

// Unanswered is a request that got no answer, or not all of it: whether the server
// has done what was asked is not known.
type Unanswered struct {
	Request string // its method and path
	Err     error
}

func (e *Unanswered) Error() string {
	return fmt.Sprintf("%s: %v", e.Request, e.Err)
}

// Unwrap gives the reason.
func (e *Unanswered) Unwrap() error { return e.Err }

// unanswered says why there is no answer, without what the URL may hold.
func (c *Client) unanswered(ctx context.Context, r request, err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Unanswered{r.method + " " + c.base + r.path, err}
}

// errSlow is the cause of a request that took too long.
type errSlow time.Duration

func (e errSlow) Error() string { return fmt.Sprintf("no answer within %v", time.Duration(e)) }

// Timeout says so to those who look for it, as of a net.Error.
func (e errSlow) Timeout() bool { return true }

// retryable says whether a request may get another answer soon, and when.
func retryable(err error) (after time.Duration, ok bool) {
	var refused *Error
	if !errors.As(err, &refused) {
		var none *Unanswered
		return 0, errors.As(err, &none)
	}
	switch refused.Status {
	case http.StatusTooManyRequests:
		return refused.after, refused.after <= maxRetryAfter
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		switch refused.Code {
		case "", "ShuttingDown", "Interrupted": // a proxy, or a server that is started anew
			return refused.after, true
		}
	}
	return 0, false
}

// retryAfter reads the header, in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 24*60*60)) * time.Second
}
