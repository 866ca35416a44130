package contract_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/tool/contract"
)

// TestTable: what follows from the table can rely on it.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for i := range contract.All() {
		c := &contract.All()[i]
		t.Run(c.Name, func(t *testing.T) {
			if seen[c.Name] || c.Name == "" || c.Summary == "" {
				t.Error("its name is taken, or it is not said what it is")
			}
			seen[c.Name] = true
			if c.Group != "" && !slices.Contains(contract.Groups(), c.Group) {
				t.Errorf("the group %q is not listed", c.Group)
			}
			if contract.In(contract.Group(c.Name)) != nil {
				t.Error("a group has the same name")
			}
			if !c.Later && (c.Text == "" || c.Subject == "") {
				t.Error("a tool that is there has a text, and a subject for its rules")
			}
			if _, err := schema.Compile(c.Schema(nil)); err != nil {
				t.Errorf("%v in %s", err, c.Schema(nil))
			}
			for _, s := range c.Settings {
				if s.Default == "" && s.Kind != contract.Texts || s.Meaning == "" {
					t.Errorf("the setting %s has no default or no meaning", s.Name)
				}
			}
			if err := contract.Check(c.Name, json.RawMessage("{}")); err != nil {
				t.Errorf("the defaults cannot be used: %v", err)
			}
			for _, text := range append([]string{c.Fill(c.Text, nil)}, string(c.Schema(nil))) {
				for _, s := range c.Settings {
					if strings.Contains(text, "{"+s.Name+"}") {
						t.Errorf("%s is not filled in: %s", s.Name, text)
					}
				}
			}
		})
	}
}

func TestSchema(t *testing.T) {
	c := contract.Tool{Name: "x", Settings: []contract.Setting{{Name: "limit", Kind: contract.Count, Default: "7"}}, Inputs: []contract.Input{
		{Name: "path", Type: "string", Required: true, Min: 1, Max: 9, Text: `a "path" <b>, at most {limit}`},
		{Name: "kind", Type: "string", Words: []string{"a", "b"}},
		{Name: "when", Type: "number|string", Min: 1},
		{Name: "list", Type: "array", Min: 2, Max: 3, Items: &contract.Input{Type: "object", Of: []contract.Input{{Name: "n", Type: "integer", Required: true, Max: 5}}}},
	}}
	const want = `{"type":"object","properties":{` +
		`"path":{"type":"string","minLength":1,"maxLength":9,"description":"a \"path\" <b>, at most 7"},` +
		`"kind":{"type":"string","enum":["a","b"]},` +
		`"when":{"type":["number","string"],"minimum":1},` +
		`"list":{"type":"array","minItems":2,"maxItems":3,"items":{"type":"object","properties":{"n":{"type":"integer","maximum":5}},"required":["n"]}}},` +
		`"required":["path"],"additionalProperties":false}`
	if got := string(c.Schema(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(c.Schema(func(string) string { return "3" })); !strings.Contains(got, "at most 3") {
		t.Errorf("the setting is not in %s", got)
	}
	if got := string((&contract.Tool{}).Schema(nil)); got != `{"type":"object","properties":{},"additionalProperties":false}` {
		t.Errorf("got %s", got)
	}
}

func TestGroups(t *testing.T) {
	if got := contract.In(contract.Files); !slices.Equal(got, []string{"read", "write", "edit", "glob", "grep"}) {
		t.Errorf("files: %v", got)
	}
	for _, g := range contract.Groups() {
		if len(contract.In(g)) == 0 || g.Summary() == contract.Group("").Summary() {
			t.Errorf("%s: no tool or no summary", g)
		}
	}
	if contract.In("") != nil || contract.In("nothing") != nil {
		t.Error("what is no group has tools")
	}
}
