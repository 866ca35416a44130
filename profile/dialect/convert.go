package dialect

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Encode writes a profile in a dialect and reads it back. What does not read
// back equal is named by a CodeLost diagnostic, so that a conversion never says
// something else in silence. There are no parts, and an error is among the
// diagnostics, when the dialect cannot be written, refuses what was written, or
// would not be the one that reads it.
func Encode(d Dialect, p *profile.Profile) ([]Part, []profile.Diagnostic) {
	at := source.Origin{File: p.File}
	if d.Encode == nil {
		return nil, []profile.Diagnostic{profile.Diagnose(profile.CodeOnlyRead, at, "", fmt.Sprintf("the %s dialect is only read", d.Name), "choose another dialect")}
	}
	if err := profile.CheckName(p.Name); err != nil {
		return nil, []profile.Diagnostic{profile.Diagnose(profile.CodeName, at, "name", err.Error(), "")}
	}
	parts, ds := d.Encode(p)
	f := writtenFile(parts)
	if found, ok := Detect(f); !ok || found.Name != d.Name {
		return nil, append(ds, profile.Diagnose(profile.CodeMiswritten, at, "name",
			fmt.Sprintf("the %s dialect would not find a profile of this name at %s", d.Name, f.Path), "choose another name"))
	}
	back, refusal := d.Decode(f)
	for _, r := range refusal {
		if r.Severity == profile.SeverityError {
			ds = append(ds, profile.Diagnose(profile.CodeMiswritten, at, r.Key, fmt.Sprintf("the %s dialect refuses what was written: %s", d.Name, r.Message), r.Hint))
		}
	}
	if profile.Refused(ds) {
		return nil, ds
	}
	if len(back) != 1 {
		return nil, append(ds, profile.Diagnose(profile.CodeMiswritten, at, "", fmt.Sprintf("what was written holds %d profiles", len(back)), ""))
	}
	changed := changes(p, back[0])
	if len(changed) == 0 {
		return parts, ds
	}
	told := named(ds)
	for _, c := range changed {
		if !told[c.key] {
			ds = append(ds, profile.Diagnose(profile.CodeLost, c.at, c.key, fmt.Sprintf("the %s dialect cannot hold %s as it is: it reads back as something else", d.Name, c.key), ""))
		}
	}
	return parts, ds
}

// writtenFile makes a file, with what stands beside it, of what was written.
func writtenFile(parts []Part) *File {
	main := parts[0]
	f := &File{Name: main.Path, Path: main.Path, Data: main.Data}
	for _, p := range parts[1:] {
		if rel, err := filepath.Rel(filepath.FromSlash(path.Dir(main.Path)), filepath.FromSlash(p.Path)); err == nil {
			if f.Beside == nil {
				f.Beside = map[string][]byte{}
			}
			f.Beside[filepath.ToSlash(rel)] = p.Data
		}
	}
	return f
}

// named gives the keys that diagnostics are about, and those that hold them.
func named(ds []profile.Diagnostic) map[string]bool {
	keys := make(map[string]bool, len(ds))
	for _, d := range ds {
		for key := d.Key; !keys[key]; {
			keys[key] = true
			if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
				key = key[:dot]
			}
		}
	}
	return keys
}
