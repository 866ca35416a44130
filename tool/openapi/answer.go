package openapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/web"
)

const (
	maxAnswer = 4 << 20  // bytes of an answer that are read
	maxShown  = 64 << 10 // that a model is told
	maxImage  = 5 << 20  // what providers take

	userAgent = "roster (an agent that calls what its user configured)"
)

func newRequest(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, "", nil)
	if err != nil {
		return nil, err
	}
	if body != nil {
		if req, err = http.NewRequestWithContext(ctx, method, "", bytes.NewReader(body)); err != nil {
			return nil, err
		}
	}
	req.URL, req.Host, req.Header = u, u.Host, header
	req.Header.Set("User-Agent", userAgent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json, text/plain;q=0.9, */*;q=0.5")
	}
	return req, nil
}

// answer makes of a response what the model is told of it.
func (p *plan) answer(u *url.URL, res *http.Response, cred *shown) (tool.Result, error) {
	defer res.Body.Close()
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	max := maxAnswer
	if strings.HasPrefix(kind, "image/") {
		max = maxImage
	}
	b, err := reach.Read(res, max)
	if err != nil && len(b.Data) == 0 {
		return tool.Result{}, cred.hideError(fmt.Errorf("%s broke off: %w%s", u.Host, plainError(err), p.doubt()))
	}
	about := fmt.Sprintf("%s: %s", subject(p.req.method, u), status(res))
	for _, name := range []string{"Location", "Link", "Retry-After", "X-Total-Count"} {
		if v := res.Header.Get(name); v != "" {
			about += fmt.Sprintf("\n%s: %s", name, cutText(clean(v), maxHeaderShown))
		}
	}
	parts := p.parts(about, kind, b, cred)
	if err != nil {
		parts = append(parts, message.Text{Text: fmt.Sprintf("[the answer broke off: %v]", cred.hideError(plainError(err)))})
	}
	return tool.Result{Parts: parts, Error: err != nil || res.StatusCode/100 != 2}, nil
}

const maxHeaderShown = 1000 // bytes

func (p *plan) parts(about, kind string, b reach.Body, cred *shown) []message.Part {
	one := func(text string) []message.Part { return []message.Part{message.Text{Text: cred.hide(text)}} }
	size := fmt.Sprintf("%d bytes", len(b.Data))
	if b.More {
		size = "more than " + size
	}
	switch seen := http.DetectContentType(b.Data); {
	case len(b.Data) == 0:
		return one(about + "\nThe answer is empty.")
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, seen) && !b.More:
		return append(one(fmt.Sprintf("%s\n%s, %s", about, seen, size)), message.Image{MediaType: seen, Data: b.Data})
	case binary(kind, b.Data):
		return one(fmt.Sprintf("%s\n%s, %s, which is no text and is not shown.", about, orUnknown(kind), size))
	}
	text, note := readable(kind, b)
	if note != "" {
		about += "\n[" + note + "]"
	}
	if p.plain {
		return one(about + "\n\n" + text)
	}
	return one(web.Fence(about, "answer", text))
}

func orUnknown(kind string) string {
	if kind == "" {
		return "something of no known type"
	}
	return clean(kind)
}

// binary says that an answer is no text: by a NUL among its first bytes, or bytes that
// are no characters.
func binary(kind string, data []byte) bool {
	head := data[:min(len(data), 8000)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	textual := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "yaml")
	return !textual && !utf8.Valid(head[:len(head)-cutEnd(head)])
}

// cutEnd is how many bytes at the end begin a character that was cut.
func cutEnd(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// readable gives an answer within maxShown bytes, and what is to be said of what was
// cut. JSON stays JSON where it can: its long lists and texts are shortened.
func readable(kind string, b reach.Body) (text, note string) {
	whole := len(b.Data)
	if b.More {
		b.Data = b.Data[:len(b.Data)-cutEnd(b.Data)]
	}
	if len(b.Data) <= maxShown && !b.More {
		return clean(string(b.Data)), ""
	}
	if !b.More && (strings.HasSuffix(kind, "json") || looksLikeJSON(b.Data)) {
		if short, ok := shorten(b.Data, maxShown); ok {
			return clean(short), fmt.Sprintf("cut: the answer has %d bytes; long lists and texts in it are shortened, which is said where it is. Ask for less, with a filter or page by page", whole)
		}
	}
	of := fmt.Sprintf("%d bytes", whole)
	if b.More {
		of = "more than " + of
	}
	return cutText(clean(string(b.Data)), maxShown), fmt.Sprintf("cut: these are the first %d bytes of %s", maxShown, of)
}

func looksLikeJSON(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && (data[0] == '{' || data[0] == '[')
}

// cutText cuts a text at a whole character.
func cutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// clean leaves out what no reader would see: control characters, with which an answer
// could rewrite a terminal, and the tag characters, with which it could say something
// to a model alone.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func status(res *http.Response) string {
	if name := http.StatusText(res.StatusCode); name != "" {
		return fmt.Sprintf("%d %s", res.StatusCode, name)
	}
	return fmt.Sprint(res.StatusCode)
}

// hide takes what the service was shown out of a text: it may have sent it back.
func (s *shown) hide(text string) string { return secret.Hide(text, s.secrets) }

func (s *shown) hideError(err error) error {
	if clean := s.hide(err.Error()); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}

// plainError is an error without the address that it is about, which may hold a key.
func plainError(err error) error {
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		return inner.Err
	}
	return err
}
