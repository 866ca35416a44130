package session

import "slices"

// Worktree says that a session works in a git worktree of its own from now on.
type Worktree struct {
	Dir    string `json:"dir"` // absolute
	Branch string `json:"branch"`
	Base   string `json:"base"` // the commit that it began at
	// Root is the folder in it that stands for the workspace, and Repository the
	// git directory that it shares with the workspace.
	Root       string   `json:"root"`
	Repository string   `json:"repository"`
	Notes      []string `json:"notes,omitempty"` // what of the workspace is not in it
}

// WorktreeEnded says what became of a worktree. It is inbound; the first one of
// a worktree counts, and the session's next loop has another.
type WorktreeEnded struct {
	Dir    string       `json:"dir"`
	How    WorktreeFate `json:"how"`
	Commit string       `json:"commit,omitempty"` // that its changes are in
	Into   string       `json:"into,omitempty"`   // the branch of the workspace that they were merged into
}

// WorktreeFate is what became of a worktree.
type WorktreeFate string

const (
	WorktreeMerged  WorktreeFate = "merged"
	WorktreeKept    WorktreeFate = "kept" // its branch is there
	WorktreeDropped WorktreeFate = "dropped"
)

func (*Worktree) Type() string      { return "worktree" }
func (*WorktreeEnded) Type() string { return "worktree.ended" }

// AppendJSON implements Body.
func (b *Worktree) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// AppendJSON implements Body.
func (b *WorktreeEnded) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// OpenWorktree is a worktree whose fate nobody has decided yet.
type OpenWorktree struct {
	Session string
	Profile string
	*Worktree
}

// Worktree returns that of a session; nil: it works in the workspace itself.
func (s *State) Worktree(id string) *OpenWorktree {
	for i := range s.Worktrees {
		if s.Worktrees[i].Session == id {
			return &s.Worktrees[i]
		}
	}
	return nil
}

// moved takes in where a session works.
func (s *State) moved(in *Session, b *Worktree) {
	s.Worktrees = slices.DeleteFunc(slices.Clone(s.Worktrees), func(w OpenWorktree) bool { return w.Session == in.ID })
	s.Worktrees = append(s.Worktrees, OpenWorktree{in.ID, in.Profile, b})
}

// left takes in that a worktree is no more.
func (s *State) left(b *WorktreeEnded) {
	s.Worktrees = slices.DeleteFunc(slices.Clone(s.Worktrees), func(w OpenWorktree) bool { return w.Dir == b.Dir })
}
