package tool

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// workspace is what the file tools share. It is immutable but for the ledger.
type workspace struct {
	root      string   // real path
	state     string   // real path, folded
	protected []string // patterns, and folded real paths
	ledger    *Ledger
}

// target is a path that was resolved. Its subject is what rules see and what
// the model is shown: relative to the workspace, or absolute outside of it.
type target struct {
	*pinned.Place
	subject string
	outside bool
}

// StateDirError is returned for a path in roster's own state.
type StateDirError struct{ Path string }

func (e *StateDirError) Error() string {
	return e.Path + " is in roster's own state directory, which no tool may use"
}

// protected lists the files that say what agents are and may do, relative to
// the workspace. A pattern without a slash holds at any depth.
func protected() []string {
	return []string{
		"roster.yaml", ".mcp.json", "agents.md", "claude.md", "gemini.md", "opencode.json", "opencode.jsonc",
		"**/.git/**", "**/.git", "**/.opencode/**", "**/.claude/**", "**/.gemini/**", "**/.codex/**",
		"profiles/**", "rig/profiles/**", "*-rig/profiles/**", "agent/**", "agents/**", "skills/**",
		"*.agent.md", "*.chatmode.md", "system_prompt.txt", "subagent_system_prompt.txt", "persona.txt", "**/tools/enabled.json",
	}
}

// open resolves a path of a call. The target must be closed.
func (w *workspace) open(name string) (*target, error) {
	if !filepath.IsAbs(name) {
		name = w.root + "/" + name
	}
	place, err := pinned.Resolve(name)
	if err != nil {
		return nil, err
	}
	if w.state != "" && within(place.Path, w.state) {
		place.Close()
		return nil, &StateDirError{place.Path}
	}
	subject, outside := w.subject(place.Path)
	return &target{place, subject, outside}, nil
}

// within says whether path is dir, which is folded, or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(fold(path), dir)
	return ok && (rest == "" || rest[0] == '/')
}

// fold takes letters that file systems may take for the same, such as S, s and
// ſ, to one of them: this only ever refuses more.
func fold(s string) string {
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

// subject is a real path as rules see it.
func (w *workspace) subject(real string) (subject string, outside bool) {
	switch {
	case real == w.root:
		return ".", false
	case w.root == "/":
		return real[1:], false
	case strings.HasPrefix(real, w.root) && real[len(w.root)] == '/':
		return real[len(w.root)+1:], false
	}
	return real, true
}

// reads is what reading a file needs.
func reads(tool, subject string, outside bool) []permission.Query {
	q := []permission.Query{{Tool: tool, Subject: subject}}
	if outside {
		q = append(q, permission.Query{Tool: permission.ExternalDirectory, Subject: subject})
	}
	return q
}

// writes is what writing a file needs.
func (w *workspace) writes(tool string, t *target) []permission.Query {
	q := reads(tool, t.subject, t.outside)
	if w.isProtected(t) {
		q = append(q, permission.Query{Tool: permission.Protected, Subject: t.subject})
	}
	return q
}

func (w *workspace) isProtected(t *target) bool {
	subject := fold(strings.TrimPrefix(t.subject, "/"))
	for _, p := range w.protected {
		name := subject
		switch {
		case filepath.IsAbs(p):
			if within(t.Path, p) {
				return true
			}
			continue
		case !strings.Contains(p, "/"):
			name = path.Base(subject)
		}
		if ok, err := doublestar.Match(p, name); ok || err != nil {
			return true
		}
	}
	return false
}

// realDir resolves a directory that may not exist yet.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	place, err := pinned.Resolve(abs)
	if err != nil {
		return "", err
	}
	defer place.Close()
	if place.Path == "/" {
		return "", fmt.Errorf("%s is the root of the file system", dir)
	}
	return place.Path, nil
}
