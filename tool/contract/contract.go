// Package contract is the one table of the built-in tools: what each takes, what
// the model is told of it, its settings with their defaults, the group that it
// belongs to, and what it holds to. The schemas that models see, the keys under
// tool-settings, the names that profiles may list and the reference page follow it.
package contract

import (
	"slices"
	"strings"
)

// Tool is one built-in tool.
type Tool struct {
	Name    string
	Group   Group  // empty: it belongs to none
	Summary string // one line, for people
	// Text is what the model is told of it. In it, and in the texts of its inputs,
	// {name} stands for the value of the setting of that name.
	Text     string
	Inputs   []Input
	Settings []Setting
	Subject  string // what its permission rules are about, for people
	Holds    string // what it holds to besides, in sentences for people
	// Named says that it is offered only where a profile lists it by its name.
	Named bool
	// Later says that this version knows the name and does not have the tool.
	Later bool
}

// Group is the name by which a profile lists several tools at once.
type Group string

// The groups.
const (
	Files      Group = "files"
	Shell      Group = "shell"
	Web        Group = "web"
	Planning   Group = "planning"
	Delegation Group = "delegation"
	Browser    Group = "browser"
	Knowledge  Group = "knowledge"
)

// Groups lists the groups in the order of the table.
func Groups() []Group { return []Group{Files, Shell, Web, Planning, Delegation, Browser, Knowledge} }

// Summary says what a group is, in one line for people.
func (g Group) Summary() string {
	switch g {
	case Files:
		return "read, write, change and find files"
	case Shell:
		return "run commands"
	case Web:
		return "fetch pages and search the web"
	case Planning:
		return "keep a list of steps, a plan and notes in the session"
	case Delegation:
		return "give tasks, or the session, to other profiles"
	case Browser:
		return "open pages in a browser, read and use them"
	case Knowledge:
		return "look things up in folders of texts"
	}
	return "others, each by its own name"
}

// Input is one thing that a call gives.
type Input struct {
	Name string // empty for the items of a list
	Text string
	// Type is a type of JSON Schema; several are separated by "|".
	Type     string
	Required bool
	Words    []string // that it may be; nil: any
	// Min and Max bound a number, the characters of a string or the items of a list.
	// 0: there is no bound.
	Min, Max int
	Items    *Input  // of a list
	Of       []Input // of an object, which may have others too
}

// Setting is a key under tool-settings.NAME of a profile.
type Setting struct {
	Name    string // kebab-case
	Kind    Kind
	Low     int    // the least that a Count may be
	Default string // as one would write it; empty: none
	Meaning string // one line
}

// Kind is what a setting takes.
type Kind uint8

const (
	Bool  Kind = iota
	Count      // a whole number of at least Low
	Span       // a time: a duration such as 90s, or seconds
	Texts      // a list of texts
)

// All lists the tools. The result must not be changed.
func All() []Tool { return tools[:] }

// Find gives the tool of that name; nil: there is none.
func Find(name string) *Tool {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// Names lists all names, also of tools that this version does not have.
func Names() []string {
	names := make([]string, len(tools))
	for i := range tools {
		names[i] = tools[i].Name
	}
	return names
}

// In lists the tools of a group; nil: there is no such group.
func In(g Group) (names []string) {
	for i := range tools {
		if g != "" && tools[i].Group == g {
			names = append(names, tools[i].Name)
		}
	}
	return names
}

// Setting gives the setting of that name; nil: there is none.
func (t *Tool) Setting(name string) *Setting {
	for i := range t.Settings {
		if t.Settings[i].Name == name {
			return &t.Settings[i]
		}
	}
	return nil
}

// SettingNames lists the settings by name.
func (t *Tool) SettingNames() []string {
	var names []string
	for _, s := range t.Settings {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// Fill puts the values of settings into a text of the tool, by value, or as they
// are by default where that gives none.
func (t *Tool) Fill(text string, value func(setting string) string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	for _, s := range t.Settings {
		v := ""
		if value != nil {
			v = value(s.Name)
		}
		if v == "" {
			v = s.Default
		}
		text = strings.ReplaceAll(text, "{"+s.Name+"}", v)
	}
	return text
}
