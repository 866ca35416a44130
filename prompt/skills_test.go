package prompt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func skillLines(n int) []SkillLine {
	list := make([]SkillLine, n)
	for i := range list {
		list[i] = SkillLine{Name: fmt.Sprintf("skill-%04d", i), Folder: []string{"skills", "/home/u/skills"}[i%2], Last: i%2 == 1,
			Description: strings.Repeat("über words of it ", i%9+1)}
	}
	return list
}

// TestSkillIndex fits lists of skills into budgets: the text is never larger, and
// descriptions go before names, and the user's names before the workspace's.
func TestSkillIndex(t *testing.T) {
	for _, c := range []struct {
		n, most         int
		shortened, left bool
	}{
		{0, 1000, false, false},
		{3, 1000, false, false},
		{100, 20_000, false, false},
		{100, 8000, true, false},
		{100, 2500, true, false},
		{1400, 15_000, true, true},
		{1400, 40_000, true, false},
		{10, 1, true, true},
	} {
		t.Run(fmt.Sprint(c.n, " in ", c.most), func(t *testing.T) {
			x := NewSkillIndex(skillLines(c.n), c.most)
			if len(x.Text) > max(c.most, len(skillsHead)+len(skillsMore)+10) || !utf8.ValidString(x.Text) {
				t.Errorf("%d bytes", len(x.Text))
			}
			if (x.Shortened >= 0) != c.shortened || (len(x.Left) > 0) != c.left {
				t.Errorf("shortened to %d, %d left out", x.Shortened, len(x.Left))
			}
			if named := strings.Count(x.Text, "\n- skill-"); named+len(x.Left) != c.n {
				t.Errorf("%d are named and %d left out of %d", named, len(x.Left), c.n)
			}
			if len(x.Left) > 0 && !strings.Contains(x.Text, fmt.Sprintf("\n\n%d more are not listed", len(x.Left))) {
				t.Error("it is not said how many are left out")
			}
			if len(x.Left) > 0 && len(x.Left) < c.n/2 && strings.HasSuffix(x.Left[0], "0") {
				t.Errorf("of the workspace's %s is left out", x.Left[0])
			}
		})
	}
}

func TestSkillIndexText(t *testing.T) {
	got := NewSkillIndex([]SkillLine{
		{Name: "a", Description: "First.", Folder: "skills"},
		{Name: "b", Description: "Built in."},
		{Name: "c", Folder: ".claude/skills"},
	}, 10_000).Text
	want := skillsHead + "\n\nBuilt in:\n- b: Built in.\n\nIn .claude/skills:\n- c\n\nIn skills:\n- a: First."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
