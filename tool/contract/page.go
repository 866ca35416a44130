package contract

import (
	"fmt"
	"io"
	"strings"
)

// WritePage writes the table as Markdown: an overview by groups, then a section for
// each tool that there is. effect is what holds for a tool without rules.
func WritePage(w io.Writer, effect func(tool string) string) {
	fmt.Fprint(w, "| group | tools | to |\n|---|---|---|\n")
	for _, g := range append(Groups(), "") {
		var names []string
		for i := range tools {
			if t := &tools[i]; t.Group == g && !t.Later {
				names = append(names, fmt.Sprintf("[`%s`](#%s)", t.Name, t.Name))
			}
		}
		name := "`" + string(g) + "`"
		if g == "" {
			name = "–"
		}
		if names != nil {
			fmt.Fprintf(w, "| %s | %s | %s |\n", name, strings.Join(names, ", "), g.Summary())
		}
	}
	var later []string
	for i := range tools {
		if tools[i].Later {
			later = append(later, "`"+tools[i].Name+"`")
		}
	}
	if later != nil {
		fmt.Fprintf(w, "\nKnown by name, and not in this version: %s.\n", strings.Join(later, ", "))
	}
	for i := range tools {
		if !tools[i].Later {
			tools[i].writeSection(w, effect(tools[i].Name))
		}
	}
}

func (t *Tool) writeSection(w io.Writer, effect string) {
	fmt.Fprintf(w, "\n## %s\n\n", t.Name)
	fmt.Fprintf(w, "> %s\n\n", strings.ReplaceAll(escape(strings.TrimSpace(t.Fill(t.Text, nil))), "\n", "\n> "))
	if t.Holds != "" {
		fmt.Fprintf(w, "%s\n\n", t.Holds)
	}
	fmt.Fprintf(w, "Rules are about %s; without any it is `%s`.", t.Subject, effect)
	if t.Named {
		fmt.Fprintf(w, " It is offered only where `tools` lists it by name.")
	}
	fmt.Fprint(w, "\n\n| input | takes | |\n|---|---|---|\n")
	for i := range t.Inputs {
		t.writeInput(w, "", &t.Inputs[i])
	}
	if len(t.Settings) == 0 {
		return
	}
	fmt.Fprintf(w, "\n| `tool-settings.%s` | default | |\n|---|---|---|\n", t.Name)
	for _, s := range t.Settings {
		byDefault := ""
		if s.Default != "" {
			byDefault = "`" + s.Default + "`"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", s.Name, byDefault, s.Meaning)
	}
}

// writeInput writes a row for an input, and those of what is in it.
func (t *Tool) writeInput(w io.Writer, in string, i *Input) {
	needed := ""
	if i.Required {
		needed = ", required"
	}
	fmt.Fprintf(w, "| `%s%s` | %s%s | %s |\n", in, i.Name, i.takes(), needed, escape(t.Fill(i.Text, nil)))
	if i.Items != nil {
		for j := range i.Items.Of {
			t.writeInput(w, in+i.Name+"[].", &i.Items.Of[j])
		}
	}
}

// takes says in words what an input takes.
func (i *Input) takes() string {
	if i.Words != nil {
		return "`" + strings.Join(i.Words, "`, `") + "`"
	}
	switch i.Type {
	case "array":
		return "list" + i.between(" of", "")
	case "string":
		return "text" + i.between(" of", " characters")
	case "integer":
		return "whole number" + i.between("", "")
	}
	return strings.ReplaceAll(strings.ReplaceAll(i.Type, "|", " or "), "string", "text")
}

func (i *Input) between(of, unit string) string {
	switch {
	case i.Max > 0 && i.Min > 1:
		return fmt.Sprintf("%s %d to %d%s", of, i.Min, i.Max, unit)
	case i.Max > 0:
		return fmt.Sprintf("%s at most %d%s", of, i.Max, unit)
	case i.Min > 1 || i.Min == 1 && i.Type == "integer":
		return fmt.Sprintf("%s at least %d%s", of, i.Min, unit)
	}
	return ""
}

func escape(text string) string { return strings.NewReplacer("|", `\|`, "<", `\<`).Replace(text) }
