package uitest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestServerIsLookedAfter: an MCP server is added, reached, changed and removed.
func TestServerIsLookedAfter(t *testing.T) {
	d, axe := newDesk(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	bin := filepath.Join(d.dir, "roster") // where its sandbox lets it be read
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "../../cmd/roster").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.show("/profiles/clerk/connections")
	d.press("main button", "Add a server")
	d.fill("Name", "team")
	d.do(chromedp.SetValue(chromedp.CSS("main select"), "command"))
	d.fill("Command", bin)
	d.fill("Arguments, one a line", "mcp\nserve")
	d.fine(axe)
	d.press("main button", "Add")
	d.until(`document.querySelector("section[aria-label=team]")`)
	if got := d.read("roster.yaml"); !strings.Contains(got, "team:") {
		t.Errorf("the file says %q", got)
	}
	d.press("main button", "Restart")
	d.until(`document.querySelector("section[aria-label=team] h3").innerText.includes("up")`)
	d.shows("team_clerk")
	d.fine(axe)
	d.press("main button", "Edit")
	d.fill("Timeout of a call", "30s")
	d.press("main button", "Save")
	d.until(`document.querySelector("section[aria-label=team] pre").innerText.includes("30s")`)
	d.fine(axe)
	d.press("main button", "Remove")
	d.press("main button", "Leave it")
	d.press("main button", "Remove")
	d.press("main button", "Take it out of roster.yaml")
	d.until(`!document.querySelector("section[aria-label=team]")`)
	if got := d.read("roster.yaml"); strings.Contains(got, "team:") {
		t.Errorf("the file says %q", got)
	}
	d.fine(axe)
}

// TestProfileWithoutModel: it is looked at all the same, and said to have none.
func TestProfileWithoutModel(t *testing.T) {
	d := newDesk(t, map[string]string{"roster.yaml": "{}\n", "profiles/bare.md": "---\ndescription: d\ntools: [read]\n---\nYou read.\n"})
	d.show("/profiles/bare/connections")
	d.shows("None is known.")
	d.show("/profiles/bare")
	d.shows("no model")
	d.shows("S106")
}
