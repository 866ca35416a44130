package openapi

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// TestStyles: each style of a value of each kind, as the specification's table of
// style values has them.
func TestStyles(t *testing.T) {
	const (
		empty  = `""`
		text   = `"blue"`
		list   = `["blue","black","brown"]`
		object = `{"B":150,"G":200,"R":100}`
	)
	for _, c := range []struct {
		in, style string
		explode   bool
		want      [4]string // of empty, text, list and object; "!": an error, as a lone dot is another path
	}{
		{"path", "matrix", false, [4]string{";color", ";color=blue", ";color=blue,black,brown", ";color=B,150,G,200,R,100"}},
		{"path", "matrix", true, [4]string{";color", ";color=blue", ";color=blue;color=black;color=brown", ";B=150;G=200;R=100"}},
		{"path", "label", false, [4]string{"!", ".blue", ".blue,black,brown", ".B,150,G,200,R,100"}},
		{"path", "label", true, [4]string{"!", ".blue", ".blue.black.brown", ".B=150.G=200.R=100"}},
		{"path", "simple", false, [4]string{"!", "blue", "blue,black,brown", "B,150,G,200,R,100"}},
		{"path", "simple", true, [4]string{"!", "blue", "blue,black,brown", "B=150,G=200,R=100"}},
		{"query", "form", false, [4]string{"color=", "color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"}},
		{"query", "form", true, [4]string{"color=", "color=blue", "color=blue&color=black&color=brown", "B=150&G=200&R=100"}},
		{"query", "spaceDelimited", false, [4]string{"color=", "color=blue", "color=blue%20black%20brown", "color=B%20150%20G%20200%20R%20100"}},
		{"query", "pipeDelimited", false, [4]string{"color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=B%7C150%7CG%7C200%7CR%7C100"}},
		{"query", "tabDelimited", false, [4]string{"color=", "color=blue", "color=blue%09black%09brown", "color=B%09150%09G%09200%09R%09100"}},
		{"query", "deepObject", true, [4]string{"color=", "color=blue", "color=blue&color=black&color=brown", "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"}},
		{"header", "simple", false, [4]string{"", "blue", "blue,black,brown", "B,150,G,200,R,100"}},
		{"header", "simple", true, [4]string{"", "blue", "blue,black,brown", "B=150,G=200,R=100"}},
		{"cookie", "form", false, [4]string{"color=", "color=blue", "color=blue,black,brown", "color=B,150,G,200,R,100"}},
		{"cookie", "form", true, [4]string{"color=", "color=blue", "color=blue; color=black; color=brown", "B=150; G=200; R=100"}},
		{"cookie", "cookie", true, [4]string{"color=", "color=blue", "color=blue; color=black; color=brown", "B=150; G=200; R=100"}},
	} {
		for i, in := range []string{empty, text, list, object} {
			name := c.in + " " + c.style + map[bool]string{true: " exploded"}[c.explode] + " " + []string{"empty", "text", "list", "object"}[i]
			t.Run(name, func(t *testing.T) {
				got, err := written(Parameter{Name: "color", Arg: "color", In: c.in, Style: c.style, Explode: c.explode}, in)
				if c.want[i] == "!" {
					if err == nil {
						t.Fatalf("%q, not an error", got)
					}
					return
				}
				if err != nil || got != c.want[i] {
					t.Errorf("%q, %v, want %q", got, err, c.want[i])
				}
			})
		}
	}
}

// written gives how a parameter stands in a request.
func written(p Parameter, in string) (string, error) {
	o := &Operation{Method: "GET", Path: "/", Parameters: []Parameter{p}}
	if p.In == "path" {
		o.Path = "/{" + p.Name + "}"
	}
	at := &url.URL{Scheme: "https", Host: "x.example"}
	r, err := o.build(at, []byte(`{"`+p.Arg+`":`+in+`}`), nil)
	if err != nil {
		return "", err
	}
	switch p.In {
	case "path":
		return strings.TrimPrefix(r.url.EscapedPath(), "/"), nil
	case "query":
		return r.url.RawQuery, nil
	case "header":
		return r.headers().Get(p.Name), nil
	}
	return r.headers().Get("Cookie"), nil
}

// TestEscapes: what an input holds means nothing but itself.
func TestEscapes(t *testing.T) {
	const odd = `"a/b?c#d&e=f g%h+i;j,k\\l[m]:@é"`
	for _, c := range []struct {
		name string
		p    Parameter
		in   string
		want string // "!…": a part of the error
	}{
		{"in a path", Parameter{In: "path", Style: "simple"}, odd, "a%2Fb%3Fc%23d%26e%3Df%20g%25h%2Bi%3Bj%2Ck%5Cl%5Bm%5D%3A%40%C3%A9"},
		{"in a query", Parameter{In: "query", Style: "form"}, odd, "x=a%2Fb%3Fc%23d%26e%3Df%20g%25h%2Bi%3Bj%2Ck%5Cl%5Bm%5D%3A%40%C3%A9"},
		{"reserved allowed", Parameter{In: "query", Style: "form", AllowReserved: true}, odd, "x=a/b?c%23d%26e=f%20g%25h%2Bi;j,k%5Cl%5Bm%5D:@%C3%A9"},
		{"reserved allowed, escaped already", Parameter{In: "query", Style: "form", AllowReserved: true}, `"a%2Fb%zz"`, "x=a%2Fb%25zz"},
		{"in a cookie", Parameter{In: "cookie", Style: "form"}, `"a; b=c"`, "x=a%3B%20b%3Dc"},
		{"in a plain cookie", Parameter{In: "cookie", Style: "cookie"}, `"a; b=c"`, "!no cookie can have"},
		{"in a header", Parameter{In: "header", Style: "simple"}, `"a b"`, "a b"},
		{"another header", Parameter{In: "header", Style: "simple"}, `"a\r\nX-Evil: 1"`, "!control character"},
		{"up a path", Parameter{In: "path", Style: "simple"}, `".."`, "!another path"},
		{"here in a path", Parameter{In: "path", Style: "simple"}, `"."`, "!another path"},
		{"up and down a path", Parameter{In: "path", Style: "simple"}, `"a/../../admin"`, "!another path"},
		{"up with backslashes", Parameter{In: "path", Style: "simple"}, `"..\\admin"`, "!another path"},
		{"up in a list", Parameter{In: "path", Style: "simple"}, `["..", "x"]`, "!another path"},
		{"dots that are none", Parameter{In: "path", Style: "simple"}, `"..."`, "..."},
		{"escaped dots", Parameter{In: "path", Style: "simple"}, `"%2e%2e"`, "%252e%252e"},
		{"a number as it is written", Parameter{In: "query", Style: "form"}, `12345678901234567890.10`, "x=12345678901234567890.10"},
		{"a truth", Parameter{In: "query", Style: "form"}, `true`, "x=true"},
		{"nothing", Parameter{In: "query", Style: "form"}, `null`, ""},
		{"an empty list", Parameter{In: "query", Style: "form", Explode: true}, `[]`, ""},
		{"what nests", Parameter{In: "query", Style: "form", Explode: true}, `[{"a":[1]}]`, "x=%7B%22a%22%3A%5B1%5D%7D"},
		{"what nests deeply", Parameter{In: "query", Style: "deepObject", Explode: true}, `{"a":{"b":[1,2]},"c]":"d"}`, "x%5Ba%5D%5Bb%5D=1&x%5Ba%5D%5Bb%5D=2&x%5Bc%5D%5D=d"},
		{"JSON in a query", Parameter{In: "query", Style: "form", Content: "application/json"}, `{"a": "b c"}`, "x=%7B%22a%22%3A%22b%20c%22%7D"},
		{"JSON text in a query", Parameter{In: "query", Style: "form", Content: "application/json"}, `"a"`, "x=%22a%22"},
		{"JSON in a header", Parameter{In: "header", Style: "simple", Content: "application/json"}, `{"a": [1, 2]}`, `{"a":[1,2]}`},
		{"text in a query", Parameter{In: "query", Style: "form", Content: "text/plain"}, `"a&b"`, "x=a%26b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.Name, c.p.Arg = "x", "x"
			got, err := written(c.p, c.in)
			if why, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%q, %v, want %q", got, err, why)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%q, %v\nwant %q", got, err, c.want)
			}
		})
	}
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Cookie", "Authorization", "Content-Type", "a b", "a\r\nb"} {
		if got, err := written(Parameter{Name: name, Arg: "x", In: "header", Style: "simple"}, `"y"`); err == nil {
			t.Errorf("the header %q can be set: %q", name, got)
		}
	}
}

// TestPaths: what a document says of a path leads nowhere else either.
func TestPaths(t *testing.T) {
	at, _ := url.Parse("https://x.example/v1")
	for path, want := range map[string]string{
		"/a/b": "/v1/a/b", "/a b/ü": "/v1/a%20b/%C3%BC", "/a%2Fb": "/v1/a%2Fb", "/a?b=c&d=e": "/v1/a?b=c&d=e", "/": "/v1/", "/x;y=1:z@(a)": "/v1/x;y=1:z@(a)",
		"/a#b": "/v1/a%23b", "/../a": "!", "/a/..": "!", "/a/%2e%2E/b": "!", "//evil.example/a": "/v1//evil.example/a", "/{no}": "!", "/{": "!", "/a%zz": "/v1/a%25zz",
	} {
		r, err := (&Operation{Method: "GET", Path: path}).build(at, []byte("{}"), nil)
		if want == "!" {
			if err == nil {
				t.Errorf("%s: %s", path, r.url)
			}
			continue
		}
		if err != nil || r.url.String() != "https://x.example"+want {
			t.Errorf("%s: %v, %v", path, r, err)
		}
	}
	long := json.RawMessage(`{"x":"` + strings.Repeat("a", maxURL) + `"}`)
	if _, err := (&Operation{Method: "GET", Path: "/", Parameters: []Parameter{{Name: "x", Arg: "x", In: "query", Style: "form"}}}).build(at, long, nil); err == nil {
		t.Error("an address of any length is called")
	}
}
