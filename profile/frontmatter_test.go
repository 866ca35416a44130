package profile_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

func TestSplit(t *testing.T) {
	long := strings.Repeat("a", profile.MaxFrontmatter)
	tests := []struct {
		name, in         string
		yaml, body       string
		yamlLine, bodyAt int
		codes            string
	}{
		{name: "plain", in: "---\na: 1\n---\nbody\n", yaml: "a: 1\n", body: "body\n", yamlLine: 2, bodyAt: 4},
		{name: "dashes in a value do not close", in: "---\nname: a---b\n---\nx", yaml: "name: a---b\n", body: "x", yamlLine: 2, bodyAt: 4},
		{name: "dashes indented do not close", in: "---\na: |\n  ---\n---\nx", yaml: "a: |\n  ---\n", body: "x", yamlLine: 2, bodyAt: 5},
		{name: "a rule in the body stays", in: "---\na: 1\n---\nx\n---\ny\n", yaml: "a: 1\n", body: "x\n---\ny\n", yamlLine: 2, bodyAt: 4},
		{name: "spaces after the dashes", in: "---  \na: 1\n--- \t\nx", yaml: "a: 1\n", body: "x", yamlLine: 2, bodyAt: 4},
		{name: "closer at the end of the file", in: "---\na: 1\n---", yaml: "a: 1\n", yamlLine: 2, bodyAt: 4},
		{name: "empty", in: "---\n---\nx", body: "x", yamlLine: 2, bodyAt: 3},
		{name: "CRLF", in: "---\r\na: 1\r\n---\r\nx\r\n", yaml: "a: 1\n", body: "x\n", yamlLine: 2, bodyAt: 4},
		{name: "mixed line ends", in: "---\r\na: 1\n---\nx\r\n", yaml: "a: 1\n", body: "x\n", yamlLine: 2, bodyAt: 4},
		{name: "byte order mark", in: "\ufeff---\na: 1\n---\nx", yaml: "a: 1\n", body: "x", yamlLine: 2, bodyAt: 4, codes: "P108"},
		{name: "blank lines before", in: "\n \n---\na: 1\n---\nx", yaml: "a: 1\n", body: "x", yamlLine: 4, bodyAt: 6, codes: "P108"},
		{name: "comment of two lines before", in: "<!-- a\nb -->\n---\na: 1\n---\nx", yaml: "a: 1\n", body: "x", yamlLine: 4, bodyAt: 6, codes: "P108"},
		{name: "nothing", in: "", codes: "P101"},
		{name: "text only", in: "# Title\n", codes: "P101"},
		{name: "indented as a whole", in: "  ---\n  a: 1\n  ---\n", codes: "P101"},
		{name: "text before", in: "x\n---\na: 1\n---\n", codes: "P101"},
		{name: "four dashes", in: "----\na: 1\n----\n", codes: "P101"},
		{name: "comment that does not end", in: "<!-- a\n---\na: 1\n---\n", codes: "P101"},
		{name: "not closed", in: "---\na: 1\n", yaml: "a: 1\n", yamlLine: 2, codes: "P102"},
		{name: "text glued to the closer", in: "---\na: 1\n---x\n", yaml: "a: 1\n---x\n", yamlLine: 2, codes: "P102"},
		{name: "frontmatter over the limit", in: "---\n" + long + "\n---\nx", yamlLine: 2, codes: "P106"},
		{name: "frontmatter at the limit", in: "---\n" + long[1:] + "\n---\nx", yaml: long[1:] + "\n", body: "x", yamlLine: 2, bodyAt: 4},
		{name: "not UTF-8", in: "---\na: \xff\n---\n", yaml: "a: \ufffd\n", yamlLine: 2, codes: "P105"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, ds := profile.Split("f.md", []byte(tt.in))
			var codes []string
			for _, d := range ds {
				codes = append(codes, d.Code)
			}
			if got := strings.Join(codes, " "); got != tt.codes {
				t.Errorf("codes %q, want %q", got, tt.codes)
			}
			if string(f.YAML) != tt.yaml || string(f.Body) != tt.body {
				t.Errorf("yaml %.40q body %.40q, want %.40q and %.40q", f.YAML, f.Body, tt.yaml, tt.body)
			}
			if f.YAMLLine != tt.yamlLine || f.BodyLine != tt.bodyAt {
				t.Errorf("lines %d and %d, want %d and %d", f.YAMLLine, f.BodyLine, tt.yamlLine, tt.bodyAt)
			}
			if f.CRLF != strings.Contains(tt.in, "\r\n") {
				t.Errorf("CRLF is %v", f.CRLF)
			}
		})
	}
}

func TestSplitSaysWhere(t *testing.T) {
	_, ds := profile.Split("f.md", []byte("---\nname: x\ntext: é\xfe\n---\n"))
	want := profile.Diagnostic{Severity: profile.SeverityError, Code: "P105", Name: "InvalidFormat", File: "f.md", Line: 3, Column: 8,
		Message: "the file is not UTF-8: byte 20 is 0xfe", Hint: "save it as UTF-8"}
	if len(ds) != 1 || ds[0] != want {
		t.Errorf("got %+v, want %+v", ds, want)
	}
	_, ds = profile.Split("f.md", []byte("---\na: 1\n---# Title\nbody\n"))
	if len(ds) != 1 || ds[0].Line != 3 {
		t.Errorf("a glued closer is at line 3: %+v", ds)
	}
	_, ds = profile.Split("f.md", make([]byte, profile.MaxFile+1))
	if len(ds) != 1 || ds[0].Code != profile.CodeTooLarge {
		t.Errorf("a file over the limit: %+v", ds)
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"---\na: 1\n---\nb", "\ufeff\n<!-- x -->\n---\r\n---", "---", "--- \n---\n---\n", "---\n--- x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.Clone(data)
		front, ds := profile.Split("f.md", data)
		if !bytes.Equal(in, data) {
			t.Fatal("the input was changed")
		}
		if profile.Refused(ds) {
			return
		}
		lf := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		if !bytes.HasSuffix(lf, front.Body) {
			t.Errorf("the body is not the end of the file: %q of %q", front.Body, lf)
		}
		for line := range bytes.Lines(front.YAML) {
			if strings.TrimRight(string(line), " \t\n") == "---" {
				t.Errorf("the frontmatter holds a closer: %q", front.YAML)
			}
		}
		lines := bytes.Split(lf, []byte("\n"))
		if front.YAMLLine < 2 || front.YAMLLine-2 >= len(lines) || !bytes.HasPrefix(lines[front.YAMLLine-2], []byte("---")) && front.YAMLLine == 2 && !bytes.Contains(lines[0], []byte("---")) {
			t.Errorf("line %d does not follow the opener in %q", front.YAMLLine, lf)
		}
		if got := bytes.Join(lines[front.BodyLine-1:], []byte("\n")); front.BodyLine <= len(lines) && !bytes.Equal(got, front.Body) {
			t.Errorf("the body is not at line %d", front.BodyLine)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	data := []byte("---\nname: reviewer\ndescription: Reviews changes.\nmodel: anthropic/claude-sonnet-4-5\n---\n" + strings.Repeat("A line of the prompt.\n", 200))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		profile.Split("f.md", data)
	}
}
