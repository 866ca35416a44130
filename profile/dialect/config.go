package dialect

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// config is the dialect of one TOML, JSON or YAML file that configures agents
// as a whole: [agent], [provider], and what they share.
//
// The file's own profile comes first; then one for each named variation of the
// profile, one for each agent instance, and one for each sub-agent, which is
// named below the file's own: orchestrator/researcher. A later one of a name
// stands for the earlier. ${VAR} in a value stays as it is written; see
// profile.ExpandVars.
func config() Dialect {
	return Dialect{Name: "config", Detect: detectConfig, Decode: decodeConfig, Encode: encodeConfig}
}

func detectConfig(f *File) Certainty {
	if !isData(f.Path) || len(f.Data) > profile.MaxFile {
		return No
	}
	if !bytes.Contains(f.Data, []byte("agent")) && !bytes.Contains(f.Data, []byte("provider")) {
		return No
	}
	t := f.tree()
	root := cmp.Or(t.root, t.remains)
	if root != nil && (configAgent(root) || configProvider(root)) {
		return ByContent
	}
	if t.root == nil && withoutExt(path.Base(f.Path)) == "agent" && // broken, and by its name and words an agent all the same
		(bytes.Contains(f.Data, []byte("system_prompt")) || bytes.Contains(f.Data, []byte("api_key"))) {
		return ByContent
	}
	return No
}

// configAgent says whether a file has an agent table with keys that only an
// agent has: many other files have an "agent".
func configAgent(root *yaml.Node) bool {
	agent, ok := tableOf(root, "agent")
	if !ok {
		return false
	}
	if has(agent, "system_prompt") || has(agent, "system-prompt") || has(agent, "systemPrompt") {
		return true
	}
	if p, ok := tableOf(agent, "profile"); ok {
		for i := 0; i+1 < len(p.Content); i += 2 {
			switch kebab(deref(p.Content[i]).Value) {
			case "name", "description", "system-prompt", "thinking-level", "profile-id", "config-id", "instances":
				return true
			}
		}
	}
	return anyItem(agent, "instances", "system_prompt", "agent_profile", "profile")
}

// configProvider says whether a file has a provider table that names a model.
func configProvider(root *yaml.Node) bool {
	p, ok := tableOf(root, "provider")
	if !ok {
		return false
	}
	if m, ok := child(p, "model"); ok && deref(m).Kind == yaml.ScalarNode {
		return true
	}
	return anyItem(p, "instances", "model", "api_key")
}

func tableOf(n *yaml.Node, key string) (*yaml.Node, bool) {
	v, ok := child(n, key)
	if !ok || deref(v).Kind != yaml.MappingNode {
		return nil, false
	}
	return deref(v), true
}

func has(n *yaml.Node, key string) bool {
	_, ok := child(n, key)
	return ok
}

// anyItem says whether a map has a list of maps, one with one of the keys.
func anyItem(n *yaml.Node, list string, keys ...string) bool {
	v, ok := child(n, list)
	if !ok || deref(v).Kind != yaml.SequenceNode {
		return false
	}
	for _, item := range deref(v).Content {
		for _, key := range keys {
			if deref(item).Kind == yaml.MappingNode && has(deref(item), key) {
				return true
			}
		}
	}
	return false
}

// configFile is a file that is being read.
type configFile struct {
	file     *File
	d        *decoder // holds the problems of the file as a whole
	sections map[string]field
	others   []field // keys at the top that no section has

	providers, profiles, agents, children, compactions, prompts, strategies []instance

	callable []permission.Rule // by which its agents delegate
	out      []*profile.Profile
	ds       []profile.Diagnostic
	heard    map[string]bool // diagnostics that were reported once
}

func decodeConfig(f *File) ([]*profile.Profile, []profile.Diagnostic) {
	c := &configFile{file: f, d: treeDecoder(f, "config"), sections: map[string]field{}, heard: map[string]bool{}}
	c.open()
	if c.d.doc.broken {
		c.d.p.Name = c.fileName()
		return []*profile.Profile{c.d.p}, c.d.ds
	}
	c.hear(c.d.ds)
	base := c.build(c.baseName(), nil)
	for _, in := range c.profiles {
		c.build(in.nameField("id"), func(b *configProfile) { b.profileInstance(in) })
	}
	for _, in := range c.agents {
		c.build(in.nameField("name"), func(b *configProfile) { b.agentInstance(in) })
	}
	for _, in := range c.children {
		c.child(base, in)
	}
	c.unique()
	return c.out, c.ds
}

// open sorts the keys at the top into sections, and reads the lists of
// instances in them.
func (c *configFile) open() {
	d := c.d
	d.topLevelUnique()
	for _, f := range d.doc.fields {
		switch f.key {
		case "agent", "provider", "session", "tools", "execution", "compaction", "context", "retry", "cache", "skills",
			"sub-agents", "callbacks", "hooks", "system-prompt-strategy", "system-prompt", "mcp", "mcp-servers", "openapi", "default-workspace":
			c.sections[f.key] = f
		default:
			c.others = append(c.others, f)
		}
	}
	c.providers = c.instances("provider", "provider")
	c.agents = c.instances("agent", "")
	c.children = c.instances("sub-agents", "sub_agent")
	c.compactions = c.instances("compaction", "compaction")
	c.prompts = c.instances("system-prompt", "system_prompt")
	c.strategies = c.instances("system-prompt-strategy", "system_prompt_strategy")
	if p, ok := c.sub("agent", "profile"); ok {
		c.profiles = c.list(p, "agent_profile")
	}
}

// sub finds a table in a section.
func (c *configFile) sub(section, key string) (field, bool) {
	for _, f := range c.fields(c.sections[section]) {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// fields gives the keys of a section that have a value, each under its bare
// native key. A section that is not there has none.
func (c *configFile) fields(section field) []field {
	if section.node == nil {
		return nil
	}
	before := len(c.d.ds)
	entries, _ := c.d.entries(section)
	c.hear(c.d.ds[before:])
	var out []field
	seen := map[string]bool{}
	for _, f := range entries {
		f.key = strings.TrimPrefix(f.key, section.key+".")
		if seen[f.key] {
			c.report(profile.CodeDuplicateKey, f.at, f.written, fmt.Sprintf("%s stands twice, in two spellings", f.written), "keep one of the two")
		}
		seen[f.key] = true
		if !isNull(f.node) {
			out = append(out, f)
		}
	}
	return out
}

func (c *configFile) report(code string, at source.Origin, key, message, hint string) {
	c.hear([]profile.Diagnostic{profile.Diagnose(code, at, key, message, hint)})
}

// hear collects diagnostics, each once: the profiles of a file share sections.
func (c *configFile) hear(ds []profile.Diagnostic) {
	for _, d := range ds {
		key := fmt.Sprintf("%s %d:%d %s", d.Code, d.Line, d.Column, d.Message)
		if !c.heard[key] {
			c.heard[key] = true
			c.ds = append(c.ds, d)
		}
	}
}

// fileName is the name that the file gives when it has none in it.
func (c *configFile) fileName() string {
	stem := withoutExt(path.Base(c.file.Path))
	if profile.CheckName(stem) == nil {
		return stem
	}
	slug, err := profile.Slug(stem)
	if err != nil || slug == "" {
		return "agent"
	}
	return slug
}

func (c *configFile) baseName() *field {
	if p, ok := c.sub("agent", "profile"); ok {
		for _, f := range c.fields(p) {
			if f.key == "name" {
				return &f
			}
		}
	}
	return nil
}

// build puts one profile together from the weakest part to the strongest:
// what the file shares, the provider, the profile, the given part, the session.
func (c *configFile) build(name *field, part func(*configProfile)) *profile.Profile {
	b := c.start(name)
	b.shared()
	b.provider(c.sections["provider"])
	if p, ok := c.sub("agent", "profile"); ok {
		b.profileKeys("agent.profile", c.fields(p))
	}
	b.late = part
	b.agent()
	b.session()
	b.delegation()
	return b.finish()
}

func (c *configFile) start(name *field) *configProfile {
	b := &configProfile{c: c}
	b.d = &decoder{file: c.file.Name, doc: &document{front: profile.Frontmatter{YAMLLine: 1}}, opts: c.file.Options,
		p: &profile.Profile{Dialect: "config", File: c.file.Name}}
	if name != nil {
		name.key = "name"
		b.d.doc.fields = []field{*name}
	}
	b.d.claimName(&File{Path: "profiles/" + withoutExt(path.Base(c.file.Path))})
	if b.d.p.Name == "" && name == nil {
		b.d.p.Name = c.fileName()
	}
	return b
}

// unique keeps the last profile of each name.
func (c *configFile) unique() {
	last := map[string]int{}
	for i, p := range c.out {
		last[p.Name] = i
	}
	var kept []*profile.Profile
	for i, p := range c.out {
		if last[p.Name] == i {
			kept = append(kept, p)
			continue
		}
		c.report(profile.CodeShadowed, p.NameAt, "name", fmt.Sprintf("the name %q is defined again in line %d; that one wins", p.Name, c.out[last[p.Name]].NameAt.Line), "give them different names")
	}
	c.out = kept
}

// child makes a profile of a sub-agent. It shares the provider with its parent
// and nothing else; without a list of tools it has none.
func (c *configFile) child(parent *profile.Profile, in instance) {
	name := in.nameField("name")
	b := c.start(name)
	if b.d.p.Name != "" {
		b.d.p.Name = parent.Name + "/" + b.d.p.Name
	}
	b.provider(c.sections["provider"])
	b.d.p.Mode = profile.Value[string]{V: "subagent", Set: true, At: in.at}
	b.d.p.Tools = profile.Value[profile.Tools]{V: profile.Tools{Names: []string{}}, Set: true, At: in.at}
	fields := c.fields(in.field)
	b.reference(fields, true)
	b.profileKeys("sub_agents.instances", fields)
	b.finish()
}

// delegation lets a profile delegate to the sub-agents of its file, and to
// nobody else.
func (b *configProfile) delegation() {
	if len(b.c.children) == 0 {
		return
	}
	at := b.c.sections["sub-agents"].at
	if t := &b.d.p.Tools; t.Set && !t.V.All && !contains(t.V.Names, "task") {
		t.V.Names = append(t.V.Names, "task")
		t.V.Written = append(t.V.Written, "task")
		b.d.toolRules = append(b.d.toolRules, permission.Rule{Tool: "task", Subject: "*", Effect: permission.Allow, At: at})
	}
	b.d.p.Permission = append(b.d.p.Permission, b.c.delegates(at)...)
}

// delegates gives the rules that deny all and then allow the file's sub-agents.
func (c *configFile) delegates(at source.Origin) []permission.Rule {
	if c.callable != nil {
		return c.callable
	}
	c.callable = []permission.Rule{{Tool: "task", Subject: "*", Effect: permission.Deny, At: at}}
	parent := c.start(c.baseName()).d.p.Name
	for _, in := range c.children {
		if name := c.start(in.nameField("name")).d.p.Name; name != "" {
			c.callable = append(c.callable, permission.Rule{Tool: "task", Subject: parent + "/" + name, Effect: permission.Allow, At: in.at})
		}
	}
	return c.callable
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
