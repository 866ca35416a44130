package permission

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// ProtectedFiles are the files that say what agents are and may do: doublestar
// patterns relative to the workspace, in lower case, and absolute paths of files
// and directories, folded. A pattern without a slash holds at any depth.
type ProtectedFiles []string

// DefaultProtected lists those of every workspace.
func DefaultProtected() ProtectedFiles {
	return ProtectedFiles{
		"roster.yaml", "models.yaml", ".mcp.json", "agents.md", "claude.md", "gemini.md", "opencode.json", "opencode.jsonc",
		"**/.git/**", "**/.git", "**/.opencode/**", "**/.claude/**", "**/.gemini/**", "**/.codex/**", "**/.agents/**", ".github/skills/**",
		"profiles/**", "rig/profiles/**", "*-rig/profiles/**", "agent/**", "agents/**", "skills/**",
		"*.agent.md", "*.chatmode.md", "system_prompt.txt", "subagent_system_prompt.txt", "persona.txt", "**/tools/enabled.json",
	}
}

// Has says whether a file is one of them. real is its absolute path, subject
// what rules see of it.
func (p ProtectedFiles) Has(real, subject string) bool {
	folded := Fold(strings.TrimPrefix(subject, "/"))
	for _, pattern := range p {
		name := folded
		switch {
		case filepath.IsAbs(pattern):
			if Within(real, pattern) {
				return true
			}
			continue
		case !strings.Contains(pattern, "/"):
			name = path.Base(folded)
		}
		if ok, err := doublestar.Match(pattern, name); ok || err != nil {
			return true
		}
	}
	return false
}

// Within says whether a path is dir, which is folded, or below it.
func Within(path, dir string) bool {
	rest, ok := strings.CutPrefix(Fold(path), dir)
	return ok && (rest == "" || rest[0] == '/')
}

// Fold takes letters that file systems may take for the same, such as S, s and
// ſ, to one of them: this only ever refuses more.
func Fold(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s))
}
