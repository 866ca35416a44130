package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool/contract"
)

func (d *decoder) details(f field) {
	var v profile.Details
	subs, ok := d.entries(f)
	for _, s := range subs {
		switch s.key {
		case "details.specialization":
			v.Specialization = d.text(s).V
		case "details.when-to-use":
			v.WhenToUse = d.text(s).V
		case "details.key-tools":
			v.KeyTools = d.list(s).V
		case "details.+key-tools":
			v.KeyTools, v.AddKeyTools = d.list(s).V, true
			d.adds(s, subs)
		default:
			d.keepNested(s)
		}
	}
	if ok && !isNull(f.node) {
		d.p.Details = set(v, f)
	}
}

func (d *decoder) limits(f field) {
	l := &d.p.Limits
	subs, _ := d.entries(f)
	for _, s := range subs {
		none := strings.EqualFold(deref(s.node).Value, "none")
		switch {
		case s.key == "limits.turns" && none:
			l.Turns = set(0, s)
		case s.key == "limits.turns":
			l.Turns = asInt(d.count(s, 1))
		case s.key == "limits.tokens" && none:
			l.Tokens = set(int64(0), s)
		case s.key == "limits.tokens":
			l.Tokens = d.count(s, 1)
		case s.key == "limits.duration" && none:
			l.Duration.Set, l.Duration.At = true, s.at
		case s.key == "limits.duration":
			l.Duration = d.duration(s)
		case s.key == "limits.cost" && none:
			l.Cost = set(0.0, s)
		case s.key == "limits.cost":
			l.Cost = d.number(s, 0.000001, 1e9)
		default:
			d.keepNested(s)
		}
	}
}

func (d *decoder) retry(f field) {
	r := &d.p.Retry
	subs, _ := d.entries(f)
	for _, s := range subs {
		switch s.key {
		case "retry.max":
			r.Max = asInt(d.count(s, 0))
		case "retry.base":
			r.Base = d.duration(s)
		case "retry.factor":
			r.Factor = d.number(s, 1, 100)
		case "retry.cap":
			r.Cap = d.duration(s)
		default:
			d.keepNested(s)
		}
	}
}

// toolExecution reads a strategy, or a map of strategy and size.
func (d *decoder) toolExecution(f field) {
	var v profile.ToolExecution
	if deref(f.node).Kind == yaml.ScalarNode {
		v.Strategy = d.strategy(f)
	} else {
		subs, _ := d.entries(f)
		for _, s := range subs {
			switch s.key {
			case "tool-execution.strategy":
				v.Strategy = d.strategy(s)
			case "tool-execution.size":
				v.Size = int(d.count(s, 1).V)
			default:
				d.keepNested(s)
			}
		}
	}
	if v.Strategy != "" {
		d.p.ToolExecution = set(v, f)
	}
}

func (d *decoder) strategy(f field) string {
	return d.oneOf(f, "parallel", "sequential", "batched").V
}

func (d *decoder) subagents(f field) {
	subs, _ := d.entries(f)
	for _, s := range subs {
		switch s.key {
		case "subagents.tools":
			d.subagentTools(s)
			d.p.SubagentToolsAdd = false
		case "subagents.+tools":
			d.subagentTools(s)
			d.p.SubagentToolsAdd = d.p.SubagentTools.Set
			d.adds(s, subs)
		case "subagents.max-depth":
			d.p.SubagentMaxDepth = asInt(d.count(s, 0))
		default:
			d.keepNested(s)
		}
	}
}

func (d *decoder) subagentTools(f field) {
	v, rules := d.toolList(f)
	if !v.Set {
		return
	}
	d.p.SubagentTools = set(v.V.Names, f)
	if v.V.All {
		d.p.SubagentTools.V = []string{"*"}
	}
	if len(rules) > 0 {
		d.report(profile.CodeNotAllowed, d.at(f.node), f.written, f.written+" takes names without arguments", "put rules under permission")
	}
}

func (d *decoder) toolSettings(f field) {
	subs, _ := d.entries(f)
	for _, s := range subs {
		tool := mapTool(strings.TrimPrefix(s.written, f.written+"."))
		t := contract.Find(tool)
		if t == nil || len(t.Settings) == 0 {
			d.report(profile.CodeNotAllowed, s.at, s.written, fmt.Sprintf("the tool %q has no settings", tool), didYouMean(tool, settable()))
			continue
		}
		if data, ok := d.settings(s, t); ok {
			d.p.ToolSettings = append(d.p.ToolSettings, profile.Setting{Tool: tool, JSON: data, At: s.at})
		}
	}
}

// settable lists the tools that have settings.
func settable() (names []string) {
	for _, t := range contract.All() {
		if len(t.Settings) > 0 {
			names = append(names, t.Name)
		}
	}
	return names
}

// settings gives one tool's settings as a JSON object; times stay as written.
func (d *decoder) settings(tool field, t *contract.Tool) (json.RawMessage, bool) {
	if isNull(tool.node) {
		d.wrongType(tool, tool.node, "a map")
		return nil, false
	}
	before := len(d.ds)
	var b bytes.Buffer
	subs, _ := d.entries(tool)
	for i, s := range subs {
		key := s.key[strings.LastIndexByte(s.key, '.')+1:]
		setting := t.Setting(key)
		if setting == nil {
			d.report(profile.CodeNotAllowed, s.at, s.written, fmt.Sprintf("%s is not a setting of this tool", s.written), didYouMean(key, t.SettingNames()))
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", key, d.setting(s, setting))
	}
	return json.RawMessage("{" + b.String() + "}"), !profile.Refused(d.ds[before:])
}

func (d *decoder) setting(f field, s *contract.Setting) string {
	if isNull(f.node) {
		d.wrongType(f, f.node, "a value")
		return "null"
	}
	switch s.Kind {
	case contract.Bool:
		return strconv.FormatBool(d.flag(f).V)
	case contract.Count:
		return strconv.FormatInt(d.count(f, int64(s.Low)).V, 10)
	case contract.Texts:
		text, err := json.Marshal(d.list(f).V)
		if err != nil {
			panic(err) // texts can be encoded
		}
		return string(text)
	}
	return strconv.Quote(d.duration(f).V.String())
}
