package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// show writes a value so that text, lists and maps differ.
func show(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, show(c))
		}
		return "[" + strings.Join(parts, "|") + "]"
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+"="+show(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, "|") + "}"
	case yaml.AliasNode:
		return show(n.Alias)
	}
	return n.Value
}

func read(front string) (got string, ds []profile.Diagnostic, ok bool) {
	f := &dialect.File{Name: "f.md", Data: []byte("---\n" + front + "\n---\nbody\n")}
	fields, ds, ok := dialect.ReadDocument(f)
	var parts []string
	for _, fd := range fields {
		parts = append(parts, fd.Key+"="+show(fd.Node))
	}
	return strings.Join(parts, ";"), ds, ok
}

// TestRepair: what a person reads in a frontmatter that YAML refuses.
func TestRepair(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"colon", "a: b: c", "a=b: c"},
		{"colon and hash", "a: see b: c#d # e", "a=see b: c#d # e"},
		{"colon at the end", "a: b c:\nd: e", "a=b c:;d=e"},
		{"trailing spaces", "a: b: c  \t\nd: e", "a=b: c;d=e"},
		{"inner quotes", `a: say "x: y" and 'z'`, `a=say "x: y" and 'z'`},
		{"backslashes stay", `a: b: c\n\td \ "e"`, `a=b: c\n\td \ "e"`},
		{"star", "a: *", "a=*"},
		{"star and text", "a: *.go files", "a=*.go files"},
		{"bold", "a: **MUST** be used", "a=**MUST** be used"},
		{"at", "a: @scope/pkg # x", "a=@scope/pkg # x"},
		{"backtick", "a: `x` runs", "a=`x` runs"},
		{"percent", "a: %d items", "a=%d items"},
		{"flow bar flow", "a: [x] | [y]", "a=[x] | [y]"},
		{"flow flow", "a: [x] [y z]", "a=[x] [y z]"},
		{"flow and text", "a: {x} rest: y", "a={x} rest: y"},
		{"reference and text", "a: {{name}} and more", "a={{name}} and more"},
		{"two quoted", `a: "x" or "y"`, `a="x" or "y"`},
		{"quoted and text", `a: "x" rest # y`, `a="x" rest # y`},
		{"quotes in quotes", `a: "say "x" to me"`, `a=say "x" to me`},
		{"quotes in quotes with an escape", `a: "say\n"x" to me"`, "a=say\n\"x\" to me"},
		{"apostrophe in quotes", `a: 'it's there'`, `a=it's there`},
		{"escaped apostrophe", `a: 'it\'s there'`, `a=it's there`},
		{"apostrophe escaped in double quotes", `a: "it\'s \"there\"\n"`, "a=it's \"there\"\n"},
		{"unknown escape", `a: "\d+ \w"`, `a=\d+ \w`},
		{"key other than a word stays", "a: b: c\n\"d e\": f", "a=b: c;d e=f"},
		{"comparison", "a: >=3", "a=>=3"},
		{"continuation", "a: b\n  c: d\n  and e\nf: g", "a=b c: d and e;f=g"},
		{"description goes on", "description: use for\n  pages: x, y\n  and z.\nf: g", "description=use for pages: x, y and z.;f=g"},
		{"laid out", "description: Use it.\n\n  Examples:\n  - <x>\n    user: \"y\"\n  - z\nf: g", "description=Use it.\n\nExamples:\n- <x>\n  user: \"y\"\n- z;f=g"},
		{"text below its key", "description:\n  Use when: x\n  and y\nf: g", "description=Use when: x and y;f=g"},
		{"one word and a colon below a text key", "description:\n  Triggers: a, b: c", "description=Triggers: a, b: c"},
		{"item", "a:\n  - b: c: d\n  - e", "a=[b: c: d|e]"},
		{"item with arguments", "a:\n  - Bash(git log: *)\n  - Read\n  - *", "a=[Bash(git log: *)|Read|*]"},
		{"items at the left edge", "a:\n- @x\n- y\nb: c: d", "a=[@x|y];b=c: d"},
		{"map below a key", "a:\n  b: c: d\n  e: @f\ng: h", "a={b=c: d|e=@f};g=h"},
		{"star as a key below a key", "permission:\n  *: deny\n  read: allow", "permission={*=deny|read=allow}"},
		{"items beside their key", "a:\n  b:\n  - @c\n  - d\n  e: f", "a={b=[@c|d]|e=f}"},
		{"map in a list", "handoffs:\n  - label: Go\n    prompt: Do: this\n  - label: B", "handoffs=[{label=Go|prompt=Do: this}|{label=B}]"},
		{"first key of a map in a list", "handoffs:\n  - label: Go: on\n    prompt: x", "handoffs=[{label=Go: on|prompt=x}]"},
		{"flow with a star", "tools: [*]", "tools=[*]"},
		{"flow with an at", "tools: [read, @x/y, 'z']", "tools=[read|@x/y|z]"},
		{"flow with a colon and a star", "tools: [Bash(git log: *), Read]", "tools=[Bash(git log: *)|Read]"},
		{"tabs", "a:\n\tb: c\n\td:\n\t\te: f\ng: h", "a={b=c|d={e=f}};g=h"},
		{"tabs and a colon", "a:\n\tb: c: d\n\te: f", "a={b=c: d|e=f}"},
		{"tabs before text", "description: a\n\tb\nc: d", "description=a b;c=d"},
		{"tabs in a block", "a: |\n\tb\n\tc\nd: e", "a=b\nc\n;d=e"},
		{"comment after", "a: b: c\n# d\n\n# e\nf: g", "a=b: c;f=g"},
		{"two keys", "a: b: c\nd: e\nf: *", "a=b: c;d=e;f=*"},
		{"others keep their text", "a: b: c\nmodel: a/b:c#d # e\nurl: http://x/y#frag", "a=b: c;model=a/b:c#d;url=http://x/y#frag"},
		{"others keep their form", "a: b: c\nd: |\n  x: y: z\n\n  w\ne: \"f\n  g: h\"\ni: [\n  j,\n]", "a=b: c;d=x: y: z\n\nw\n;e=f g: h;i=[j]"},
		{"key-like lines in quotes", "a: \"b\nc: d\"\ne: f: g", "a=b c: d;e=f: g"},
		{"anchors of others", "a: &x b\nc: *x\nd: e: f", "a=b;c=b;d=e: f"},
		{"carriage return", "a: b: c\rd", "a=b: c\rd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ds, ok := read(tt.in)
			for i := range ds {
				t.Log(&ds[i])
			}
			if !ok {
				t.Fatal("refused")
			}
			if len(ds) == 0 {
				t.Error("no warning: is it YAML?")
			}
			if got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRefused: what could mean more than one thing is an error at its place,
// and every faulty key has its own.
func TestRefused(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"quote not closed", "a: b\nc: \"d e\nf: g", "P141 3:4"},
		{"bracket not closed", "a: [b, c\nd: e", "P141 2:4"},
		{"two faults", "a: [b\nc: d\ne: 'f\ng: h", "P141 2:4, P141 4:4"},
		{"a fault and a repair", "a: [b\nc: d: e", "P141 2:4, P137 3:5"},
		{"text at the left edge", "a: b\nmore text\nc: d", "P139 3:1"},
		{"text with a colon at the left edge", "a: b: c\nmore text: d\ne: f", "P137 2:5, P139 3:1"},
		{"text below a block at the left edge", "a: |\nb c\nd: e", "P139 3:1"},
		{"rule instead of the closing line", "a: b\n-------\n\n# T\n\ntext: x: y", "P139 3:1"},
		{"closing line glued to a value", "a: b---\n\nSome text.", "P139 2:1"},
		{"three dots", "a: b\n...\nc: d", "P139 3:1"},
		{"first key indented", " a: b\nc: d", "P103 2:1"},
		{"indented key of profiles", "name: a\n  model: b\nc: d", "P140 3:3"},
		{"map below a value", "permission: allow\n  bash: deny\n  read: ask", "P140 2:13"},
		{"first key of a map without its colon", "a:\n  b c\n  d: e", "P140 3:3"},
		{"carriage return in a block", "a: |\n  b\rc\n  d", "P103 3:4"},
		{"one line of a map is no key", "a:\n  b: c\n  d\n  e: f", "P140 4:3"},
		{"comma missing", "a: [\n  'b'\n  'c',\n]", "P140 3:3"},
		{"quote not closed in a list", "a: [\n  'b,\n  'c',\n]", "P141 3:3"},
		{"key below a quoted text", "a: \"b\"\n c: \"d\"", "P140 3:2"},
		{"comment inside", "description: a: b\n  # c\n  d", "P140 3:3"},
		{"text behind a bar", "a: | b\n  c", "P140 2:4"},
		{"list in the line of its key", "a: - b\n  - c", "P140 2:4"},
		{"alias mistyped", "a: &x b\nc: *y", "P140 3:4"},
		{"text that starts with a star beside an anchor", "a: &x b\nc: **y**", "P140 3:4"},
		{"unknown escape among others", `a: "\d\n"`, "P140 2:5"},
		{"tabs and spaces", "a:\n\tb: c\n  d: e", "P103 3:1"},
		{"less indented", "a:\n    b: c\n  d: e", "P103 4:3"},
		{"control character", "a: b\x01c", "P103 2:5"},
		{"NUL", "a: b\nc: \x00", "P103 3:4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ds, ok := read(tt.in)
			if ok {
				t.Error("loaded")
			}
			var got []string
			for i := range ds {
				t.Log(&ds[i])
				got = append(got, fmt.Sprintf("%s %d:%d", ds[i].Code, ds[i].Line, ds[i].Column))
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
}

// TestRepairedPlaces: whatever was put in, places are those of the file.
func TestRepairedPlaces(t *testing.T) {
	f := &dialect.File{Name: "f.md", Data: []byte("---\ndescription: é: Use it.\n\n   - x\n\na: [*, @b, c]\nd:\n\t@e: é: f\n\tg: h\n---\n")}
	fields, ds, ok := dialect.ReadDocument(f)
	if !ok {
		t.Fatal(ds)
	}
	var got []string
	var places func(n *yaml.Node)
	places = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			at := dialect.NodeAt(f, n)
			got = append(got, fmt.Sprintf("%d:%d", at.Line, at.Column))
		}
		for _, c := range n.Content {
			places(c)
		}
	}
	for _, fd := range fields {
		got = append(got, fmt.Sprintf("%d:%d", fd.At.Line, fd.At.Column))
		places(fd.Node)
	}
	if s, want := strings.Join(got, " "), "2:1 2:14 6:1 6:5 6:8 6:12 7:1 8:2 8:6 9:2 9:5"; s != want {
		t.Errorf("places %s, want %s", s, want)
	}
}
