package runner

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/rosterrun/roster/internal/gitlog"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
)

// bundled is a file, as the content of a job has it that is more than the file.
type bundled struct {
	Event   rig.Event `json:"event"`
	Path    string    `json:"path"`
	Content []byte    `json:"content,omitempty"`
	Diff    string    `json:"diff,omitempty"`
}

func bundle(files ...bundled) []byte {
	data, _ := json.Marshal(files) // of texts and bytes, which cannot fail
	return data
}

// together makes one job of those of a batch: all or none of its changes are noted.
func (n *running) together(k *rig.Knot, changes []ledger.Change) {
	var files []bundled
	job := &ledger.Job{ID: newID(), Knot: k.ID(), Event: string(rig.Modified), Queued: time.Now()}
	for i := range changes {
		one := changes[i].Job
		if one == nil {
			continue
		}
		files = append(files, bundled{Event: rig.Event(one.Event), Path: one.Path, Content: one.Content})
		if one.Hops > job.Hops {
			job.Hops, job.Parent = one.Hops, one.Parent
		}
		changes[i].Job = job
	}
	if job.Content = bundle(files...); len(files) == 1 {
		job.Event, job.Path = string(files[0].Event), files[0].Path
	}
	n.bound(job)
}

// difference is what a file has that the commit which is checked out has not, as a
// unified diff; empty: there is none to compare it with.
func (n *running) difference(shown string, content []byte) string {
	file := filepath.FromSlash(shown)
	if !filepath.IsAbs(file) {
		file = filepath.Join(n.r.o.Dir, file)
	}
	repo, err := gitlog.Open(filepath.Dir(file))
	if err != nil {
		return ""
	}
	defer repo.Close()
	rel, err := filepath.Rel(repo.Top, file)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	name := filepath.ToSlash(rel)
	old, err := repo.Newest(name, strand.MaxSize)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			n.r.o.Log.Warn("a file is shown whole: what is committed of it cannot be read", "path", shown, "error", err)
		}
		return ""
	}
	text := string(diff.Diff("a/"+name, old, "b/"+name, content))
	_, text, _ = strings.Cut(text, "\n") // its first line is a command
	return text
}
