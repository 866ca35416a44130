package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Slot is one block that a template declares: where it stands, and how many
// characters it may have; 0 is no bound.
type Slot struct {
	Name      string
	Order     int
	MaxLength int
}

// Template declares the blocks of prompts. One that is open takes any block, in
// written order unless the block has an order of its own.
type Template struct {
	Name  string
	Slots []Slot
	Open  bool
	At    source.Origin
}

// Text fills a block. Order and MaxLength, where they are set, are its own and
// win over the template's.
type Text struct {
	Name, Text       string // the text may be file:PATH
	Order, MaxLength profile.Value[int]
	At               source.Origin
}

// Instance is a prompt that has a name: texts for the blocks of a template. A
// profile refers to it as {{name}}.
type Instance struct {
	Name, Template string // no template: an open one
	Texts          []Text
	At             source.Origin
}

// Library is the templates and instances of a configuration. More of them stand
// in files of their own, prompts/NAME.yaml in the workspace.
type Library struct {
	Templates []Template
	Instances []Instance
}

// Builtin are the templates that are there without being declared.
func Builtin() []Template {
	at := source.Origin{Layer: source.Builtin}
	return []Template{
		{Name: "agent", At: at, Slots: []Slot{{"identity", 0, 500}, {"instructions", 1, 2000}, {"tools", 2, 1000}, {"constraints", 3, 500}}},
		{Name: "minimal", At: at, Slots: []Slot{{"identity", 0, 1000}, {"task", 1, 3000}}},
		{Name: "custom", At: at, Open: true},
	}
}

// ReferenceError says that a prompt or a template is referred to that is not
// there.
type ReferenceError struct {
	At   source.Origin
	Kind string // prompt or strategy
	Name string
	Near string // the nearest name, or empty
}

func (e *ReferenceError) Error() string {
	hint := fmt.Sprintf("declare it in roster.yaml, or in prompts/%s.yaml", e.Name)
	if e.Near != "" {
		hint = fmt.Sprintf("did you mean %q?", e.Near)
	}
	return fmt.Sprintf("%s: there is no %s %q (%s)", e.At, e.Kind, e.Name, hint)
}

// Unwrap gives the name of the failure.
func (e *ReferenceError) Unwrap() error { return profile.MissingPromptTemplate }

// shelf finds prompts and templates by name: those of the configuration, and
// those in files of the workspace, which are read when they are asked for.
type shelf struct {
	lib       *Library
	workspace *os.Root
	files     []string // that were looked for, relative to the workspace
}

// Folder holds prompts and templates, each in a file NAME.yaml.
const Folder = "prompts"

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

func (s *shelf) instance(name string, at source.Origin) (Instance, error) {
	i := slices.IndexFunc(s.lib.Instances, func(in Instance) bool { return in.Name == name })
	file, err := s.file(name)
	switch {
	case err != nil:
		return Instance{}, err
	case i >= 0 && file.instance != nil:
		return Instance{}, fmt.Errorf("%s: the prompt %q stands in %s and in %s: keep one", at, name, s.lib.Instances[i].At, file.instance.At)
	case i >= 0:
		return s.lib.Instances[i], nil
	case file.instance != nil:
		return *file.instance, nil
	}
	names := make([]string, 0, len(s.lib.Instances))
	for _, in := range s.lib.Instances {
		names = append(names, in.Name)
	}
	return Instance{}, &ReferenceError{at, "prompt", name, nearest(name, names)}
}

func (s *shelf) template(name string, at source.Origin) (Template, error) {
	if name == "" {
		return Template{Open: true, At: at}, nil
	}
	names := make([]string, 0, len(s.lib.Templates))
	for _, t := range slices.Concat(s.lib.Templates, Builtin()) {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	file, err := s.file(name)
	if err != nil {
		return Template{}, err
	}
	if file.template != nil {
		return *file.template, nil
	}
	return Template{}, &ReferenceError{at, "strategy", name, nearest(name, names)}
}

func nearest(name string, names []string) string {
	if near := profile.Nearest(name, names, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// shelved is what a file holds: one of them, or nothing.
type shelved struct {
	instance *Instance
	template *Template
}

// file reads prompts/NAME.yaml, if it is there. A name that is no plain one has
// no file.
func (s *shelf) file(name string) (shelved, error) {
	if !plainName.MatchString(name) {
		return shelved{}, nil
	}
	path := Folder + "/" + name + ".yaml"
	s.files = append(s.files, path)
	data, err := read(s.workspace, path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return shelved{}, nil
	}
	at := source.Origin{Layer: source.Defaults, File: path, Line: 1, Column: 1}
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return shelved{}, &FileError{at, path, err}
	}
	if strings.TrimSpace(string(data)) == "" {
		return shelved{}, &FileError{at, path, errors.New("it is empty")}
	}
	var doc yaml.Node
	if err := yaml.Load(data, &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))); err != nil {
		return shelved{}, &FileError{at, path, err}
	}
	p := parser{file: path, layer: source.Defaults}
	out := p.either(name, doc.Content[0])
	if len(p.problems) > 0 {
		return shelved{}, p.problems[0]
	}
	return out, nil
}

// maxDepth is the deepest nesting of a file with a prompt.
const maxDepth = 20

// referred gives the name that a text which is nothing but {{name}} refers to.
func referred(text string) (string, bool) {
	if !reference.MatchString(text) {
		return "", false
	}
	name := strings.TrimSpace(strings.Trim(text, "{}"))
	return strings.TrimPrefix(strings.TrimPrefix(name, "system_prompt."), "system-prompt."), true
}
