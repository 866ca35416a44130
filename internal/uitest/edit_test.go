package uitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/rosterrun/roster"
)

// broken is a profile with an effect that there is none of.
const broken = "---\nname: keeper\ndescription: Keeps the shop.\npermission: {bash: maybe}\n---\nKeep it.\n"

// desk is a workspace of its own, for what changes it.
type desk struct {
	*tab
	app *roster.App
	dir string
}

func newDesk(t testing.TB, files map[string]string, set ...func(*roster.Options)) *desk {
	t.Helper()
	d := &desk{tab: &tab{TB: t}, dir: t.TempDir()}
	if files["roster.yaml"] == "" {
		files["roster.yaml"] = "defaults: {model: builtin/demo}\n"
	}
	for name, text := range files {
		d.write(name, text)
	}
	o := roster.Options{Dir: d.dir, State: t.TempDir(), Getenv: options(t.TempDir()).Getenv, Trust: true}
	for _, f := range set {
		f(&o)
	}
	s, err := serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	d.app, d.tab = s.app, open(t, s.url)
	return d
}

func (d *desk) write(name, text string) {
	d.Helper()
	write(d, d.dir, name, text)
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.Fatal(err)
	}
	return string(data)
}

// inEditor is the root of the editor, as a script.
const inEditor = `[...document.querySelectorAll("main div")].find((d) => d.shadowRoot).shadowRoot`

// typeOver puts a text in the place of that in the editor.
func (d *desk) typeOver(text string) {
	d.Helper()
	d.until(inEditor + `.querySelector(".cm-content")`)
	evaluate[chromedp.Void](d.tab, inEditor+`.querySelector(".cm-content").focus()`)
	d.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	d.insert(text)
}

// TestMendingAFile: who finds a file that does not load reads why, mends it where it is,
// and sees that it loads, before it is saved and after.
func TestMendingAFile(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/keeper.md": broken}), axeCore(t)
	d.show("/profiles")
	d.shows("1 file does not load")
	d.press("main a", "Edit profiles/keeper.md")
	d.until(inEditor + `.querySelector(".cm-mark-error")`)
	d.shows("maybe")
	d.shows("profiles/keeper.md:4")
	d.fine(axe)
	d.theme("dark")
	d.fine(axe)
	d.size(360, 740)
	d.wrong("the width", d.tooWide())
	d.size(1280, 800)

	still := strings.Replace(broken, "Keep it", "Keep it all", 1)
	d.typeOver(still)
	d.press("main button", "Save")
	d.shows("Save it all the same")
	if got := d.read("profiles/keeper.md"); got != broken {
		t.Errorf("what does not load was saved: %q", got)
	}
	d.press("main button", "Save it all the same")
	d.shows("Saved.")
	if got := d.read("profiles/keeper.md"); got != still {
		t.Errorf("the file says %q", got)
	}
	mended := strings.Replace(broken, "maybe", "ask", 1)
	d.typeOver(mended)
	d.until(`document.querySelector("main").innerText.includes("loaded") && !` + inEditor + `.querySelector(".cm-mark-error")`)
	d.do(chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	d.shows("Saved.")
	if got := d.read("profiles/keeper.md"); got != mended {
		t.Errorf("the file says %q", got)
	}
	d.press("main a", "Profiles")
	d.click("main a[href$='/keeper']")
	d.until(`document.querySelector("main h1").innerText.startsWith("keeper") && document.querySelector("main").innerText.includes("Revision")`)
	d.fine(axe, missing) // the text that did not load was not saved
}

const clerk = "---\nname: clerk\ndescription: Answers letters.\n---\nAnswer.\n"

// TestTwoEdit: who saves what somebody else has saved meanwhile sees both, and chooses.
func TestTwoEdit(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	d.show("/profiles/clerk/edit")
	for _, c := range []struct{ mine, theirs, way, left string }{
		{"Answer kindly.", "Answer briefly.", "Keep my text", "Answer kindly."},
		{"Answer at once.", "Answer tomorrow.", "Take the file as it is now", "Answer tomorrow."},
	} {
		d.typeOver(strings.Replace(clerk, "Answer.", c.mine, 1))
		theirs := strings.Replace(clerk, "Answer.", c.theirs, 1)
		d.write("profiles/clerk.md", theirs)
		d.press("main button", "Save")
		d.shows("Somebody has changed the file meanwhile")
		d.shows("-" + c.theirs)
		d.shows("+" + c.mine)
		d.fine(axe, missing)
		if got := d.read("profiles/clerk.md"); got != theirs {
			t.Errorf("before somebody chose, the file says %q", got)
		}
		d.press("main button", c.way)
		d.inEditorIs(c.left)
		if c.left == c.mine {
			d.press("main button", "Save")
			d.shows("Saved.")
		}
		d.until(`!document.querySelector("main").innerText.includes("not saved")`)
		if got, want := d.read("profiles/clerk.md"), strings.Replace(clerk, "Answer.", c.left, 1); got != want {
			t.Errorf("%s: the file says %q", c.way, got)
		}
	}
}

// inEditorIs waits for the editor to have a text in it.
func (d *desk) inEditorIs(part string) {
	d.Helper()
	d.until(inEditor + `.querySelector(".cm-content").innerText.includes(` + quote(part) + `)`)
}

// later has a minute go by for the page: what it was told before is old.
func (p *tab) later() {
	p.Helper()
	evaluate[chromedp.Void](p, `{ const now = Date.now; Date.now = () => now() + 60_000; }`)
}

// TestUnsavedIsKept: who looks something up finds his text again, and the file as it is
// now if he drops that. With the tab it goes only if he says so.
func TestUnsavedIsKept(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	lost := func() bool {
		return evaluate[bool](d.tab, `dispatchEvent(new Event("beforeunload", { cancelable: true }))`)
	}
	d.show("/profiles/clerk/edit")
	d.typeOver(strings.Replace(clerk, "Answer.", "Answer kindly.", 1))
	d.shows("not saved")
	d.press("nav a", "Sessions")
	d.until(`document.querySelector("h1").innerText === "Sessions"`)
	if lost() {
		t.Error("the browser does not ask before the text is lost")
	}
	d.show("/edit/profiles%2Fclerk.md")
	d.inEditorIs("Answer kindly.")
	d.shows("not saved")
	d.fine(axe)

	d.press("nav a", "Sessions")
	d.until(`document.querySelector("h1").innerText === "Sessions"`)
	d.write("profiles/clerk.md", strings.Replace(clerk, "Answer.", "Answer briefly.", 1))
	d.later()
	d.show("/profiles/clerk/edit")
	d.shows("Somebody has changed the file meanwhile")
	d.press("main button", "Keep my text")
	d.press("main button", "Drop my changes")
	d.inEditorIs("Answer briefly.")
	d.until(`!document.querySelector("main").innerText.includes("not saved")`)
	if !lost() {
		t.Error("the browser asks for a text that was dropped")
	}
	d.fine(axe)
}

// TestFileIsNew: a text that nobody has touched is that of the file, also when the page
// has an older one at hand.
func TestFileIsNew(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	d.show("/edit/profiles%2Fclerk.md")
	d.inEditorIs("Answer.")
	d.write("profiles/clerk.md", strings.Replace(clerk, "Answer.", "Answer briefly.", 1))
	d.later()
	d.show("/profiles/clerk/edit")
	d.inEditorIs("Answer briefly.")
	d.until(`!document.querySelector("[aria-label=Conflict]") && !document.querySelector("main").innerText.includes("not saved")`)
	d.fine(axe)
}

// TestVersions: what a version has changed is shown, and an earlier one comes back.
func TestVersions(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	d.show("/profiles/clerk/edit")
	d.typeOver(strings.Replace(clerk, "Answer.", "Answer kindly.", 1))
	d.press("main button", "Save")
	d.shows("Saved.")
	d.press("main a", "History")
	d.click("main details summary")
	d.shows("-Answer.")
	d.shows("+Answer kindly.")
	d.fine(axe)
	d.press("main button", "Go back to this")
	d.shows("rolled back to")
	if got := d.read("profiles/clerk.md"); got != clerk {
		t.Errorf("the file says %q", got)
	}
	d.click("main details summary")
	d.shows("+Answer.")
	d.fine(axe)
}

// TestKeysAreCompleted: keys and values come from the schema, with what they are for.
func TestKeysAreCompleted(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	d.show("/profiles/clerk/edit")
	d.typeOver("---\nname: clerk\n")
	for _, c := range []struct{ typed, choice, line string }{
		{"mo", "mode", "mode: "}, {"pri", "primary", "mode: primary"},
	} {
		d.do(chromedp.KeyEvent(c.typed))
		option := `[...` + inEditor + `.querySelectorAll(".cm-tooltip-autocomplete li")].find((o) => o.innerText.startsWith(` + quote(c.choice) + `))`
		d.until(option)
		d.fine(axe)
		evaluate[chromedp.Void](d.tab, option+`.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true }))`)
		d.until(`[...` + inEditor + `.querySelectorAll(".cm-line")].at(-1).textContent === ` + quote(c.line))
	}
	d.fine(axe)
}
