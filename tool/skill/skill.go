// Package skill finds skills, folders with a SKILL.md that says how to do a kind of
// task, and is the tool by which an agent reads one.
package skill

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// File is the name of the file that makes a folder a skill.
const File = "SKILL.md"

// Skill is what the frontmatter of one says. It is shared and must not be changed.
type Skill struct {
	// Name is that of its folder. Called is the name that the file gives, where that
	// is another.
	Name, Called string
	Description  string // in one line
	File         string // as diagnostics name it
	Dir          string // the folder, absolute, with links followed; empty: built in
	Layer        source.Layer
	// Own says that it is the user's or built in, and no file of the workspace.
	Own bool
	// Allowed are the rules of allowed-tools, in force while it is in use.
	Allowed []permission.Rule
	// OnlyUser says that no model calls it by itself, and OnlyModel that no person
	// does.
	OnlyUser, OnlyModel bool

	ArgumentHint, License, Compatibility string

	root string // what it is read through; empty: nothing holds it
	data []byte // of one that is built in
}

// Path is the file on disk; empty: it is built in.
func (s *Skill) Path() string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, filepath.Base(s.File))
}

// Bounds of a skill.
const (
	maxName        = 64   // characters
	maxDescription = 1024 // characters that the standard lets a description have
)

// CheckName says whether a folder may be a skill by its name.
func CheckName(name string) error {
	ok := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) }
	switch {
	case name == "" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || !utf8.ValidString(name),
		strings.IndexFunc(name, func(r rune) bool { return !ok(r) }) >= 0:
		return fmt.Errorf("the name %q is none for a skill: letters, digits, '-', '_' and '.', and neither '.' nor '-' first", name)
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("the name %q has more than %d characters", name, maxName)
	}
	return nil
}

// parse reads a SKILL.md. The skill is nil when it cannot be used; name is that of
// its folder.
func parse(name, file string, data []byte, at Place) (*Skill, []profile.Diagnostic) {
	f := dialect.ReadFront(file, data)
	if err := CheckName(name); err != nil {
		f.Report(profile.CodeName, source.Origin{File: file}, "", err.Error(), "rename its folder")
	}
	if profile.Refused(f.Diagnostics()) {
		return nil, f.Diagnostics()
	}
	s := &Skill{Name: name, File: file, Layer: at.Layer, Own: at.Own}
	s.called(f)
	s.describe(f)
	s.allows(f)
	s.ArgumentHint, s.License, s.Compatibility = f.Bracketed("argument-hint").V, f.Text("license").V, line(f.Text("compatibility").V)
	s.OnlyUser = f.Flag("disable-model-invocation").V
	if v := f.Flag("user-invocable"); v.Set {
		s.OnlyModel = !v.V
	}
	lacking(f)
	f.Unread("skills", slices.Concat(labels(), features())...)
	ds := f.Diagnostics()
	if profile.Refused(ds) {
		return nil, ds
	}
	return s, ds
}

// labels are keys that say something to people alone, in files of several systems.
func labels() []string {
	return []string{"metadata", "version", "author", "authors", "tags", "category", "keywords", "triggers", "icon", "color"}
}

// features are keys of other systems that would do something.
func features() []string {
	return []string{"model", "effort", "context", "agent", "hooks", "paths", "shell"}
}

// lacking says which of them this version does not have.
func lacking(f *dialect.Front) {
	for _, key := range features() {
		if at := f.At(key); at.Line > 0 {
			f.Report(profile.CodeInactiveKey, at, key, key+" of a skill is not acted on by this version", "")
		}
	}
}

func (s *Skill) called(f *dialect.Front) {
	v := f.Text("name")
	if v.V = strings.TrimSpace(v.V); v.V == "" || v.V == s.Name {
		return
	}
	s.Called = v.V
	f.Report(profile.CodeSkillName, v.At, "name", fmt.Sprintf("the skill is called %q here and lies in the folder %q: the folder's name counts", short(v.V), s.Name),
		"give the two the same name")
}

// describe finds what the skill is for: its description or, without one, the first
// paragraph of its text.
func (s *Skill) describe(f *dialect.Front) {
	v := f.Text("description")
	if s.Description = line(v.V); s.Description != "" {
		if n := utf8.RuneCountInString(s.Description); n > maxDescription {
			f.Report(profile.CodeSkillName, v.At, "description", fmt.Sprintf("the description has %d characters; the standard allows %d", n, maxDescription),
				"say what the skill does and when to use it; all else belongs below the frontmatter")
		}
		return
	}
	at := v.At
	if at.Line == 0 {
		at = source.Origin{File: s.File, Line: 1, Column: 1}
	}
	if s.Description = cut(firstParagraph(f.Body), maxDescription); s.Description == "" {
		f.Report(profile.CodeNeedDescription, at, "description", "the skill has neither a description nor a text", "say in description what it does and when to use it")
		return
	}
	f.Report(profile.CodeSkillDescription, at, "description", "the skill has no description; the first paragraph of its text stands for it",
		"say in description what it does and when to use it")
}

// allows reads allowed-tools. What keeps agents in the workspace and from changing
// what agents are is for a person to allow.
func (s *Skill) allows(f *dialect.Front) {
	for _, r := range f.Allows("allowed-tools") {
		if r.Tool == permission.ExternalDirectory || r.Tool == permission.Protected {
			f.Report(profile.CodeSkillAllows, r.At, "allowed-tools", fmt.Sprintf("%s is allowed by no skill; it is left out", r.Tool), "a profile's permission may")
			continue
		}
		r.At.Layer = s.Layer
		s.Allowed = append(s.Allowed, r)
	}
}

// firstParagraph is the first text of Markdown that is no heading.
func firstParagraph(body string) string {
	for _, p := range strings.Split(body, "\n\n") {
		var lines []string
		for l := range strings.Lines(p) {
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "---") {
				lines = append(lines, l)
			}
		}
		if text := line(strings.Join(lines, " ")); text != "" {
			return text
		}
	}
	return ""
}

// line is a text in one line, without what a terminal or a reader would not show.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Cf, r) && r != '\u200d':
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens a text to so many characters, at a blank where there is one near.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)[:max(most-1, 0)]
	text := string(r)
	if i := strings.LastIndexByte(text, ' '); i > len(text)*2/3 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,;:.") + "…"
}

func short(s string) string { return cut(line(s), maxName) }

// byName sorts skills.
func byName(a, b *Skill) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.File, b.File))
}
