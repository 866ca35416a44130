package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/profile"
)

// Check is one look at places that also sees what lies in the folders of skills.
func Check(workspace string, places []Place) *Snapshot {
	w := &walker{workspace: workspace, seen: map[string]bool{}, deep: true}
	for _, p := range places {
		w.place(p)
	}
	l := Open(workspace, places)
	return newSnapshot(l.load(w, time.Now()), w.ds)
}

// Places are the diagnostics that are of no file of a skill.
func (s *Snapshot) Places() []profile.Diagnostic { return slices.Clone(s.ds) }

// At is the place that somebody names by a path: a folder of skills, one that is a
// skill, or its SKILL.md.
func At(path string) (Place, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Place{}, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return Place{}, fmt.Errorf("%s: %w", path, bare(err))
	}
	shown := filepath.Clean(path)
	if !info.IsDir() {
		if !strings.EqualFold(filepath.Base(abs), File) {
			return Place{}, fmt.Errorf("%s is neither a folder nor a %s", path, File)
		}
		abs, shown = filepath.Dir(abs), filepath.Dir(shown)
	}
	return Place{Path: abs, Shown: shown, Named: true, Own: true}, nil
}

// Revision tells one state of the SKILL.md from another; empty: it is built in, or
// cannot be read.
func (s *Skill) Revision() string {
	if s.Dir == "" {
		return ""
	}
	data, err := readFile(s.root, s.Path())
	if err != nil {
		return ""
	}
	return revision(data)
}

func revision(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
