package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindWorkspace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := FindWorkspace(deep); err != nil || got != deep {
		t.Errorf("without a file: %s, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(root, "a", File), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := FindWorkspace(deep); err != nil || got != filepath.Join(root, "a") {
		t.Errorf("nearest parent: %s, %v", got, err)
	}
	if err := os.Symlink(deep, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if got, err := FindWorkspace(filepath.Join(root, "link")); err != nil || got != filepath.Join(root, "a") {
		t.Errorf("through a link: %s, %v", got, err)
	}
	if _, err := FindWorkspace(filepath.Join(root, "absent")); err == nil {
		t.Error("a directory that is not there is no workspace")
	}
	if _, err := FindWorkspace(filepath.Join(root, "a", File)); err == nil {
		t.Error("a file is no workspace")
	}
}

func TestPlaces(t *testing.T) {
	env := func(vars map[string]string) func(string) string { return func(n string) string { return vars[n] } }
	for _, c := range []struct {
		name string
		vars map[string]string
		want string
	}{
		{"ROSTER_HOME", map[string]string{"ROSTER_HOME": "/r", "HOME": "/h"}, "/r"},
		{"XDG_CONFIG_HOME", map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/roster"},
		{"a relative XDG directory is not valid", map[string]string{"XDG_CONFIG_HOME": "c", "HOME": "/h"}, "/h/.config/roster"},
		{"HOME", map[string]string{"HOME": "/h"}, "/h/.config/roster"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := Home(env(c.vars)); err != nil || got != c.want {
				t.Errorf("Home = %s, %v, want %s", got, err, c.want)
			}
		})
	}
	if _, err := Home(env(nil)); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("without HOME: %v", err)
	}

	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	one, err := StateDir(dir, env(map[string]string{"XDG_STATE_HOME": "/s"}))
	if err != nil || filepath.Dir(one) != "/s/roster" || len(filepath.Base(one)) != 16 {
		t.Errorf("StateDir = %s, %v", one, err)
	}
	two, err := StateDir(link, env(map[string]string{"XDG_STATE_HOME": "/s"}))
	if err != nil || one != two {
		t.Errorf("a link to the workspace has another state: %s, %s, %v", one, two, err)
	}
	if def, err := StateDir(dir, env(map[string]string{"HOME": "/h"})); err != nil || filepath.Dir(def) != "/h/.local/state/roster" {
		t.Errorf("StateDir = %s, %v", def, err)
	}
}
