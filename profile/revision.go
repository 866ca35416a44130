package profile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"sync"
)

// canonical collects the canonical form: every key that is set, in a fixed
// order, each text led by its length, so that no two profiles share a form.
type canonical []byte

func (c *canonical) text(key, v string) {
	*c = binary.AppendUvarint(append(*c, key...), uint64(len(v)))
	*c = append(*c, v...)
}

func (c *canonical) number(key string, v uint64) {
	*c = binary.AppendUvarint(append(append(*c, key...), 0), v)
}

func (c *canonical) texts(key string, vs []string) {
	c.number(key, uint64(len(vs)))
	for _, v := range vs {
		c.text("", v)
	}
}

func (c *canonical) optional(key string, v Value[string]) {
	if v.Set {
		c.text(key, v.V)
	}
}

func (c *canonical) float(key string, v Value[float64]) {
	if v.Set {
		c.number(key, math.Float64bits(v.V))
	}
}

func integer[T ~int | ~int64](c *canonical, key string, v Value[T]) {
	if v.Set {
		c.number(key, uint64(v.V))
	}
}

var canonicalBuffers = sync.Pool{New: func() any { return new(canonical) }}

// revision is that of one profile, once somebody asks for it: a digest takes
// about as long as reading the file does, and most profiles are only listed.
type revision struct {
	of     *Profile // a copy of the profile, which may be changed, does not have it
	from   *Profile // whose it is; of itself but for a flattened profile
	once   sync.Once
	digest string
}

// Revision is the digest of what the profile and its parents say, without their
// files, dialects and the places of their values: 32 hexadecimal digits. It is
// safe for concurrent use.
func (p *Profile) Revision() string {
	r := p.revision
	if r == nil || r.of != p {
		return p.digest()
	}
	r.once.Do(func() { r.digest = r.from.digest() })
	return r.digest
}

// Seal says that the profile does not change any more, so that its revision is
// computed once. A copy of it may change, and is not sealed.
func (p *Profile) Seal() { p.revision = &revision{of: p, from: p} }

// digest gives the revision: the digest of the canonical form, and for a profile
// with parents that of its own digest and of theirs.
func (p *Profile) digest() string {
	own := p.ownDigest()
	if len(p.Parents) == 0 {
		return own
	}
	sum := sha256.New()
	sum.Write([]byte(own))
	for _, parent := range p.Parents {
		sum.Write([]byte{'\n'})
		sum.Write([]byte(parent.Revision()))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// ownDigest is that of the canonical form, without the parents.
func (p *Profile) ownDigest() string {
	c := canonicalBuffers.Get().(*canonical)
	defer canonicalBuffers.Put(c)
	*c = (*c)[:0]
	p.writeIdentity(c)
	p.writeModel(c)
	p.writeTools(c)
	p.writeLimits(c)
	for _, e := range byKey(p.Extra) {
		c.text("extra", e.Key)
		c.text("", string(e.YAML))
	}
	c.text("body", p.Body)
	sum := sha256.Sum256(*c)
	return hex.EncodeToString(sum[:16])
}

func (p *Profile) writeIdentity(c *canonical) {
	c.text("name", p.Name)
	if p.Extends.Set {
		c.texts("extends", p.Extends.V)
	}
	c.optional("title", p.Title)
	c.optional("description", p.Description)
	c.optional("summary", p.Summary)
	if p.Details.Set {
		c.text("details", p.Details.V.Specialization)
		c.text("", p.Details.V.WhenToUse)
		c.texts("", p.Details.V.KeyTools)
		c.number("", btoi(p.Details.V.AddKeyTools))
	}
	c.optional("mode", p.Mode)
	if p.Hidden.Set {
		c.number("hidden", btoi(p.Hidden.V))
	}
}

func (p *Profile) writeModel(c *canonical) {
	c.optional("provider", p.Provider)
	c.optional("model", p.Model)
	c.float("temperature", p.Temperature)
	c.float("top-p", p.TopP)
	integer(c, "max-tokens", p.MaxTokens)
	c.optional("thinking", p.Thinking)
	c.optional("system-prompt", p.SystemPrompt)
	c.optional("subagent-prompt", p.SubagentPrompt)
	c.optional("persona", p.Persona)
}

func (p *Profile) writeTools(c *canonical) {
	if p.Tools.Set {
		c.number("tools", btoi(p.Tools.V.All))
		c.texts("", p.Tools.V.Names)
		c.number("", btoi(p.Tools.V.Add))
	}
	for _, s := range p.ToolSettings {
		c.text("tool-settings", s.Tool)
		c.text("", string(s.JSON))
	}
	for _, r := range p.Permission {
		c.text("rule", r.Tool)
		c.text("", r.Subject)
		c.number("", uint64(r.Effect))
	}
	if p.DefaultPermission.Set {
		c.number("default-permission", uint64(p.DefaultPermission.V))
	}
	if p.PermissionMode.Set {
		c.text("permission-mode", p.PermissionMode.V)
	}
	if p.ToolExecution.Set {
		c.text("tool-execution", p.ToolExecution.V.Strategy)
		c.number("", uint64(p.ToolExecution.V.Size))
	}
	if p.SubagentTools.Set {
		c.texts("subagents.tools", p.SubagentTools.V)
		c.number("", btoi(p.SubagentToolsAdd))
	}
	integer(c, "subagents.max-depth", p.SubagentMaxDepth)
}

func (p *Profile) writeLimits(c *canonical) {
	integer(c, "limits.turns", p.Limits.Turns)
	integer(c, "limits.tokens", p.Limits.Tokens)
	integer(c, "limits.duration", p.Limits.Duration)
	c.float("limits.cost", p.Limits.Cost)
	integer(c, "retry.max", p.Retry.Max)
	integer(c, "retry.base", p.Retry.Base)
	c.float("retry.factor", p.Retry.Factor)
	integer(c, "retry.cap", p.Retry.Cap)
	c.optional("cache", p.Cache)
	c.optional("workspace", p.Workspace)
	c.optional("steering", p.Steering)
	c.optional("follow-up", p.FollowUp)
}

func btoi(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// byKey gives the keys in a fixed order: theirs has no meaning.
func byKey(extra []Extra) []Extra {
	order := func(a, b Extra) int { return strings.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(extra, order) {
		return extra
	}
	extra = slices.Clone(extra)
	slices.SortStableFunc(extra, order)
	return extra
}
