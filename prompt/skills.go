package prompt

import (
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SkillLine is one skill of the index.
type SkillLine struct {
	Name, Description string
	Folder            string // that its own folder lies in; empty: it is built in
	// Last says that it goes before others where there is no room for all.
	Last bool
}

// SkillIndex is the text that tells a model of its skills.
type SkillIndex struct {
	Text string
	// Shortened is to how many characters descriptions were cut; -1: none was.
	Shortened int
	Left      []string // the skills that are not named
}

// The texts of the index.
const (
	skillsHead = "# Skills\n\nA skill is a folder with instructions for one kind of task. When a task fits one of them, call the tool `skill` " +
		"with its name before anything else, and go by what it says. The skills are:"
	skillsMore = " more are not listed: call `skill` with a few words of what you look for."
)

// minDescription is the least that a description is worth being cut to, in characters.
const minDescription = 24

// NewSkillIndex lists skills, whose names are sorted, in at most so many bytes: where
// they do not fit, descriptions are shortened, then left out, then skills.
func NewSkillIndex(list []SkillLine, most int) SkillIndex {
	longest := 0
	for _, s := range list {
		longest = max(longest, utf8.RuneCountInString(s.Description))
	}
	x := SkillIndex{Shortened: -1}
	if x.Text = skillText(list, longest, 0); len(x.Text) <= most {
		return x
	}
	size := func(n int) int { return len(skillText(list, n, 0)) }
	// The largest that fits: the text grows with n.
	x.Shortened = sort.Search(longest, func(n int) bool { return size(n) > most }) - 1
	if x.Shortened >= minDescription {
		x.Text = skillText(list, x.Shortened, 0)
		return x
	}
	x.Shortened = 0
	if size(0) <= most {
		x.Text = skillText(list, 0, 0)
		return x
	}
	kept := x.fit(list, most)
	x.Text = skillText(kept, 0, len(x.Left))
	return x
}

// fit leaves out skills until the names of the others fit.
func (x *SkillIndex) fit(list []SkillLine, most int) []SkillLine {
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b SkillLine) int {
		switch {
		case a.Last == b.Last:
			return 0
		case a.Last:
			return 1
		}
		return -1
	})
	n := sort.Search(len(order), func(n int) bool {
		return len(skillText(order[:n+1], 0, len(order)-n-1)) > most
	})
	for _, s := range order[n:] {
		x.Left = append(x.Left, s.Name)
	}
	slices.Sort(x.Left)
	return order[:n]
}

// skillText writes the index: by folder, so that each is named once.
func skillText(list []SkillLine, most, left int) string {
	var b strings.Builder
	b.WriteString(skillsHead)
	var folders []string
	for _, s := range list {
		if !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	slices.Sort(folders)
	for _, folder := range folders {
		b.WriteString("\n\n")
		if folder == "" {
			b.WriteString("Built in:")
		} else {
			b.WriteString("In " + filepath.ToSlash(folder) + ":")
		}
		for _, s := range list {
			if s.Folder != folder {
				continue
			}
			b.WriteString("\n- " + s.Name)
			if text := cutWords(s.Description, most); text != "" {
				b.WriteString(": " + text)
			}
		}
	}
	if left > 0 {
		b.WriteString("\n\n" + strconv.Itoa(left) + skillsMore)
	}
	return b.String()
}

// cutWords shortens a text to so many characters, at a blank where one is near.
func cutWords(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	if most < minDescription {
		return ""
	}
	text := string([]rune(s)[:most-1])
	if i := strings.LastIndexByte(text, ' '); i > len(text)*2/3 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,;:.") + "…"
}
