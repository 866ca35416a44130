package uitest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds what a page may take; the machine may have other things to do.
const patience = 20 * time.Second

// tab is a page of its own, with a storage of its own, that remembers what its console
// was told.
type tab struct {
	testing.TB
	ctx context.Context
	url string

	mu   sync.Mutex
	said []string
}

// watched runs before the page's own scripts: it keeps what the policy has refused.
const watched = `window.__refused = [];
document.addEventListener("securitypolicyviolation", (e) =>
  window.__refused.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sample));`

// open makes a tab for pages of a server, which is closed with the test.
func open(t testing.TB, url string) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	return watch(t, ctx, url)
}

// another is a second tab of the same person, who has the same connections for both.
func (p *tab) another() *tab {
	p.Helper()
	ctx, closeTab := chromedp.NewContext(p.ctx)
	p.Cleanup(closeTab)
	return watch(p.TB, ctx, p.url)
}

func watch(t testing.TB, ctx context.Context, url string) *tab {
	t.Helper()
	p := &tab{TB: t, ctx: ctx, url: url}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watched}); err != nil {
		t.Fatal(err)
	}
	return p
}

// hear keeps what somebody who has the browser's console open would see.
func (p *tab) hear(event any) {
	var said string
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		said = "console." + string(e.Type)
		for _, a := range e.Args {
			said += " " + string(a.Value) + a.Description
		}
	case *runtime.EventExceptionThrown:
		said = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			said += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		said = fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
	case *page.EventJavascriptDialogOpening:
		said = "dialog: " + e.Message
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, said)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// show goes to a page by its address, such as /profiles.
func (p *tab) show(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.url + "/#" + path))
}

// evaluate is the value of an expression in the page; promises are waited for.
func evaluate[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.Helper()
	const wait = `new Promise((done) => {
		const began = performance.now();
		const look = () => {
			let is = false;
			try { is = Boolean(%s); } catch { /* what it asks for is not there yet */ }
			if (is || performance.now() - began > %d) done(is);
			else setTimeout(look, 20);
		};
		look();
	})`
	if !evaluate[bool](p, fmt.Sprintf(wait, expression, (patience-time.Second).Milliseconds())) {
		p.Fatalf("there was never: %s\nThe page says:\n%s", expression, p.text())
	}
}

// text is what the page shows.
func (p *tab) text() string { return evaluate[string](p, `document.body.innerText`) }

// shows waits for a text.
func (p *tab) shows(text string) {
	p.Helper()
	p.until(`document.body.innerText.includes(` + quote(text) + `)`)
}

// quote writes a text for a script.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be written
	}
	return string(data)
}

// theme is what the system asks for: light or dark.
func (p *tab) theme(name string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
	if err != nil {
		p.Fatal(err)
	}
}

func (p *tab) size(width, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// press clicks what has a name, as people find it.
func (p *tab) press(kind, name string) {
	p.Helper()
	find := `[...document.querySelectorAll(` + quote(kind) + `)].find((e) => (e.ariaLabel ?? e.innerText).trim() === ` + quote(name) + ` && !e.disabled)`
	p.until(find)
	evaluate[chromedp.Void](p, find+`.click()`)
}

// click clicks the first that a selector finds.
func (p *tab) click(selector string) {
	p.Helper()
	find := `document.querySelector(` + quote(selector) + `)`
	p.until(find)
	evaluate[chromedp.Void](p, find+`.click()`)
}

// fill writes into the field with a label, behind what is there.
func (p *tab) fill(label, text string) {
	p.Helper()
	find := `[...document.querySelectorAll("input, textarea")].find((e) => (e.ariaLabel ?? e.labels[0]?.textContent ?? "").trim() === ` + quote(label) + `)`
	p.until(find)
	evaluate[chromedp.Void](p, find+`.focus()`)
	p.insert(text)
}

// insert is a text that comes in at once, as from a clipboard.
func (p *tab) insert(text string) {
	p.Helper()
	if _, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		p.Fatal(err)
	}
}

// fine says that nothing was wrong with a page on the way.
func (p *tab) fine(axe string, expected ...string) {
	p.Helper()
	p.wrong("the console", p.told(expected...))
	p.wrong("the policy", p.refused())
	p.wrong("axe", p.barriers(axe))
}
