package openapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestNoWayIn: none of the ways to have a service's call go where the user did not say
// gets there, or takes along what the service is shown.
func TestNoWayIn(t *testing.T) {
	port, heard := canary(t)
	names := map[string]string{
		"api.example": "127.0.0.1", "six.example": "::1", "ten.example": "10.1.2.3", "meta.example": "169.254.169.254", "link.example": "fe80::1",
		"nat64.example": "64:ff9b::7f00:1", "mapped.example": "::ffff:127.0.0.1", "again.example": "192.0.2.1 127.0.0.1",
	}
	const auth = ", auth: {bearer-env: T}"
	for _, c := range []struct{ name, server, entry, why string }{
		{"a server of the document on this machine", "http://127.0.0.1:PORT", "{spec: api.yaml" + auth + "}", "nobody named"},
		{"a server of the document by the name of this machine", "http://localhost:PORT", "{spec: api.yaml" + auth + "}", "nobody named"},
		{"a server of the document in IPv6", "http://[::1]:PORT", "{spec: api.yaml" + auth + "}", "nobody named"},
		{"a server of the document in IPv6, mapped", "http://[::ffff:127.0.0.1]:PORT", "{spec: api.yaml" + auth + "}", "nobody named"},
		{"where clouds keep credentials", "http://169.254.169.254/latest", "{spec: api.yaml" + auth + "}", "nobody named"},
		{"another host than the document's", "https://evil.example", `{spec: "https://good.example/api.json"` + auth + "}", "nobody named"},
		{"another port than the one named", "http://127.0.0.1:PORT", `{spec: api.yaml, hosts: ["127.0.0.1:1"]}`, "nobody named"},
		{"a host that ends like the one named", "https://notgood.example", "{spec: api.yaml, hosts: [good.example]}", "nobody named"},
		{"a host that begins like the one named", "https://good.example.evil.example", "{spec: api.yaml, hosts: [good.example]}", "nobody named"},
		{"a user name that looks like the host", "https://good.example@127.0.0.1:PORT", "{spec: api.yaml, hosts: [good.example]}", "user name"},
		{"an address in decimal", "http://2130706433:PORT", "{spec: api.yaml, hosts: [good.example]}", "no host"},
		{"an address in octal", "http://0177.0.0.1:PORT", "{spec: api.yaml, hosts: [good.example]}", "no host"},
		{"a short address", "http://127.1:PORT", "{spec: api.yaml, hosts: [good.example]}", "no host"},
		{"another scheme", "gopher://127.0.0.1:PORT", "{spec: api.yaml, hosts: [127.0.0.1]}", "only http"},
		{"a file", "file:///etc/passwd", "{spec: api.yaml, hosts: [good.example]}", ""},
		{"a relative server of a file", "/v1", "{spec: api.yaml}", "does not say at which host"},
		{"a server with a path upwards", "https://good.example/a/../..", "{spec: api.yaml, hosts: [good.example]}", "leads out"},
		{"a variable without a value", "https://{host}", "{spec: api.yaml, hosts: [good.example]}", "without a value"},
		{"a backslash in the host", `https://good.example\@127.0.0.1:PORT`, "{spec: api.yaml, hosts: [good.example]}", ""},
		{"the named server leads to this machine", "http://x.example", `{spec: api.yaml, server: "http://api.example:PORT"}`, "no public address"},
		{"the named server leads to this machine in IPv6", "http://x.example", `{spec: api.yaml, server: "http://six.example:PORT"}`, "no public address"},
		{"the named server leads to IPv4 through IPv6", "http://x.example", `{spec: api.yaml, server: "http://nat64.example:PORT"}`, "no public address"},
		{"the named server leads to this machine, mapped", "http://x.example", `{spec: api.yaml, server: "http://mapped.example:PORT"}`, "no public address"},
		{"the named server leads to a private network", "http://x.example", `{spec: api.yaml, server: "http://ten.example"}`, "no public address"},
		{"the host of the document leads to this machine", "/v1", `{spec: "http://api.example:PORT/api.json"}`, "no public address"},
		{"a named host leads to where clouds keep credentials", "http://meta.example", "{spec: api.yaml, hosts: [meta.example]}", "no public address"},
		{"a named host leads to the local link", "http://link.example", "{spec: api.yaml, hosts: [link.example]}", "no public address"},
		{"a name that leads elsewhere the second time", "http://x.example", `{spec: api.yaml, server: "http://again.example:PORT"}`, "no public address"},
		{"a secret over http", "http://api.example:PORT", "{spec: api.yaml, hosts: [api.example]" + auth + "}", "over http"},
		{"a secret in a header over http", "http://api.example:PORT", `{spec: api.yaml, hosts: [api.example], headers: {X-Key: "${T}"}}`, "over http"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := func(s string) string { return strings.ReplaceAll(s, "PORT", port) }
			w := world{entry: at(c.entry), document: get(at(c.server)), variables: map[string]string{"T": "planted-secret"}, names: names}
			for range 2 {
				r, err := w.call(t, "get", map[string]any{})
				if err == nil || !strings.Contains(err.Error(), c.why) {
					t.Errorf("%q, %v, want %q", text(r), err, c.why)
				}
			}
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the server on loopback heard %d requests", n)
	}
}

// TestNoWayInByRedirect: an answer leads to where a request must not go.
func TestNoWayInByRedirect(t *testing.T) {
	port, heard := canary(t)
	var to string
	var asked []string
	_, own := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
		if r.URL.Path == "/x" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		}
	})
	w := world{entry: fmt.Sprintf("{spec: a, hosts: [%q], auth: {bearer-env: T}}", own), document: get("http://" + own), variables: map[string]string{"T": "planted-secret"}}
	for _, to = range []string{
		"http://127.0.0.1:" + port + "/", "http://localhost:" + port + "/", "//127.0.0.1:" + port + "/", "http://[::ffff:127.0.0.1]:" + port + "/",
		"http://169.254.169.254/", "file:///etc/passwd", "http://u:p@127.0.0.1:" + port + "/", "http://2130706433:" + port + "/", "gopher://127.0.0.1/", "https://evil.example/",
		"http://" + own + "@127.0.0.1:" + port + "/",
	} {
		t.Run(to, func(t *testing.T) {
			if r, err := w.call(t, "get", map[string]any{}); err == nil {
				t.Errorf("%q, not an error", text(r))
			}
			r, err := w.call(t, "post", map[string]any{})
			if err != nil || !r.Error || !strings.Contains(text(r), "307 Temporary Redirect") {
				t.Errorf("what changes something: %q, %v", text(r), err)
			}
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the server on loopback heard %d requests", n)
	}

	asked, to = nil, "/y?z=1"
	if r, err := w.call(t, "get", map[string]any{}); err != nil || r.Error {
		t.Errorf("on the same host: %q, %v", text(r), err)
	}
	if got := strings.Join(asked, ", "); got != "GET /x Bearer planted-secret, GET /y?z=1 Bearer planted-secret" {
		t.Error(got)
	}
}

// TestCredentialsStay: what a service is shown goes to the hosts that the user named,
// and is not told to anybody.
func TestCredentialsStay(t *testing.T) {
	var heard http.Header
	var query string
	_, own := serve(t, func(w http.ResponseWriter, r *http.Request) {
		heard, query = r.Header, r.URL.RawQuery
		w.Header().Set("Location", "/?key="+r.URL.Query().Get("key"))
		fmt.Fprint(w, r.Header, r.URL)
	})
	const document = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"servers":[{"url":"http://OWN"}],
"components":{"securitySchemes":{"head":{"type":"apiKey","in":"header","name":"X-Key"},"ask":{"type":"apiKey","in":"query","name":"key"},"jar":{"type":"apiKey","in":"cookie","name":"sid"},"who":{"type":"http","scheme":"bearer"}}},
"paths":{"/a":{"get":{"operationId":"head","security":[{"head":[]}]}},"/b":{"get":{"operationId":"ask","security":[{"ask":[]}],"parameters":[{"name":"key","in":"query","schema":{"type":"string"}},{"name":"q","in":"query","schema":{"type":"string"}}]}},
"/c":{"get":{"operationId":"jar","security":[{"jar":[]}],"parameters":[{"name":"a","in":"cookie","schema":{"type":"string"}}]}},"/d":{"get":{"operationId":"both","security":[{"who":[],"head":[]}]}},"/e":{"get":{"operationId":"either","security":[{"who":[]},{"head":[]}]}},"/f":{"get":{"operationId":"free","security":[]}}}}`
	const all = "[{key-env: K1, scheme: head}, {key-env: K2, scheme: ask}, {key-env: K3, scheme: jar}]"
	for _, c := range []struct {
		name, auth, op string
		input          map[string]any
		want           string // header or query that is there
		err            string
	}{
		{"a key in a header", all, "head", nil, "X-Key: head-secret", ""},
		{"a key in the query, in the place of what a model gave", all, "ask", map[string]any{"key": "mine", "q": "1"}, "?q=1&key=ask-secret%20%26", ""},
		{"a key in a cookie", all, "jar", map[string]any{"a": "b"}, "Cookie: a=b; sid=jar-secret", ""},
		{"a bearer", "{bearer-env: T}", "free", nil, "Authorization: Bearer who-secret", ""},
		{"a name and password", "{basic-env: B}", "free", nil, "Authorization: Basic dXNlcjpwYXNzd29yZC1zZWNyZXQ=", ""},
		{"the alternative that is there", all, "either", nil, "X-Key: head-secret", ""},
		{"none of what is for others", all, "free", nil, "", ""},
		{"a place that the user names", "{key-env: K1, in: query, name: k}", "free", nil, "?k=head-secret", ""},
		{"no place", "{key-env: K1}", "free", nil, "", "write in and name"},
		{"a variable that is not set", "{bearer-env: NONE}", "free", nil, "", "NONE"},
		{"no password", "{basic-env: T}", "free", nil, "", "USER:PASSWORD"},
		{"a line break", "{bearer-env: EVIL}", "free", nil, "", "line break"},
	} {
		t.Run(c.name, func(t *testing.T) {
			heard, query = nil, ""
			if c.input == nil {
				c.input = map[string]any{}
			}
			w := world{
				entry: fmt.Sprintf("{spec: a, hosts: [%q], auth: %s}", own, c.auth), document: strings.ReplaceAll(document, "OWN", own),
				variables: map[string]string{"K1": "head-secret", "K2": "ask-secret &", "K3": "jar-secret", "T": "who-secret", "B": "user:password-secret", "EVIL": "evil-secret\r\nX: y"},
			}
			r, err := w.call(t, c.op, c.input)
			if told := text(r) + fmt.Sprint(err); strings.Contains(told, "-secret") || strings.Contains(told, "dXNlcj") {
				t.Errorf("a secret is told: %s", told)
			}
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || heard != nil {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			heard.Write(&b)
			got := "?" + query + "\r\n" + b.String()
			if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "-secret") {
				t.Errorf("%s\nwant %q", got, c.want)
			}
		})
	}
}
