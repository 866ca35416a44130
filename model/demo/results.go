package demo

import (
	"regexp"
	"strconv"
	"strings"
)

const (
	maxResult = 256 << 10 // bytes of a tool's result that are looked at
	maxFound  = 2000      // paths, and matches, that are kept
	maxPath   = 512
)

// line is a line of a file, with its number from 1.
type line struct {
	path string
	n    int
	text string
}

var (
	// path:line:text, path:line: text and the like
	grepLine = regexp.MustCompile(`^([^\s:][^:]*):(\d+)(?::\d+)?[:|\t-] ?(.*)$`)
	// a numbered line, as of a file or under a path that stands above it
	numbered = regexp.MustCompile(`^\s*(\d+)(?:\t|: ?|\| ?|→|│ ?)(.*)$`)
)

func lines(text string) []string {
	if len(text) > maxResult {
		text = strings.ToValidUTF8(text[:maxResult], "")
	}
	return strings.Split(text, "\n")
}

// parsePaths reads one path a line; notes of the tool are passed over.
func parsePaths(text string) []string {
	var out []string
	for _, l := range lines(text) {
		l = strings.TrimSpace(strings.TrimSuffix(l, "\r"))
		note := strings.HasPrefix(l, "(") || strings.HasPrefix(l, "[") || strings.HasPrefix(l, "<") || strings.HasPrefix(l, "…") ||
			strings.Contains(l, ": ") || strings.Contains(l, " ") && strings.HasSuffix(l, ".")
		if l != "" && len(l) <= maxPath && !note {
			out = append(out, strings.TrimPrefix(l, "./"))
		}
	}
	return out
}

// parseHits reads the matches of grep, with the path on each line or above its
// matches.
func parseHits(text string) []line {
	var out []line
	above := ""
	for _, l := range lines(text) {
		l = strings.TrimSuffix(l, "\r")
		if m := grepLine.FindStringSubmatch(l); m != nil {
			out = appendLine(out, strings.TrimPrefix(m[1], "./"), m[2], m[3])
		} else if m := numbered.FindStringSubmatch(l); m != nil && above != "" {
			out = appendLine(out, above, m[1], m[2])
		} else if s := strings.TrimSuffix(strings.TrimSpace(l), ":"); s != "" && len(s) <= maxPath && !strings.HasPrefix(s, "(") {
			above = strings.TrimPrefix(s, "./")
		}
	}
	return out
}

// parseFile reads the text of a file, with line numbers or without.
func parseFile(path, text string, offset int) []line {
	var out []line
	ls := lines(text)
	withNumbers := numbered.MatchString(ls[0])
	for i, l := range ls {
		l = strings.TrimSuffix(l, "\r")
		if !withNumbers && !strings.HasPrefix(l, "[") {
			out = append(out, line{path, max(1, offset) + i, l})
		} else if m := numbered.FindStringSubmatch(l); m != nil && withNumbers {
			out = appendLine(out, path, m[1], m[2])
		}
	}
	return out
}

func appendLine(out []line, path, number, text string) []line {
	n, err := strconv.Atoi(number)
	if err != nil {
		return out
	}
	return append(out, line{path, n, text})
}
