package dialect

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// dirHabit is one thinking habit: the key that turns it on, in config.json and
// natively, and the key of its number where it has one.
type dirHabit struct {
	key, native     string
	on              bool // unless the file says otherwise
	number, setting string
	standard        int64
}

func dirHabits() []dirHabit {
	return []dirHabit{
		{key: "planning_enabled", native: "planning"},
		{key: "planning_reflect_enabled", native: "planning-reflect"},
		{key: "iteration_budget_enabled", native: "iteration-budget", on: true},
		{key: "goal_anchoring_enabled", native: "goal-anchoring", on: true, number: "goal_anchoring_interval", setting: "interval", standard: 5},
		{key: "anti_stall_enabled", native: "anti-stall", on: true, number: "anti_stall_threshold", setting: "threshold", standard: 8},
		{key: "step_validation_enabled", native: "step-validation"},
		{key: "adaptive_replan_enabled", native: "adaptive-replan"},
		{key: "think_enabled", native: "think", on: true},
	}
}

// dirPlanning pairs the keys of the planning phases with their native names.
func dirPlanning() [][2]string {
	return [][2]string{
		{"planning_mandatory", "mandatory"},
		{"planning_phase1_enabled", "analysis"},
		{"planning_phase2_enabled", "review"},
		{"planning_phase3_enabled", "plan"},
	}
}

// The values of what a config.json leaves out.
const (
	dirProvider    = "ollama"
	dirModel       = "gemma4:31b-cloud"
	dirTurns       = 10
	dirTemperature = 0.7
)

func directoryKeys() []string {
	keys := []string{
		"id", "name", "description", "short_description", "full_description", "llm_backend", "model", "temperature",
		"max_iterations", "enabled_tools", "subagent_tools", "subagent_planning_enabled", "context_providers",
	}
	for _, h := range dirHabits() {
		keys = append(keys, h.key)
		if h.number != "" {
			keys = append(keys, h.number)
		}
	}
	for _, phase := range dirPlanning() {
		keys = append(keys, phase[0])
	}
	return keys
}

// own reads a key of config.json.
func (d *folder) own(f field) bool {
	p := d.p
	switch f.key {
	case "id": // read by identify
	case "name":
		p.Title = d.text(f)
	case "description":
		p.Description = d.text(f)
	case "short-description":
		p.Summary = d.text(f)
	case "full-description":
		d.fullDescription(f)
	case "llm-backend":
		p.Provider = d.notBlank(f, profile.CodeEmptyProvider)
	case "model":
		p.Model = d.notBlank(f, profile.CodeEmptyModel)
	case "temperature":
		p.Temperature = d.number(f, 0, 2)
	case "max-iterations":
		p.Limits.Turns = asInt(d.count(f, 1))
	case "enabled-tools":
		d.enabledTools(f)
	case "subagent-tools":
		d.subagentTools(f)
	case "context-providers":
		d.keepOwn(f)
	default:
		return d.habit(f)
	}
	return true
}

func (d *folder) fullDescription(f field) {
	var v profile.Details
	subs, ok := d.entries(f)
	for _, s := range subs {
		switch s.key {
		case f.key + ".specialization":
			v.Specialization = d.text(s).V
		case f.key + ".when-to-use":
			v.WhenToUse = d.text(s).V
		case f.key + ".key-tools":
			v.KeyTools = d.list(s).V
		default:
			d.unknown(s, "", []string{f.written + ".specialization", f.written + ".when_to_use", f.written + ".key_tools"})
		}
	}
	if ok && !isNull(f.node) {
		d.p.Details = set(v, f)
	}
}

func (d *folder) subagentTools(f field) {
	v, rules := d.toolList(f)
	if !v.Set {
		return
	}
	d.p.SubagentTools = set(v.V.Names, f)
	if v.V.All {
		d.p.SubagentTools.V = []string{"*"}
	}
	if len(rules) > 0 {
		d.report(profile.CodeNotAllowed, d.at(f.node), f.written, f.written+" takes names without arguments", "")
	}
}

// keepOwn keeps a key that the dialect has and the native one has not.
func (d *decoder) keepOwn(f field) {
	if value, ok := d.dump(f); ok {
		d.report(profile.CodeInactiveKey, f.at, f.written, "this version does not act on "+f.written+"; it is kept", "")
		d.p.Extra = append(d.p.Extra, profile.Extra{Key: f.written, YAML: append([]byte(nil), value...), At: f.at})
	}
}

// habit checks a key of the habits, the planning phases or the subagents'
// planning, and remembers it.
func (d *folder) habit(f field) bool {
	for _, h := range dirHabits() {
		switch f.key {
		case kebab(h.key):
			d.remember(h.key, f, d.flag(f).Set)
			return true
		case kebab(h.number):
			d.remember(h.number, f, d.count(f, 1).Set)
			return true
		}
	}
	for _, phase := range dirPlanning() {
		if f.key == kebab(phase[0]) {
			d.remember(phase[0], f, d.flag(f).Set)
			return true
		}
	}
	if f.key == "subagent-planning-enabled" {
		d.remember("subagent_planning_enabled", f, d.flag(f).Set)
		return true
	}
	return false
}

func (d *folder) remember(key string, f field, good bool) {
	if good {
		d.habits[key] = f
	}
}

func (d *folder) isOn(key string, otherwise bool) bool {
	f, ok := d.habits[key]
	if !ok {
		return otherwise
	}
	on, _ := parseBool(f.node)
	return on
}

// keepHabits puts the habits, with their defaults, among the keys that are kept as
// they are, in their native form.
func (d *folder) keepHabits() {
	at := source.Origin{Layer: source.Profile, File: d.file}
	m := mapping()
	for _, h := range dirHabits() {
		m.Content = append(m.Content, str(h.native), d.habitValue(h))
	}
	d.keepNative("habits", m, at)
	phases := mapping(str("enabled"), scalar(strconv.FormatBool(d.isOn("planning_enabled", false))))
	phasesAt := at
	for _, phase := range dirPlanning() {
		if f, ok := d.habits[phase[0]]; ok {
			phases.Content = append(phases.Content, str(phase[1]), scalar(strconv.FormatBool(d.isOn(phase[0], false))))
			phasesAt = f.at
		}
	}
	if len(phases.Content) > 2 {
		d.keepNative("planning", phases, phasesAt)
	}
	if f, ok := d.habits["subagent_planning_enabled"]; ok {
		at = f.at
	}
	d.keepNative("subagents.planning", scalar(strconv.FormatBool(d.isOn("subagent_planning_enabled", false))), at)
}

// habitValue is true or false, or the map that holds the habit's number.
func (d *folder) habitValue(h dirHabit) *yaml.Node {
	on := d.isOn(h.key, h.on)
	f, written := d.habits[h.number]
	if h.number == "" || !on && !written {
		return scalar(strconv.FormatBool(on))
	}
	n := h.standard
	if written {
		n = d.count(f, 1).V
	}
	m := mapping(str(h.setting), scalar(strconv.FormatInt(n, 10)))
	if !on {
		m.Content = append([]*yaml.Node{str("enabled"), scalar("false")}, m.Content...)
	}
	return m
}

func (d *folder) keepNative(key string, n *yaml.Node, at source.Origin) {
	value := valueText(n)
	if n.Kind == yaml.MappingNode {
		value = append([]byte("\n"), value[1:]...)
	}
	d.p.Extra = append(d.p.Extra, profile.Extra{Key: key, YAML: value, Known: true, At: at})
}

// defaults fills in what the file leaves out. Such a value has the file and no
// line.
func (d *folder) defaults() {
	p := d.p
	at := source.Origin{Layer: source.Profile, File: d.file}
	fill(&p.Provider, dirProvider, at)
	fill(&p.Model, dirModel, at)
	fill(&p.Temperature, dirTemperature, at)
	fill(&p.Limits.Turns, dirTurns, at)
	fill(&p.SubagentTools, []string{}, at)
}

func fill[T any](v *profile.Value[T], standard T, at source.Origin) {
	if !v.Set {
		*v = profile.Value[T]{V: standard, Set: true, At: at}
	}
}
