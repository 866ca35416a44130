// Package dialect turns files of several formats into profiles and back. A
// dialect is one file of this package with Detect, Decode and Encode. Decoding
// starts no process, opens no file and reads no secret.
package dialect

import (
	"path"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// Dialect is one file format. Its functions are safe for concurrent use.
type Dialect struct {
	Name string
	// Detect says how sure it is that a file is in this format.
	Detect func(*File) Certainty
	// Decode gives the profiles of a file, and every problem in it. A profile
	// is given also when an error is among the diagnostics, with at least the
	// name that the file claims; it must not be used then.
	Decode func(*File) ([]*profile.Profile, []profile.Diagnostic)
	// Encode writes a profile, and a diagnostic for each field that the format
	// cannot hold. The first part is the profile's own file; only a format of
	// several files has more. Nil: the format is only read.
	Encode func(*profile.Profile) ([]Part, []profile.Diagnostic)
}

// Part is one file of a written profile. Path is where the format keeps it,
// below a workspace and with slashes: .claude/agents/reviewer.md.
type Part struct {
	Path string
	Data []byte
}

// Certainty is how sure Detect is. A format that knows the file by its place
// goes before one that knows it by its content.
type Certainty int

const (
	No Certainty = iota
	ByContent
	ByFolder
	BySuffix
)

// File is what a dialect is given.
type File struct {
	Name    string // as diagnostics show it
	Path    string // with slashes, below its source; led by the source's own folder where that has a meaning, such as agents
	Data    []byte
	Claimed bool // its source says that the Markdown files in it are profiles
	Options Options

	// Beside holds the other files of a format that has several, by their
	// paths from this file's folder: system_prompt.txt, ../persona.txt.
	Beside map[string][]byte

	doc *document

	guessed     bool // guessedName is set, if only to nothing
	guessedName string
	root        *tree
}

// Options of decoding.
type Options struct {
	Headless bool // nobody can answer: asking before delegation is an error
	// Tools are names that stand for tools besides what is built in, and Reaches
	// those of servers and services, whose tools begin with the name and "_".
	Tools, Reaches []string
}

func (f *File) document() *document {
	if f.doc == nil {
		f.doc = parseDocument(f.Name, f.Data)
	}
	return f.doc
}

// All lists the dialects in the order of detection.
func All() []Dialect {
	return []Dialect{directory(), docker(), letta(), codex(), config(), copilot(), claude(), gemini(), opencode(), knot(), roster()}
}

// ByName finds a dialect.
func ByName(name string) (Dialect, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}

// Detect finds the dialect of a file. It finds none for a file that is no
// profile: a skill, a command, a knot, plain text.
func Detect(f *File) (Dialect, bool) {
	data := isData(f.Path)
	if !data && isOther(f) {
		return Dialect{}, false
	}
	var best Dialect
	most := No
	for _, d := range All() {
		if data && d.markdown() && !(d.Name == "opencode" && isOpencodeConfig(f.Path)) {
			continue
		}
		if c := d.Detect(f); c > most {
			best, most = d, c
		}
	}
	if most == No && f.Claimed && !data {
		return roster(), true
	}
	return best, most > No
}

// isData says whether a file is one map of keys by its suffix: TOML, JSON or
// YAML. No source claims such files.
func isData(file string) bool {
	switch path.Ext(file) {
	case ".toml", ".json", ".jsonc", ".yaml", ".yml":
		return true
	}
	return false
}

// markdown says whether a dialect's files are Markdown with frontmatter.
func (d Dialect) markdown() bool {
	switch d.Name {
	case "roster", "knot", "opencode", "claude", "copilot", "gemini":
		return true
	}
	return false
}

// Decode reads one profile from the bytes of a file. file names it in
// diagnostics and, with slashes, gives the default of the name and the dialect;
// it may be "<memory>". A file whose dialect is not evident is read as roster.
// The profile is nil when one of the diagnostics is an error.
func Decode(file string, data []byte) (*profile.Profile, []profile.Diagnostic) {
	f := &File{Name: file, Path: Place(file), Data: data, Claimed: true}
	d, ok := Detect(f)
	if !ok {
		d = roster()
	}
	ps, ds := d.Decode(f)
	ds = profile.Capped(ds)
	if profile.Refused(ds) || len(ps) == 0 {
		return nil, ds
	}
	return ps[0], ds
}

// Place gives where a file lies, for detection and for its name: of an absolute
// path what follows the folder that holds the last known folder, such as
// agents; of an in-memory name nothing.
func Place(file string) string {
	if strings.HasPrefix(file, "<") {
		return ""
	}
	if !path.IsAbs(file) {
		return file
	}
	segs := strings.Split(strings.TrimPrefix(file, "/"), "/")
	for i := len(segs) - 2; i >= 0; i-- {
		if IsProfileFolder(segs[i]) {
			return strings.Join(segs[max(0, i-1):], "/")
		}
	}
	return segs[len(segs)-1]
}
