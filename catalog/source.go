package catalog

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// Source is one place where profiles are: a folder, a file, or text in memory.
// A source later in the list wins over an earlier one on the same name.
type Source struct {
	// Path is a folder, read with everything below it, or one file. A path
	// that does not exist is an empty source.
	Path string
	// Root is Path or a folder above it, such as the workspace: no link is
	// followed out of it, its .gitignore files count, and names and formats
	// are told by the path below it. Empty: Path itself.
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
	// Profile is a source in memory that a program has made, when Path is empty: it is
	// served as it is, and must not be changed any more.
	Profile *profile.Profile
	// ReadOnly says that Save does not write profiles of this source.
	ReadOnly bool

	// standard says that Path is a folder or else nothing: agent may well be a
	// program.
	standard bool
	// only are patterns of path.Match below Path: nothing else there is read.
	// They are matched at each look, for what they match may come and go.
	only []string
	// search says that the source is the directory profiles in the folders
	// below Path, down to maxSearchDepth, except in those that passed matches.
	search bool
	most   int // folders
	passed []string

	lead, folder string // see settled
}

// Memory is how diagnostics name a source in memory.
const Memory = "<memory>"

// configFiles are the agent configurations that stand in a workspace itself.
var configFiles = [...]string{"agent.toml", "agent.json", "agent.yaml", "agent.yml"}

// sourcesBelow lists the sources below a workspace, or below the user's folder, in
// order of precedence. Diagnostics show each with its path below dir, after the
// prefix.
func sourcesBelow(dir, prefix string) []Source {
	var out []Source
	for _, p := range []string{
		"profiles", "rig/profiles", "*-rig/profiles", "opencode.json", "opencode.jsonc", ".opencode/agent", ".opencode/agents", ".claude/agents", ".gemini/agents",
		".codex/agents", ".github/agents", ".github/chatmodes", "agent", "agents",
	} {
		if strings.Contains(p, "*") {
			out = append(out, Source{Path: dir, Root: dir, Shown: filepath.Join(prefix, "."), Claimed: true, standard: true, only: []string{p}})
			continue
		}
		folder := path.Ext(p) != ".json" && path.Ext(p) != ".jsonc"
		p = filepath.FromSlash(p)
		out = append(out, Source{Path: filepath.Join(dir, p), Root: dir, Shown: filepath.Join(prefix, p), Claimed: folder, standard: folder})
	}
	return out
}

// ofWorkspace lists the sources that only a workspace has.
func ofWorkspace(dir string, before []Source) []Source {
	search := Source{Path: dir, Root: dir, Shown: ".", search: true, most: maxSearched}
	for _, s := range before {
		rel, err := filepath.Rel(dir, s.Path)
		switch {
		case len(s.only) > 0:
			search.passed = append(search.passed, s.only...)
		case err == nil && filepath.IsLocal(rel):
			search.passed = append(search.passed, filepath.ToSlash(rel))
		}
	}
	return []Source{search, {Path: dir, Root: dir, Shown: ".", only: configFiles[:]}}
}

// Standard lists the sources of a workspace in order of precedence: the user's
// folder, the workspace, further folders of profiles. home may be empty; a
// further folder that is relative is below the workspace.
func Standard(home, workspace string, further ...string) []Source {
	var user []Source
	if home != "" {
		user = sourcesBelow(home, home)
	}
	for i := range user {
		user[i].ReadOnly = true
	}
	out := sourcesBelow(workspace, "")
	var named []Source
	for _, f := range further {
		s := Source{Path: f, Shown: f, Claimed: true}
		if !filepath.IsAbs(f) {
			s.Path = filepath.Join(workspace, f)
		}
		s.Path = filepath.Clean(s.Path)
		same := func(o Source) bool { return len(o.only) == 0 && filepath.Clean(o.Path) == s.Path }
		for _, list := range []*[]Source{&user, &out, &named} { // named again: it wins over what came after it
			if i := slices.IndexFunc(*list, same); i >= 0 {
				s.Root, s.Shown = (*list)[i].Root, (*list)[i].Shown
				*list = slices.Delete(*list, i, i+1)
			}
		}
		named = append(named, s)
	}
	out = append(out, ofWorkspace(workspace, slices.Concat(out, named))...)
	var itself []Source
	if dialect.IsProfileFolder(filepath.Base(workspace)) { // given agents/, one finds what its parent does
		itself = []Source{{Path: workspace, Shown: "."}}
	}
	return slices.Concat(user, itself, out, named)
}

// settled fills in what is told by where the source lies: the folders that
// stand before the path of a file in it, and the name of the folder that it is,
// or is in.
func (s Source) settled() Source {
	abs, err := filepath.Abs(s.Path)
	if s.Path == "" || err != nil {
		return s
	}
	s.lead, s.folder = leading(s, abs), filepath.Base(abs)
	if main, _, _ := dialect.DirectoryParts(); s.folder == main {
		s.folder = filepath.Base(filepath.Dir(abs))
	}
	return s
}

// leading gives the folders of a source that tell names and formats. Those above
// the root, or above what was written, are somebody's home and tell nothing.
func leading(s Source, abs string) string {
	if s.Root != "" {
		below, err := filepath.Rel(s.Root, s.Path)
		switch {
		case err == nil && below == ".":
			return ""
		case err == nil && filepath.IsLocal(below):
			return filepath.ToSlash(below)
		}
	}
	if written := filepath.ToSlash(filepath.Clean(s.Path)); filepath.IsLocal(s.Path) && hasProfileFolder(written) {
		return written
	}
	if stand := strings.TrimSuffix(abs, string(filepath.Separator)+filepath.Clean(s.Path)); filepath.IsLocal(s.Path) && stand != abs && dialect.IsProfileFolder(filepath.Base(stand)) {
		return path.Join(ownFolders(stand), filepath.ToSlash(filepath.Clean(s.Path))) // one stands in agents, and names a folder there
	}
	return ownFolders(abs)
}

// ownFolders gives the last folders of a path that tell names and formats.
func ownFolders(abs string) string {
	base, parent := filepath.Base(abs), filepath.Base(filepath.Dir(abs))
	switch {
	case base == ".opencode":
		return base
	case !dialect.IsProfileFolder(base):
		return ""
	case parent == "rig", strings.HasSuffix(parent, "-rig"), isToolFolder(parent):
		return path.Join(parent, base)
	}
	return base
}

func hasProfileFolder(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), dialect.IsProfileFolder)
}

// place says where a file of the source lies, for detection and for its name:
// its path below the source, led by the source's own folders when they mean
// something.
func (s Source) place(rel string) string {
	p := path.Join(s.lead, filepath.ToSlash(rel))
	if rel == "" && s.Root == "" {
		p = dialect.Place(filepath.ToSlash(s.Path))
	}
	if main, _, _ := dialect.DirectoryParts(); p == main {
		return path.Join(s.folder, main) // the folder's name is a part of the profile
	}
	return p
}

// shown is how diagnostics name a file of the source.
func (s Source) shown(rel string) string {
	switch {
	case s.Path == "":
		return Memory
	case s.Shown == "":
		return notMemory(filepath.Join(s.Path, rel))
	}
	return notMemory(filepath.Join(s.Shown, rel))
}

// notMemory keeps a file of that name from passing for what a program gives, which
// is trusted.
func notMemory(file string) string {
	if file == Memory {
		return "." + string(filepath.Separator) + file
	}
	return file
}
