package tool

import (
	"bytes"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	tests := map[string]struct {
		content  string
		old, new string
		all      bool
		want     string
		says     string
	}{
		"one":                    {"a b c\n", "b", "x", false, "a x c\n", "edited a.txt at line 1, 6 bytes"},
		"deletion":               {"a\nb\nc\n", "b\n", "", false, "a\nc\n", "line 2"},
		"all":                    {"b a\nb\nab\n", "b", "x", true, "x a\nx\nax\n", "line 1, 2, 3"},
		"all, not overlapping":   {"aaaa", "aa", "b", true, "bb", "line 1, 1"},
		"multi-byte":             {"Grüße 🌍!\n", "ü", "ö", false, "Größe 🌍!\n", "line 1"},
		"crlf kept":              {"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", false, "x\r\ny\r\nz\r\nc\r\n", "line 1"},
		"crlf given":             {"a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", "line 1"},
		"crlf, all":              {"a\r\nb\r\na\r\nb\r\n", "a\n", "x\n", true, "x\r\nb\r\nx\r\nb\r\n", "line 1, 3"},
		"crlf, new line":         {"a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n", "line 2"},
		"mixed, rest untouched":  {"a\r\nb\nc\r\n", "b", "x", false, "a\r\nx\nc\r\n", "line 2"},
		"lone cr":                {"a\rb\r\nc", "c", "x", false, "a\rb\r\nx", "line 2"},
		"lf file keeps given cr": {"a\nb\n", "a", "a\r", false, "a\r\nb\n", "line 1"},
		"bom kept":               {"\xef\xbb\xbfa\n", "a", "b", false, "\xef\xbb\xbfb\n", "line 1"},
		"not utf-8 kept":         {"\xff\xfea b\n", "b", "c", false, "\xff\xfea c\n", "line 1"},
		"no newline at end":      {"a\nb", "b", "c", false, "a\nc", "line 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.file("a.txt", tt.content)
			f.has(f.ok("edit", object{"path": "a.txt", "old": tt.old, "new": tt.new, "replace-all": tt.all}), tt.says)
			if got := f.content("a.txt"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditRefusals(t *testing.T) {
	f := newFixture(t)
	text := "func main() {\n\tfmt.Println(\"hello\")\n}\nx\nx\n"
	f.file("a.go", text)
	f.fails("edit", object{"path": "a.go", "old": "zzz", "new": "y"}, "the old text is not in the file")
	f.fails("edit", object{"path": "a.go", "old": "x", "new": "y"}, "in the file 2 times, at line 4, 5")
	f.fails("edit", object{"path": "a.go", "old": "x", "new": "x"}, "identical")
	f.fails("edit", object{"path": "a.go", "old": "", "new": "x"}, "old: minLength")
	f.fails("edit", object{"path": "a.go", "old": `    fmt.Println("hello")`, "new": "x"},
		"it differs only in white space from what is at line 2:\n\tfmt.Println(\"hello\")")
	f.fails("edit", object{"path": "a.go", "old": "func main() {\n\tfmt.Println(\"hallo\")\n}", "new": "x"},
		"; the nearest is at line 1:\nfunc main() {\n\tfmt.Println(\"hello\")\n}")
	f.fails("edit", object{"path": "none", "old": "x", "new": "y"}, "none does not exist")
	f.fails("edit", object{"path": ".", "old": "x", "new": "y"}, ". is a directory")
	f.file("aaa", "aaa")
	f.fails("edit", object{"path": "aaa", "old": "aa", "new": "b"}, "in the file 2 times")
	f.same(f.content("a.go"), text)
}

func TestEditIsBounded(t *testing.T) {
	data := []byte(strings.Repeat("a", 1<<20))
	if _, _, err := replace(data, "a", strings.Repeat("b", 1<<10), true); err == nil {
		t.Error("a file of 1 GiB was made")
	}
	if hint := nearest(bytes.Repeat([]byte("some line\n"), 1<<20), strings.Repeat("some lime\n", 1000)); len(hint) > 1000 {
		t.Errorf("a hint of %d bytes", len(hint))
	}
}

// FuzzReplace compares with the plain replacement, which is the same for a
// file whose line endings are all of one kind.
func FuzzReplace(f *testing.F) {
	f.Add("a\nb\nc\n", "b\n", "x\ny\n", true)
	f.Add("a\nb", "b", "", false)
	f.Add("\n\n\n", "\n", "z", true)
	f.Fuzz(func(t *testing.T, text, old, new string, crlf bool) {
		if old == "" || strings.ContainsRune(text+old+new, '\r') {
			return
		}
		want := strings.ReplaceAll(text, old, new)
		data := text
		if crlf && strings.Contains(text, "\n") {
			data, want = strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(want, "\n", "\r\n")
		}
		got, lines, err := replace([]byte(data), old, new, true)
		if found := strings.Count(text, old); found == 0 != (err != nil) || len(lines) != found {
			t.Fatalf("%d found, lines %v, error %v", found, lines, err)
		}
		if err == nil && string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
		once, _, err := replace([]byte(data), old, new, false)
		if err == nil && string(once) != want {
			t.Errorf("once: got %q, want %q", once, want)
		}
	})
}

func TestNearestIsBounded(t *testing.T) {
	f := newFixture(t)
	f.file("long", strings.Repeat("hello world ", 1<<20))
	_, err := f.run("edit", object{"path": "long", "old": strings.Repeat("hello  world ", 100) + "!", "new": "x"})
	if err == nil || len(err.Error()) > 2*nearestLineBytes {
		t.Errorf("%.100v", err)
	}
}
