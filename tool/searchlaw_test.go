package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/permission"
)

// oracle says of a tree what a search of it must give, by walking it plainly and
// asking of each file what read would be told.
type oracle struct {
	*fixture
	work    *workspace
	links   bool
	all     bool
	entries []foundFile
	denied  int
}

// walk looks at a directory; subject is what rules see of it.
func (o *oracle) walk(dir string, set *ignore.Set, domain string) {
	o.t.Helper()
	if text, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err == nil && !o.all {
		if st, _ := os.Lstat(filepath.Join(dir, ".gitignore")); st.Mode().IsRegular() {
			set, _, _ = set.And(text, domain)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, e := range entries {
		full, below := dir+"/"+e.Name(), strings.TrimPrefix(domain+"/"+e.Name(), "/")
		switch {
		case e.Name() == ".git" || set.Match(below, e.IsDir()):
		case e.IsDir() && permission.Within(full, o.work.state):
		case e.IsDir():
			o.walk(full, set, below)
		case e.Type().IsRegular(), e.Type() == fs.ModeSymlink && o.links:
			o.file(full)
		}
	}
}

func (o *oracle) file(full string) {
	info, err := os.Stat(full)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	to, err := o.work.open(full)
	if state := (*StateDirError)(nil); errors.As(err, &state) {
		o.denied++
		return
	} else if err != nil {
		o.t.Fatal(err)
	}
	defer to.Close()
	if o.permit.Decide(reads("read", to.subject, to.outside)...).Effect != permission.Allow {
		o.denied++
		return
	}
	own, _ := o.work.subject(full)
	o.entries = append(o.entries, foundFile{subject: own, modTime: info.ModTime().UnixNano()})
}

// want is what the tool must say.
func (o *oracle) want(line, none string) string {
	slices.SortFunc(o.entries, before)
	var b strings.Builder
	for _, f := range o.entries {
		fmt.Fprintf(&b, line, named(f.subject))
	}
	if len(o.entries) == 0 {
		b.WriteString(none)
	}
	if o.denied > 0 {
		fmt.Fprintf(&b, "[%s left out: the permission rules do not allow to read]\n", count(o.denied, "file"))
	}
	return b.String()
}

// wild fills a tree with files of odd names, links of all kinds, and rules.
type wild struct {
	*fixture
	*rand.Rand
	files []string
}

func (w *wild) pick(from ...string) string { return from[w.IntN(len(from))] }

func (w *wild) name() string {
	return w.pick("a", "b", "A", "é", "É", "x y", "-n", "--", "a\nb", "\xff\xfe", "[a]", `"q`, "s.env", ".env", "key.pem", ".hidden", "*", "ſ", "s", "STATE", "a\\b", "\u202e", ".git")
}

func (w *wild) fill(dir string, depth int) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		w.t.Fatal(err)
	}
	if w.IntN(3) == 0 {
		os.WriteFile(dir+"/.gitignore", []byte(w.pick("a\n", "*.env\n!.env\n", "/b/\n", "b/**\n!b/a\n", "x y\n", "**/s*\n")), 0o666)
	}
	for range w.IntN(6) {
		at := dir + "/" + w.name()
		if _, err := os.Lstat(at); err == nil {
			continue // it may lead elsewhere, or be a pipe
		}
		switch w.IntN(9) {
		case 0, 1:
			if depth > 0 {
				w.fill(at, depth-1)
			}
		case 2:
			os.Symlink(w.pick("a", "../a", "..", "STATE/x", "/etc", "none", w.other()), at)
		case 3:
			os.Link(w.other(), at)
		case 4:
			syscall.Mkfifo(at, 0o666)
		default:
			if err := os.WriteFile(at, []byte("needle"), 0o666); err != nil {
				w.t.Fatal(err)
			}
			w.files = append(w.files, at)
			when := time.Unix(1_700_000_000+int64(w.IntN(4)), 0)
			os.Chtimes(at, when, when)
		}
	}
}

// other is a file that was made before.
func (w *wild) other() string { return w.files[w.IntN(len(w.files))] }

// law makes rules in which later ones take back what earlier ones allow.
func (w *wild) law() {
	rules := []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Allow}}
	for range w.IntN(8) {
		rules = append(rules, permission.Rule{
			Tool:    w.pick("read", "read", "read", "*", permission.ExternalDirectory),
			Subject: w.pick("*", "", "*/") + w.name()[:1] + w.pick("*", "", "/*", "?"),
			Effect:  permission.Effect(w.IntN(3)),
		})
	}
	for i := range rules {
		if !valid8(rules[i].Subject) {
			rules[i].Subject = "*b*"
		}
	}
	w.rules(rules...)
}

func valid8(s string) bool { return s == strings.ToValidUTF8(s, "?") }

// TestSearchNeverShowsWhatReadDenies: over random trees and rules, glob and grep
// give exactly the files that read would open, in their order, and the number of
// those that it would not.
func TestSearchNeverShowsWhatReadDenies(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	shown, denied := 0, 0
	for i := range 80 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s, d := searchWildTree(t, random)
			shown, denied = shown+s, denied+d
		})
	}
	if shown < 1500 || denied < 1500 {
		t.Errorf("only %d files shown and %d denied: the trees prove little", shown, denied)
	}
}

// searchWildTree makes a tree with rules and searches it in all ways. It says how
// many files were shown and denied.
func searchWildTree(t *testing.T, random *rand.Rand) (shown, denied int) {
	outside := t.TempDir()
	f := newFixture(t, settingsOf(`{"glob":{"limit":100000},"grep":{"limit":100000,"line-numbers":false}}`), func(e *Env) { e.StateDir = e.Root + "/b/state" })
	w := &wild{fixture: f, Rand: random, files: []string{f.file("first", "needle"), outside + "/secret"}}
	if err := os.WriteFile(w.files[1], []byte("needle"), 0o666); err != nil {
		t.Fatal(err)
	}
	f.file("b/State/x", "needle")
	w.fill(f.root, 4)
	w.fill(outside, 2)
	w.law()
	work := f.tools["glob"].(*globTool).workspace
	for _, root := range []string{f.root, f.root + "/a", filepath.Dir(f.root), outside} {
		if st, err := os.Lstat(root); err != nil || !st.IsDir() {
			continue
		}
		for _, all := range []bool{false, true} {
			if root == f.root+"/a" && !all {
				continue // what holds above it has a test of its own
			}
			for _, tool := range []string{"glob", "grep"} {
				o := &oracle{fixture: f, work: work, links: tool == "glob", all: all}
				o.walk(root, nil, "")
				in, want := object{"pattern": "**", "path": root, "include-ignored": all}, o.want("%s\n", "[no file matches]\n")
				if tool == "grep" {
					in["pattern"], want = "needle", o.want("%s: needle\n", "[no line matches]\n")
				}
				f.same(withoutOurs(f.ok(tool, in)), withoutOurs(want))
				shown, denied = shown+len(o.entries), denied+o.denied
			}
		}
	}
	return shown, denied
}

// withoutOurs leaves out the lines of the .gitignore files, in which grep finds
// nothing.
func withoutOurs(text string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return strings.Contains(line, ".gitignore") }), "")
}

// TestSearchOpensWhatItJudged: a file or a folder that becomes a link after it
// was found is not searched, and that is said.
func TestSearchOpensWhatItJudged(t *testing.T) {
	for name, swap := range map[string]func(f *fixture, secret string){
		"file": func(f *fixture, secret string) {
			os.Remove(f.root + "/d/x")
			symlink(f.t, secret+"/x", f.root+"/d/x")
		},
		"folder": func(f *fixture, secret string) {
			os.RemoveAll(f.root + "/d")
			symlink(f.t, secret, f.root+"/d")
		},
		"pipe": func(f *fixture, _ string) {
			os.Remove(f.root + "/d/x")
			if err := syscall.Mkfifo(f.root+"/d/x", 0o666); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.file("d/x", "needle")
			secret := t.TempDir()
			if err := os.WriteFile(secret+"/x", []byte("needle of a secret"), 0o666); err != nil {
				t.Fatal(err)
			}
			plan, err := f.prepare("grep", object{"pattern": "needle"})
			if err != nil {
				t.Fatal(err)
			}
			defer plan.Close()
			p := plan.(*grepPlan)
			if err := p.find(t.Context()); err != nil {
				t.Fatal(err)
			}
			swap(f, secret)
			r, err := p.scan(t.Context())
			if err != nil || r.matches > 0 {
				t.Errorf("%v, %q", err, r.text.String())
			}
			f.same(p.search.notes(), "[1 file or directory could not be read, such as d/x]\n")
		})
	}
}

// TestSearchWhileFilesBecomeLinks swaps files for links to a secret all the time.
func TestSearchWhileFilesBecomeLinks(t *testing.T) {
	f := newFixture(t)
	secret := t.TempDir()
	if err := os.WriteFile(secret+"/f", []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		f.file(fmt.Sprintf("d%d/f", i), "needle")
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i = (i + 1) % 20 {
			select {
			case <-stop:
				return
			default:
			}
			d := fmt.Sprintf("%s/d%d", f.root, i)
			os.Rename(d, d+".away")
			os.Symlink(secret, d)
			os.Remove(d)
			os.Rename(d+".away", d)
			os.Rename(d+"/f", d+"/g")
			os.Symlink(secret+"/f", d+"/f")
			os.Remove(d + "/f")
			os.Rename(d+"/g", d+"/f")
		}
	}()
	for range 100 {
		if text := f.ok("grep", object{"pattern": "secret|needle"}); strings.Contains(text, "secret") {
			t.Errorf("got:\n%s", text)
			break
		}
	}
	close(stop)
	<-stopped
}

func TestSearchNamesOddFiles(t *testing.T) {
	f := newFixture(t)
	for i, name := range []string{"plain é", "line\nbreak", "bytes\xff", "-rf", `"quoted"`, "[2 files left out]", "[slug].tsx", "turn\u202eed"} {
		f.file(name, "x")
		f.age(name, i)
	}
	f.same(f.ok("glob", object{"pattern": "*"}), "plain é\n"+`"line\nbreak"`+"\n"+`"bytes\xff"`+"\n-rf\n"+`"\"quoted\""`+"\n"+`"[2 files left out]"`+"\n[slug].tsx\n"+`"turn\u202eed"`+"\n")
	f.has(f.ok("grep", object{"pattern": "x"}), `"line\nbreak":1: x`+"\n", `"bytes\xff":1: x`+"\n", "-rf:1: x\n")
	f.has(f.ok("read", object{"path": "."}), `"line\nbreak"`+"\n", "-rf\n")
}

// TestSearchSaysWhatNobodyMayRead runs in a process that obeys the modes of files
// also as root.
func TestSearchSaysWhatNobodyMayRead(t *testing.T) {
	const inside = "ROSTER_TEST_BOUND"
	if os.Getuid() == 0 && os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), "setpriv", "--bounding-set=-dac_override,-dac_read_search", "--", os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v (setpriv is of util-linux)\n%s", err, out)
		}
		return
	}
	f := newFixture(t)
	for name, mode := range map[string]os.FileMode{"open": 0o644, "closed": 0, "secret": 0, "listed/x": 0o644, "entered/x": 0o644, "shut/x": 0o644, "secrets/x": 0o644} {
		if err := os.Chmod(f.file(name, "needle"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"listed": 0o600, "entered": 0o300, "shut": 0, "secrets": 0} {
		if err := os.Chmod(filepath.Join(f.root, name), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(f.root, name), 0o700) })
	}
	symlink(t, "shut/x", filepath.Join(f.root, "into"))
	f.rules(permission.Rule{Tool: "*", Subject: "*", Effect: permission.Allow}, permission.Rule{Tool: "read", Subject: "secret*", Effect: permission.Deny})

	// entered and shut cannot be listed, and neither can secrets, which must not
	// be named; listed/x cannot be looked at.
	const denied = "[1 file left out: the permission rules do not allow to read]\n"
	f.same(f.ok("grep", object{"pattern": "needle"}), "open:1: needle\n"+denied+"[5 files or directories could not be read, such as closed]\n")
	f.has(f.ok("glob", object{"pattern": "**"}), "open\n", "closed\n", denied, "[5 files or directories could not be read, such as entered]\n")
	f.has(f.ok("read", object{"path": "listed"}), "x\n")
	f.has(f.ok("grep", object{"pattern": "needle", "path": "closed"}), "[1 file or directory could not be read, such as closed]")
	f.has(f.ok("grep", object{"pattern": "needle", "path": "entered/x"}), "entered/x:1: needle")
}
