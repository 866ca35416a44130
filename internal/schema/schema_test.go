package schema

import (
	"strings"
	"testing"
)

func TestCompile(t *testing.T) {
	for _, c := range []struct {
		name, text, want string // want is part of the error; "": none
	}{
		{"an object", `{"type":"object"}`, ""},
		{"anything", `true`, ""},
		{"no JSON", `{"type":`, "not JSON"},
		{"two values", `{} {}`, "not JSON"},
		{"not a schema", `{"type":"thing"}`, "does not compile"},
		{"a reference within", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, ""},
		{"a reference out of it", `{"$ref":"http://localhost/x.json"}`, "does not compile"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "does not compile"},
		{"a reference to itself", `{"$ref":"#"}`, ""},
		{"a pattern that is none", `{"pattern":"("}`, "does not compile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile([]byte(c.text))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if s != nil {
				s.Violations([]byte(`{"a":1}`), "answer") // ends
			}
		})
	}
}

func TestViolations(t *testing.T) {
	s, err := Compile([]byte(`{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"type":"string"}}},"required":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, value, want string
	}{
		{"fits", ` {"n":1} `, ""},
		{"text", "I think it is 1.", "the answer is not valid JSON"},
		{"text around it", "```json\n{\"n\":1}\n```", "the answer is not valid JSON"},
		{"two values", `{"n":1}{"n":2}`, "the answer is not valid JSON"},
		{"nothing", "", "the answer is not valid JSON"},
		{"a wrong kind", `[]`, "answer: got array, want object"},
		{"several", `{"list":["a",1]}`, "answer: missing property 'n'; list.1: got number, want string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(s.Violations([]byte(c.value), "answer"), "; ")
			if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestStrict(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"all required, no others", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, true},
		{"others allowed", `{"type":"object","properties":{"a":{}},"required":["a"]}`, false},
		{"not all required", `{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"additionalProperties":false}`, false},
		{"others required", `{"type":"object","properties":{"a":{}},"required":["b"],"additionalProperties":false}`, false},
		{"below", `{"type":"array","items":{"type":"object","properties":{"a":{}}}}`, false},
		{"no object", `{"type":"array","items":{"type":"integer"}}`, true},
		{"no JSON", `{`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Strict([]byte(c.text)); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
