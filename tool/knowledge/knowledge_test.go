package knowledge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a workspace with the tools.
type shelf struct {
	t        testing.TB
	root     string
	state    string
	settings string
	rules    []permission.Rule
	headless bool
}

func newShelf(t testing.TB, files map[string]string) *shelf {
	t.Helper()
	s := &shelf{t: t, root: t.TempDir(), state: t.TempDir(), settings: `{"folders": ["docs"]}`}
	s.write(files)
	return s
}

func (s *shelf) write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

// call gives the result of a call as text, as the engine makes it.
func (s *shelf) call(name string, in map[string]any) string {
	s.t.Helper()
	builtins, err := tool.Builtins(tool.Env{Root: s.root, StateDir: s.state, Exec: []string{"x"}})
	if err != nil {
		s.t.Fatal(err)
	}
	tools, err := New(Options{Settings: json.RawMessage(s.settings), Root: s.root, Indexes: filepath.Join(s.state, "knowledge"), Hidden: s.state, Read: builtins[0]})
	if err != nil {
		s.t.Fatal(err)
	}
	permit, err := permission.Compile(permission.Layers{Rules: append(permission.Builtin(), s.rules...), Headless: s.headless, Workspace: s.root})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, made := range tools {
		if made.Def().Name != name {
			continue
		}
		input, _ := json.Marshal(in)
		v, err := tool.NewValidator(made.Def())
		if err != nil {
			s.t.Fatal(err)
		}
		if err := v.Validate(input); err != nil {
			return "error: " + err.Error()
		}
		p, err := made.Prepare(s.t.Context(), tool.Call{ID: "c", Session: "s", Input: input, Permit: permit})
		if err != nil {
			return "error: " + err.Error()
		}
		defer p.Close()
		if d := permit.Decide(p.Needs()...); d.Effect != permission.Allow {
			return d.Effect.String() + ": " + d.Reason
		}
		r, err := p.Run(s.t.Context(), func(string) {})
		if err != nil {
			return "error: " + err.Error()
		}
		return message.PartsText(r.Parts)
	}
	s.t.Fatalf("there is no %s", name)
	return ""
}

func (s *shelf) search(query string) string {
	return s.call(SearchName, map[string]any{"query": query})
}

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if text, not := strings.CutPrefix(w, "!"); not == strings.Contains(got, text) {
			t.Errorf("%q in\n%s", w, got)
		}
	}
}

var library = map[string]string{
	"docs/install.md":   "# Installing\n\nDownload the archive.\n\n## On Linux\n\nUnpack it and run the installer.\nThe configuration is in /etc/thing.conf.\n\n```sh\n# not a heading\nmake install\n```\n",
	"docs/deep/faq.txt": "Why does it fail?\nBecause the network is down.\nCafé, naïve, Größe.\n",
	"docs/page.html":    "<html><head><title>The &amp; Page</title>\n<style>secretstyle { }</style>\n<script>var networkscript = 1\n</script></head>\n<body><p>Networks are\n<b>fun</b> &lt;really&gt;.</p>",
	"docs/.hidden.md":   "hidden network",
	"docs/image.png":    "network",
	"docs/binary.txt":   "net\x00work network",
	"elsewhere.md":      "network elsewhere",
}

func TestSearch(t *testing.T) {
	s := newShelf(t, library)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"network", []string{"docs/deep/faq.txt\n", "docs/deep/faq.txt:2: Because the network is down.", "docs/page.html", "docs/page.html:5: Networks are", "!hidden", "!elsewhere", "!image", "!binary", "!networkscript"}},
		{"installers", []string{"docs/install.md › On Linux", "docs/install.md:7: Unpack it and run the installer."}},
		{"cafe", []string{"docs/deep/faq.txt:3: Café, naïve, Größe."}},
		{"GRÖSSE größe", []string{"docs/deep/faq.txt:3"}},
		{`"run the installer"`, []string{"docs/install.md:7"}},
		{`"installer the run"`, []string{"[nothing fits"}},
		{"down*", []string{"docs/install.md:3: Download", "docs/deep/faq.txt:2"}},
		{"network -down", []string{"docs/page.html", "!faq"}},
		{"configuration zebra", []string{"docs/install.md:8: The configuration"}}, // some of it
		{"faq", []string{"docs/deep/faq.txt"}},                                    // by name
		{"secretstyle", []string{"[nothing fits"}},
		{"really", []string{"docs/page.html:6:", "<really>"}},
		{`*`, []string{"error: the query has no words"}},
		{`-only`, []string{"error: the query has no words"}},
		{`network" OR name:x NEAR( ) ^ {`, []string{"docs/deep/faq.txt"}}, // nothing of it is a command
		{`unclosed "network is`, []string{"docs/deep/faq.txt:2"}},
	} {
		t.Run(c.query, func(t *testing.T) { has(t, s.search(c.query), c.want...) })
	}
}

func TestListAndRead(t *testing.T) {
	s := newShelf(t, library)
	got := s.call(ListName, map[string]any{})
	want := "docs/binary.txt (0 lines)\ndocs/deep/faq.txt (4 lines)\ndocs/install.md (14 lines): Installing\ndocs/page.html (6 lines): The & Page\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	has(t, s.call(ListName, map[string]any{"path": "docs/deep"}), "faq.txt", "!install")
	has(t, s.call(ListName, map[string]any{"offset": 3}), "!binary", "install")
	has(t, s.call(ReadName, map[string]any{"path": "docs/install.md", "offset": 7, "limit": 1}), "Unpack it", "!Download")
	has(t, s.call(ReadName, map[string]any{"path": "elsewhere.md"}), "error: elsewhere.md is not in the knowledge base")
	has(t, s.call(ReadName, map[string]any{"path": "docs/../elsewhere.md"}), "error: ")
	has(t, s.call(ReadName, map[string]any{"path": "/etc/passwd"}), "error: ")
}

// TestRulesOfRead: what read denies or would ask for is neither listed, found nor
// read, and it is said how much that is.
func TestRulesOfRead(t *testing.T) {
	s := newShelf(t, library)
	s.write(map[string]string{"docs/private/pay.md": "# Pay\nthe network of salaries", "docs/ask.md": "network to ask for"})
	s.rules = []permission.Rule{{Tool: "read", Subject: "docs/private/*", Effect: permission.Deny}, {Tool: "read", Subject: "docs/ask.md", Effect: permission.Ask}}
	has(t, s.search("network"), "docs/page.html", "!pay", "!salaries", "!ask.md", "[2 files left out: the permission rules do not allow to read]")
	has(t, s.call(ListName, map[string]any{}), "!pay", "!ask.md", "[2 files left out")
	has(t, s.call(ReadName, map[string]any{"path": "docs/private/pay.md"}), "deny: ")
	has(t, s.call(ReadName, map[string]any{"path": "docs/ask.md"}), "ask: ")
	s.rules = append(s.rules, permission.Rule{Tool: "knowledge_*", Subject: "*", Effect: permission.Deny})
	has(t, s.search("network"), "deny: ")
	has(t, s.call(ReadName, map[string]any{"path": "docs/install.md"}), "deny: ")
}

// TestOutside: a folder outside of the workspace needs what a file there needs.
func TestOutside(t *testing.T) {
	s := newShelf(t, nil)
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "a.md"), []byte("far network"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.settings = fmt.Sprintf(`{"folders": [%q]}`, out)
	has(t, s.search("network"), "ask: ")
	s.rules = []permission.Rule{{Tool: permission.ExternalDirectory, Subject: out + "*", Effect: permission.Allow}}
	has(t, s.search("network"), out+"/a.md:1: far network")
	has(t, s.call(ReadName, map[string]any{"path": out + "/a.md"}), "far network")
	s.settings = fmt.Sprintf(`{"folders": [%q]}`, s.state)
	has(t, s.search("network"), "error: ", "state directory")
	s.settings = `{"folders": ["nowhere"]}`
	has(t, s.search("network"), "error: the folder nowhere", "is not there")
}

// TestFollowsTheFiles: what is changed, added, removed, moved or put in the place of
// another is so in the next search.
func TestFollowsTheFiles(t *testing.T) {
	s := newShelf(t, map[string]string{"docs/a.md": "apple", "docs/b.md": "banana"})
	has(t, s.search("apple"), "docs/a.md:1: apple")
	s.write(map[string]string{"docs/a.md": "grape"}) // the same length, at once
	has(t, s.search("apple"), "[nothing fits")
	has(t, s.search("grape"), "docs/a.md:1: grape")
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.md", "b.md"} {
		if err := os.Chtimes(filepath.Join(s.root, "docs", name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	has(t, s.search("banana"), "docs/b.md")
	if err := os.Rename(filepath.Join(s.root, "docs/b.md"), filepath.Join(s.root, "docs/c.md")); err != nil {
		t.Fatal(err)
	}
	has(t, s.search("banana"), "docs/c.md", "!b.md")
	s.write(map[string]string{"docs/new.md": "cherry"})
	has(t, s.search("cherry"), "docs/new.md:1")
	if err := os.Remove(filepath.Join(s.root, "docs/c.md")); err != nil {
		t.Fatal(err)
	}
	has(t, s.search("banana"), "[nothing fits")
	has(t, s.call(ListName, map[string]any{}), "a.md", "new.md", "!b.md", "!c.md")
}

// TestOddFiles: links, pipes and files that cannot be read are left out and said.
func TestOddFiles(t *testing.T) {
	s := newShelf(t, map[string]string{"docs/a.md": "network", "out.md": "network outside", "docs/big.md": "first network\n" + strings.Repeat("filler words\n", 200_000) + "lastword",
		"docs/\x1b[31mname.md": "coloured network", "docs/tricks.md": "network \x1b[2J\u202e tricks"})
	if err := os.Symlink("../out.md", filepath.Join(s.root, "docs/link.md")); err != nil {
		t.Fatal(err)
	}
	got := s.search("network")
	has(t, got, "docs/a.md", "!outside", "[1 file left out that are links]", "[1 file of more than 2 MiB: only their beginning is searched]", "!\x1b", "!\u202e")
	has(t, s.search("lastword"), "[nothing fits")
}

// TestDamagedIndex: an index that is damaged or of another format is made anew.
func TestDamagedIndex(t *testing.T) {
	s := newShelf(t, library)
	s.search("network")
	files, _ := filepath.Glob(filepath.Join(s.state, "knowledge", "*.db"))
	if len(files) != 1 {
		t.Fatalf("indexes: %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(files[0], []byte(strings.Repeat("this is no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	has(t, s.search("network"), "docs/deep/faq.txt")
}

func TestSettings(t *testing.T) {
	for _, bad := range []string{`{"folders": "docs"}`, `{"folders": [""]}`, `{"limit": 0}`, `{"folder": ["x"]}`, `{"folders": ["a\u0000b"]}`,
		`{"folders": [` + strings.Repeat(`"a",`, 16) + `"a"]}`} {
		if _, err := New(Options{Settings: json.RawMessage(bad), Root: "/"}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	tools, err := New(Options{Root: "/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range tools {
		if w, ok := made.(tool.Withheld); !ok || w.Withheld() != NoFolder {
			t.Errorf("%s is offered without a folder", made.Def().Name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.md", "# A\n\n```\n# b\n```\n## C\ntext")
	f.Add("a.html", "<title>x</title><script>\n</script><p>a&#10;b\n<!-- \n -->")
	f.Add("a.txt", "\xff\xfe\r\n\r")
	f.Fuzz(func(t *testing.T, name, text string) {
		d := parse(name, []byte(text))
		for _, s := range d.sections {
			if s.line < 1 || s.line+strings.Count(s.body, "\n") > len(d.lines) || s.body != strings.Join(d.lines[s.line-1:s.line+strings.Count(s.body, "\n")], "\n") {
				t.Errorf("the section at %d is not what stands there", s.line)
			}
		}
	})
}

// FuzzQuery: no query is refused by the index.
func FuzzQuery(f *testing.F) {
	s := newShelf(f, library)
	x, err := openIndex(f.Context(), s.state, filepath.Join(s.root, "docs"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(x.close)
	f.Add(`a "b c" -d e* -"f g" NEAR OR (`)
	f.Add("\x00 \u0301 ｆ")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQuery(text)
		if err != nil {
			return
		}
		for _, all := range []bool{true, false} {
			if _, err := x.search(t.Context(), q.match(all)); err != nil {
				t.Errorf("%q: %v", q.match(all), err)
			}
		}
	})
}

// BenchmarkFolder is about 10,000 files of 4 KB: the index is made, looked after
// where nothing has changed, and searched.
func BenchmarkFolder(b *testing.B) {
	files := map[string]string{}
	words := strings.Fields("alpha beta gamma delta system network value changes when every process writes into the common log of the machine and nobody reads")
	for i := range 10_000 {
		var text strings.Builder
		fmt.Fprintf(&text, "# Title %d\n\n", i)
		for j := range 60 {
			for k := range 11 {
				fmt.Fprintf(&text, "%s ", words[(i*7+j*3+k*k)%len(words)])
			}
			fmt.Fprintf(&text, "w%d\n", (i+j)%5000)
		}
		files[fmt.Sprintf("docs/d%d/f%d.md", i/100, i)] = text.String()
	}
	s := newShelf(b, files)
	old := time.Now().Add(-time.Hour)
	for name := range files {
		if err := os.Chtimes(filepath.Join(s.root, name), old, old); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("made", func(b *testing.B) {
		for b.Loop() {
			if err := os.RemoveAll(filepath.Join(s.state, "knowledge")); err != nil {
				b.Fatal(err)
			}
			s.search("w4711")
		}
	})
	b.Run("searched", func(b *testing.B) {
		for b.Loop() {
			s.search("w4711 network")
		}
	})
}
