package tool

import (
	"path"

	"github.com/rosterrun/roster/permission/shell"
)

// Changing is a Plan that may change files.
type Changing interface {
	// Changes says where: at these paths below a root, or with nil anywhere below
	// it. root is a real path; "": nowhere.
	Changes() (root string, paths []string)
}

// Changes implements Changing: the file, and the directories that lead to it.
func (p *writePlan) Changes() (string, []string) { return p.w.changes(p.target) }

// Changes implements Changing.
func (p *editPlan) Changes() (string, []string) { return p.w.changes(p.target) }

func (w *workspace) changes(t *target) (string, []string) {
	if t.outside {
		return "", nil
	}
	paths := []string{t.subject}
	for dir := path.Dir(t.subject); dir != "."; dir = path.Dir(dir) {
		paths = append(paths, dir)
	}
	return w.root, paths
}

// Changes implements Changing: anything, unless all of the line is known to read.
func (p *bashPlan) Changes() (string, []string) {
	if line, err := shell.Analyze(p.command); err == nil && line.ReadOnly() {
		return "", nil
	}
	return p.tool.root, nil
}
