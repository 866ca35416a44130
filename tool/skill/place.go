package skill

import (
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/source"
)

// Place is a folder with skills, or one that is a skill.
type Place struct {
	Path string // absolute; its last parts may be patterns of path.Match
	// Root is a folder above it, or itself, out of which no link is followed. Empty:
	// links lead where they do, for they are the user's own.
	Root  string
	Shown string // how diagnostics name it
	Layer source.Layer
	Own   bool // it is the user's, and no file of the workspace
	// Named says that somebody has named it, so that it is said where nothing is
	// there.
	Named bool
	At    source.Origin
}

// inWorkspace are the folders of a workspace with skills, in order of precedence.
func inWorkspace() []string {
	return []string{
		".github/skills", ".gemini/skills", ".codex/skills", ".agents/skills", ".claude/skills",
		".opencode/skill", ".opencode/skills", "skills",
	}
}

// ofUser are those below the user's home.
func ofUser() []string {
	return []string{".gemini/skills", ".codex/skills", ".config/opencode/skill", ".config/opencode/skills", ".agents/skills", ".claude/skills"}
}

// Standard lists where skills are, a later place winning over an earlier one: below
// the user's home, in the user's part of roster, and in the workspace. user and home
// may be empty.
func Standard(user, home, workspace string) []Place {
	var out []Place
	if filepath.IsAbs(user) {
		for _, p := range ofUser() {
			p = filepath.Join(user, filepath.FromSlash(p))
			out = append(out, Place{Path: p, Shown: p, Layer: source.User, Own: true})
		}
	}
	if home != "" {
		p := filepath.Join(home, "skills")
		out = append(out, Place{Path: p, Shown: p, Layer: source.User, Own: true})
	}
	for _, p := range inWorkspace() {
		p = filepath.FromSlash(p)
		out = append(out, Place{Path: filepath.Join(workspace, p), Root: workspace, Shown: p, Layer: source.Defaults})
	}
	return out
}

// Folders are the places of a workspace as patterns of protected files.
func Folders() []string {
	var out []string
	for _, p := range inWorkspace() {
		out = append(out, p+"/**")
	}
	return out
}

// Further is a folder that the configuration names.
func Further(path, workspace string, own bool, at source.Origin) Place {
	p := Place{Path: filepath.Clean(path), Shown: path, Layer: source.User, Own: own, Named: true, At: at}
	if rel, err := filepath.Rel(workspace, p.Path); err == nil && filepath.IsLocal(rel) {
		p.Root, p.Shown, p.Layer, p.Own = workspace, rel, source.Defaults, false
	}
	return p
}

// fixed is the folder of a place above its patterns.
func (p Place) fixed() (dir string, patterns []string) {
	dir = p.Path
	for strings.ContainsAny(dir, "*?[") && dir != filepath.Dir(dir) {
		patterns = append([]string{filepath.Base(dir)}, patterns...)
		dir = filepath.Dir(dir)
	}
	return dir, patterns
}
