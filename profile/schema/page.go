package schema

import (
	"fmt"
	"io"
	"strings"
)

// WritePage writes the table as Markdown: a section of top-level keys, and one
// of each key that takes a map.
func WritePage(w io.Writer) {
	writeTable(w, keys[:])
	writeMaps(w, "", keys[:])
}

func writeMaps(w io.Writer, in string, keys []Key) {
	for i := range keys {
		path := in + keys[i].Name
		if sharesShape(path) {
			continue
		}
		for s := &keys[i].Shape; s != nil; s = s.Or {
			switch each := s.Each; {
			case s.Kind == Map && s.Keys != nil:
				section(w, path, s.Keys)
			case each == nil || each.nested() == nil:
			case s.Kind == Map:
				section(w, path+".NAME", each.nested())
			default:
				section(w, strings.TrimSuffix(path, ".before-loop")+", an item of a list", each.nested())
			}
		}
	}
}

// sharesShape says whether another section describes the map of this key.
func sharesShape(path string) bool {
	return path == "habits.planning" || path == "subagents.planning" || strings.HasPrefix(path, "hooks.") && path != "hooks.before-loop"
}

func section(w io.Writer, heading string, keys []Key) {
	fmt.Fprintf(w, "\n## %s\n\n", heading)
	writeTable(w, keys)
	writeMaps(w, heading+".", keys)
}

func writeTable(w io.Writer, keys []Key) {
	fmt.Fprint(w, "| key | takes | default | meaning | acts |\n|---|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		name := "`" + k.Name + "`"
		if k.Adds {
			name += ", `+" + k.Name + "`"
		}
		acts := "yes"
		if !k.Acts {
			acts = "not yet"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", name, k.Takes(), code(k.Default), cell(k.Meaning), acts)
	}
}

func code(text string) string {
	if text == "" || strings.Contains(text, " ") {
		return text
	}
	return "`" + text + "`"
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
