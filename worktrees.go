package roster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/worktree"
	"github.com/rosterrun/roster/session"
)

// Worktree is the tree of files of a session, and what was done in it.
type Worktree struct {
	Session string `json:"session"`
	Profile string `json:"profile"`
	Title   string `json:"title"`
	// Status is open, running (the session is at work, or waits for a person), or
	// gone: somebody has taken the folder away.
	Status  string            `json:"status"`
	Dir     string            `json:"dir"`
	Branch  string            `json:"branch"`
	Base    string            `json:"base"` // the commit that it began at
	Files   []worktree.Change `json:"files"`
	Commits int               `json:"commits"` // that were made in it
	// LeftOut are repositories within it: what is in them is not taken up.
	LeftOut []string `json:"left_out,omitempty"`
	// Ignored is how many files and folders git does not take up either.
	Ignored int `json:"ignored,omitempty"`
}

// Unchanged says that nothing was done in it.
func (w *Worktree) Unchanged() bool {
	return w.Status != "gone" && len(w.Files) == 0 && w.Commits == 0 && len(w.LeftOut) == 0
}

// WorktreeEnd is what became of a worktree.
type WorktreeEnd struct {
	Worktree
	How    session.WorktreeFate `json:"how"`
	Commit string               `json:"commit,omitempty"` // that has its changes
	Into   string               `json:"into,omitempty"`   // the branch that it was merged into
}

// NoWorktreeError says that a session works in no worktree of its own. Others are
// those of its stream that do.
type NoWorktreeError struct {
	Session string
	Others  []string
}

func (e *NoWorktreeError) Error() string {
	s := fmt.Sprintf("session %s has no worktree that waits", e.Session)
	if len(e.Others) > 0 {
		return s + "; those have one: " + strings.Join(e.Others, ", ")
	}
	return s + ": see roster sessions worktree list"
}

// HoldsWorktreeError says that a session cannot be removed yet.
type HoldsWorktreeError struct{ Session, Dir string }

func (e *HoldsWorktreeError) Error() string {
	return fmt.Sprintf("session %s has a worktree, %s: merge, keep or drop it first (roster sessions worktree)", e.Session, filepath.Base(e.Dir))
}

// worktreeNames are the worktrees that are there, by the name of their folder.
func (a *App) worktreeNames() (base string, names []string, err error) {
	if base, err = a.worktreeBase(); err != nil {
		return "", nil, nil // there can be none
	}
	entries, err := os.ReadDir(base)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return base, names, nil
}

// HoldsWorktree says whether there is a worktree of a stream: nil, or a
// *HoldsWorktreeError.
func (a *App) HoldsWorktree(stream string) error {
	base, names, err := a.worktreeNames()
	for _, name := range names {
		if session.StreamOf(sessionOf(name)) == stream {
			return &HoldsWorktreeError{stream, filepath.Join(base, name)}
		}
	}
	return err
}

// sessionOf is the session that a worktree's name is made of.
func sessionOf(name string) string {
	name, _, _ = strings.Cut(name, ".")
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '=' && i+2 < len(name) {
			if c, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// Worktrees lists those of the workspace's sessions whose fate nobody has decided
// yet, in the order of the sessions' ids.
func (a *App) Worktrees(ctx context.Context, tenant string) ([]Worktree, error) {
	_, names, err := a.worktreeNames()
	if err != nil {
		return nil, err
	}
	repo, err := a.repository(ctx)
	if err != nil {
		if len(names) == 0 { // there have never been any
			return nil, nil
		}
		return nil, err
	}
	branches, err := repo.Branches(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, branches...) // whose folders may be gone
	var streams []string
	for _, name := range names {
		streams = append(streams, session.StreamOf(sessionOf(name)))
	}
	slices.Sort(streams)
	var all []Worktree
	for _, stream := range slices.Compact(streams) {
		k := a.withTenant(session.Key{Tenant: tenant, Stream: stream})
		list, err := a.worktreesOf(ctx, repo, k)
		if err != nil && !errors.Is(err, session.ErrNoStream) {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// WorktreesOf lists those of a session and of all that it delegated to whose
// folders are there.
func (a *App) WorktreesOf(ctx context.Context, k session.Key) ([]Worktree, error) {
	k = a.withTenant(k)
	err := a.HoldsWorktree(k.Stream) // without reading the log, for most have none
	if holds := (*HoldsWorktreeError)(nil); !errors.As(err, &holds) {
		return nil, err
	}
	repo, err := a.repository(ctx)
	if err != nil {
		return nil, err
	}
	return a.worktreesOf(ctx, repo, k)
}

func (a *App) worktreesOf(ctx context.Context, repo *worktree.Repo, k session.Key) ([]Worktree, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := b.Summary(ctx, k)
	if err != nil {
		return nil, err
	}
	st, titles, err := readTitles(ctx, b, k)
	if err != nil {
		return nil, err
	}
	all := make([]Worktree, len(st.Worktrees))
	for i := range st.Worktrees {
		o := &st.Worktrees[i]
		w := opened(o, titles[o.Session])
		changes, err := repo.Changes(ctx, treeOf(o))
		var gone *worktree.GoneError
		switch {
		case errors.As(err, &gone):
			w.Status = "gone"
		case err != nil:
			return nil, fmt.Errorf("worktree of session %s: %w", o.Session, err)
		case !sum.AtRest():
			w.Status = "running"
		}
		w.take(changes)
		all[i] = w
	}
	slices.SortFunc(all, func(a, b Worktree) int { return strings.Compare(a.Session, b.Session) })
	return all, nil
}

// readTitles folds a stream, and gives the title of each session in it.
func readTitles(ctx context.Context, b session.Backend, k session.Key) (*session.State, map[string]string, error) {
	st, titles := session.NewState(k), map[string]string{}
	for e, err := range b.Read(ctx, k, 0) {
		if err == nil {
			err = st.Apply(&e)
		}
		if err != nil {
			return nil, nil, err
		}
		if s := st.Session(e.Session); e.Type == "session.start" && s != nil {
			titles[s.ID] = s.Title
		}
	}
	return st, titles, nil
}

func opened(o *session.OpenWorktree, title string) Worktree {
	return Worktree{
		Session: o.Session, Profile: o.Profile, Title: title, Status: "open",
		Dir: o.Dir, Branch: o.Branch, Base: o.Base, Files: []worktree.Change{},
	}
}

func (w *Worktree) take(c worktree.Changes) {
	w.Files = append(w.Files, c.Files...)
	w.Commits, w.LeftOut, w.Ignored = c.Commits, c.LeftOut, c.Ignored
}

func treeOf(o *session.OpenWorktree) worktree.Tree {
	return worktree.Tree{Dir: o.Dir, Branch: o.Branch, Base: o.Base}
}

// decided is a worktree whose fate is being decided.
type decided struct {
	Worktree
	key  session.Key
	repo *worktree.Repo
	tree worktree.Tree
}

// decide finds the worktree of a session, which may be a child, of a stream.
func (a *App) decide(ctx context.Context, k session.Key, id string) (*decided, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	k = a.withTenant(k)
	st, titles, err := readTitles(ctx, b, k)
	if err != nil {
		return nil, err
	}
	o := st.Worktree(id)
	if o == nil {
		none := &NoWorktreeError{Session: id}
		for _, w := range st.Worktrees {
			none.Others = append(none.Others, w.Session)
		}
		return nil, none
	}
	base, err := a.worktreeBase()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	if filepath.Dir(o.Dir) != base { // a log from elsewhere, or another XDG_DATA_HOME
		return nil, fmt.Errorf("the worktree %s of session %s is not in %s, where those of this workspace are", o.Dir, id, base)
	}
	repo, err := a.repository(ctx)
	if err != nil {
		return nil, err
	}
	return &decided{opened(o, titles[id]), k, repo, treeOf(o)}, nil
}

// decideAtRest is decide for one that nobody works in.
func (a *App) decideAtRest(ctx context.Context, k session.Key, id string) (*decided, error) {
	d, err := a.decide(ctx, k, id)
	if err != nil {
		return nil, err
	}
	sum, err := a.backend.Summary(ctx, d.key)
	if err == nil && !sum.AtRest() {
		err = &session.Busy{Key: d.key}
	}
	return d, err
}

// WorktreeDiff gives what was done in the worktree of a session, as a patch.
func (a *App) WorktreeDiff(ctx context.Context, k session.Key, id string) (string, Worktree, error) {
	d, err := a.decide(ctx, k, id)
	if err != nil {
		return "", Worktree{}, err
	}
	text, c, err := d.repo.Diff(ctx, d.tree)
	d.take(c)
	return text, d.Worktree, err
}

// MergeWorktree brings what was done in the worktree of a session into the
// workspace's branch, and takes the worktree away. Where that cannot be, it stays
// as it is, and so does the workspace.
func (a *App) MergeWorktree(ctx context.Context, k session.Key, id string) (WorktreeEnd, error) {
	d, err := a.decideAtRest(ctx, k, id)
	if err != nil {
		return WorktreeEnd{}, err
	}
	m, err := d.repo.Merge(ctx, d.tree, d.message())
	if err != nil {
		return WorktreeEnd{}, err
	}
	d.take(m.Changes)
	end := WorktreeEnd{Worktree: d.Worktree, How: session.WorktreeMerged, Commit: m.Commit, Into: m.Into}
	return end, a.endWorktree(ctx, d, &end)
}

// KeepWorktree commits what was done in the worktree of a session to its branch,
// and takes the worktree away.
func (a *App) KeepWorktree(ctx context.Context, k session.Key, id string) (WorktreeEnd, error) {
	d, err := a.decideAtRest(ctx, k, id)
	if err != nil {
		return WorktreeEnd{}, err
	}
	c, commit, err := d.repo.Keep(ctx, d.tree, d.message())
	if err != nil {
		return WorktreeEnd{}, err
	}
	d.take(c)
	end := WorktreeEnd{Worktree: d.Worktree, How: session.WorktreeKept, Commit: commit}
	return end, a.endWorktree(ctx, d, &end)
}

// DropWorktree takes the worktree of a session away, and its branch, with all
// that was done in it. There is no way back.
func (a *App) DropWorktree(ctx context.Context, k session.Key, id string) (WorktreeEnd, error) {
	d, err := a.decideAtRest(ctx, k, id)
	if err != nil {
		return WorktreeEnd{}, err
	}
	end := WorktreeEnd{Worktree: d.Worktree, How: session.WorktreeDropped}
	return end, a.endWorktree(ctx, d, &end)
}

// endWorktree notes in the log what became of a worktree, and takes it away.
func (a *App) endWorktree(ctx context.Context, d *decided, end *WorktreeEnd) error {
	disp, err := a.dispatcher(ctx)
	if err != nil {
		return err
	}
	note := &session.WorktreeEnded{Dir: end.Dir, How: end.How, Commit: end.Commit, Into: end.Into}
	post := session.Post{OnlyIdle: true, Events: []session.Event{a.inbound(clock.From(ctx), d.key, "", note)}}
	if _, err := disp.Submit(ctx, d.key, post); err != nil {
		return fmt.Errorf("the worktree of session %s stays, for the session has gone on meanwhile: %w", d.Session, err)
	}
	err = d.repo.Remove(ctx, d.tree)
	if err == nil && end.How != session.WorktreeKept {
		err = d.repo.DeleteBranch(ctx, d.tree)
	}
	if err != nil {
		return fmt.Errorf("the worktree of session %s was %s, and cannot be taken away: %w", d.Session, end.How, err)
	}
	return nil
}

// message is that of the commit of what was changed.
func (d *decided) message() string {
	title := strings.TrimSpace(d.Title)
	if title == "" {
		title = "Changes of session " + d.Session
	}
	return fmt.Sprintf("%s\n\nRoster-Session: %s\nRoster-Profile: %s\n", title, d.Session, d.Profile)
}
