package uitest

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSkillIsChanged: a skill that a profile may use is read, changed where it is still
// the file that was read, and kept otherwise.
func TestSkillIsChanged(t *testing.T) {
	const skill = "---\nname: notes\ndescription: Writes notes.\n---\nWrite them.\n"
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk, "skills/notes/SKILL.md": skill}), axeCore(t)
	d.show("/profiles/clerk/skills")
	d.shows("Writes notes.")
	evaluate[chromedp.Void](d.tab, `[...document.querySelectorAll("details")].find((e) => e.innerText.startsWith("notes")).open = true`)
	d.shows("Write them.")
	d.press("main button", "Edit")
	d.append("Then read them.\n")
	d.fine(axe)
	d.press("main button", "Save")
	d.until(`!document.querySelector("main textarea")`)
	d.shows("Then read them.")
	if got := d.read("skills/notes/SKILL.md"); got != skill+"Then read them.\n" {
		t.Errorf("the file says %q", got)
	}
	d.press("main button", "Edit")
	d.write("skills/notes/SKILL.md", skill+"Theirs.\n")
	d.append("Mine.\n")
	d.press("main button", "Save")
	d.until(`document.querySelector("main [role=alert]")`)
	if got := evaluate[string](d.tab, `document.querySelector("main textarea").value`); got != skill+"Then read them.\nMine.\n" {
		t.Errorf("the editor has %q", got)
	}
	if got := d.read("skills/notes/SKILL.md"); got != skill+"Theirs.\n" {
		t.Errorf("the file says %q", got)
	}
	d.fine(axe, missing)
	for _, name := range []string{"..%2F..%2Fout", "..%2Fnotes"} {
		if got := d.asks(http.MethodPut, "/skills/"+name, "", `{"text":"---\nname: out\ndescription: x\n---\nx\n"}`); got < 400 || got >= 500 {
			t.Errorf("a skill called %s is answered with %d", name, got)
		}
	}
}

// append writes at the end of the page's only text.
func (p *tab) append(text string) {
	p.Helper()
	const box = `document.querySelector("main textarea")`
	p.until(box)
	evaluate[chromedp.Void](p, `{ const e = `+box+`; e.focus(); e.setSelectionRange(e.value.length, e.value.length) }`)
	p.insert(text)
}
