package uitest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// talks is a desk with a clerk who says one thing to each prompt.
func talks(t *testing.T) *desk {
	t.Helper()
	return newDesk(t, map[string]string{
		"profiles/clerk.md": clerk,
		"commands/greet.md": "---\ndescription: Greet somebody\nargument-hint: \"[name]\"\n---\nGreet $1 in one word.\n",
		"commands/sum.md":   "---\ndescription: Sum up\n---\nSum up $ARGUMENTS\n",
		"stock/coffee.txt":  "twelve bags\n",
		"my stock/tea.txt":  "seven tins\n",
		"roster.yaml":       keeperConfig,
		"scripts/keeper.yaml": fmt.Sprintf(`replies:
  - {when: {contains: Count apples}, text: %q, gap: 50ms}
  - {when: {contains: Then the pears}, text: "Pears."}
  - {when: {contains: Count plums}, text: %q, gap: 100ms}
  - {when: {contains: Name a fruit}, text: "Apple."}
  - {when: {contains: Greet Ann}, text: "Hello."}
  - {when: {contains: stock/coffee.txt}, text: "Twelve."}
  - {when: {contains: seven tins}, text: "Seven."}
  - {when: {contains: letter.md}, text: "A letter and a picture."}
`, counted("a", 40), counted("p", 200)),
	})
}

func (p *tab) idle() {
	p.Helper()
	p.until(`document.querySelector("h1").innerText.includes("idle")`)
}

// TestSessionIsSteered: what comes after is said while it runs, a run is cancelled, the
// last prompt is taken back, and a prompt is answered anew.
func TestSessionIsSteered(t *testing.T) {
	d, axe := talks(t), axeCore(t)
	d.size(1280, 4000) // all of a session is in the page
	begin(d.tab, "clerk", "Count apples.")
	d.shows("a3 ")
	d.fill("Message", "Then the pears.")
	d.press("main button", "Follow up")
	d.shows("not yet seen")
	d.left("Message", "")
	d.fine(axe)
	d.shows("Pears.")
	d.idle()
	said := []string{"You Count apples.", counted("a", 40), "You follow-up Then the pears.", "Pears."}
	d.reads(said...)

	d.fill("Message", "Count plums.")
	d.press("main button", "Send")
	d.shows("p3 ")
	d.press("main button", "Cancel")
	d.shows("Cancelled")
	d.idle()
	d.press("main button", "Revert")
	d.until(`!document.body.innerText.includes("Count plums.")`)
	d.reads(append(said, "What came after this was taken back")...)
	d.fine(axe)

	d.fill("Message", "Name a fruit.")
	d.press("main button", "Send")
	d.shows("Apple.")
	d.idle()
	d.press("main button", "Answer anew")
	d.until(`document.querySelectorAll("section[aria-label=Turns] li").length === 5`)
	d.shows("Apple.")
	d.idle()
	d.reads(append(said, "What came after this was taken back", "You Name a fruit.", "Apple.")...)
	d.fine(axe)
}

// TestPromptIsWritten: commands and files are completed as they are written, and files
// that are chosen go along.
func TestPromptIsWritten(t *testing.T) {
	d, axe := talks(t), axeCore(t)
	begin(d.tab, "clerk", "Name a fruit.")
	d.shows("Apple.")
	d.idle()
	d.complete("/gre", "/greet", "/greet ")
	d.fine(axe)
	d.insert("Ann")
	d.press("main button", "Send")
	d.shows("Hello.")
	d.shows("Greet Ann in one word.")
	d.idle()
	d.complete("How many are in @cof", "@stock/coffee.txt", "How many are in @stock/coffee.txt ")
	d.press("main button", "Send")
	d.shows("Twelve.")
	d.idle()
	d.complete("/sum @tea.txt", "@my stock/tea.txt", `/sum @"my stock/tea.txt" `)
	d.press("main button", "Send")
	d.shows("Seven.")
	d.idle()

	letter, picture, noise := filepath.Join(d.dir, "letter.md"), filepath.Join(d.dir, "dot.png"), filepath.Join(d.dir, "noise.bin")
	d.write("letter.md", "Dear clerk.\n")
	d.write("noise.bin", "\x00\xff")
	d.write("dot.png", dot)
	d.do(chromedp.SetUploadFiles(chromedp.CSS("main input[type=file]"), []string{letter, picture, noise}))
	d.shows("noise.bin is neither text in UTF-8 nor a PNG, JPEG, GIF or WebP picture.")
	d.until(`document.querySelector("[aria-label='Leave out letter.md']") && document.querySelector("[aria-label='Leave out dot.png']")`)
	d.fine(axe)
	d.fill("Message", "What is it?")
	d.press("main button", "Send")
	d.shows("A letter and a picture.")
	d.shows("Dear clerk.")
	d.shows("image/png")
	d.until(`!document.querySelector("[aria-label^='Leave out']")`)
	d.fine(axe)
}

// dot is a picture of one point.
const dot = "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x0d\x49\x44\x41\x54\x78\x9c\x63\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99\x3d\x1d\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"

// complete writes into the message, and takes the one word that is proposed for it.
func (p *tab) complete(written, proposed, want string) {
	p.Helper()
	p.fill("Message", written)
	p.until(`document.querySelectorAll("[role=option]").length === 1 && document.querySelector("[role=option] code").innerText === ` + quote(proposed))
	p.do(chromedp.KeyEvent(kb.Tab))
	p.until(`document.querySelector("main textarea").value === ` + quote(want) + ` && document.activeElement === document.querySelector("main textarea")`)
}

// TestTwoAnswer: of two who answer the same question one is heard, and the other one is
// told so.
func TestTwoAnswer(t *testing.T) {
	first := newDesk(t, map[string]string{"profiles/asker.md": asker, "roster.yaml": keeperConfig, "scripts/keeper.yaml": asking})
	axe := axeCore(t)
	begin(first.tab, "asker", "Count.")
	first.shows("echo twelve > counted.txt")
	second := first.another()
	second.show("/approvals")
	second.shows("echo twelve > counted.txt")
	// both press at once: what the second one's page would hear of the first one's answer
	// comes when it has pressed
	evaluate[chromedp.Void](second, `{
		const real = window.fetch, pressed = new Promise((done) => document.addEventListener("click", done));
		window.fetch = async (r) => { if (r.url.endsWith("/approvals")) await pressed; return real(r); };
	}`)
	first.press("main button", "Once")
	first.shows("Counted.")
	first.idle()
	second.press("main button", "Deny")
	second.shows("was answered before: once")
	second.shows("Nothing waits for an answer.")
	second.shows("was answered before: once")
	if got := first.read("counted.txt"); got != "twelve\n" {
		t.Errorf("the file says %q", got)
	}
	second.fine(axe, missing)
	first.fine(axe)
}

// TestGoingBack: a file is what it was in an earlier version of its history.
func TestGoingBack(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	d.show("/profiles/clerk/edit")
	second := strings.Replace(clerk, "Answer.", "Answer twice.", 1)
	for _, text := range []string{second, strings.Replace(clerk, "Answer.", "Answer thrice.", 1)} {
		d.typeOver(text)
		d.press("main button", "Save")
		d.until(`!document.querySelector("main").innerText.includes("not saved") && document.querySelector("main").innerText.includes("Saved.")`)
	}
	d.show("/profiles/clerk/history")
	d.shows("current")
	d.until(`document.querySelectorAll("main tbody tr").length === 3`)
	d.fine(axe)
	d.pressAt(2, "Go back to this")
	d.shows("rolled back to")
	if got := d.read("profiles/clerk.md"); got != second {
		t.Errorf("the file says %q", got)
	}
	d.fine(axe)
}

// pressAt clicks the button with a name in a row of the page's table, from 1.
func (p *tab) pressAt(row int, name string) {
	p.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("main tbody tr:nth-child(%d) button")].find((b) => b.innerText === %s && !b.disabled)`, row, quote(name))
	p.until(find)
	evaluate[chromedp.Void](p, find+`.click()`)
}
