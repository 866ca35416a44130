package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Setting is one value of the configuration, and who set it.
type Setting struct {
	Key    string        `json:"key"`
	Value  string        `json:"value"`
	Origin source.Origin `json:"origin"`
}

// Settings lists what the configuration comes to. Headers are named without
// their values, and addresses without passwords.
func (c *Config) Settings() []Setting {
	var out []Setting
	add := func(key, value string, at source.Origin) { out = append(out, Setting{key, value, at}) }
	for _, s := range []struct {
		key string
		v   profile.Value[string]
	}{{"server.addr", c.Server.Addr}, {"server.auth.kind", c.Server.Auth.Kind}, {"store", c.Store}, {"store-sync", c.StoreSync}, {"dispatch", c.Dispatch}} {
		add(s.key, redactURL(s.v.V), s.v.At)
	}
	if c.KeepLastGood.Set {
		add("catalog.keep-last-good", fmt.Sprint(c.KeepLastGood.V), c.KeepLastGood.At)
	}
	for _, l := range c.Defaults {
		out = append(out, defaults(l.Keys)...)
	}
	for _, p := range c.Profiles {
		add("profiles", p.V, p.At)
	}
	for _, p := range c.Skills {
		add("skills", p.V, p.At)
	}
	for _, p := range c.Providers {
		var parts []string
		for _, v := range []struct {
			key string
			v   profile.Value[string]
		}{{"api", p.API}, {"base-url", p.BaseURL}, {"key-env", p.KeyEnv}} {
			if v.v.Set {
				parts = append(parts, v.key+" "+redactURL(v.v.V))
			}
		}
		if p.KeyCommand.Set {
			parts = append(parts, "key-command")
		}
		for _, h := range p.Headers.V {
			parts = append(parts, "header "+h.Name)
		}
		if len(p.Models) > 0 {
			parts = append(parts, fmt.Sprintf("%d models", len(p.Models)))
		}
		add("providers."+p.Name, strings.Join(parts, ", "), p.At)
	}
	for _, v := range c.Web.Allow {
		add("web.allow", v.V, v.At)
	}
	if c.Web.Proxy.Set {
		add("web.proxy", redactURL(c.Web.Proxy.V), c.Web.Proxy.At)
	}
	if s := c.Search; s.Kind != "" {
		add("search", strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Kind, s.URL, s.KeyEnv)), s.At)
	}
	if v := c.Rig.PerDay; v.Set {
		add("rig.budget.cost-per-day", fmt.Sprint(v.V), v.At)
	}
	if v := c.Rig.MaxHops; v.Set {
		add("rig.max-hops", strconv.Itoa(v.V), v.At)
	}
	if v := c.Rig.MaxParallel; v.Set {
		add("rig.max-parallel", strconv.Itoa(v.V), v.At)
	}
	if v := c.Rig.Outside; v.Set {
		add("rig.outside", strconv.FormatBool(v.V), v.At)
	}
	if t := c.Telemetry; t.Endpoint != "" {
		add("telemetry", redactURL(t.Endpoint), t.At)
	}
	for _, e := range c.Services {
		add("openapi."+e.Name, strings.TrimSpace(e.Does()+" "+e.Server), e.At)
	}
	for _, a := range c.Aliases {
		add("aliases."+a.Name, a.Target, a.At)
	}
	for _, r := range c.Policy.Permission {
		add("policy.permission", fmt.Sprintf("%s %q %s", r.Tool, r.Subject, r.Effect), r.At)
	}
	return append(out, c.limits()...)
}

// defaults lists the plain values of a layer of profile keys.
func defaults(k *profile.Profile) (out []Setting) {
	add := func(key string, set bool, value any, at source.Origin) {
		if set {
			out = append(out, Setting{"defaults." + key, fmt.Sprint(value), at})
		}
	}
	add("provider", k.Provider.Set, k.Provider.V, k.Provider.At)
	add("model", k.Model.Set, k.Model.V, k.Model.At)
	add("temperature", k.Temperature.Set, k.Temperature.V, k.Temperature.At)
	add("top-p", k.TopP.Set, k.TopP.V, k.TopP.At)
	add("max-tokens", k.MaxTokens.Set, k.MaxTokens.V, k.MaxTokens.At)
	add("cache", k.Cache.Set, k.Cache.V, k.Cache.At)
	add("steering", k.Steering.Set, k.Steering.V, k.Steering.At)
	add("follow-up", k.FollowUp.Set, k.FollowUp.V, k.FollowUp.At)
	add("default-permission", k.DefaultPermission.Set, k.DefaultPermission.V, k.DefaultPermission.At)
	add("limits.turns", k.Limits.Turns.Set, k.Limits.Turns.V, k.Limits.Turns.At)
	add("limits.tokens", k.Limits.Tokens.Set, k.Limits.Tokens.V, k.Limits.Tokens.At)
	add("limits.duration", k.Limits.Duration.Set, k.Limits.Duration.V, k.Limits.Duration.At)
	add("limits.cost", k.Limits.Cost.Set, k.Limits.Cost.V, k.Limits.Cost.At)
	for _, r := range k.Permission {
		add("permission", true, fmt.Sprintf("%s %q %s", r.Tool, r.Subject, r.Effect), r.At)
	}
	for _, x := range k.Extra {
		add(x.Key, true, strings.TrimSpace(string(x.YAML)), x.At)
	}
	return out
}

func (c *Config) limits() (out []Setting) {
	l := c.Policy.Limits
	add := func(key string, set bool, value any, at source.Origin) {
		if set {
			out = append(out, Setting{"policy.limits." + key, fmt.Sprint(value), at})
		}
	}
	add("turns", l.Turns.Set, l.Turns.V, l.Turns.At)
	add("tokens", l.Tokens.Set, l.Tokens.V, l.Tokens.At)
	add("duration", l.Duration.Set, l.Duration.V, l.Duration.At)
	add("cost", l.Cost.Set, l.Cost.V, l.Cost.At)
	return out
}
