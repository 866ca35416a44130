package resolve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/contract"
)

func (r *resolver) params() {
	t := pick(r, "temperature", func(p *profile.Profile) profile.Value[float64] { return p.Temperature })
	top := pick(r, "top-p", func(p *profile.Profile) profile.Value[float64] { return p.TopP })
	tokens := pick(r, "max-tokens", func(p *profile.Profile) profile.Value[int] { return p.MaxTokens })
	think := pick(r, "thinking", func(p *profile.Profile) profile.Value[string] { return p.Thinking })
	if v := r.variant; v != nil {
		vary(r, "temperature", &t, v.Temperature)
		vary(r, "top-p", &top, v.TopP)
		vary(r, "max-tokens", &tokens, v.MaxTokens)
		vary(r, "thinking", &think, v.Thinking)
	}
	r.unthinking(&think)
	if t.Set {
		r.out.Params.Temperature = &t.V
	}
	if top.Set {
		r.out.Params.TopP = &top.V
	}
	r.out.Params.MaxTokens, r.out.Params.Thinking = tokens.V, think.V
	if r.noLevel(); !r.out.Model.Samples(r.level()) {
		r.withoutSampling()
	}
}

// level is how much the model thinks.
func (r *resolver) level() string {
	p := &r.out.Params
	return r.out.Model.Level(p.Thinking, p.Temperature != nil || p.TopP != nil)
}

// noLevel says where the model thinks otherwise than somebody asks for.
func (r *resolver) noLevel() {
	want, level := r.out.Params.Thinking, r.level()
	if want == "" || want == level || want == spec.Off && level == "" {
		return
	}
	said := fmt.Sprintf("the model %s does not think", r.out.Model)
	if level != "" {
		said = fmt.Sprintf("the model %s has no level %s of thinking; %s is the nearest", r.out.Model, want, level)
	}
	r.note(CodeThinking, profile.SeverityNote, r.out.Origins["thinking"].Origin, "thinking", said, "")
}

// vary gives a key the value that the model's variant has for it, unless the layer
// that names the model, or a stronger one, sets the key itself.
func vary[T any](r *resolver, key string, v *profile.Value[T], variant profile.Value[T]) {
	if !variant.Set || v.Set && r.won[key] >= r.won["model"] {
		return
	}
	trace := r.out.Origins[key]
	if v.Set {
		trace.Overrode = append(trace.Overrode, trace.Origin)
	}
	*v, trace.Origin = variant, variant.At
	r.out.Origins[key] = trace
}

// withoutSampling takes out what the model would refuse a request for.
func (r *resolver) withoutSampling() {
	while := ""
	if !r.out.Model.NoSampling {
		while = " while it thinks"
	}
	for _, v := range []struct {
		key string
		at  **float64
	}{{"temperature", &r.out.Params.Temperature}, {"top-p", &r.out.Params.TopP}} {
		if *v.at == nil {
			continue
		}
		*v.at = nil
		r.note(CodeSampling, profile.SeverityWarning, r.out.Origins[v.key].Origin, v.key,
			fmt.Sprintf("%s is left out: the model %s refuses it%s", v.key, r.out.Model, while), "take the key out, or name another model")
	}
}

func (r *resolver) tools() {
	pick(r, "tools", func(p *profile.Profile) profile.Value[profile.Tools] { return p.Tools })
	var v profile.Tools
	for _, l := range r.layers {
		if l.Keys.Tools.Set {
			v = l.Keys.Tools.V.Over(v)
		}
	}
	r.out.Tools, r.out.AllTools = slices.Clone(v.Names), v.All
	if r.out.Tools == nil {
		r.out.Tools = []string{}
	}
	r.searching()
	r.toolSettings()
}

// toolSettings merges the settings of each tool key by key, the stronger layer
// over the weaker.
func (r *resolver) toolSettings() {
	r.set("tool-settings", source.Origin{Layer: source.Builtin})
	merged := map[string]map[string]json.RawMessage{}
	for _, l := range r.layers {
		for _, s := range l.Keys.ToolSettings {
			at := s.At
			at.Layer = l.Name
			var object map[string]json.RawMessage
			if err := json.Unmarshal(s.JSON, &object); err != nil {
				r.fail("tool-settings."+s.Tool, at, err.Error(), "")
				return
			}
			if merged[s.Tool] == nil {
				merged[s.Tool] = object
				r.set("tool-settings."+s.Tool, at)
			} else {
				maps.Copy(merged[s.Tool], object)
				trace := r.out.Origins["tool-settings."+s.Tool]
				r.out.Origins["tool-settings."+s.Tool] = spec.Trace{Origin: at, Overrode: append(trace.Overrode, trace.Origin)}
			}
			r.set("tool-settings", at)
		}
	}
	for _, tool := range slices.Sorted(maps.Keys(merged)) {
		data, err := json.Marshal(merged[tool])
		if err != nil {
			r.fail("tool-settings."+tool, r.out.Origins["tool-settings."+tool].Origin, err.Error(), "")
			return
		}
		if bad := (*contract.SettingError)(nil); errors.As(contract.Check(tool, data), &bad) {
			r.fail(bad.Where(), r.out.Origins["tool-settings."+tool].Origin, bad.Problem, "")
			return
		}
		if r.out.ToolSettings == nil {
			r.out.ToolSettings = map[string]json.RawMessage{}
		}
		r.out.ToolSettings[tool] = bytes.Clone(data)
	}
}

// rules lines up the rules of all layers, and those of the host apart.
func (r *resolver) rules() {
	trace := spec.Trace{Origin: source.Origin{Layer: source.Builtin}}
	count := 0
	for _, l := range r.layers {
		count += len(l.Keys.Permission)
	}
	r.out.Rules = make([]permission.Rule, 0, count+len(r.out.Services))
	for i, l := range r.layers {
		if i == 1 { // above the built-in ones
			r.out.Rules = append(r.out.Rules, r.askForServices()...)
		}
		if len(l.Keys.Permission) == 0 {
			continue
		}
		rules := r.expand(l.Keys.Permission, l.Name)
		if !r.counts(i) {
			for i := range rules {
				rules[i].Untrusted = true
			}
		}
		r.out.Rules = append(r.out.Rules, rules...)
		at := l.Keys.Permission[0].At
		at.Layer = l.Name
		trace.Origin = at
	}
	r.out.Origins["permission"] = trace
	r.out.HostRules = r.expand(r.in.Config.Policy.Permission, source.Host)
	host := source.Origin{Layer: source.Builtin}
	if len(r.out.HostRules) > 0 {
		host = r.out.HostRules[0].At
	}
	r.set("policy.permission", host)
	r.defaultPermission()
	r.mode()
	r.cautious()
}

func (r *resolver) expand(rules []permission.Rule, layer source.Layer) []permission.Rule {
	out, at, err := expand(rules, layer, r.in.LookupEnv)
	if err != nil && r.err == nil {
		r.fail("permission", at, err.Error(), "set the variable, or write the path out")
	}
	return out
}

// expand fills in the variables of rules; at is the first that cannot be.
func expand(rules []permission.Rule, layer source.Layer, lookup func(string) (string, bool)) (out []permission.Rule, at source.Origin, err error) {
	out = make([]permission.Rule, len(rules))
	for i, rule := range rules {
		rule.At.Layer = layer
		subject, bad := permission.Expand(rule.Subject, lookup)
		if bad != nil && err == nil {
			at, err = rule.At, bad
		}
		rule.Subject = subject
		out[i] = rule
	}
	return out, at, err
}

func (r *resolver) running() {
	r.out.Retry = spec.Retry{
		Max:    pick(r, "retry.max", func(p *profile.Profile) profile.Value[int] { return p.Retry.Max }).V,
		Base:   pick(r, "retry.base", func(p *profile.Profile) profile.Value[time.Duration] { return p.Retry.Base }).V,
		Factor: pick(r, "retry.factor", func(p *profile.Profile) profile.Value[float64] { return p.Retry.Factor }).V,
		Cap:    pick(r, "retry.cap", func(p *profile.Profile) profile.Value[time.Duration] { return p.Retry.Cap }).V,
	}
	te := pick(r, "tool-execution", func(p *profile.Profile) profile.Value[profile.ToolExecution] { return p.ToolExecution }).V
	r.out.ToolExecution = spec.ToolExecution{Strategy: te.Strategy, Size: te.Size}
	if te.Strategy == "batched" && te.Size == 0 {
		r.out.ToolExecution.Size = DefaultBatch
	}
	r.out.ToolTimeout = scalarOf(r, toolTimeout, parseTimeout)
	r.out.Steering = pick(r, "steering", func(p *profile.Profile) profile.Value[string] { return p.Steering }).V
	r.out.FollowUp = pick(r, "follow-up", func(p *profile.Profile) profile.Value[string] { return p.FollowUp }).V
	r.session()
	r.out.Cache = pick(r, "cache", func(p *profile.Profile) profile.Value[string] { return p.Cache }).V
	r.cacheBreakpoints()
}
