package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/commit"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/tieoff"
)

// finish adds the answer of a run to its tie-off, exactly once, and with that ends the
// job.
func (n *running) finish(ctx context.Context, k *rig.Knot, j *ledger.Job, end *End) error {
	err := n.add(ctx, k, j, end)
	if err == nil || errors.Is(err, ledger.ErrLost) || ctx.Err() != nil {
		return err
	}
	return n.unwritten(ctx, k, j, err)
}

func (n *running) add(ctx context.Context, k *rig.Knot, j *ledger.Job, end *End) error {
	root, err := os.OpenRoot(n.root())
	if err != nil {
		return err
	}
	defer root.Close()
	w := &writing{n: n, ctx: ctx, knot: k, job: j, end: end}
	if len(j.Section) > 0 { // it may be there
		w.file, w.section = j.File, j.Section
		return tieoff.Recover(ctx, root, j.File, j.ID, j.Offset, j.Section, w)
	}
	digest := j.Digest
	if j.Event == string(rig.Deleted) {
		digest = ""
	}
	s := tieoff.Section{
		Job: j.ID, Knot: k.Name, Event: j.Event, Path: j.Path, Digest: digest, Time: end.Done, Session: j.Session,
		Profile: end.Profile, Revision: end.Revision, Model: end.Model, Hops: j.Hops, Usage: end.Usage, Cost: end.Usage.Cost, Answer: end.Text,
	}
	if w.section, err = s.Render(); err != nil {
		return err
	}
	if w.file, err = tieoff.File(k.Loom, k.Name); err != nil {
		return err
	}
	return tieoff.Append(ctx, root, w.file, w.section, w)
}

// writing tells the ledger of an answer that is added to a file, which is locked
// meanwhile. Whoever has lost the job is told so before he writes.
type writing struct {
	n       *running
	ctx     context.Context
	knot    *rig.Knot
	job     *ledger.Job
	end     *End
	file    string
	section []byte
}

// Write implements tieoff.Ledger. Where knots watch the file, they are told whose content
// it will have before they can see it.
func (w *writing) Write(offset int64, digest func() (string, error)) error {
	if file := path.Join(w.n.key.Name, w.file); w.n.isWatched(file) {
		is, err := digest()
		if err != nil {
			return err
		}
		w.n.wrote(w.ctx, w.knot, w.job, []Wrote{{Path: filepath.Join(w.n.r.o.Dir, filepath.FromSlash(file)), Digest: is, Sure: true}})
	}
	return w.n.store(w.ctx, "note where an answer is written", func(ctx context.Context) error {
		return w.n.r.o.Ledger.Write(ctx, w.n.key, w.job.ID, w.job.Epoch, w.file, offset, w.section)
	})
}

// isWatched says whether a knot of the rig watches tie-offs, this one among them.
func (n *running) isWatched(file string) bool {
	return slices.ContainsFunc(n.now().Knots(), func(k *rig.Knot) bool {
		dir, _ := n.folder(k)
		shown := n.r.shown(dir)
		return k.Input.V.Dir != "" && inTieOffs(shown) && strings.HasPrefix(file, shown+"/")
	})
}

// Done implements tieoff.Ledger. The commit comes first: it is made once, however often
// this is.
func (w *writing) Done() error {
	if w.knot.GitVersioned.V {
		w.n.commit(w.ctx, w.knot, w.job, append(w.end.files, filepath.Join(w.n.root(), filepath.FromSlash(w.file))))
	}
	return w.n.settle(w.ctx, w.job, ledger.Outcome{
		State: ledger.Done, Cost: w.end.Usage.Cost, Tokens: w.end.Usage.Limited(), Fires: w.n.fires(w.knot, w.job, w.end),
	})
}

// commitTime bounds a commit.
const commitTime = 30 * time.Second

// commit commits what a run has written, with its tie-off. That it cannot be done is said
// and does not keep the job from ending: the files are there.
func (n *running) commit(ctx context.Context, k *rig.Knot, j *ledger.Job, files []string) {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	log := n.r.o.Log.With("rig", n.key.Name, "knot", k.ID(), "job", j.ID)
	message := fmt.Sprintf("%s: %s %s", k.ID(), j.Event, j.Path)
	r, err := commit.Commit(ctx, n.r.o.Dir, files, message, j.ID, n.r.o.Git)
	switch {
	case err != nil:
		log.Error("the files of a run are not committed", "error", err)
	case r.Why != "":
		log.Info("the files of a run are not committed", "why", r.Why)
	}
	for _, s := range r.Skipped {
		log.Info("a file of a run is not committed", "file", s.File, "why", s.Why)
	}
}

// notWritten is the code of a job whose answer could not be added to its tie-off.
const notWritten = "TieOffNotWritten"

// unwritten has an answer added later that cannot be now, as on a disk that is full or in
// a folder that may only be read. The run is not repeated: its answer is in the log.
func (n *running) unwritten(ctx context.Context, k *rig.Knot, j *ledger.Job, err error) error {
	file := path.Join(n.key.Name, tieoff.Folder, k.Loom)
	n.r.o.Log.Error("an answer cannot be added to its tie-off; it is tried again", "folder", file, "job", j.ID, "session", j.Session, "error", err)
	return n.settle(ctx, j, ledger.Outcome{
		State: ledger.Queued, After: time.Now().Add(rewriteAfter), Code: notWritten, Error: fmt.Sprintf("the answer cannot be added to its tie-off in %s: %v", file, err),
	})
}

// rewriteAfter is how long an answer waits that could not be added to its tie-off.
const rewriteAfter = 10 * time.Second
