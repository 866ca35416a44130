package dialect_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// row is a line of the list of real files.
type row struct{ path, format, valid, reason string }

func rows(manifest string) []row {
	var out []row
	for line := range strings.Lines(manifest) {
		col := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(col) >= 7 && col[0] != "path" {
			out = append(out, row{col[0], col[4], col[5], col[6]})
		}
	}
	return out
}

// expected gives the dialects that are right for a Markdown file of a format,
// none for a file that is no profile. Agents in a folder agents that have no
// name are OpenCode's, whoever wrote them: only there the name is optional.
func expected(r row, named bool) []string {
	switch r.format {
	case "claude-agent":
		if !named {
			return []string{"opencode"}
		}
		return []string{"claude"}
	case "cao-agent", "fast-agent-card":
		return []string{"claude"}
	case "opencode-agent":
		return []string{"opencode"}
	case "copilot-agent":
		return []string{"copilot"}
	case "gemini-agent":
		return []string{"gemini"}
	}
	return nil
}

// TestManifest loads every Markdown file of the list: those of agents that are
// valid load, each in the dialect that it is written in, and what is no profile
// is left alone.
func TestManifest(t *testing.T) {
	files, manifest := corpus(t)
	table := map[string]int{}
	for _, r := range rows(manifest) {
		data, ok := files[r.path]
		if !ok || path.Ext(r.path) != ".md" {
			continue
		}
		f := &dialect.File{Name: r.path, Path: r.path, Data: data}
		d, ok := dialect.Detect(f)
		status, name := "ignored", "-"
		var ds []profile.Diagnostic
		if ok {
			status, name = "loaded", d.Name
			if _, ds = d.Decode(f); profile.Refused(ds) {
				status = "refused"
			}
		}
		table[fmt.Sprintf("%-22s %-4s %-9s %s", r.format, r.valid, name, status)]++
		if r.valid != "yes" {
			continue
		}
		want := expected(r, strings.Contains(head(data), "\nname:"))
		switch {
		case want == nil && status != "ignored":
			t.Errorf("%s: a %s is no profile, and is %s as %s", r.path, r.format, status, name)
		case want != nil && status != "loaded":
			t.Errorf("%s: a valid %s is %s: %v", r.path, r.format, status, &profile.ParseError{Diagnostics: ds})
		case want != nil && !slices.Contains(want, name):
			t.Errorf("%s: a %s is read as %s, want %v", r.path, r.format, name, want)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%s %5d", line, table[line])
	}
}

// head gives the text before the closing line of the frontmatter.
func head(data []byte) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---"), "\n---")
	return text
}
