package service_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/service"
)

func node(t testing.TB, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // the entry as JSON, without what is always there; or
		err        string // a part of the error
	}{
		{"a file", `{spec: api.yaml}`, `"spec":"api.yaml"`, ""},
		{"an address", `{spec: "https://x.example/openapi.json"}`, `"spec":"https://x.example/openapi.json"`, ""},
		{"all", `{spec: a.json, server: "https://x.example/v1/", hosts: ["b.example:8080", "[::1]:80"], operations: [get, "put*"], tags: t, paths: [/a], methods: [get, Post], timeout: 5s, idempotency_header: X-Once}`,
			`"spec":"a.json","server":"https://x.example/v1","hosts":["b.example:8080","[::1]:80"],"operations":["get","put*"],"tags":["t"],"paths":["/a"],"methods":["GET","POST"],"timeout_ns":5000000000,"idempotency_header":"X-Once"`, ""},
		{"a bearer", `{spec: a, auth: {bearer-env: T}}`, `"spec":"a","auth":[{"kind":"bearer","variable":"T"}]`, ""},
		{"several", `{spec: a, auth: [{basic-env: B, scheme: s}, {key-env: K, in: query, name: k}]}`,
			`"spec":"a","auth":[{"kind":"basic","variable":"B","scheme":"s"},{"kind":"api-key","variable":"K","in":"query","name":"k"}]`, ""},
		{"headers", `{spec: a, headers: {X-A: "${V}", Authorization: "Token ${W}"}}`, `"spec":"a","headers":[{"name":"X-A","value":"${V}"},{"name":"Authorization","value":"Token ${W}"}]`, ""},
		{"nothing", `{}`, "", "needs its spec"},
		{"no map", `[a]`, "", "takes a map"},
		{"an unknown key", `{spec: a, url: b}`, "", `"url" is no key`},
		{"a key twice", `{spec: a, idempotency-header: x, idempotency_header: y}`, "", "stands twice"},
		{"another scheme", `{spec: "ftp://x/a"}`, "", "spec takes a path"},
		{"a password in the spec", `{spec: "https://u:p@x.example/a"}`, "", "password"},
		{"home", `{spec: "~/a.yaml"}`, "", "spec takes the path"},
		{"a password in the server", `{spec: a, server: "https://u:p@x.example"}`, "", "password"},
		{"a query in the server", `{spec: a, server: "https://x.example/?a=b"}`, "", "without ? and #"},
		{"a variable in the server", `{spec: a, server: "https://${H}/v1"}`, "", "server takes"},
		{"an odd host in the server", `{spec: a, server: "https://127.1/"}`, "", "no host"},
		{"a secret over http", `{spec: a, server: "http://x.example", auth: {bearer-env: T}}`, "", "over http"},
		{"a secret to this machine", `{spec: a, server: "http://127.0.0.1:1", auth: {bearer-env: T}}`, `"spec":"a","server":"http://127.0.0.1:1","auth":[{"kind":"bearer","variable":"T"}]`, ""},
		{"a block of addresses", `{spec: a, hosts: [10.0.0.0/8]}`, "", "hosts takes hosts"},
		{"a star in a host", `{spec: a, hosts: ["*.example.org"]}`, "", "hosts takes hosts"},
		{"a secret instead of a variable", `{spec: a, auth: {bearer-env: ghp-123}}`, "", "the name of a variable"},
		{"two kinds", `{spec: a, auth: {bearer-env: A, key-env: B}}`, "", "one of"},
		{"no kind", `{spec: a, auth: {scheme: s}}`, "", "needs bearer-env"},
		{"half a place", `{spec: a, auth: {key-env: K, in: query}}`, "", "go together"},
		{"a place for a bearer", `{spec: a, auth: {bearer-env: K, in: query, name: k}}`, "", "for key-env"},
		{"a header that is not to be set", `{spec: a, headers: {Host: x}}`, "", "no header that can be set"},
		{"a header with a blank", `{spec: a, headers: {"A B": x}}`, "", "no header that can be set"},
		{"a header with a new line", "spec: a\nheaders:\n  A: \"x\\r\\nB: y\"\n", "", "control character"},
		{"a method that is none", `{spec: a, methods: [fetch]}`, "", "methods takes"},
		{"no time", `{spec: a, timeout: 20m}`, "", "timeout takes"},
		{"an empty list", `{spec: a, tags: []}`, "", "tags takes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := service.Parse("x", node(t, c.text))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			got, _ := json.Marshal(e)
			want := `{"name":"x",` + c.want + `,"at":`
			if err != nil || !strings.HasPrefix(string(got), want) {
				t.Errorf("%s, %v\nwant %s", got, err, want)
			}
		})
	}
	for _, bad := range []string{"", "a b", "a/b", "a.b", strings.Repeat("a", 33), "__"} {
		if service.NameError(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestHeaderExpand(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "one", "B": "${A}"}[name]
		return v, ok
	}
	for text, want := range map[string]string{"x": "x", "${A}": "one", "a ${A} b": "a one b", "${B}": "${A}", "$${A}": "${A}", "${": "${", "${}": "${}", "${a-b}": "${a-b}", "$A": "$A"} {
		if got, err := (service.Header{Name: "X", Value: text}).Expand(lookup); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	_, err := service.Header{Name: "X", Value: "a${C}"}.Expand(lookup)
	if missing := (*service.Missing)(nil); !errors.As(err, &missing) || missing.Variable != "C" {
		t.Error(err)
	}
}

func TestOver(t *testing.T) {
	read := func(text string) (l service.List) {
		var entries []service.Entry
		l, err := service.ReadList(node(t, text), func(name string, n *yaml.Node) error {
			e, err := service.Parse(name, n)
			entries = append(entries, e)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		l.Entries = entries
		return l
	}
	shared := read("{a: {spec: 1, auth: {bearer-env: T}}, b: {spec: 2}, c: {spec: 3}}").Over(nil)
	for text, want := range map[string]string{
		"{}": "a1 b2 c3", "[a, c]": "a1 c3", "a, b": "a1 b2", "[]": "", "{b: false}": "a1 c3", "{d: {spec: 4}}": "a1 b2 c3 d4", "{a: {spec: 5}}": "a5 b2 c3", "~": "a1 b2 c3",
	} {
		var names []string
		for _, e := range read(text).Over(shared) {
			names = append(names, e.Name+e.Spec)
			if e.Spec == "5" && len(e.Auth) > 0 {
				t.Error("an entry took over the credential of another")
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, bad := range []string{"[{a: b}]", "[a/b]", "a b"} {
		if _, err := service.ReadList(node(t, bad), nil); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
