package host

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
)

// FuzzAskBody holds that any body is either refused with a 4xx that has a code,
// or an Ask with checked names and something to say.
func FuzzAskBody(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"message":"x","agentId":"a"}`, `{"message":"x","message":"y"}`, "{\"message\":\"\xff\"}",
		`{"message":"x","agentId":"a/b","tenantId":"t","userId":"u@x","sessionId":"01890000-0000-7000-8000-000000000000","onBusy":"steer"}`,
		`{"message":"x","agentId":"a","overrides":{"limits":{"turns":5},"temperature":0.5,"tools":["read"],"model":null,"x":"y"}}`,
		`{"message":"x","agentId":"a","overrides":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}}}}`,
		`{"agentId":"a","attachments":[{"mediaType":"image/png","data":"AAAA"}]}`, `{"message":"x"} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var body askBody
		err := decode(data, &body)
		var ask Ask
		if err == nil {
			ask, err = body.ask(httptest.NewRequest(http.MethodPost, "/chat", nil))
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Status != http.StatusBadRequest || e.Code == "" || e.Message == "" {
				t.Fatalf("%q: %#v", data, err)
			}
			return
		}
		if len(ask.Parts) == 0 || ask.Profile == "" && ask.Key.Stream == "" {
			t.Errorf("%q: nothing to run: %+v", data, ask)
		}
		if ask.Profile != "" && profile.CheckName(ask.Profile) != nil || !identity.PlainName(ask.Key.Tenant) || ask.Key.Stream != "" && !sessionID(ask.Key.Stream) {
			t.Errorf("%q: names %+v", data, ask)
		}
		if text := message.PartsText(ask.Parts); !utf8.ValidString(text) {
			t.Errorf("%q: text %q", data, text)
		}
	})
}

// FuzzHeaders holds that numbers, trace ids and host names from outside are
// what they should be, or refused.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"", "0", "7", "-1", "+1", "9223372036854775808", "1e3", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"localhost", "127.0.0.1:80", "[::1]:80", "localhost.:1", "::1", "[127.0.0.1]", "http://127.0.0.1", `W/"x", *`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := number("Last-Event-ID", s); err == nil && n < 0 {
			t.Errorf("number(%q) = %d", s, n)
		}
		if id := traceID(s); id != "" && (len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "") {
			t.Errorf("traceID(%q) = %q", s, id)
		}
		if loopbackName(bare(s)) && !strings.Contains(strings.ToLower(s), "localhost") && !strings.Contains(s, "127.") && !strings.Contains(s, ":") {
			t.Errorf("%q is taken as loopback", s)
		}
		matches(s, `"tag"`)
		r := &http.Request{Host: "127.0.0.1:7788"}
		if sameOrigin(s, r) && !strings.Contains(s, r.Host) {
			t.Errorf("%q is taken as the server's own", s)
		}
	})
}
