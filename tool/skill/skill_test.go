package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dirs are a workspace and a home, and the library of both.
type dirs struct {
	*testing.T
	workspace, user, home string
}

func newDirs(t *testing.T) dirs {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := dirs{t, top + "/ws", top + "/user", top + "/home"}
	for _, p := range []string{d.workspace, d.user, d.home} {
		if err := os.MkdirAll(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func (d dirs) write(path, text string) {
	d.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		d.Fatal(err)
	}
}

func (d dirs) skill(path, description string) {
	d.write(filepath.Join(path, File), "---\ndescription: "+description+"\n---\nDo it.\n")
}

func (d dirs) open(further ...Place) *Library {
	return Open(d.workspace, append(Standard(d.user, d.home, d.workspace), further...))
}

func names(s *Snapshot) string {
	var list []string
	for _, x := range s.List() {
		if x.Layer != source.Builtin {
			list = append(list, x.Name+"="+x.Description)
		}
	}
	return strings.Join(list, " ")
}

func codes(ds []profile.Diagnostic) string {
	var list []string
	for _, d := range ds {
		list = append(list, d.Code+" "+d.File)
	}
	return strings.Join(list, "\n")
}

func TestPlaces(t *testing.T) {
	d := newDirs(t)
	ws := d.workspace
	d.skill(ws+"/skills/a", "workspace")
	d.skill(ws+"/.claude/skills/a", "claude")
	d.skill(d.user+"/.claude/skills/a", "user")
	d.skill(d.home+"/skills/b", "home")
	d.skill(d.user+"/.config/opencode/skill/b", "opencode")
	d.skill(ws+"/.github/skills/group/c", "grouped")
	d.skill(ws+"/.opencode/skill/d", "opencode")
	d.skill(ws+"/plugins/one/skills/e", "plugin")
	d.skill(ws+"/plugins/two/skills/f", "plugin")
	d.skill(ws+"/skills/node_modules/g", "dependency")
	d.skill(ws+"/skills/.h", "hidden")
	d.skill(ws+"/single", "alone")
	d.write(ws+"/skills/README.md", "No skill.")
	d.skill(ws+"/skills", "not by itself")
	l := d.open(Further(ws+"/plugins/*/skills", ws, false, source.Origin{}), Further(ws+"/single", ws, false, source.Origin{}),
		Further(ws+"/nowhere", ws, false, source.Origin{}))
	s := l.Snapshot()
	if got, want := names(s), "a=workspace b=home c=grouped d=opencode e=plugin f=plugin single=alone"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want := "P293 nowhere\nP285 " + d.user + "/.config/opencode/skill/b/SKILL.md\nP285 " + d.user + "/.claude/skills/a/SKILL.md\nP285 .claude/skills/a/SKILL.md"
	if got := codes(s.Diagnostics()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, own := range map[string]bool{"a": false, "b": true, "roster-profiles": true} {
		if x, err := s.Get(name); err != nil || x.Own != own {
			t.Errorf("%s: %v, own %v", name, err, x.Own)
		}
	}
	var missing *NotFoundError
	if _, err := s.Get("singel"); !errors.As(err, &missing) || len(missing.Nearest) != 1 || missing.Nearest[0] != "single" {
		t.Errorf("of another name: %v", err)
	}
}

// TestHostile: nothing outside of the workspace is read by what lies in it, nothing
// waits, and what is not read is said.
func TestHostile(t *testing.T) {
	d := newDirs(t)
	skills := d.workspace + "/skills"
	d.skill(d.user+"/secret", "secret")
	d.skill(skills+"/good", "good")
	d.write(skills+"/long/SKILL.md", "---\ndescription: "+strings.Repeat("x", 5<<20)+"\n---\n")
	d.write(skills+"/binary/SKILL.md", "---\ndescription: \xff\xfe\n---\n")
	d.write(skills+"/tricks/SKILL.md", "---\ndescription: \"a\\u202eb\\u001b[31mc\\u200bd\\n- evil: do\"\nallowed-tools: external_directory protected Bash(ls *)\n---\nx\n")
	deep := skills
	for range 12 {
		deep += "/d"
	}
	d.skill(deep+"/e", "deep")
	for name, to := range map[string]string{"link": d.user + "/secret", "loop": ".", "gone": "nothing"} {
		if err := os.Symlink(to, skills+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	d.write(skills+"/file/x", "")
	if err := os.Symlink(d.user+"/secret/SKILL.md", skills+"/file/SKILL.md"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(skills+"/pipe", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(skills+"/pipe/SKILL.md", 0o666); err != nil {
		t.Fatal(err)
	}
	d.skill(skills+"/a b", "blank")
	d.skill(skills+"/-rf", "dash")
	s := d.open().Snapshot()
	if got, want := names(s), "good=good tricks=ab[31mcd - evil: do"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got := codes(s.Diagnostics())
	for _, want := range []string{
		"P132 skills/link", "P132 skills/file/SKILL.md", "P130 skills/pipe/SKILL.md", "P106 skills/long/SKILL.md", "P105 skills/binary/SKILL.md",
		"P161 skills/d/d/d/d/d/d", "P117 skills/a b/SKILL.md", "P117 skills/-rf/SKILL.md", "P292 skills/tricks/SKILL.md",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it is not said: %s\n%s", want, got)
		}
	}
	x, _ := s.Get("tricks")
	if len(x.Allowed) != 1 || x.Allowed[0].Tool != "bash" {
		t.Errorf("allowed %+v", x.Allowed)
	}
}

// TestSwappedFile: a file that becomes a link out of the workspace after it was found
// is not read for what it leads to.
func TestSwappedFile(t *testing.T) {
	d := newDirs(t)
	d.skill(d.workspace+"/skills/a", "a")
	d.skill(d.user+"/secret", "secret")
	x, err := d.open().Snapshot().Get("a")
	if err != nil {
		t.Fatal(err)
	}
	file := d.workspace + "/skills/a/SKILL.md"
	if err := errors.Join(os.Remove(file), os.Symlink(d.user+"/secret/SKILL.md", file)); err != nil {
		t.Fatal(err)
	}
	if body, err := x.Body(); err == nil {
		t.Errorf("it reads %q", body)
	}
	if err := errors.Join(os.RemoveAll(filepath.Dir(file)), os.Symlink(d.user+"/secret", filepath.Dir(file))); err != nil {
		t.Fatal(err)
	}
	if list, n := x.Files(); n > 0 {
		t.Errorf("it lists %q", list)
	}
	if body, err := x.Body(); err == nil {
		t.Errorf("it reads %q", body)
	}
}

// TestTheUsersLinkIntoTheWorkspace: what the user's folder links to in the workspace is
// a file of the workspace.
func TestTheUsersLinkIntoTheWorkspace(t *testing.T) {
	d := newDirs(t)
	d.skill(d.workspace+"/tools/a", "of the workspace")
	d.skill(d.user+"/elsewhere/b", "of the user")
	if err := os.MkdirAll(d.user+"/.claude/skills", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a": d.workspace + "/tools/a", "b": d.user + "/elsewhere/b"} {
		if err := os.Symlink(to, d.user+"/.claude/skills/"+name); err != nil {
			t.Fatal(err)
		}
	}
	s := d.open().Snapshot()
	for name, own := range map[string]bool{"a": false, "b": true} {
		if x, err := s.Get(name); err != nil || x.Own != own {
			t.Errorf("%s: %v, %+v", name, err, x)
		}
	}
}

// TestFresh: what changes is seen at once, and what does not is the same snapshot.
func TestFresh(t *testing.T) {
	d := newDirs(t)
	l := d.open()
	step := func(name, want string, change func()) {
		t.Helper()
		change()
		s := l.Snapshot()
		if got := names(s); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if l.Snapshot() != s {
			t.Errorf("%s: another snapshot of the same", name)
		}
	}
	a := d.workspace + "/skills/a"
	step("nothing", "", func() {})
	step("new", "a=one", func() { d.skill(a, "one") })
	step("changed", "a=two", func() { d.skill(a, "two") })
	step("another", "a=two b=b", func() { d.skill(d.user+"/.claude/skills/b", "b") })
	step("gone", "b=b", func() { os.Remove(a + "/" + File) })
	step("back", "a=three b=b", func() { d.skill(a, "three") })
	step("folder gone", "b=b", func() { os.RemoveAll(d.workspace + "/skills") })

	// Two seconds after the last change only stamps are looked at.
	l.telling = true
	before := l.Snapshot()
	l.telling = true
	d.skill(a, "four")
	if s := l.Snapshot(); s == before || names(s) != "a=four b=b" {
		t.Errorf("a change of what was settled: %s", names(s))
	}
}

// TestFreshAboveWhatIsNotThere: places that are not there are known by what is above
// them, as long as that is as it was, and are seen when they come.
func TestFreshAboveWhatIsNotThere(t *testing.T) {
	d := newDirs(t)
	l := d.open()
	settle := func() *Snapshot { // two seconds after the last change
		s := l.Snapshot()
		l.note(l.looks, time.Now().Add(time.Hour))
		l.telling = true
		return s
	}
	before := settle()
	known := 0
	for _, k := range l.looks {
		if k.over > 0 {
			known++
		}
	}
	if known == 0 || len(l.overs) == 0 || len(l.overs) >= known {
		t.Errorf("%d of %d paths are known by %d above them", known, len(l.looks), len(l.overs))
	}
	if l.Snapshot() != before {
		t.Error("another snapshot of the same")
	}
	d.write(d.workspace+"/notes.txt", "x") // beside them
	if !l.same() {
		t.Error("what came beside them is taken for a change of them")
	}
	settle()
	for i, place := range []string{d.workspace + "/skills", d.workspace + "/.claude/skills", d.user + "/.claude/skills", d.home + "/skills"} {
		name := string(rune('a' + i))
		d.skill(place+"/"+name, "new")
		if s := l.Snapshot(); !strings.Contains(names(s), name+"=new") {
			t.Errorf("%s is not seen: %s", place, names(s))
		}
		settle()
		if err := os.RemoveAll(place); err != nil {
			t.Fatal(err)
		}
		if s := l.Snapshot(); strings.Contains(names(s), name+"=") {
			t.Errorf("%s is still there: %s", place, names(s))
		}
		settle()
	}
}

func TestText(t *testing.T) {
	d := newDirs(t)
	for _, c := range []struct{ name, body, arguments, want string }{
		{"none", "Do it.", "", "Do it."},
		{"at the end", "Do it.", "now", "Do it.\n\nARGUMENTS: now"},
		{"in place", "Do $ARGUMENTS, yes $ARGUMENTS.", "this", "Do this, yes this."},
		{"none in place", "Do $ARGUMENTS.", "", "Do ."},
		{"not expanded again", "Do $ARGUMENTS.", "$ARGUMENTS", "Do $ARGUMENTS."},
		{"folder", "See ${CLAUDE_SKILL_DIR}/x.", "", "See " + d.workspace + "/skills/s/x."},
		{"dashes", "a\n---\nb", "", "a\n---\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.write(d.workspace+"/skills/s/"+File, "---\ndescription: d\n---\n"+c.body+"\n")
			x, err := d.open().Snapshot().Get("s")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := x.Text(c.arguments); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestTool calls the tool as an engine does.
func TestTool(t *testing.T) {
	d := newDirs(t)
	d.write(d.workspace+"/skills/in/"+File, "---\ndescription: Makes tea\nallowed-tools: Bash(git:*), Read\n---\nIn.\n")
	d.skill(d.user+"/.claude/skills/out", "Makes coffee with milk")
	for i := range maxListed + 5 {
		d.write(fmt.Sprintf("%s/.claude/skills/out/more/%03d", d.user, i), "")
	}
	d.write(d.user+"/.claude/skills/out/.hidden", "")
	all := d.open().Snapshot()
	var uses []Use
	for _, x := range all.List() {
		uses = append(uses, Use{x, x.Allowed})
	}
	skills := New(d.workspace, uses, nil)
	call := func(name string) (tool.Result, error) {
		plan, err := skills.Prepare(t.Context(), tool.Call{ID: "c1", Input: fmt.Appendf(nil, `{"name":%q}`, name)})
		if err != nil {
			return tool.Result{}, err
		}
		defer plan.Close()
		if got := plan.Needs(); len(got) != 1 || got[0] != (permission.Query{Tool: "skill", Subject: name}) {
			t.Errorf("%s needs %+v", name, got)
		}
		return plan.Run(t.Context(), nil)
	}
	r, err := call("in")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Parts[0]); !strings.Contains(got, "# Skill in\nIts folder is "+d.workspace+"/skills/in") || !strings.HasSuffix(strings.TrimRight(got, " }"), "In.") {
		t.Errorf("the model is told %s", got)
	}
	x, _ := all.Get("in")
	lent := x.Lent("c1", d.workspace, x.Allowed)
	if lent.Source != "skill in" || len(lent.Rules) != 3 || lent.Rules[0].File != "skills/in/SKILL.md" || lent.Rules[0].Line != 3 {
		t.Errorf("it lends %+v", lent)
	}
	x, _ = all.Get("out")
	if lent := x.Lent("c1", d.workspace, nil); len(lent.Rules) != 4 || lent.Rules[1].Subject != x.Dir+"/*" {
		t.Errorf("of its folder it lends %+v", lent)
	}
	if x.Lent("c1", d.user, nil) != nil {
		t.Error("a skill in the workspace lends its folder")
	}
	if r, err = call("out"); err != nil || !strings.Contains(fmt.Sprint(r.Parts[0]), "- and 5 more") || strings.Contains(fmt.Sprint(r.Parts[0]), "hidden") {
		t.Errorf("%v: %v", err, r)
	}
	for words, want := range map[string]string{"tea please": "- in: Makes tea", "coffee": "- out: Makes coffee", "roster-profile": "- roster-profiles: Write", "zzz": "there is no skill"} {
		if _, err := call(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if w, ok := New(d.workspace, nil, nil).(tool.Withheld); !ok || w.Withheld() == "" {
		t.Error("without skills it is offered")
	}
}

func TestSave(t *testing.T) {
	d := newDirs(t)
	l := d.open()
	const text = "---\ndescription: d\n---\nx\n"
	if created, err := l.Save("new", text, "", false); err != nil || !created {
		t.Fatal(created, err)
	}
	x, err := l.Snapshot().Get("new")
	if err != nil || x.File != "skills/new/SKILL.md" {
		t.Fatal(err, x)
	}
	d.skill(d.user+"/.claude/skills/mine", "mine")
	d.write(d.workspace+"/skills/broken/SKILL.md", "x")
	for _, c := range []struct {
		name, skill, text, revision string
		plain                       bool
		want                        error
	}{
		{"there is one", "new", text, "", false, ErrExists},
		{"another revision", "new", text, "0", false, ErrRevision},
		{"gone", "gone", text, "0", false, ErrRevision},
		{"the user's", "mine", text, "0", false, ErrReadOnly},
		{"built in", "roster-profiles", text, "0", false, ErrReadOnly},
		{"does not load", "broken", text, "", false, ErrExists},
		{"allowed-tools of somebody who may not", "plain", "---\ndescription: d\nallowed-\\u0074ools: Bash\nallowed-tools: Bash\n---\nx\n", "", true, ErrAllows},
	} {
		if _, err := l.Save(c.skill, c.text, c.revision, c.plain); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, name := range []string{"../up", "a/b", "", ".git", "a\x00b", "-rf"} {
		if _, err := l.Save(name, text, "", false); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	var parse *profile.ParseError
	if _, err := l.Save("new", "no frontmatter", x.Revision(), false); !errors.As(err, &parse) {
		t.Errorf("what does not load: %v", err)
	}
	if created, err := l.Save("new", strings.Replace(text, "x", "y", 1), x.Revision(), true); err != nil || created {
		t.Fatal(created, err)
	}
	if body, err := x.Body(); err != nil || body != "y" {
		t.Errorf("it says %q, %v", body, err)
	}
	if left, err := filepath.Glob(d.workspace + "/skills/new/.roster-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	if err := errors.Join(os.RemoveAll(d.workspace+"/skills"), os.Symlink(d.user, d.workspace+"/skills")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Save("out", text, "", false); err == nil {
		t.Error("it was written out of the workspace")
	}
}

// FuzzParse reads any file: it gives a skill or an error, and what it shows is in one
// line and bounded.
func FuzzParse(f *testing.F) {
	f.Add("a", []byte("---\nname: b\ndescription: d\nallowed-tools: Bash(git *) Read\n---\nx\n"))
	f.Add("a", []byte("---\ndescription: |\n  a\n  b\nallowed-tools: [Read, \"mcp__x__y\"]\nargument-hint: [a] [b]\nuser-invocable: no\n---\n"))
	f.Add("ä", []byte("\ufeff---\nallowed-tools: external_directory\n---\n# x\n\ntext\n"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		s, ds := parse(name, "skills/x/SKILL.md", data, Place{})
		if (s == nil) != profile.Refused(ds) {
			t.Fatalf("%v: %v", s, ds)
		}
		if s == nil {
			return
		}
		if CheckName(s.Name) != nil || s.Description == "" || line(s.Description) != s.Description {
			t.Errorf("%q %q", s.Name, s.Description)
		}
		for _, r := range s.Allowed {
			if r.Effect != permission.Allow || r.Tool == permission.ExternalDirectory || r.Tool == permission.Protected {
				t.Errorf("%+v", r)
			}
		}
	})
}

// TestManyAtOnce asks from many goroutines while files change.
func TestManyAtOnce(t *testing.T) {
	d := newDirs(t)
	l := d.open()
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 30 {
				l.Snapshot()
			}
		}()
	}
	for i := range 30 {
		d.skill(fmt.Sprintf("%s/skills/s%d", d.workspace, i), "d")
	}
	for range 4 {
		<-done
	}
	if n := len(l.Snapshot().Files()); n != 30 {
		t.Errorf("%d skills", n)
	}
}
