package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/sse"
	"github.com/rosterrun/roster/model"
)

const (
	maxFault   = 64 << 10 // bytes read of an error's body
	maxMessage = 500      // bytes shown of it
	minSecret  = 8        // a header's value is redacted from this length on
	redacted   = "[redacted]"
)

// Refuse is the error for a request that cannot be sent as it is.
func (e *Endpoint) Refuse(err error) error {
	return &model.Error{Kind: model.BadRequest, Model: e.cfg.Model, Message: err.Error(), Err: err}
}

// Fail returns the error of this call with the remedy for its kind. What a
// provider said is cut to a line, and the key is taken out of it.
func (a *Answer) Fail(kind model.Kind, said string, cause error) *model.Error {
	return a.fail(kind, 0, said, cause)
}

func (a *Answer) fail(kind model.Kind, status int, said string, cause error) *model.Error {
	if cause != nil && a.redact(cause.Error()) != cause.Error() {
		cause = errors.New(a.redact(cause.Error()))
	}
	return &model.Error{
		Kind: kind, Model: a.e.cfg.Model, Status: status,
		Message: oneLine(a.redact(said)), Remedy: a.remedy(kind), Err: cause,
	}
}

// broken is the error of a call whose connection failed.
func (a *Answer) broken(err error) error {
	if ctxErr := a.parent.Err(); ctxErr != nil {
		return ctxErr
	}
	if a.ctx.Err() != nil {
		return a.Fail(model.Timeout, fmt.Sprintf("no byte came for %s", a.wait), err)
	}
	var inURL *url.Error // its text holds the whole address, which may hold a key
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	var long *sse.TooLong
	switch {
	case errors.As(err, &long), errors.Is(err, errHuge), strings.Contains(err.Error(), "malformed HTTP"):
		return a.Fail(model.Protocol, err.Error(), err)
	case strings.Contains(err.Error(), "invalid header field"):
		return a.Fail(model.BadRequest, err.Error(), err)
	case a.resp != nil:
		return a.Fail(model.Cut, "the connection broke in the middle of the answer: "+err.Error(), err)
	case errors.Is(err, io.EOF):
		return a.Fail(model.Network, "the connection was closed before an answer", err)
	}
	return a.Fail(model.Network, err.Error(), err)
}

// refused is the error of an answer whose status is not 200.
func (a *Answer) refused() error {
	body, err := io.ReadAll(io.LimitReader((*bodyBytes)(a), maxFault))
	if err != nil && a.parent.Err() != nil {
		return a.parent.Err()
	}
	status := a.resp.StatusCode
	f := parseFault(body)
	if status < 400 {
		f.said = fmt.Sprintf("the address answers %q instead of a stream", a.resp.Status)
		if to := a.resp.Header.Get("Location"); to != "" {
			f.said = "the address redirects to " + to + ", which is not followed"
		}
	}
	e := a.fail(f.kind(status), status, f.said, nil)
	e.RetryAfter = retryAfter(a.resp.Header, time.Now())
	return e
}

// Fault is the error for an error that a provider sent inside an answer; raw
// is the JSON that tells of it.
func (a *Answer) Fault(raw []byte) error {
	f := parseFault(raw)
	status, _ := strconv.Atoi(f.code)
	return a.fail(f.kind(status), status, f.said, nil)
}

// Garbled is the error for an event that does not decode.
func (a *Answer) Garbled(raw []byte, err error) error {
	e := a.Fail(model.Protocol, "an event of the answer does not decode: "+err.Error(), err)
	e.Message = oneLine(e.Message + ": " + a.redact(string(raw)))
	return e
}

// fault is what a provider says went wrong: in words, and by its names for it.
type fault struct{ said, code, name string }

// parseFault reads the forms in use: {"error": {"message", "type", "code"}},
// {"error": "text"}, {"message"}, {"detail"}, one of these in an array, or
// plain text.
func parseFault(raw []byte) fault {
	for range 3 {
		v := jsontext.Value(raw)
		switch v.Kind() {
		case jsontext.KindString:
			var s string
			if decode(raw, &s) == nil {
				return fault{said: s}
			}
		case jsontext.KindBeginArray:
			var list []jsontext.Value
			if decode(raw, &list) == nil && len(list) > 0 {
				raw = list[0]
				continue
			}
		case jsontext.KindBeginObject:
			f, inner := faultObject(raw)
			if inner != nil {
				raw = inner
				continue
			}
			if f.said != "" || f.name != "" {
				return f
			}
		}
		break
	}
	return fault{said: string(raw)}
}

// faultObject reads one level; inner is the value to look into instead.
func faultObject(raw []byte) (f fault, inner []byte) {
	var o struct {
		Error   jsontext.Value `json:"error"`
		Detail  jsontext.Value `json:"detail"`
		Message jsontext.Value `json:"message"`
		Msg     string         `json:"msg"`
		Type    jsontext.Value `json:"type"`
		Code    jsontext.Value `json:"code"`
	}
	if decode(raw, &o) != nil {
		return fault{}, nil
	}
	for _, v := range []jsontext.Value{o.Error, o.Detail} {
		if len(v) > 0 && v.Kind() != jsontext.KindNull {
			return fault{}, v
		}
	}
	f = fault{said: plain(o.Message), name: plain(o.Type), code: plain(o.Code)}
	if f.said == "" {
		f.said = o.Msg
	}
	return f, nil
}

// plain is a JSON string's text, or any other value as it stands.
func plain(v jsontext.Value) string {
	var s string
	if v.Kind() == jsontext.KindString && decode(v, &s) == nil {
		return s
	}
	if v.Kind() == jsontext.KindNull {
		return ""
	}
	return string(v)
}

func decode(raw []byte, into any) error {
	return json.Unmarshal(raw, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// kind sorts a fault by the provider's names for it, then by its status.
func (f fault) kind(status int) model.Kind {
	if f.overflows(status) {
		return model.Overflow
	}
	for _, name := range []string{f.code, f.name} {
		switch name {
		case "overloaded_error", "server_is_overloaded":
			return model.Overloaded
		case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
			return model.RateLimit
		case "authentication_error", "permission_error", "invalid_api_key":
			return model.Auth
		case "not_found_error", "model_not_found":
			return model.NotFound
		case "invalid_request_error", "billing_error":
			if status == 0 {
				return model.BadRequest
			}
		}
	}
	return statusKind(status)
}

func statusKind(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.Auth
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return model.NotFound
	case http.StatusRequestTimeout:
		return model.Timeout
	case http.StatusTooManyRequests:
		return model.RateLimit
	case http.StatusServiceUnavailable, 529:
		return model.Overloaded
	}
	if status == 0 || status >= 500 {
		return model.Server
	}
	return model.BadRequest
}

// overflows says whether the conversation was too long for the model. The
// words are those of OpenAI, Anthropic, vLLM, Ollama, llama.cpp and OpenRouter.
func (f fault) overflows(status int) bool {
	if f.code == "context_length_exceeded" || f.name == "request_too_large" || f.name == "exceed_context_size_error" {
		return true
	}
	if status != 0 && status != http.StatusBadRequest && status != http.StatusRequestEntityTooLarge {
		return false
	}
	said := strings.ToLower(f.said)
	for _, words := range []string{
		"context length", "context window", "context size", "maximum context", "context limit",
		"prompt is too long", "input is too long",
	} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return status == http.StatusRequestEntityTooLarge
}

func (a *Answer) remedy(kind model.Kind) string {
	c := a.e.cfg
	base := a.e.address()
	switch kind {
	case model.Auth:
		switch {
		case c.Key == nil:
			return "no key was sent: name its variable in key-env of the provider"
		case c.KeyName != "":
			return "check the key in " + c.KeyName + " and that it may use this model"
		}
		return "check the provider's key and that it may use this model"
	case model.NotFound:
		return "check the model's id and the base-url; asked was " + base
	case model.RateLimit:
		return "wait, or check the account's limits and credit"
	case model.Network:
		return "check that " + base + " can be reached from here, its base-url and the proxy variables"
	case model.Protocol:
		return "check the base-url and the api of the provider; asked was " + base
	case model.Overflow:
		return "shorten the conversation or take a model with a larger context window"
	}
	return ""
}

// retryAfter reads how long the provider asks to wait, 0 if it does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return clampWait(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return clampWait(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return clampWait(at.Sub(now).Seconds())
	}
	return 0
}

// clampWait turns seconds into a duration between 0 and a day.
func clampWait(seconds float64) time.Duration {
	const day = 24 * 60 * 60
	if !(seconds > 0) { // not a number is no wait either
		return 0
	}
	return time.Duration(min(seconds, day) * float64(time.Second))
}

// secretsOf returns the parts of a header's value that are not to be shown.
func secretsOf(value string) []string {
	if len(value) < minSecret {
		return nil
	}
	secrets := []string{value}
	if _, token, ok := strings.Cut(value, " "); ok && len(token) >= minSecret {
		secrets = append(secrets, token)
	}
	return secrets
}

func (a *Answer) redact(s string) string {
	if a.key != "" {
		s = strings.ReplaceAll(s, a.key, redacted)
	}
	for _, secret := range a.e.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return s
}

// oneLine is s without control characters, on one line, cut to maxMessage.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "?")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + " …"
	}
	return s
}
