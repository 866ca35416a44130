package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/tool"
)

// What is read is what was written, line by line; what is too long is left out, and
// what comes after it is not.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("{}\n\n {\"a\":1}\r\n"), 10)
	f.Add([]byte("0123456789\n01\n"), 5)
	f.Add(bytes.Repeat([]byte("0123456789abcdef"), 9000), 100_000)
	f.Fuzz(func(t *testing.T, data []byte, max int) {
		if max < 1 || max > 1<<20 {
			return
		}
		var want []string
		for part := range bytes.Lines(data) {
			if !bytes.HasSuffix(part, []byte("\n")) {
				break
			}
			if len(part) > max && len(part) > 64<<10 { // a line of one read is never too long
				want = append(want, fmt.Sprint("too long: ", len(part)))
			} else {
				want = append(want, string(bytes.TrimSpace(part)))
			}
		}
		in := newFrames(bytes.NewReader(data), max)
		for i := 0; ; i++ {
			got, over, err := in.next()
			if err != nil {
				if i != len(want) {
					t.Fatalf("%d lines, want %d", i, len(want))
				}
				return
			}
			text := string(got)
			if over != nil {
				text = fmt.Sprint("too long: ", over.size)
				if a := over.answer(); a != nil && !json.Valid(a) {
					t.Fatalf("%q", a)
				}
			}
			if i >= len(want) || text != want[i] {
				t.Fatalf("line %d: %.100q", i, text)
			}
		}
	})
}

// The id of a message is found wherever it stands, and nothing else is taken for it.
func FuzzID(f *testing.F) {
	f.Add(int64(7), "text", `\"id\":9`, true)
	f.Add(int64(-1), "}{", `id`, false)
	f.Fuzz(func(t *testing.T, id int64, key, value string, first bool) {
		result, err := json.Marshal(map[string]any{key: value, "id": value, "list": []any{value, map[string]any{"id": 1}}})
		if err != nil {
			t.Fatal(err)
		}
		message := fmt.Sprintf(`{"jsonrpc":"2.0","result":%s,"id":%d}`, result, id)
		if first {
			message = fmt.Sprintf(`{"id" : %d , "result":%s}`, id, result)
		}
		var in idFinder
		in.feed([]byte(message))
		if got := string(in.answers()); got != fmt.Sprint(id) {
			t.Fatalf("%q in %s", got, message)
		}
	})
}

// Whatever a server calls itself and its tools, and says of them, what comes of it can
// be given to every provider and shown on every terminal.
func FuzzTexts(f *testing.F) {
	f.Add("server", "tool", "a\x1b[2J\u202e\U000e0041", 5)
	f.Add(strings.Repeat("ё", 100), "", "\xff\xfe", 0)
	f.Fuzz(func(t *testing.T, server, name, text string, max int) {
		if n := Name(server, name); len(n) > maxName || strings.Trim(n, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Fatalf("%q", n)
		}
		if max < 0 || max > 1<<16 {
			return
		}
		for _, got := range []string{clean(text, max), line(text, max)} {
			if len(got) > max || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
				return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
			}) {
				t.Fatalf("%q", got)
			}
		}
		if got := shorten(text, max); len(text) > max && len(got) > max+40 {
			t.Fatalf("%d bytes of %d", len(got), max)
		}
	})
}

// A schema is within its bounds and can be used, or there is a reason why not.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","pattern":"(a+)+$","description":"x\u001b"}}}`))
	f.Add([]byte(`{"$ref":"#"}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		text, err := schemaOf(v)
		if err != nil {
			return
		}
		if len(text) > maxSchema || !bytes.HasPrefix(text, []byte("{")) || !json.Valid(text) {
			t.Fatalf("%q", text)
		}
		if x, err := tool.NewValidator(&model.ToolDef{Name: "x", Schema: text}); err == nil {
			_ = x.Validate([]byte(`{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"}`))
		}
	})
}
