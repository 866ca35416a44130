package uitest

import (
	"strings"
	"testing"
)

const reading = `loop: true
replies:
  - {when: {contains: spoiled}, error: {status: 400}}
  - {when: {contains: whole}, text: "The note is **whole**."}
`

const readerKnot = "---\nagent-profile-ref: clerk\nstrand-dir: docs\nretries: {attempts: 1}\n---\nSay whether the note is fine.\n"

// TestRigIsLookedAfter: what a knot has done is looked at, a job that has failed for good
// is tried again and dropped, and the rig's graph and answers are there.
func TestRigIsLookedAfter(t *testing.T) {
	d, axe := newDesk(t, map[string]string{
		"profiles/clerk.md": clerk, "roster.yaml": keeperConfig, "scripts/keeper.yaml": reading,
		"rig/notes-loom/read.md": readerKnot, "docs/good.md": "whole\n", "docs/bad.md": "spoiled\n", "docs/worse.md": "spoiled too\n",
	}), axeCore(t)
	runRigs(t, d.app)
	d.show("/rig")
	d.shows("notes-loom/read")
	d.until(`(([, , , , , done, dead]) => done.innerText === "1" && dead.innerText === "2")(document.querySelector("main tbody tr").children)`)
	d.fine(axe)

	d.press("main a", "Graph")
	d.shows("docs/")
	d.until(`document.querySelector("main img").naturalWidth > 50`)
	d.shows("notes-loom/read →")
	d.fine(axe)

	d.press("main a", "Tie-offs")
	d.shows("The note is whole.")
	d.shows("docs/good.md")
	d.fine(axe)

	d.press("main a", "Jobs")
	d.shows("docs/good.md")
	d.shows("docs/bad.md")
	d.fine(axe)
	d.fill("File", "docs/good.md")
	d.until(`document.querySelectorAll("main tbody tr").length === 1`)
	d.shows("done")

	d.press("main a", "Dead letters")
	d.until(`document.querySelectorAll("main tbody tr").length === 2`)
	d.fine(axe)
	d.write("scripts/keeper.yaml", strings.Replace(reading, "error: {status: 400}", `text: "It can be saved."`, 1))
	d.pressIn("notes-loom/read\ncreated docs/bad.md", "Replay")
	d.until(`document.querySelectorAll("main tbody tr").length === 1`)
	d.pressIn("notes-loom/read", "Drop")
	d.pressIn("notes-loom/read", "Keep it")
	d.pressIn("notes-loom/read", "Drop")
	d.pressIn("notes-loom/read", "Drop it")
	d.shows("There are none: no job has failed for good.")
	d.press("main a", "Jobs")
	d.until(`document.querySelectorAll("main tbody tr").length === 2 && document.querySelectorAll("main tbody tr")[1].innerText.includes("done")`)
	d.press("main a", "Tie-offs")
	d.shows("It can be saved.")
	d.press("main a", "Jobs")
	d.press("main a", "Session")
	d.shows("Say whether the note is fine.")
	d.fine(axe)
}
