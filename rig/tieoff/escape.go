package tieoff

import "strings"

// indent is put before a line of an answer that could be taken for a part of the
// file. Such a line that is indented already is indented once more, so that each
// indent can be taken back.
const indent = "    "

// special says whether a line could be taken for a part of the file: a heading of the
// second level, the dashes of a front block, or a comment of ours.
func special(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	return line == "##" || strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "##\t") || line == dashes || strings.HasPrefix(line, strings.TrimRight(commentMark, " "))
}

func escape(answer string) string {
	return mapLines(answer, func(line string) string {
		if special(unindented(line)) {
			return indent + line
		}
		return line
	})
}

func unescape(text string) string {
	return mapLines(text, func(line string) string {
		if strings.HasPrefix(line, indent) && special(unindented(line)) {
			return line[len(indent):]
		}
		return line
	})
}

// unindented is a line without its indents.
func unindented(line string) string {
	for strings.HasPrefix(line, indent) {
		line = line[len(indent):]
	}
	return line
}

func mapLines(text string, f func(string) string) string {
	if !strings.Contains(text, "##") && !strings.Contains(text, dashes) && !strings.Contains(text, "<!--") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = f(lines[i])
	}
	return strings.Join(lines, "\n")
}

// openFence is the fence that would end the code block which a text leaves open;
// empty: it leaves none.
func openFence(text string) string {
	open := ""
	for line := range strings.SplitSeq(text, "\n") {
		fence, info := fenceOf(line)
		switch {
		case fence == "":
		case open == "":
			if fence[0] != '`' || !strings.Contains(info, "`") {
				open = fence
			}
		case fence[0] == open[0] && len(fence) >= len(open) && strings.TrimSpace(info) == "":
			open = ""
		}
	}
	return open
}

// fenceOf gives the fence that a line begins with, and what comes after it.
func fenceOf(line string) (fence, info string) {
	rest := strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return "", ""
	}
	info = strings.TrimLeft(rest, rest[:1])
	if n := len(rest) - len(info); n >= 3 {
		return rest[:n], info
	}
	return "", ""
}
