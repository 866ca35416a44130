package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/tool/contract"
)

// TestDefinitionsFollowTheTable: what a model is told of a tool, with its settings
// in force.
func TestDefinitionsFollowTheTable(t *testing.T) {
	f := newFixture(t, settingsOf(`{"bash": {"timeout": 90, "max-timeout": "1h"}, "read": {"limit": 7}}`))
	for _, tt := range []struct{ tool, in string }{
		{"bash", "default 1m30s, at most 1h\""}, {"read", "at most 7 lines"}, {"grep", "at most 100 lines"}, {"glob", "at most 1000."},
	} {
		def := f.tools[tt.tool].Def()
		if text := def.Description + string(def.Schema); !strings.Contains(text, tt.in) {
			t.Errorf("%s has no %q: %s", tt.tool, tt.in, text)
		}
		if def != f.tools[tt.tool].Def() {
			t.Error("the definition is another one each time")
		}
	}
	if Define("grep", nil) != f.tools["grep"].Def() {
		t.Error("a definition without settings is built twice")
	}
	if text := Define("bash", nil, "And so on.").Description; !strings.HasSuffix(text, " And so on.") {
		t.Errorf("got %s", text)
	}
}

// TestEveryToolIsBuilt: what the table has is made here, but for what needs other
// profiles or is asked for by name.
func TestEveryToolIsBuilt(t *testing.T) {
	elsewhere := []string{"task", "switch_profile", "revert_to", "webfetch", "websearch", "browser_open", "browser_read", "browser_click", "browser_fill", "browser_screenshot", "knowledge_list", "knowledge_read", "knowledge_search", "skill", "emit"}
	for _, c := range contract.All() {
		if built := slices.Contains(Names(), c.Name); built == (c.Later || slices.Contains(elsewhere, c.Name)) {
			t.Errorf("%s: built %v", c.Name, built)
		}
	}
	f := newFixture(t)
	for _, name := range Names() {
		if f.tools[name] == nil {
			t.Errorf("%s is not built", name)
		}
	}
}

func TestSpans(t *testing.T) {
	for raw, want := range map[string]string{"90": "1m30s", "30": "30s", `"10m"`: "10m", `"24h"`: "24h", `"90m"`: "1h30m", `"1.5s"`: "1.5s"} {
		d, err := contract.ParseSpan(json.RawMessage(raw))
		if got := spanText(d); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", raw, got, want, err)
		}
	}
}
