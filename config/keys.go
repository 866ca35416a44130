package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// inactive are the keys of roster.yaml that this version reads and does not act
// on.
func inactive() []string {
	return []string{
		"retention", "context",
	}
}

func acting() []string {
	return []string{"defaults", "providers", "aliases", "policy", "profiles", "server", "store", "store-sync", "dispatch", "catalog", "approvals", "hooks", "prompts", "prompt-strategies", "search", "web", "sandbox", "mcp-servers", "openapi", "skills", "telemetry", "rig"}
}

func (s section) root(it item) {
	s.each(it, func(it item) {
		it.key = strings.ReplaceAll(it.key, "_", "-")
		switch it.key {
		case "defaults":
			s.profileKeys(it)
		case "providers":
			s.each(it, s.provider)
		case "aliases":
			s.each(it, s.alias)
		case "policy":
			s.policy(it)
		case "profiles":
			s.folders(it)
		case "skills":
			s.skills(it)
		case "server":
			s.server(it)
		case "store":
			s.store(it)
		case "store-sync":
			if v, ok := s.oneOf(it, "full", "normal"); ok {
				s.set(trust.Store, &s.cfg.StoreSync, v, it)
			}
		case "dispatch":
			s.dispatch(it)
		case "approvals":
			s.each(it, s.approvals)
		case "hooks":
			s.hooks(it)
		case "sandbox":
			s.sandbox(it)
		case profile.Servers:
			s.servers(it)
		case "catalog":
			s.each(it, s.catalog)
		case "prompts":
			s.each(it, s.prompt)
		case "prompt-strategies":
			s.each(it, s.strategy)
		case "search":
			s.search(it)
		case "web":
			s.web(it)
		case "openapi":
			s.services(it)
		case "telemetry":
			s.telemetry(it)
		case "rig":
			s.each(it, s.rig)
		default:
			s.other(it)
		}
	})
}

// declarations are the keys of models.yaml.
func (s section) declarations(it item) {
	s.each(it, func(it item) {
		switch it.key {
		case "providers":
			s.each(it, s.provider)
		case "aliases":
			s.each(it, s.alias)
		default:
			if slices.Contains(append(acting(), inactive()...), strings.ReplaceAll(it.key, "_", "-")) {
				s.report(CodeUnknownKey, it.at, it.path, ModelsFile+" takes providers and aliases alone", "put "+it.key+" into "+File)
				return
			}
			s.unknown(it, "providers", "aliases")
		}
	})
}

func (s section) other(it item) {
	for _, known := range inactive() {
		if it.key == known && s.mayAll(it) {
			s.report(CodeInactive, it.at, it.path, it.path+" is read and not acted on by this version", "")
		}
		if it.key == known {
			return
		}
	}
	s.unknown(it, append(acting(), inactive()...)...)
}

// set overrides a value that executes, unless it says what holds anyway.
func (s section) set(kind trust.Kind, v *profile.Value[string], text string, it item) {
	if text != v.V && s.may(kind, it, it.node) == nil {
		*v = value(text, it)
	}
}

func (s section) profileKeys(it item) {
	root := deref(it.node)
	if isNull(root) {
		return
	}
	if root.Kind != yaml.MappingNode {
		s.wrongType(it, "a map of profile keys")
		return
	}
	keys, ds := dialect.Keys(s.file, root)
	for i := range ds {
		ds[i].Key = join(it.path, ds[i].Key)
	}
	s.strictly(ds)
	if s.workspace {
		s.cfg.Executing = append(s.cfg.Executing, trust.OfProfile(keys)...)
		var inert []*trust.Error
		keys, inert = s.trust.Strip(keys)
		for _, e := range inert {
			s.inert(e)
		}
	}
	name := source.Defaults // a default stays one, also when a flag says it
	if s.layer == source.User {
		name = source.User
	}
	layer := Layer{Name: name, Keys: keys, Workspace: s.workspace}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k := deref(root.Content[i]); k.Value == "hooks" {
			layer.Hooks = s.acting(root.Content[i+1])
		}
	}
	s.cfg.Defaults = append(s.cfg.Defaults, layer)
}

// hooks reads the host's hooks. They have the form that they have in a profile.
func (s section) hooks(it item) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: it.key, Line: it.at.Line, Column: it.at.Column}
	_, ds := dialect.Keys(s.file, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, it.node}})
	s.strictly(ds)
	if !s.mayAll(it) && profile.Refused(ds) {
		return
	}
	if list := s.acting(it.node); s.workspace {
		s.workspaceHooks = append(s.workspaceHooks, list...)
	} else {
		s.cfg.Hooks = append(s.cfg.Hooks, list...)
	}
}

// acting gives the hooks of a value that have an effect. What is wrong with them
// is reported with the other keys.
func (s section) acting(value *yaml.Node) []hook.Entry {
	view := trust.Everything()
	if s.workspace {
		view = s.trust
	}
	list, err := view.Hooks("", "hooks", deref(value), s.at)
	if err != nil {
		return nil
	}
	return list
}

func (s section) alias(it item) {
	target, ok := s.text(it)
	if !ok {
		return
	}
	if strings.ContainsAny(it.key, "/: \t") || it.key == "" || it.key == "inherit" {
		s.report(CodeNotAllowed, it.at, it.path, "an alias is a word without /, : and blanks, and not inherit", "")
		return
	}
	s.cfg.Aliases = append(s.cfg.Aliases, catalog.Alias{Name: it.key, Target: strings.TrimSpace(target), At: s.valueAt(it)})
}

func (s section) catalog(it item) {
	if it.key = strings.ReplaceAll(it.key, "_", "-"); it.key != "keep-last-good" {
		s.unknown(it, "keep-last-good")
		return
	}
	if v, ok := s.oneOf(it, "true", "false"); ok {
		s.cfg.KeepLastGood = value(v == "true", it)
	}
}

func (s section) approvals(it item) {
	if it.key != "timeout" {
		s.unknown(it, "timeout")
		return
	}
	if v, ok := s.duration(it); ok {
		s.cfg.AnswerTime = value(v, it)
	}
}

func (s section) store(it item) {
	v, ok := s.text(it)
	if !ok || v == s.cfg.Store.V || s.may(trust.Store, it, it.node) != nil {
		return
	}
	scheme, rest, _ := strings.Cut(v, ":")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		s.cfg.Store = value(v, it)
	case scheme != "sqlite" || rest == "":
		s.notAllowed(it, "%s takes sqlite:FILE or postgres://USER@HOST/DATABASE, not %q", it.path, redactURL(v))
	default:
		s.cfg.Store = value(v, it)
	}
}

func (s section) dispatch(it item) {
	v, ok := s.text(it)
	if !ok || v == s.cfg.Dispatch.V || s.may(trust.Dispatch, it, it.node) != nil {
		return
	}
	switch {
	case strings.HasPrefix(v, "nats://"), strings.HasPrefix(v, "tls://"):
		s.report(CodeNotThere, s.valueAt(it), it.path, "dispatch over NATS is not there yet", "write local, or leave dispatch out")
	case v != DefaultDispatch:
		s.notAllowed(it, "%s takes local, not %q", it.path, redactURL(v))
	default:
		s.cfg.Dispatch = value(v, it)
	}
}

// redactURL cuts what may be a password out of an address.
func redactURL(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	if _, host, has := strings.Cut(rest, "@"); has {
		rest = host
	}
	return scheme + "://" + rest
}

// folders reads further sources of profiles. They are relative to the file.
func (s section) folders(it item) {
	for sub, dir := range s.texts(it, "a list of folders") {
		if s.workspace && !s.inside(dir) && s.may(trust.Path, sub, s.led(sub.node, dir)) != nil {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.base(), dir)
		}
		s.cfg.Profiles = append(s.cfg.Profiles, value(filepath.Clean(dir), sub))
	}
}

// inside says whether a relative path stays in the workspace, links followed.
func (s section) inside(dir string) bool {
	if !filepath.IsLocal(dir) {
		return false
	}
	real, err := filepath.EvalSymlinks(filepath.Join(s.cfg.Dir, dir))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) // an empty source
	}
	rel, err := filepath.Rel(s.cfg.Dir, real)
	return err == nil && filepath.IsLocal(rel)
}

// base is what paths in this section are relative to.
func (s section) base() string {
	if filepath.IsAbs(s.file) {
		return filepath.Dir(s.file)
	}
	return s.cfg.Dir
}

func (s section) policy(it item) {
	s.each(it, func(it item) {
		if it.key != "permission" && it.key != "limits" {
			s.unknown(it, "permission", "limits")
			return
		}
		// Both have the form that they have in a profile.
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: it.key, Line: it.at.Line, Column: it.at.Column}
		p, ds := dialect.Keys(s.file, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, it.node}})
		for i := range ds {
			ds[i].Key = join("policy", ds[i].Key)
		}
		s.strictly(ds)
		s.cap(p)
	})
}

// strictly reports what is wrong with profile keys: an unknown one is an error.
func (s section) strictly(ds []profile.Diagnostic) {
	for _, d := range ds {
		if d.Code == profile.CodeUnknownKey {
			d.Severity, d.Name = profile.SeverityError, string(profile.SchemaValidation)
		}
		s.ds = append(s.ds, d)
	}
}

func (s section) cap(p *profile.Profile) {
	rules := make([]permission.Rule, len(p.Permission))
	for i, r := range p.Permission {
		r.At.Layer = source.Host
		rules[i] = r
	}
	if s.workspace {
		s.workspacePolicy = append(s.workspacePolicy, rules...)
	} else {
		s.cfg.Policy.Permission = append(s.cfg.Policy.Permission, rules...)
	}
	s.cfg.Policy.Limits = smallest(s.cfg.Policy.Limits, p.Limits)
}

// smaller keeps the smaller limit; 0 is none.
func smaller[T int | ~int64 | float64](v *profile.Value[T], by profile.Value[T]) {
	if by.Set && by.V > 0 && (!v.Set || by.V < v.V) {
		by.At.Layer = source.Host
		*v = by
	}
}
