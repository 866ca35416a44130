package tool

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/tool/contract"
)

// plain has the definitions of the built-in tools as they are without settings.
var plain = sync.OnceValue(func() map[string]*model.ToolDef {
	defs := map[string]*model.ToolDef{}
	for i, t := range contract.All() {
		defs[t.Name] = newDef(&contract.All()[i], nil)
	}
	return defs
})

// defined is a tool's Def.
type defined struct{ def *model.ToolDef }

func (d defined) Def() *model.ToolDef { return d.def }

func define(name string, settings json.RawMessage) defined { return defined{Define(name, settings)} }

// Define is what a model is told of a built-in tool with the given settings, which
// are in order. more are sentences that are added to its text.
func Define(name string, settings json.RawMessage, more ...string) *model.ToolDef {
	def := plain()[name]
	if def == nil {
		panic("tool: " + name + " is not in the table")
	}
	if len(settings) > 0 {
		def = newDef(contract.Find(name), settings)
	}
	if len(more) > 0 {
		def = &model.ToolDef{Name: name, Description: def.Description + " " + strings.Join(more, " "), Schema: def.Schema}
	}
	return def
}

func newDef(t *contract.Tool, settings json.RawMessage) *model.ToolDef {
	var set map[string]json.RawMessage
	_ = json.Unmarshal(settings, &set) // without any, the defaults stand
	value := func(name string) string { return shown(t.Setting(name), set[name]) }
	return &model.ToolDef{Name: t.Name, Description: t.Fill(t.Text, value), Schema: t.Schema(value)}
}

// shown is the value of a setting as one would write it; empty: it has none.
func shown(s *contract.Setting, raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	if s.Kind == contract.Span {
		d, err := contract.ParseSpan(raw)
		if err != nil {
			return ""
		}
		return spanText(d)
	}
	return string(raw)
}

// spanText is a time without parts that are zero: 10m, and not 10m0s.
func spanText(d time.Duration) string {
	if d%time.Second == 0 && d < time.Minute {
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
