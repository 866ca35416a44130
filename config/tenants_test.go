package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTenants: each has a folder of its own, in which no other's lies.
func TestTenants(t *testing.T) {
	o := placed(t, "", "", nil)
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"acme", "globex", "acme/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "acme"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	load := func(tenants string) (*Config, error) {
		if err := os.WriteFile(filepath.Join(dir, File), []byte("server: {tenants: "+tenants+"}"), 0o644); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := Load(o)
		return cfg, err
	}
	cfg, err := load("{acme: acme, globex: {root: ./globex}, later: not/there}")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range cfg.Server.Tenants {
		if x.Inert != nil {
			t.Errorf("%s is inert: %v", x.Name, x.Inert)
		}
		got = append(got, x.Name+" "+strings.TrimPrefix(x.Root.V, dir))
	}
	if want := "acme /acme,globex /globex,later /not/there"; strings.Join(got, ",") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, c := range []struct{ name, tenants, want string }{
		{"one in another", "{a: acme, b: acme/deep}", "lies in that of a"},
		{"one around another", "{a: acme/deep, b: .}", "lies in that of b"},
		{"the same", "{a: acme, b: acme}", "lies in that of"},
		{"the same by a link", "{a: acme, b: link}", "lies in that of"},
		{"names that differ in case", "{a: acme, A: globex}", "differ in case"},
		{"no name", "{../x: acme}", "the name of a tenant"},
		{"an empty name", `{"": acme}`, "the name of a tenant"},
		{"no folder", "{a: {}}", "needs a root"},
		{"nothing", "{a: }", "server.tenants.a"},
		{"another key", "{a: {rot: acme}}", `did you mean "root"?`},
		{"a list", "[acme]", "takes a map"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := load(c.tenants); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.tenants, err, c.want)
			}
		})
	}
}
