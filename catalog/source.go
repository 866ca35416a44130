package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile/dialect"
)

// Source is one place where profiles are: a folder, a file, or text in memory.
// A source later in the list wins over an earlier one on the same name.
type Source struct {
	// Path is a folder, read with everything below it, or one file. A path
	// that does not exist is an empty source.
	Path string
	// Root is Path or a folder above it, such as the workspace: no link is
	// followed out of it, and its .gitignore files count. Empty: Path itself.
	Root string
	// Shown is how diagnostics name Path. Empty: as Path is written.
	Shown string
	// Claimed says that every Markdown file in the source is meant as a
	// profile, so that one without frontmatter is an error. It does not count
	// in a folder that holds folders such as agents of its own.
	Claimed bool
	// Data is a source in memory, when Path is empty; Name is the default of
	// the profile's name.
	Name string
	Data []byte
}

// Memory is how diagnostics name a source in memory.
const Memory = "<memory>"

// sourcesBelow lists the sources below a workspace, or below the user's folder, in
// order of precedence. Diagnostics show each with its path below dir, after the
// prefix.
func sourcesBelow(dir, prefix string) []Source {
	places := []string{"profiles", "rig/profiles"}
	places = append(places, otherRigs(dir)...)
	places = append(places, ".opencode/agent", ".opencode/agents", "agent", "agents")
	var out []Source
	for _, p := range places {
		p = filepath.FromSlash(p)
		out = append(out, Source{Path: filepath.Join(dir, p), Root: dir, Shown: filepath.Join(prefix, p), Claimed: true})
	}
	return out
}

// otherRigs lists the profiles of rigs that have another name than rig.
func otherRigs(dir string) []string {
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	found, err := filepath.Glob(filepath.Join(escape.Replace(dir), "*-rig", "profiles"))
	if err != nil { // a bad pattern only, and it is escaped
		return nil
	}
	var out []string
	for _, p := range found {
		out = append(out, filepath.Base(filepath.Dir(p))+"/profiles")
	}
	return out
}

// Standard lists the sources of a workspace in order of precedence: the user's
// folder, the workspace, further folders of profiles. home may be empty; a
// further folder that is relative is below the workspace.
func Standard(home, workspace string, further ...string) []Source {
	var out []Source
	if home != "" {
		out = sourcesBelow(home, home)
	}
	out = append(out, sourcesBelow(workspace, "")...)
	for _, f := range further {
		s := Source{Path: f, Shown: f, Claimed: true}
		if !filepath.IsAbs(f) {
			s.Path = filepath.Join(workspace, f)
		}
		s.Path = filepath.Clean(s.Path)
		known := slices.IndexFunc(out, func(o Source) bool { return filepath.Clean(o.Path) == s.Path })
		if known >= 0 { // named again: it wins over what came after it
			s.Root, s.Shown = out[known].Root, out[known].Shown
			out = slices.Delete(out, known, known+1)
		}
		out = append(out, s)
	}
	return out
}

// place says where a file of the source lies, for detection and for its name:
// its path below the source, led by the source's own folders when they mean
// something.
func (s Source) place(rel string) string {
	if rel == "" {
		return dialect.Place(filepath.ToSlash(s.Path))
	}
	base, parent := filepath.Base(s.Path), filepath.Base(filepath.Dir(s.Path))
	switch {
	case !dialect.IsProfileFolder(base) && base != ".opencode":
		return filepath.ToSlash(rel)
	case parent == ".opencode", parent == "rig", strings.HasSuffix(parent, "-rig"):
		base = filepath.Join(parent, base)
	}
	return filepath.ToSlash(filepath.Join(base, rel))
}

// shown is how diagnostics name a file of the source.
func (s Source) shown(rel string) string {
	switch {
	case s.Path == "":
		return Memory
	case s.Shown == "":
		return filepath.Join(s.Path, rel)
	}
	return filepath.Join(s.Shown, rel)
}
