package dialect

import (
	"path"
	"slices"
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

// nameOfPath derives a name: what follows the first known folder, without the
// suffix. title is the text when a slug had to be made of it. A path that gives
// no name gives an empty one.
func nameOfPath(p string) (name, title string) {
	rest := strings.TrimSuffix(p, ".md")
	for _, suffix := range copilotSuffixes() {
		rest = strings.TrimSuffix(rest, strings.TrimSuffix(suffix, ".md"))
	}
	at := 0
	for seg := range strings.SplitSeq(p, "/") {
		at += len(seg) + 1
		if IsProfileFolder(seg) || isCardFolder(seg) {
			rest = rest[min(at, len(rest)):]
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

// copilotSuffixes end the names of Copilot's files.
func copilotSuffixes() []string { return []string{".agent.md", ".chatmode.md"} }

func hasSuffix(base string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(base, s) })
}

// isMarkdown says whether a path can be that of a Markdown file; what was never
// a file has no suffix.
func isMarkdown(p string) bool { return path.Ext(p) == ".md" || path.Ext(p) == "" }

// underAgents says whether the file is in a folder agent or agents, at any
// depth.
func underAgents(p string) bool {
	dir, _ := path.Split(p)
	for seg := range strings.SplitSeq(dir, "/") {
		if seg == "agent" || seg == "agents" {
			return true
		}
	}
	return false
}

// inDotFolder says whether a Markdown file is in the agents of a tool's own
// folder: .claude/agents, at any depth.
func inDotFolder(p, dot string) bool {
	if !isMarkdown(p) || !strings.Contains(p, dot+"/agent") {
		return false
	}
	segs := strings.Split(p, "/")
	for i, seg := range segs[:len(segs)-1] {
		if i > 0 && segs[i-1] == dot && (seg == "agent" || seg == "agents") {
			return true
		}
	}
	return false
}

func isCardFolder(name string) bool { return name == "agent_cards" || name == "agent-cards" }

// inCards says whether the file is an agent card by its folder.
func inCards(p string) bool { return isCardFolder(path.Base(path.Dir(p))) }

func underProfiles(p string) bool {
	return strings.HasPrefix(p, "profiles/") || strings.Contains(p, "/profiles/")
}

// inRig says whether the file is directly in the profiles of a rig.
func inRig(p string) bool {
	dir := path.Dir(p)
	rig := path.Base(path.Dir(dir))
	return path.Base(dir) == "profiles" && (rig == "rig" || strings.HasSuffix(rig, "-rig"))
}

// isOther knows the files that are no profiles wherever they stand. The suffix
// of an agent goes before the folder.
func isOther(f *File) bool {
	dir, base := path.Split(f.Path)
	switch {
	case hasSuffix(base, copilotSuffixes()):
		return false
	case strings.EqualFold(base, "SKILL.md"), hasSuffix(base, []string{".prompt.md", ".instructions.md"}), inOtherFolder(dir):
		return true
	case !isMarkdown(f.Path):
		return false
	}
	doc := f.document()
	if doc.has("agent-profile-ref", "strand-dir", "agent-config") {
		return true
	}
	if len(doc.fields) > 0 {
		return false
	}
	return forPeople(base)
}

// forPeople says whether a Markdown file without frontmatter is, by its name,
// about the files beside it.
func forPeople(base string) bool {
	name := strings.ToUpper(strings.TrimSuffix(base, ".md"))
	switch name {
	case "CHANGELOG", "CHANGES", "CONTRIBUTING", "LICENSE", "SECURITY", "CODE_OF_CONDUCT", "AUTHORS", "MAINTAINERS",
		"NOTES", "TODO", "INDEX", "OVERVIEW", "ROADMAP", "HISTORY", "AGENTS", "CLAUDE", "GEMINI":
		return true
	}
	rest, readme := strings.CutPrefix(name, "README") // README.de.md
	return readme && (rest == "" || strings.ContainsRune(".-_", rune(rest[0])))
}

// inOtherFolder says whether the innermost folder that has a meaning is one of
// commands, skills or knots. So the agents of a skill are agents.
func inOtherFolder(dir string) bool {
	for dir != "" {
		var seg string
		dir, seg = path.Split(strings.TrimSuffix(dir, "/"))
		switch {
		case seg == "command", seg == "commands", seg == "skill", seg == "skills", strings.HasSuffix(seg, "-loom"):
			return true
		case IsProfileFolder(seg):
			return false
		}
	}
	return false
}
