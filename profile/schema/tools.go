package schema

import "github.com/rosterrun/roster/tool/contract"

// toolSettings are the settings of the built-in tools, by the table of these.
func toolSettings() Shape {
	var of []Key
	for _, t := range contract.All() {
		if len(t.Settings) == 0 {
			continue
		}
		var settings []Key
		for _, s := range t.Settings {
			settings = append(settings, Key{Name: s.Name, Shape: takes(s), Acts: !t.Later, Default: s.Default, Meaning: s.Meaning})
		}
		of = append(of, Key{Name: t.Name, Acts: !t.Later, Meaning: "of the tool `" + t.Name + "`: " + t.Summary, Shape: dict(settings...)})
	}
	return dict(of...)
}

// takes is what a setting of a tool takes.
func takes(s contract.Setting) Shape {
	switch s.Kind {
	case contract.Bool:
		return boolean
	case contract.Count:
		return Shape{Kind: Count, Low: float64(s.Low)}
	case contract.Span:
		return duration
	}
	return list
}
