package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// Tenant has profiles and files of its own, in a folder of its own.
type Tenant struct {
	Name string
	// Root is its workspace: absolute, and with links followed where it is there.
	Root profile.Value[string]
	// Inert says why the entry has no effect: nobody has trusted it. The tenant is
	// known then, and not served.
	Inert *trust.Error
}

// Under has a workspace bound also by the policy of the host that serves it, which
// decides over its own.
func (c *Config) Under(p Policy) {
	c.Policy.Permission = append(c.Policy.Permission[:len(c.Policy.Permission):len(c.Policy.Permission)], p.Permission...)
	c.Policy.Sandbox = append(c.Policy.Sandbox[:len(c.Policy.Sandbox):len(c.Policy.Sandbox)], p.Sandbox...)
	c.Policy.Limits = smallest(c.Policy.Limits, p.Limits)
}

// tenants reads where the tenants have their folders: {NAME: FOLDER}, or
// {NAME: {root: FOLDER}}.
func (s section) tenants(it item) {
	s.each(it, s.tenant)
}

func (s section) tenant(it item) {
	name := it.key
	if err := CheckTenant(name); err != nil {
		s.notAllowed(it, "%s: %v", it.path, err)
		return
	}
	root := it
	if deref(it.node).Kind == yaml.MappingNode {
		root = item{}
		s.each(it, func(field item) {
			if field.key != "root" {
				s.unknown(field, "root")
				return
			}
			root = field
		})
	}
	if root.node == nil {
		s.notAllowed(it, "%s needs a root: the folder that is the tenant's workspace", it.path)
		return
	}
	text, ok := s.text(root)
	if !ok {
		return
	}
	t := Tenant{Name: name, Root: value(s.folder(text), root)}
	if !s.inside(text) {
		t.Inert = s.may(trust.Path, root, s.led(root.node, text))
	}
	for _, other := range s.cfg.Server.Tenants {
		if why := t.clashes(other); why != "" && other.Name != name {
			s.notAllowed(root, "%s: %s", root.path, why)
			return
		}
	}
	s.keepTenant(t)
}

// keepTenant takes a tenant in; of two of the same name the later one holds.
func (s section) keepTenant(t Tenant) {
	for i, other := range s.cfg.Server.Tenants {
		if other.Name == t.Name {
			s.cfg.Server.Tenants[i] = t
			return
		}
	}
	s.cfg.Server.Tenants = append(s.cfg.Server.Tenants, t)
}

// folder is a path of this file, absolute; links are followed as far as they lead
// anywhere.
func (s section) folder(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base(), path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// clashes says why two tenants cannot both be; empty: they can.
func (t Tenant) clashes(other Tenant) string {
	switch {
	case strings.EqualFold(t.Name, other.Name):
		return fmt.Sprintf("the names %s and %s differ in case alone, and not every file system tells them apart", t.Name, other.Name)
	case within(t.Root.V, other.Root.V):
		return fmt.Sprintf("the folder of %s lies in that of %s, which could read it: give each a folder apart", t.Name, other.Name)
	case within(other.Root.V, t.Root.V):
		return fmt.Sprintf("the folder of %s lies in that of %s, which could read it: give each a folder apart", other.Name, t.Name)
	}
	return ""
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// maxTenant bounds the name of a tenant, in bytes.
const maxTenant = 128

// CheckTenant says what is wrong with the name of a tenant.
func CheckTenant(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if name == "" || len(name) > maxTenant || strings.Trim(name, letters+"._-@+:") != "" || !strings.ContainsAny(name[:1], letters) {
		return fmt.Errorf("the name of a tenant has letters, digits and any of . _ - @ + :, at most %d, and begins with a letter or digit; %q is none", maxTenant, name)
	}
	return nil
}

// smallest takes the smaller of each limit.
func smallest(a, b profile.Limits) profile.Limits {
	smaller(&a.Turns, b.Turns)
	smaller(&a.Tokens, b.Tokens)
	smaller(&a.Duration, b.Duration)
	smaller(&a.Cost, b.Cost)
	return a
}
