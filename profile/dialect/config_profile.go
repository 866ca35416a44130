package dialect

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
)

// configProfile is one profile while it is put together. Later parts replace
// what earlier ones set.
type configProfile struct {
	c     *configFile
	d     *decoder
	late  func(*configProfile) // the part of an instance
	extra []kept               // known keys that are not acted on, in the order of the file
	odd   []kept               // keys that nobody knows
}

// kept is a value under its native key or, for an unknown one, its full key.
type kept struct {
	field
	full string
}

// keep sets a native key.
func (b *configProfile) keep(key string, f field, value *yaml.Node) {
	f.key, f.node = key, value
	for i := range b.extra {
		if b.extra[i].key == key {
			b.extra[i].field = f
			return
		}
	}
	b.extra = append(b.extra, kept{field: f})
}

// keepIn sets a key of a native key that is a map.
func (b *configProfile) keepIn(key string, f field, name string, value *yaml.Node) {
	for _, k := range b.extra {
		if k.key == key && k.node.Kind == yaml.MappingNode {
			setChild(k.node, name, value)
			return
		}
	}
	b.keep(key, f, mapping(str(name), value))
}

func (b *configProfile) drop(key string) {
	b.extra = slices.DeleteFunc(b.extra, func(k kept) bool { return k.key == key })
}

// unknown keeps a key of a section that nobody knows.
func (b *configProfile) unknown(section string, f field) {
	bare := f.written[strings.LastIndexByte("."+f.written, '.'):]
	if last := f.key; kebab(bare) != last { // the key has a dot in it
		bare = last
	}
	b.odd = append(b.odd, kept{field: f, full: fullKey(section, bare)})
}

// fullKey joins a section and a key; a key with a dot stands in quotes.
func fullKey(section, key string) string {
	if strings.ContainsAny(key, `."`) {
		key = quoteKey(key)
	}
	if section == "" {
		return key
	}
	return section + "." + key
}

// finish gives the profile; it is among the file's profiles also when one of
// its parts is refused.
func (b *configProfile) finish() *profile.Profile {
	p := b.d.p
	p.Permission = append(b.d.toolRules, p.Permission...)
	for _, f := range b.c.others {
		b.odd = append(b.odd, kept{field: f, full: fullKey("", f.written)})
	}
	for _, k := range b.extra {
		b.d.keepTree(k.field, k.key, true, nil)
	}
	for _, k := range b.odd {
		bare := k.key
		k.written = k.full
		b.d.keepTree(k.field, bare, false, configNames())
	}
	p.Seal()
	b.c.hear(b.d.ds)
	b.c.out = append(b.c.out, p)
	return p
}

func configNames() []string {
	return slices.Concat([]string{
		"agent", "provider", "session", "tools", "execution", "compaction", "skills", "sub-agents", "callbacks", "system-prompt-strategy",
		"system-prompt", "default-workspace", "profile", "instances", "thinking-level", "agent-profile", "api-key", "context-window",
		"tool-strategy", "batch-size", "enabled", "max-turns", "max-total-tokens", "max-duration-secs", "max-cost",
	}, schema.Names())
}

// profileKeys reads what may stand in a profile, in an agent or in an instance
// of one: its own words, and every native key.
func (b *configProfile) profileKeys(section string, fields []field) {
	for _, f := range fields {
		if f.key == "extends" {
			b.d.doc.fields = append(b.d.doc.fields, f)
		}
	}
	for _, f := range fields {
		switch f.key {
		case "name", "id", "instances", "profile", "agent-profile", "provider":
			if f.key == "provider" && section == "agent.profile" {
				b.native(section, f)
			}
		case "thinking-level", "thinking":
			b.d.p.Thinking = b.level(f)
		case "system-prompt":
			b.systemPrompt(f)
		case "max-turns":
			b.d.p.Limits.Turns = asInt(b.d.count(f, 1))
		case "compaction":
			if in, ok := b.c.find(f, b.c.compactions, "compaction"); ok {
				b.compaction("compaction", b.c.fields(in.field))
			}
		case "model-config":
			b.providerKeys("provider", b.c.fields(f))
		case "execution-limits":
			b.execution(b.c.fields(f))
		case "context-config":
			b.compaction("compaction", b.c.fields(f))
		case "retry-config":
			b.retry(b.c.fields(f))
		case "cache-config":
			b.cache(b.c.fields(f))
		default:
			b.native(section, f)
		}
	}
}

// native reads a native key, keeps one that is known, or keeps an unknown one.
func (b *configProfile) native(section string, f field) {
	g := grammar{dialect: "config", grants: true}
	d := b.d
	switch f.key { // what a later part says replaces what an earlier one did
	case "permission":
		d.p.Permission = nil
	case "tool-settings":
		d.p.ToolSettings = nil
	case "extends":
		d.p.Extends, d.p.ExtendsAt = profile.Value[[]string]{}, nil
	}
	switch {
	case d.identity(f), d.running(f), d.acting(g, f), d.nested(f):
	case inactive(f.key), f.key == profile.Servers:
		b.keep(f.key, f, f.node)
	default:
		b.unknown(section, f)
	}
}

// inactive says whether a key is native and not acted on.
func inactive(name string) bool {
	key, ok := schema.Find(name)
	return ok && !key.Acts
}

// level reads a thinking level in any case of its letters.
func (b *configProfile) level(f field) profile.Value[string] {
	if n := deref(f.node); n.Kind == yaml.ScalarNode {
		lower := *n
		lower.Value = strings.ToLower(n.Value)
		f.node = &lower
	}
	return b.d.oneOf(f, "off", "minimal", "low", "medium", "high")
}

// agent reads the agent table, and between it and the profile the part of an
// instance of the profile; the part of an agent instance comes last.
func (b *configProfile) agent() {
	if f, ok := b.c.sections["default-workspace"]; ok && !isNull(f.node) && !b.d.p.Workspace.Set {
		b.d.p.Workspace = b.d.text(f)
	}
	before := b.late == nil
	if !before {
		b.late(b)
	}
	if before {
		b.agentKeys()
	}
}

func (b *configProfile) agentKeys() {
	b.profileKeys("agent", b.c.fields(b.c.sections["agent"]))
}

// profileInstance is weaker than the agent table.
func (b *configProfile) profileInstance(in instance) {
	b.profileKeys("agent.profile", b.c.fields(in.field))
	b.agentKeys()
}

// agentInstance takes the variation of the profile that it refers to, then the
// agent table, then its own keys.
func (b *configProfile) agentInstance(in instance) {
	fields := b.c.fields(in.field)
	for _, f := range fields {
		if f.key == "agent-profile" {
			if ref, ok := b.c.find(f, b.c.profiles, "agent_profile"); ok {
				b.profileKeys("agent.profile", b.c.fields(ref.field))
			}
		}
	}
	b.agentKeys()
	for _, f := range fields {
		if f.key == "profile" {
			b.profileKeys("agent.profile", b.c.fields(f))
		}
	}
	b.reference(fields, false)
	b.profileKeys("agent", fields)
}

// reference reads the provider of an instance: one of the file's, or for a
// sub-agent the name of any.
func (b *configProfile) reference(fields []field, any bool) {
	for _, f := range fields {
		if f.key != "provider" {
			continue
		}
		if in, ok := b.c.find(f, b.c.providers, "provider"); ok {
			b.providerInstance(in)
		} else if deref(f.node).Kind == yaml.ScalarNode && !isRef(deref(f.node).Value) {
			b.d.p.Provider = b.d.notBlank(f, profile.CodeEmptyProvider)
		}
	}
}

// session reads the table whose thinking level and temperature go before those
// of the profile.
func (b *configProfile) session() {
	for _, f := range b.c.fields(b.c.sections["session"]) {
		switch f.key {
		case "thinking-level", "thinking":
			b.d.p.Thinking = b.level(f)
		case "temperature":
			b.d.p.Temperature = b.d.number(f, 0, 2)
		case "scope", "rotate-after":
			b.keepIn("session", f, f.key, f.node)
		default:
			b.unknown("session", f)
		}
	}
}

// shared reads the tables that hold for every agent of the file.
func (b *configProfile) shared() {
	c := b.c
	b.tools(c.fields(c.sections["tools"]))
	b.execution(c.fields(c.sections["execution"]))
	b.retry(c.fields(c.sections["retry"]))
	b.cache(c.fields(c.sections["cache"]))
	b.compaction("compaction", c.fields(c.sections["compaction"]))
	b.compaction("compaction", c.fields(c.sections["context"]))
	if f, ok := c.sections["skills"]; ok && !isNull(f.node) {
		b.keep("skills", f, f.node)
	}
	if f, ok := c.sections["openapi"]; ok && !isNull(f.node) {
		b.keep("openapi", f, f.node)
	}
	b.servers()
	b.callbacks()
}

func (b *configProfile) execution(fields []field) {
	l := &b.d.p.Limits
	for _, f := range fields {
		switch f.key {
		case "max-turns":
			l.Turns = asInt(b.d.count(f, 1))
		case "max-total-tokens":
			l.Tokens = b.d.count(f, 1)
		case "max-duration-secs", "max-duration":
			l.Duration = b.span(f, time.Second)
		case "max-cost":
			l.Cost = b.d.number(f, 0.000001, 1e9)
		case "retry":
			b.retry(b.c.fields(f))
		case "cache":
			b.cache(b.c.fields(f))
		default:
			b.unknown("execution", f)
		}
	}
}

// span reads a number of units of time, above zero.
func (b *configProfile) span(f field, unit time.Duration) profile.Value[time.Duration] {
	if n := deref(f.node); n.ShortTag() == "!!str" {
		return b.d.duration(f)
	}
	v := b.d.number(f, 0.000001, 1e9)
	return profile.Value[time.Duration]{V: time.Duration(v.V * float64(unit)), Set: v.Set, At: v.At}
}

func (b *configProfile) retry(fields []field) {
	r := &b.d.p.Retry
	for _, f := range fields {
		switch f.key {
		case "max-retries", "max":
			r.Max = asInt(b.d.count(f, 0))
		case "initial-delay-ms", "base":
			r.Base = b.span(f, time.Millisecond)
		case "backoff-multiplier", "factor":
			r.Factor = b.d.number(f, 1, 100)
		case "max-delay-ms", "cap":
			r.Cap = b.span(f, time.Millisecond)
		default:
			b.unknown("execution.retry", f)
		}
	}
}

func (b *configProfile) cache(fields []field) {
	for _, f := range fields {
		switch f.key {
		case "enabled":
			on := b.d.flag(f)
			b.d.p.Cache = profile.Value[string]{V: "auto", Set: on.Set, At: on.At}
			if !on.V {
				b.d.p.Cache.V = "off"
			}
		case "strategy":
			v := b.d.oneOf(f, "auto", "disabled", "manual")
			if v.V == "disabled" {
				v.V = "off"
			}
			if v.Set && b.d.p.Cache.V != "off" {
				b.d.p.Cache = v
			}
		default:
			b.unknown("execution.cache", f)
		}
	}
}
