package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/sandbox"
)

const gitGlobal = "GIT_CONFIG_GLOBAL="

// walledGit has git pass over a configuration of the user's that is there and
// that the box does not let it read: it would refuse to work at all.
func walledGit(environ []string, box sandbox.Box) []string {
	home := ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
		if strings.HasPrefix(kv, gitGlobal) {
			return environ
		}
	}
	if box.Kind != sandbox.Landlock || !filepath.IsAbs(home) {
		return environ
	}
	open := slices.Concat(box.Write, box.Read)
	for _, name := range []string{".gitconfig", ".config/git/config"} {
		file := filepath.Join(home, name)
		if _, err := os.Stat(file); err == nil && !slices.ContainsFunc(open, func(dir string) bool { return within(dir, file) }) {
			return append(slices.Clip(environ), gitGlobal+os.DevNull)
		}
	}
	return environ
}

// within says whether a path is a folder or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
