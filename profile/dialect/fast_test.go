package dialect

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// sameTree gives the first place where fast and the library differ, in what
// anybody reads of a node.
func sameTree(got, want *yaml.Node) error {
	a, b := *got, *want
	for _, n := range []*yaml.Node{&a, &b} {
		n.HeadComment, n.LineComment, n.FootComment, n.Content = "", "", "", nil
	}
	if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
		return fmt.Errorf("fast:    %+v\nlibrary: %+v", a, b)
	}
	if len(got.Content) != len(want.Content) {
		return fmt.Errorf("line %d: fast has %d children, the library %d", got.Line, len(got.Content), len(want.Content))
	}
	for i := range got.Content {
		if err := sameTree(got.Content[i], want.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckFast says whether fast reads a text, and fails when the library does not
// read the same.
func CheckFast(t *testing.T, text string) bool {
	t.Helper()
	got, ok := parseFast([]byte(text))
	if !ok {
		return false
	}
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc, depthLimit); err != nil {
		t.Fatalf("fast reads what the library refuses: %v\n%s", err, text)
	}
	if err := sameTree(got, doc.Content[0]); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return true
}

// mine are texts that fast must read, or it is of no use.
var mine = map[string]string{
	"keys":                "name: reviewer\nmodel: a/b:c#d\ntools: Read, Bash(git push:*), Grep\n",
	"quoted":              "a: 'it''s'\nb: \"x: y # z\"\n\"*\": deny\n'git *': ask\n",
	"escapes":             "a: \"one\\ntwo \\\"three\\\" \\\\ \\t \\/\"\n",
	"types":               "a: true\nb: 1\nc: 0.25\nd: ~\ne: null\nf: 10m\ng: 1h30m\nh: 3 things\nk: 1.0.2\nl: 1.\nm: 2001-12-14\ni: \"1\"\nj: no\n",
	"no value":            "a:\nb: \nc:   # nothing\n",
	"map in map":          "permission:\n  edit: deny\n  bash:\n    \"git *\": allow\n    \"*\": ask\n  webfetch: deny\nmode: all\n",
	"list":                "tools:\n  - Read\n  - \"Write\"\n  -\n  - x: 1\n    y: 2\nnext: 1\n",
	"list at the key":     "tools:\n- Read\n- Write\nnext: 1\n",
	"list at an item's":   "a:\n- b:\n  - c\n  - d\n  e: f\n-   g:\n      h: i\n",
	"flow":                "a: [b, \"c\", d e, Bash(git push:*)]\nb: {x: 1, y: [z, {w: v}]}\nc: []\nd: {}\ne: [a,b,]\n",
	"flow in lines":       "a: [\n  b, # c\n\n  'd',\n]\ne:\n  f: {\n    g: h,\n    i:\n      [j,\n       k] }\nl:\n  [\n    m\n  ]\nn:\n  - [o,\n    p]\n",
	"literal":             "a: |\n  one\n    two\n\n  three\nb: |-\n  x\n\nc: |+\n  y\n\n\nd: e\n",
	"folded":              "a: >\n  one\n  two\n\n  three\n\n\n  four\nb: >-\n\n  x\nc: >+\n  y\n\n",
	"text in an item":     "a:\n  - |\n    one\n    two\n  - >\n    three\n",
	"comments":            "# top\na: b # c\n\n  # deep\nc:\n  # in\n  d: e\n# end\n",
	"other scripts":       "a: naïve café — 日本語 🎉\nb: [é, ü, {ö: ä}]\nß: ÿ\n",
	"spaces behind":       "a: b   \nc:   d\ne : f\n",
	"a text with a colon": "url: http://x/y#frag\nwin: C:\\dir\n",
}

func TestFast(t *testing.T) {
	for name, text := range mine {
		t.Run(name, func(t *testing.T) {
			if !CheckFast(t, text) {
				t.Errorf("not read:\n%s", text)
			}
		})
	}
}

// notMine are texts whose reading is the library's.
var notMine = map[string]string{
	"empty":                 "",
	"no line feed":          "a: b",
	"only comments":         "# a\n",
	"root list":             "- a\n",
	"root text":             "a\n",
	"indented root":         "  a: b\n",
	"goes on":               "a: b\n  c\n",
	"goes on, quoted":       "a: \"b\n  c\"\n",
	"goes on in a list":     "a: [b\n  c]\n",
	"flow at the margin":    "a: [b,\nc]\n",
	"flow without end":      "a: [b,\n",
	"tab":                   "a:\tb\n",
	"carriage return":       "a: b\r\n",
	"odd line break":        "a: b\u2028c: d\n",
	"byte order mark":       "\ufeffa: b\n",
	"anchor":                "a: &x b\nc: *x\n",
	"tag":                   "a: !!str 1\n",
	"merge":                 "a: {b: c}\n<<: {d: e}\n",
	"complex key":           "? a\n: b\n",
	"two colons":            "a: b: c\n",
	"document":              "a: b\n---\nc: d\n",
	"end of document":       "a: b\n...\n",
	"directive":             "%YAML 1.2\n---\na: b\n",
	"octal":                 "a: 0777\n",
	"hexadecimal":           "a: 0x1f\n",
	"date":                  "a: 2001-1-14\n",
	"no date":               "a: 2001-13-14\n",
	"infinity":              "a: .inf\n",
	"minus zero":            "a: -0\n",
	"escape":                "a: \"\\u263a\"\n",
	"behind a quote":        "a: \"b\"c\n",
	"behind a list":         "a: [b] | [c]\n",
	"list in a list's line": "a:\n- - b\n",
	"star":                  "a: *\n",
	"less deep":             "a:\n    b: c\n  d: e\n",
	"deeper":                "a: b\n  c: d\n",
	"item of nothing":       "a: b\n- c\n",
	"indented text":         "a: |2\n   b\n",
	"deeper folded":         "a: >\n  b\n    c\n",
	"blanks in a text":      "a: |\n  b\n     \n  c\n",
	"empty text":            "a: |\nb: c\n",
	"deep":                  "a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
}

func TestFastLeavesTheRest(t *testing.T) {
	for name, text := range notMine {
		t.Run(name, func(t *testing.T) {
			if _, ok := parseFast([]byte(text)); ok {
				t.Errorf("read:\n%s", text)
			}
		})
	}
}

// TestFastIsLinear reads files of the greatest size that are one long line or
// very many short ones; a square of their length would not end.
func TestFastIsLinear(t *testing.T) {
	const n = 500_000
	for name, text := range map[string]string{
		"lines":       strings.Repeat("a: b\n", n),
		"no values":   strings.Repeat("é:\n", n),
		"items":       "a:\n" + strings.Repeat("- b\n", n),
		"one line":    "a: [" + strings.Repeat("é, ", n) + "]\n",
		"one map":     "a: {" + strings.Repeat("é: ü, ", n) + "}\n",
		"blank lines": "a: |\n  b\n" + strings.Repeat("\n", n) + "c: d\n",
		"one text":    "a: '" + strings.Repeat("''", n) + "'\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := parseFast([]byte(text)); !ok {
				t.Error("not read")
			}
		})
	}
}

// FuzzFast: what fast reads, the library reads as the same tree.
func FuzzFast(f *testing.F) {
	for _, texts := range []map[string]string{mine, notMine} {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			return
		}
		CheckFast(t, text)
	})
}
