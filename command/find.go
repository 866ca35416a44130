package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Bounds of a search: of the files in one folder of commands, of what one folder
// lists, and of how deep it goes.
const (
	maxFiles   = 2000
	maxListed  = 10_000
	maxNesting = 8
)

// Options say where commands are looked for.
type Options struct {
	Dir      string // the workspace
	Home     string // $ROSTER_HOME; empty: none
	UserHome string // $HOME; empty: none
}

// Registry is the commands that there are, by their names. It is not changed once
// others have it.
type Registry struct {
	byName map[string]*Command
	diags  []profile.Diagnostic
}

// place of commands: a folder or one file, below where it is looked for.
type folder struct {
	kind   Kind
	path   string
	suffix string
}

// inWorkspace are the places in a workspace; the first one wins.
func inWorkspace() []folder {
	return []folder{
		{Roster, "commands", ".md"},
		{Claude, ".claude/commands", ".md"},
		{OpenCode, ".opencode/command", ".md"},
		{OpenCode, ".opencode/commands", ".md"},
		{OpenCode, "opencode.json", ""},
		{Gemini, ".gemini/commands", ".toml"},
		{Copilot, ".github/prompts", ".prompt.md"},
	}
}

// ofUser are those below the user's home.
func ofUser() []folder {
	return []folder{
		{Claude, ".claude/commands", ".md"},
		{OpenCode, ".config/opencode/command", ".md"},
		{OpenCode, ".config/opencode/commands", ".md"},
		{OpenCode, ".config/opencode/opencode.json", ""},
		{Gemini, ".gemini/commands", ".toml"},
	}
}

// Places lists where commands are looked for, as people write it: first in the
// workspace, then where the user has his own.
func Places() (workspace, user []string) {
	for _, f := range inWorkspace() {
		workspace = append(workspace, f.path)
	}
	user = []string{"$ROSTER_HOME/commands"}
	for _, f := range ofUser() {
		user = append(user, "~/"+f.path)
	}
	return workspace, user
}

// Find reads the commands of a workspace and of its user. It starts nothing. What
// cannot be read is a diagnostic.
func Find(o Options) *Registry {
	r := &Registry{byName: map[string]*Command{}}
	r.search(o.Dir, "", inWorkspace(), false)
	if o.Home != "" && !within(o.Home, o.Dir) {
		r.search(o.Home, o.Home, []folder{{Roster, "commands", ".md"}}, true)
	}
	if o.UserHome != "" && !within(o.UserHome, o.Dir) {
		r.search(o.UserHome, o.UserHome, ofUser(), true)
	}
	return r
}

// within says whether a folder of the user's is the workspace, or in it: then what
// lies there is the workspace's.
func within(dir, workspace string) bool {
	rel, err := filepath.Rel(workspace, dir)
	return err == nil && filepath.IsLocal(rel)
}

// Get finds a command by its name, in which : and / are the same.
func (r *Registry) Get(name string) (*Command, error) {
	if c := r.byName[key(name)]; c != nil {
		return c, nil
	}
	var names []string
	for _, c := range r.byName {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return nil, &NotFoundError{name, profile.Nearest(name, names, 3)}
}

// SameName says whether two names are those of one command.
func SameName(a, b string) bool { return key(a) == key(b) }

func key(name string) string { return strings.ReplaceAll(name, ":", "/") }

// List gives the commands, sorted by name.
func (r *Registry) List() []*Command {
	out := make([]*Command, 0, len(r.byName))
	for _, c := range r.byName {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Command) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Diagnostics are what is wrong with the files of commands.
func (r *Registry) Diagnostics() []profile.Diagnostic { return slices.Clone(r.diags) }

// Add takes in a command that comes after all that are there: one of the same name
// goes before it.
func (r *Registry) Add(c *Command) {
	first := r.byName[key(c.Name)]
	if first == nil {
		r.byName[key(c.Name)] = c
		return
	}
	r.diags = append(r.diags, profile.Diagnose(profile.CodeCommandShadowed, source.Origin{File: c.File, Line: 1, Column: 1}, "",
		fmt.Sprintf("/%s is also in %s, which goes before this", c.Name, first.File), "rename one of the two"))
}

func (r *Registry) report(code, file, message, hint string) {
	r.diags = append(r.diags, profile.Diagnose(code, source.Origin{File: file, Line: 1, Column: 1}, "", message, hint))
}

// search looks at the places below a folder. shown leads the names of files; empty:
// they are relative. Files of a workspace are not followed out of it.
func (r *Registry) search(dir, shown string, places []folder, user bool) {
	s := &searcher{registry: r, dir: dir, shown: shown, user: user}
	if !user {
		root, err := os.OpenRoot(dir)
		if err != nil {
			r.report(profile.CodeCommandUnread, dir, err.Error(), "")
			return
		}
		defer root.Close()
		s.root = root
	}
	for _, f := range places {
		s.kind, s.suffix, s.base, s.left = f.kind, f.suffix, f.path, maxFiles
		if f.suffix == "" {
			s.configured(f.path)
			continue
		}
		s.walk(f.path, maxNesting)
	}
}

// searcher reads one place.
type searcher struct {
	registry   *Registry
	dir, shown string
	user       bool
	root       *os.Root // nil: links lead anywhere

	kind         Kind
	base, suffix string
	left         int
}

func (s *searcher) open(name string) (*os.File, error) {
	if s.root != nil {
		return s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	return os.OpenFile(filepath.Join(s.dir, name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (s *searcher) name(p string) string { return filepath.Join(s.shown, filepath.FromSlash(p)) }

func (s *searcher) problem(p string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	s.registry.report(profile.CodeCommandUnread, s.name(p), "it cannot be read: "+cause(err), "")
}

// cause is an error without the path, which the diagnostic names.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// walk reads a folder and those in it, in the order of their names. A link to a
// folder is followed only where it is the first one.
func (s *searcher) walk(p string, depth int) {
	f, err := s.open(p)
	if err != nil {
		s.problem(p, err)
		return
	}
	list, err := f.ReadDir(maxListed)
	f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		s.problem(p, err)
		return
	}
	if len(list) == maxListed {
		s.registry.report(profile.CodeCommandUnread, s.name(p), fmt.Sprintf("the folder lists more than %d names; the rest is not looked at", maxListed), "put the commands into folders")
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		below := path.Join(p, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && depth == 0:
			s.registry.report(profile.CodeCommandUnread, s.name(below), fmt.Sprintf("the folder lies more than %d levels deep and is not read", maxNesting), "")
		case e.IsDir():
			s.walk(below, depth-1)
		case strings.HasSuffix(e.Name(), s.suffix) && !forPeople(e.Name()):
			if s.left--; s.left == 0 {
				s.registry.report(profile.CodeCommandUnread, s.name(s.base), fmt.Sprintf("it holds more than %d commands; the rest is not read", maxFiles), "")
			}
			if s.left > 0 {
				s.file(below)
			}
		}
	}
}

// forPeople knows files that are about the commands beside them.
func forPeople(name string) bool {
	return strings.EqualFold(name, "README.md") || strings.EqualFold(name, "CHANGELOG.md") || strings.EqualFold(name, "LICENSE.md")
}

// configured reads a file that may have commands among other things.
func (s *searcher) configured(p string) {
	data, err := s.read(p)
	if err != nil {
		s.problem(p, err)
		return
	}
	list, ds := readMap(s.name(p), data)
	s.registry.take(s.user, ds, list...)
}

func (s *searcher) file(p string) {
	data, err := s.read(p)
	if err != nil {
		s.registry.report(profile.CodeCommandUnread, s.name(p), "it cannot be read: "+cause(err), "")
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(p, s.base+"/"), s.suffix)
	if s.kind != OpenCode {
		name = strings.ReplaceAll(name, "/", ":")
	}
	if !isName(name) {
		s.registry.diags = append(s.registry.diags, badName(source.Origin{File: s.name(p), Line: 1, Column: 1}, name))
		return
	}
	c, ds := Read(s.kind, name, s.name(p), data)
	if profile.Refused(ds) {
		s.registry.take(s.user, ds)
		return
	}
	s.registry.take(s.user, ds, c)
}

func (r *Registry) take(user bool, ds []profile.Diagnostic, list ...*Command) {
	r.diags = append(r.diags, ds...)
	for _, c := range list {
		c.User = user
		r.Add(c)
	}
}

// read reads a regular file of at most profile.MaxFile bytes.
func (s *searcher) read(p string) ([]byte, error) {
	f, err := s.open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > profile.MaxFile {
		return nil, fmt.Errorf("it is not a file of at most %d bytes", profile.MaxFile)
	}
	return io.ReadAll(io.LimitReader(f, profile.MaxFile))
}
