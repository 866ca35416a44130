package config

import (
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/trust"
)

// skills reads them.
func (s section) skills(it item) {
	for sub, dir := range s.texts(it, "a list of folders") {
		if s.workspace && !s.insidePattern(dir) && s.may(trust.Path, sub, s.led(sub.node, dir)) != nil {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.base(), dir)
		}
		s.cfg.Skills = append(s.cfg.Skills, value(filepath.Clean(dir), sub))
	}
}

// insidePattern is inside for a path whose last parts may be patterns: what is above
// them must be in the workspace. Of what they match no link is followed out of it.
func (s section) insidePattern(dir string) bool {
	for dir != "." && hasPattern(dir) {
		dir = filepath.Dir(dir)
	}
	return s.inside(dir)
}

func hasPattern(path string) bool { return strings.ContainsAny(path, "*?[") }
