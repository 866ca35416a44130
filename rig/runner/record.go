package runner

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/journal"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
	"github.com/rosterrun/roster/rig/tieoff"
)

// Records say what stands in the files that a rig has for other programs. They are safe
// for concurrent use.
type Records interface {
	// State is the text of the rig's state.
	State(ctx context.Context, rig string) ([]byte, error)
	// Job is a line about a job that has ended.
	Job(j *ledger.Job) ([]byte, error)
}

const (
	stateEvery = time.Second // the state is written so often at most
	recordTime = 5 * time.Second
)

// keepState writes the state of the rig when something has changed, until ctx ends, and
// then once more.
func (n *running) keepState(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-n.changed:
			n.writeState(ctx)
			pause(ctx, stateEvery)
		case <-ctx.Done():
		}
	}
	select {
	case <-n.changed:
		n.writeState(ctx)
	default:
	}
}

// writeState has the file say how the rig stands now. A process that ends takes the time
// for it.
func (n *running) writeState(ctx context.Context) {
	if n.r.o.Records == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	text, err := n.r.o.Records.State(ctx, n.key.Name)
	if err == nil {
		err = n.inRig(func(root *os.Root) error { return journal.Replace(ctx, root, journal.State, text) })
	}
	n.recorded(journal.State, err)
}

// log adds jobs that have ended to the logs of the rig and of their looms. Those are for
// reading: what could not be added is not missed by the rig, and is in its ledger.
func (n *running) log(ctx context.Context, ids ...string) {
	if n.r.o.Records == nil || len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	err := n.inRig(func(root *os.Root) error {
		for _, id := range ids {
			j, err := n.r.o.Ledger.Job(ctx, n.key, id)
			if errors.Is(err, ledger.ErrNoJob) { // somebody has taken it out
				continue
			}
			if err != nil {
				return err
			}
			line, err := n.r.o.Records.Job(&j)
			if err != nil {
				return err
			}
			loom, _, _ := strings.Cut(j.Knot, "/")
			for _, name := range []string{"rig", loom} {
				if err := journal.Append(ctx, root, journal.Log(name), line); err != nil {
					return err
				}
			}
		}
		return nil
	})
	n.recorded(journal.Folder, err)
}

// ended are the ids of jobs that were queued dead.
func ended(jobs []ledger.Job) (ids []string) {
	for i := range jobs {
		if jobs[i].State == ledger.Dead {
			ids = append(ids, jobs[i].ID)
		}
	}
	return ids
}

// inRig does something with the folder of the rig, if it is there.
func (n *running) inRig(do func(*os.Root) error) error {
	root, err := os.OpenRoot(n.root())
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root)
}

// recorded says that a file cannot be written, once for each reason.
func (n *running) recorded(file string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	n.mu.Lock()
	was := n.unrecorded[file]
	n.unrecorded[file] = text
	n.mu.Unlock()
	if text != "" && text != was {
		n.r.o.Log.Warn("a file for other programs is not written", "rig", n.key.Name, "file", file, "error", err)
	}
}

// isRecord says whether a file of a folder is one that rigs write: for other programs, or
// a tie-off, unless the folder is one of tie-offs. A knot that worked on it would cause the
// next change.
func (n *running) isRecord(d *strand.Dir, p string) bool {
	shown := n.shown(d, p)
	top, file, _ := strings.Cut(shown, "/")
	return rig.IsRig(top) && (file == journal.State || strings.HasPrefix(file, journal.Folder+"/")) ||
		inTieOffs(shown) && !inTieOffs(n.r.shown(d.Path()))
}

// inTieOffs says whether a path, as the ledger has it, is that of a rig's tie-offs or lies
// in them.
func inTieOffs(shown string) bool {
	top, below, _ := strings.Cut(shown, "/")
	folder, _, _ := strings.Cut(below, "/")
	return rig.IsRig(top) && folder == tieoff.Folder
}

// mayRecord says whether a folder may have such files: it is in a rig, or has one in it.
func (n *running) mayRecord(d *strand.Dir) bool {
	top, _, _ := strings.Cut(n.r.shown(d.Path()), "/")
	return top == "." || top == "" || rig.IsRig(top)
}
