package roster_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/session"
)

// shout is a strategy in code.
type shout struct{}

func (shout) Compose(blocks []roster.PromptBlock) (string, error) {
	var all []string
	for _, b := range blocks {
		all = append(all, b.Name+": "+strings.ToUpper(b.Text))
	}
	return strings.Join(all, "; "), nil
}

// TestPromptStrategyInCode: a profile names a strategy that the program has.
func TestPromptStrategyInCode(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "defaults: {model: builtin/demo}\n")
	write(t, dir, "profiles/a.md", "---\ndescription: x\nprompt: {strategy: shout, blocks: {b: two, a: one}}\n---\n")
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), PromptStrategies: map[string]roster.PromptStrategy{"shout": shout{}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := app.Prompt(t.Context(), "a", session.Overrides{})
	if err != nil || p.System[0] != "b: TWO; a: ONE" {
		t.Errorf("%q, %v", p.System, err)
	}
}
