package uitest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keeper is what its model says: it calls a tool that has to be asked for, takes its
// time, hears what somebody says meanwhile, and has a last word.
const keeper = `replies:
  - text: "I count."
    tools: [{name: bash, input: {command: "echo twelve bags > counted.txt"}}]
  - text: "apples and bread and butter and coffee and milk and tea and sugar and flour and salt and rice and beans and peas"
    gap: 150ms
    tools: [{name: read, input: {path: counted.txt}}]
  - when: {contains: "Only the coffee"}
    text: "Coffee alone, then: **twelve bags**."
  - when: {contains: "And the tea"}
    text: "There is no tea."
  - when: {contains: "And the salt"}
    text: "Salt there is."
`

const keeperConfig = `defaults: {model: acme/keeper}
providers:
  acme:
    api: script
    base-url: scripts/keeper.yaml
    models: {keeper: {context-window: 200000, max-output: 8192}}
`

// conversation are the prompts, answers and tools of a session, as they are shown.
func (p *tab) conversation() []string {
	p.Helper()
	return evaluate[[]string](p, conversation)
}

const conversation = `[...document.querySelectorAll("[role=log] > div > div")]
	.sort((a, b) => a.dataset.index - b.dataset.index)
	.map((e) => e.innerText.replace(/\s+/g, " ").trim()).filter((t) => t !== "")`

// TestJourney: somebody finds a profile that does not load, reads why, mends it, has it
// run, allows what it asks for, steers it, goes on in a fork, and looks at what the model
// was sent for turn 2.
func TestJourney(t *testing.T) {
	d, axe := newDesk(t, map[string]string{
		"profiles/keeper.md": strings.Replace(broken, "permission:", "tools: [bash, read]\npermission:", 1), "scripts/keeper.yaml": keeper, "roster.yaml": keeperConfig,
	}), axeCore(t)
	d.size(1280, 4000) // all of a session is in the page
	d.show("/profiles")
	d.shows("1 file does not load")
	d.shows("profiles/keeper.md:5")
	d.press("main a", "Edit profiles/keeper.md")
	d.until(inEditor + `.querySelector(".cm-mark-error")`)
	d.shows("maybe")
	d.typeOver("---\nname: keeper\ndescription: Keeps the shop.\ntools: [bash, read]\npermission: {bash: ask}\n---\nKeep it.\n")
	d.press("main button", "Save")
	d.shows("Saved.")

	d.press("nav a", "Profiles")
	d.click("main a[href$='/keeper']")
	d.press("main a", "New session")
	d.fill("Prompt", "Count what is there.")
	d.press("main button", "Begin")
	d.shows("By the rule bash * in profiles/keeper.md:5")
	d.shows("echo twelve bags > counted.txt")
	d.fine(axe)
	d.press("main button", "Once")
	d.shows("apples and bread")
	d.fill("Message", "Only the coffee, please.")
	d.press("main button", "Steer")
	d.shows("Coffee alone, then: twelve bags.")
	d.until(`document.querySelector("h1").innerText.includes("idle")`)
	said := []string{
		"You Count what is there.", "I count.", "bash echo twelve bags > counted.txt ok",
		"Taken up again: the wait for an answer is over", "apples and bread and butter and coffee and milk and tea and sugar and flour and salt and rice and beans and peas",
		"You steering Only the coffee, please.", "read counted.txt skipped", "Coffee alone, then: twelve bags.",
	}
	d.reads(said...)
	d.fine(axe)

	d.press("main button", "Fork")
	d.shows("Branch of")
	for _, c := range []struct{ prompt, answer string }{{"And the tea?", "There is no tea."}, {"And the salt?", "Salt there is."}} {
		d.fill("Message", c.prompt)
		d.press("main button", "Send")
		d.shows(c.answer)
		d.until(`document.querySelector("h1").innerText.includes("idle")`)
	}
	said = slices.Delete(said, 3, 4) // it was the other session that waited
	said[4], said[5] = "read counted.txt error", "You Only the coffee, please."
	d.reads(append(said, "Begins with what another session has said: fork", "You And the tea?", "There is no tea.", "You And the salt?", "Salt there is.")...)
	d.click("button[aria-label^='Turn 2:']")
	const request = `document.querySelector("[aria-label='Request of turn 2']")`
	d.until(request)
	sent := evaluate[string](d.tab, request+`.innerText`)
	at := 0
	for _, text := range []string{"Keep it.", "Count what is there.", "echo twelve bags", "Only the coffee", "**twelve bags**", "And the tea?", "There is no tea.", "And the salt?"} {
		i := strings.Index(sent[at:], text)
		if i < 0 {
			t.Fatalf("the request does not say %q there:\n%s", text, sent)
		}
		at += i
	}
	d.fine(axe)
}

// reads compares what a session shows, without how long calls took.
func (p *tab) reads(want ...string) {
	p.Helper()
	got := p.conversation()
	for i, row := range got {
		got[i] = regexp.MustCompile(` <?[\d.]+ m?s$`).ReplaceAllString(row, "")
	}
	if !slices.Equal(got, want) {
		p.Errorf("the session shows\n%s\nand not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
