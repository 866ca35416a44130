package dialect

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestParseJSON(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // as JSON again
		fails      string
		line, col  int
	}{
		{"surrogate pairs, which YAML refuses", `{"a": "\ud83d\ude00 \/"}`, `{"a":"😀 /"}`, "", 0, 0},
		{"numbers as they are written", "{\"a\": 1e5,\n\t\"b\": 1.0, \"c\": -0}", `{"a":1e5,"b":1.0,"c":-0}`, "", 0, 0},
		{"a byte order mark", "\ufeff[1, null, true]", `[1,null,true]`, "", 0, 0},
		{"order and twins are kept", `{"b": 1, "a": {}, "b": []}`, `{"b":1,"a":{},"b":[]}`, "", 0, 0},
		{"a trailing comma", "{\n  \"a\": 1,\n}", "", "not valid JSON", 3, 1},
		{"not complete", "{\"a\": [1\n\n", "", "not complete", 1, 9},
		{"nothing", " \n", "", "not complete", 1, 1},
		{"a comment", "{\"a\": 1} // x", "", "follows the end", 1, 10},
		{"two values", "{}\n {}", "", "follows the end", 2, 2},
		{"not UTF-8", "{\n\"a\": \"\xff\"}", "", "not UTF-8 at byte 8", 2, 1},
		{"too deep", strings.Repeat("[", 200), "", "deeper than 100", 1, 102},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, d := parseJSON("config.json", []byte(c.text))
			if d != nil {
				if c.fails == "" || !strings.Contains(d.Message, c.fails) || d.Line != c.line || d.Column != c.col {
					t.Fatalf("%v, want %q at %d:%d", d, c.fails, c.line, c.col)
				}
				return
			}
			if got, err := toJSON(n); err != nil || string(got) != c.want || c.fails != "" {
				t.Errorf("%s, %v, want %s%s", got, err, c.want, c.fails)
			}
		})
	}
}

func TestJSONPlaces(t *testing.T) {
	n, d := parseJSON("config.json", []byte("{\n  \"ä\": \"b\", \"c\":\n    [1, {\"d\": 2}]\n}"))
	if d != nil {
		t.Fatal(d)
	}
	var got []string
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			got = append(got, strings.Join([]string{n.Value, string(rune('0' + n.Line)), string(rune('0' + n.Column))}, ":"))
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(n)
	if s := strings.Join(got, " "); s != "ä:2:3 b:2:8 c:2:= 1:3:6 d:3:: 2:3:?" {
		t.Errorf("%s", s)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, "x", null, {"b": -1.5e3}]}`, `[`, `{"a":1,}`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, d := parseJSON("config.json", data)
		if d != nil {
			if d.Line < 1 || d.Column < 1 || d.Line > 1+strings.Count(string(data), "\n") {
				t.Errorf("bad place: %v", d)
			}
			return
		}
		out, err := toJSON(n)
		if err != nil {
			t.Fatal(err)
		}
		again, d := parseJSON("config.json", out)
		if d != nil {
			t.Fatalf("%v\n%s", d, out)
		}
		if twice, _ := toJSON(again); string(twice) != string(out) {
			t.Errorf("%s and %s", out, twice)
		}
	})
}
