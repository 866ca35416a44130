package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

const bodies = `
openapi: 3.0.3
info: {title: Bodies, version: "1"}
servers: [{url: "http://OWN"}]
paths:
  /json: {post: {operationId: json, requestBody: {content: {application/json: {schema: {type: object, required: [a], properties: {a: {type: string}, b: {type: array, items: {type: integer}}, id: {type: integer, readOnly: true}}}}}}}}
  /list: {put: {operationId: list, requestBody: {required: true, content: {application/json: {schema: {type: array, items: {type: integer}}}}}}}
  /merge: {patch: {operationId: merge, requestBody: {content: {application/merge-patch+json: {schema: {type: object, properties: {a: {}}}}}}}}
  /form: {post: {operationId: form, requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string}, l: {type: array, items: {type: string}}, o: {type: object}}}, encoding: {o: {style: deepObject, explode: true}}}}}}}
  /multi: {post: {operationId: multi, requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {note: {type: string}, meta: {type: object}, tags: {type: array, items: {type: string}}, file: {type: string, format: binary}, more: {type: array, items: {type: string, format: binary}}}}, encoding: {file: {contentType: image/png}}}}}}}
  /text: {post: {operationId: text, requestBody: {content: {text/plain: {schema: {type: string}}}}}}
  /bytes: {post: {operationId: bytes, requestBody: {content: {application/octet-stream: {schema: {type: string, format: binary}}}}}}
`

// echo answers with what it was sent.
func echo(t *testing.T) (host string) {
	_, host = serve(t, func(w http.ResponseWriter, r *http.Request) {
		out := map[string]any{"method": r.Method, "type": r.Header.Get("Content-Type"), "once": r.Header.Get("Idempotency-Key")}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			form, err := r.MultipartReader()
			if err != nil {
				http.Error(w, err.Error(), 400)
				return
			}
			var parts []string
			for {
				p, err := form.NextPart()
				if err != nil {
					break
				}
				data, _ := io.ReadAll(p)
				parts = append(parts, fmt.Sprintf("%s|%s|%s|%s", p.FormName(), p.FileName(), p.Header.Get("Content-Type"), data))
			}
			out["type"], out["body"] = "multipart", strings.Join(parts, ", ")
		} else {
			data, _ := io.ReadAll(r.Body)
			out["body"] = string(data)
		}
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		w.Header().Set("Content-Type", "application/json")
		e.Encode(out)
	})
	return host
}

func TestBodies(t *testing.T) {
	host := echo(t)
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	for name, text := range map[string]string{filepath.Join(dir, "a.txt"): "text of a", filepath.Join(dir, `q"uote.bin`): "b", outside: "secret"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	files, err := tool.NewFiles(tool.Env{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	allow := func(tool, subject string) permission.Rule {
		return permission.Rule{Tool: tool, Subject: subject, Effect: permission.Allow}
	}
	for _, c := range []struct {
		name, op, input string
		kind, body      string
		err             string
		rules           []permission.Rule
	}{
		{name: "JSON in its parts", op: "json", input: `{"a": "x", "b": [1, 2]}`, kind: "application/json", body: `{"a":"x","b":[1,2]}`},
		{name: "no body", op: "json", input: `{"a": "x"}`, kind: "application/json", body: `{"a":"x"}`},
		{name: "JSON as a whole", op: "list", input: `{"body": [3, 1e2]}`, kind: "application/json", body: `[3,1e2]`},
		{name: "a relative of JSON", op: "merge", input: `{"a": null}`, kind: "application/merge-patch+json", body: `{"a":null}`},
		{name: "a form", op: "form", input: `{"a": "b c&d", "l": ["1", "2"], "o": {"k": "v"}}`, kind: "application/x-www-form-urlencoded", body: "a=b%20c%26d&l=1&l=2&o%5Bk%5D=v"},
		{name: "a form of parts", op: "multi", input: `{"note": "n", "meta": {"a": 1}, "tags": ["x", "y"], "file": "a.txt", "more": ["a.txt", "q\"uote.bin"]}`, kind: "multipart",
			body: `note|||n, meta||application/json|{"a":1}, tags|||x, tags|||y, file|a.txt|image/png|text of a, more|a.txt|text/plain; charset=utf-8|text of a, more|q"uote.bin|application/octet-stream|b`},
		{name: "text", op: "text", input: `{"body": "só"}`, kind: "text/plain; charset=utf-8", body: "só"},
		{name: "the bytes of a file", op: "bytes", input: `{"body": "a.txt"}`, kind: "application/octet-stream", body: "text of a"},
		{name: "a file that is not there", op: "bytes", input: `{"body": "b.txt"}`, err: "does not exist"},
		{name: "a folder", op: "bytes", input: `{"body": "."}`, err: "not a regular file"},
		{name: "a file outside", op: "bytes", input: fmt.Sprintf(`{"body": %q}`, outside), rules: []permission.Rule{allow("*", "*")}, err: "deny"},
		{name: "a link outside", op: "bytes", input: `{"body": "link"}`, rules: []permission.Rule{allow("*", "*")}, err: "deny"},
		{name: "a file that may not be read", op: "bytes", input: `{"body": "a.txt"}`, rules: []permission.Rule{allow("svc_*", "*")}, err: "deny"},
		{name: "what is not for the service", op: "json", input: `{"a": "x", "id": 7}`, err: "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world{entry: fmt.Sprintf("{spec: a, hosts: [%q]}", host), document: strings.ReplaceAll(bodies, "OWN", host), files: files, rules: c.rules}
			if w.rules == nil {
				w.rules = []permission.Rule{allow("*", "*"), allow("external_directory", "*")}
			}
			r, err := w.call(t, c.op, json.RawMessage(c.input))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%q, %v, want %q", text(r), err, c.err)
				}
				return
			}
			if err != nil || r.Error {
				t.Fatalf("%q, %v", text(r), err)
			}
			var got struct{ Method, Type, Body, Once string }
			if err := json.Unmarshal([]byte(inside(text(r))), &got); err != nil {
				t.Fatal(err, text(r))
			}
			if got.Type != c.kind || got.Body != c.body || got.Once != "call-7" {
				t.Errorf("%+v\nwant %s %q", got, c.kind, c.body)
			}
		})
	}
}

// inside gives what stands in the fence.
func inside(told string) string {
	_, rest, _ := strings.Cut(told, "[begin of answer ")
	_, rest, _ = strings.Cut(rest, "\n")
	text, _, _ := strings.Cut(rest, "\n[end of answer ")
	return text
}

// TestAnswers: what a model is told of what came.
func TestAnswers(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	long := `[` + strings.Repeat(`{"id":1,"text":"`+strings.Repeat("x", 300)+`"},`, 5000) + `{"id":2}]`
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             []string // in the text; with ! in front: not in it
		fails            bool
	}{
		{name: "JSON", kind: "application/json", body: `{"a": 1}`, status: 200, want: []string{"200 OK", `{"a": 1}`, "is data"}},
		{name: "nothing", status: 204, want: []string{"204 No Content", "The answer is empty."}},
		{name: "an error", kind: "application/problem+json", body: `{"title":"no such pet"}`, status: 404, want: []string{"404 Not Found", "no such pet"}, fails: true},
		{name: "a failure", kind: "text/html", body: "<h1>Oops</h1>", status: 500, want: []string{"500 Internal Server Error", "<h1>Oops</h1>"}, fails: true},
		{name: "a status of its own", body: "x", status: 299, want: []string{": 299"}},
		{name: "an image", kind: "image/png", body: png, status: 200, want: []string{"image/png"}},
		{name: "data", kind: "application/zip", body: "PK\x03\x04\x00\x00", status: 200, want: []string{"application/zip, 6 bytes", "not shown", "!PK"}},
		{name: "control characters", kind: "text/plain", body: "a\x1b[2Jb\U000e0041c", status: 200, want: []string{"a[2Jbc"}},
		{name: "long JSON", kind: "application/json", body: long, status: 200, want: []string{"cut: the answer has", `"… 4901 more"`, "!… 4971"}},
		{name: "long text", kind: "text/plain", body: strings.Repeat("é", 100_000), status: 200, want: []string{"cut: these are the first 65536 bytes of 200000 bytes"}},
		{name: "endless text", kind: "text/plain", body: strings.Repeat("a", 5<<20), status: 200, want: []string{"of more than 4194304 bytes"}},
		{name: "what looks like JSON and is none", kind: "application/json", body: strings.Repeat("[", 100_000), status: 200, want: []string{"cut: these are the first"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			w := world{entry: fmt.Sprintf("{spec: a, hosts: [%q]}", host), document: get("http://" + host)}
			r, err := w.call(t, "get", map[string]any{})
			if err != nil || r.Error != c.fails {
				t.Fatalf("%v, %q", err, text(r))
			}
			told := text(r)
			for _, want := range c.want {
				if not, is := strings.CutPrefix(want, "!"); strings.Contains(told, not) == is {
					t.Errorf("%q in %q", want, told[:min(len(told), 600)])
				}
			}
			if len(told) > maxShown+2000 {
				t.Errorf("%d bytes", len(told))
			}
			_, image := r.Parts[len(r.Parts)-1].(message.Image)
			if image != (c.kind == "image/png") {
				t.Error("an image is shown, or is not")
			}
			if short := inside(told); c.name == "long JSON" && !json.Valid([]byte(short)) {
				t.Errorf("no JSON any more: %q", short[:200])
			}
		})
	}
}

// TestCallEnds: a service that does not answer, one that breaks off, and one that is no
// longer trusted.
func TestCallEnds(t *testing.T) {
	stop := make(chan struct{})
	_, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			select {
			case <-stop:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
	})
	defer close(stop)
	w := world{entry: fmt.Sprintf("{spec: a, hosts: [%q], timeout: 50ms}", host), document: get("http://" + host)}
	begun := time.Now()
	if r, err := w.call(t, "get", map[string]any{}); err == nil || !strings.Contains(err.Error(), "did not answer within 50ms") || time.Since(begun) > 10*time.Second {
		t.Errorf("%q, %v", text(r), err)
	}
	if r, err := w.call(t, "post", map[string]any{}); err != nil || !r.Error || !strings.Contains(text(r), "broke off") || !strings.Contains(text(r), "half") {
		t.Errorf("%q, %v", text(r), err)
	}
	w.gate = func() error { return errors.New("nobody trusts it") }
	if r, err := w.call(t, "get", map[string]any{}); err == nil || !strings.Contains(err.Error(), "nobody trusts it") {
		t.Errorf("%q, %v", text(r), err)
	}
}

// TestTools: what is offered of a service, and what is not.
func TestTools(t *testing.T) {
	w := world{entry: "{spec: a, hosts: [x.example]}", document: get("https://x.example")}
	s, err := w.service(t)
	if err != nil {
		t.Fatal(err)
	}
	tools, withheld, err := s.Tools()
	if err != nil || len(withheld) > 0 || len(tools) != 2 || tools[0].Def().Name != "svc_get" || !strings.HasPrefix(tools[0].Def().Description, "GET /x") {
		t.Fatalf("%v, %v, %v", tools, withheld, err)
	}
	for i, want := range []tool.Recovery{tool.Repeat, tool.Unknown} {
		if got := tools[i].(tool.Recoverer).Recovery(tool.Call{}); got != want {
			t.Errorf("%s: %v", tools[i].Def().Name, got)
		}
	}
	w.document = get("https://y.example")
	if s, err = w.service(t); err != nil {
		t.Fatal(err)
	}
	if tools, withheld, err = s.Tools(); err != nil || len(tools) > 0 || len(withheld) != 2 || !strings.Contains(withheld[0].Why, `hosts: ["y.example"]`) {
		t.Errorf("%v, %v, %v", tools, withheld, err)
	}
	var paths []string
	for i := range MaxTools + 1 {
		paths = append(paths, fmt.Sprintf(`"/p%d":{"get":{}}`, i))
	}
	w.document = `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{` + strings.Join(paths, ",") + `}}`
	if s, err = w.service(t); err != nil {
		t.Fatal(err)
	}
	many := (*TooManyError)(nil)
	if _, _, err = s.Tools(); !errors.As(err, &many) || many.Count != MaxTools+1 {
		t.Error(err)
	}
	if name := ToolName("svc", strings.Repeat("a", 64)); len(name) != 64 || name == ToolName("svc", strings.Repeat("a", 63)+"b") {
		t.Error(name)
	}
}

// TestRequest: what would be sent is shown without what variables hold.
func TestRequest(t *testing.T) {
	w := world{entry: `{spec: a, server: "https://x.example", auth: [{basic-env: B}, {key-env: K, in: query, name: key}], headers: {X-H: "v ${H}"}}`, document: get("https://x.example"),
		variables: map[string]string{"B": "u:planted-secret", "K": "planted-secret", "H": "planted-secret"}}
	s, err := w.service(t)
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Tool(s.Document.Operations[1])
	if err != nil {
		t.Fatal(err)
	}
	r, err := made.Request(tool.Call{ID: "c", Input: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(r)
	if string(got) != `{"method":"POST","url":"https://x.example/x?key=[K]","header":{"Authorization":"Basic [B]","Idempotency-Key":"c","X-H":"v [H]"}}` {
		t.Errorf("%s", got)
	}
}
