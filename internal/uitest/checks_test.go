package uitest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// wrong reports what somebody has found on a page.
func (p *tab) wrong(who string, found []string) {
	p.Helper()
	for _, f := range found {
		p.Errorf("%s: %s", who, f)
	}
}

// told is what the console was told since it was asked last, without what begins with one
// of the words.
func (p *tab) told(expected ...string) []string {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.said
	p.said = nil
	return slices.DeleteFunc(said, func(s string) bool {
		return slices.ContainsFunc(expected, func(word string) bool { return strings.HasPrefix(s, word) })
	})
}

// refused is what the page's policy did not allow.
func (p *tab) refused() []string {
	p.Helper()
	return evaluate[[]string](p, `window.__refused`)
}

// axeCore is the script of axe, which scripts/ui fetches with what the page is made of.
func axeCore(t testing.TB) string {
	t.Helper()
	script, err := os.ReadFile(filepath.FromSlash("../../ui/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatalf("axe is not here: run make page, which fetches it (%v)", err)
	}
	return string(script)
}

// barriers are what axe finds that keeps people out.
func (p *tab) barriers(axe string) []string {
	p.Helper()
	if !evaluate[bool](p, `"axe" in window`) {
		evaluate[chromedp.Void](p, axe)
	}
	return evaluate[[]string](p, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + ": " + n.failureSummary)))`)
}

// tooWide says whether the page itself would have to be scrolled sideways, and what of it
// stands out.
func (p *tab) tooWide() []string {
	p.Helper()
	return evaluate[[]string](p, `(() => {
		const { scrollWidth, clientWidth } = document.documentElement;
		if (scrollWidth <= clientWidth) return [];
		const out = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > clientWidth + 1);
		return [scrollWidth + " pixels of " + clientWidth, ...out.slice(0, 5).map((e) => e.outerHTML.slice(0, 200))];
	})()`)
}

// TestChecks: what is not to be on a page is found where it is.
func TestChecks(t *testing.T) {
	p, axe := open(t, shop), axeCore(t)
	p.size(360, 740)
	p.show("/doctor")
	p.until(ready)
	for name, c := range map[string]struct {
		plant string
		look  func() []string
		found string
	}{
		"console":   {`console.log("here I am")`, func() []string { return p.told("log") }, "console.log"},
		"exception": {`new Promise((done) => { setTimeout(done, 50); setTimeout(() => { throw new Error("lost") }) })`, func() []string { return p.told() }, "exception: Uncaught Error: lost"},
		"policy":    {`document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" }))`, p.refused, "script-src-elem inline"},
		"picture":   {`document.querySelector("main").append(Object.assign(new Image(), { src: "/favicon.svg" }))`, func() []string { return p.barriers(axe) }, "image-alt"},
		"contrast":  {`document.querySelector("main h1").style.color = "#aaa"`, func() []string { return p.barriers(axe) }, "color-contrast"},
		"width":     {`document.querySelector("main h1").style.width = "500px"`, p.tooWide, "500px"},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.look()
			evaluate[chromedp.Void](p, c.plant)
			if found := c.look(); strings.Contains(fmt.Sprint(before), c.found) || !strings.Contains(fmt.Sprint(found), c.found) {
				t.Errorf("%q was there before, and %q is now", before, found)
			}
		})
	}
	p.theme("dark")
	dark := evaluate[string](p, `getComputedStyle(document.body).backgroundColor`)
	p.theme("light")
	if light := evaluate[string](p, `getComputedStyle(document.body).backgroundColor`); light == dark {
		t.Errorf("the page is %s in light and in dark", light)
	}
}
