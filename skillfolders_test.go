package roster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/skill"
)

// TestSkillFolders: commands may read the folders of the skills that are outside of
// where the agent works, but not what no command reaches; of many, where they lie.
func TestSkillFolders(t *testing.T) {
	a := &App{}
	a.setup.Store(&setup{skills: skill.Open("/ws", skill.Standard("/user", "/home", "/ws"))})
	a.opts.Trust = true
	s := &spec.Spec{Workspace: "/ws", Skills: []spec.Skill{
		{Name: "in", Dir: "/ws/skills/in"}, {Name: "built-in"},
		{Name: "mine", Dir: "/user/.claude/skills/mine"}, {Name: "kept", Dir: "/home/skills/kept"},
	}}
	if got := a.skillFolders(s, []string{"/home"}); !slices.Equal(got, []string{"/user/.claude/skills/mine"}) {
		t.Errorf("folders %q", got)
	}
	for i := range 100 {
		s.Skills = append(s.Skills, spec.Skill{Dir: fmt.Sprintf("/user/.claude/skills/s%d", i)})
	}
	s.Skills = append(s.Skills, spec.Skill{Dir: "/elsewhere/linked"})
	if got := a.skillFolders(s, []string{"/home"}); !slices.Equal(got, []string{"/elsewhere/linked", "/user/.claude/skills"}) {
		t.Errorf("of many: %q", got)
	}
}
