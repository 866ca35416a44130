package uitest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// focused is the name of what has the focus.
const focused = `(({ activeElement: e }) => (e.ariaLabel ?? (e.labels?.[0] ?? e).textContent).trim())(document)`

// tabTo goes to what has a name by the Tab key alone, and wants it to be seen where the
// focus is.
func (p *tab) tabTo(name string) {
	p.Helper()
	var passed []string
	for range 100 {
		p.do(chromedp.KeyEvent(kb.Tab))
		at := evaluate[string](p, focused)
		if !evaluate[bool](p, `getComputedStyle(document.activeElement).outlineStyle !== "none" || document.activeElement === document.body`) {
			p.Errorf("that %q has the focus is not seen", at)
		}
		if at == name {
			return
		}
		passed = append(passed, at)
	}
	p.Fatalf("the key Tab never comes to %q, but to %q", name, passed)
}

// TestKeyboard: a profile is found, run, and allowed to do what it asks for, without a
// mouse.
func TestKeyboard(t *testing.T) {
	d := newDesk(t, map[string]string{
		"profiles/clerk.md": clerk, "scripts/keeper.yaml": keeper, "roster.yaml": keeperConfig,
		"profiles/keeper.md": strings.Replace(broken, "permission: {bash: maybe}", "tools: [bash, read]\npermission: {bash: ask}", 1),
	})
	d.show("/profiles")
	d.until(ready)
	d.tabTo("Skip to the content")
	d.do(chromedp.KeyEvent(kb.Enter))
	d.until(`document.activeElement.id === "main"`)
	d.tabTo("Search profiles")
	d.do(chromedp.KeyEvent("keeper"))
	d.shows("1 of 2")
	d.tabTo("Profiles") // the list, which can be scrolled
	d.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	d.tabTo("New session")
	d.do(chromedp.KeyEvent(kb.Enter))
	d.tabTo("Prompt")
	d.do(chromedp.KeyEvent("Count what is there."), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	d.shows("By the rule bash *")
	d.tabTo("Once")
	d.do(chromedp.KeyEvent(kb.Enter))
	d.shows("apples and bread")
	d.tabTo("Cancel")
	d.do(chromedp.KeyEvent(kb.Enter))
	d.shows("Cancelled")
	d.wrong("the console", d.told())
}
