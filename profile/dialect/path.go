package dialect

import (
	"path"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// IsProfileFolder says whether files below a folder of this name are profiles
// wherever it stands: agent, agents, profiles.
func IsProfileFolder(name string) bool {
	return name == "agent" || name == "agents" || name == "profiles"
}

// NameOf gives the name that a file has by its path, empty if it has none.
func NameOf(path string) string {
	name, _ := nameOfPath(path)
	return name
}

// nameOfPath derives a name: what follows the first known folder, without .md.
// title is the text when a slug had to be made of it. A path that gives no name
// gives an empty one.
func nameOfPath(p string) (name, title string) {
	rest := strings.TrimSuffix(p, ".md")
	for i, seg := range strings.Split(p, "/") {
		if IsProfileFolder(seg) {
			rest = strings.Join(strings.Split(rest, "/")[i+1:], "/")
			break
		}
	}
	if profile.CheckName(rest) == nil {
		return rest, ""
	}
	slug, err := profile.Slug(rest)
	if err != nil || slug == "" {
		return "", ""
	}
	return slug, path.Base(rest)
}

// underAgents says whether the file is in a folder agent or agents, and
// whether that is in .opencode.
func underAgents(p string) (under, dot bool) {
	segs := strings.Split(p, "/")
	for i, seg := range segs[:len(segs)-1] {
		if seg == "agent" || seg == "agents" {
			under = true
			dot = dot || i > 0 && segs[i-1] == ".opencode"
		}
		if seg == "profiles" && !under {
			return false, false
		}
	}
	return under, dot
}

func underProfiles(p string) bool {
	return strings.HasPrefix(p, "profiles/") || strings.Contains(p, "/profiles/")
}

// inRig says whether the file is directly in the profiles of a rig.
func inRig(p string) bool {
	dir := path.Dir(p)
	rig := path.Base(path.Dir(dir))
	return path.Base(dir) == "profiles" && (rig == "rig" || strings.HasSuffix(rig, "-rig"))
}

// isOther knows the Markdown files that are no profiles wherever they stand.
func isOther(f *File) bool {
	dir, base := path.Split(f.Path)
	if strings.EqualFold(base, "SKILL.md") || strings.Contains(dir, "-loom/") {
		return true
	}
	for _, folder := range []string{"/command/", "/commands/", "/skill/", "/skills/"} {
		if strings.Contains("/"+dir, folder) {
			return true
		}
	}
	for _, suffix := range []string{".agent.md", ".chatmode.md", ".prompt.md", ".instructions.md"} {
		if strings.HasSuffix(base, suffix) {
			return true
		}
	}
	doc := f.document()
	if doc.has("agent-profile-ref", "strand-dir", "agent-config") {
		return true
	}
	if len(doc.fields) > 0 {
		return false
	}
	switch strings.TrimSuffix(base, ".md") {
	case "README", "CHANGELOG", "CONTRIBUTING", "LICENSE", "SECURITY", "CODE_OF_CONDUCT", "AGENTS", "CLAUDE", "GEMINI":
		return true
	}
	return false
}
