package spec

// InWorktree is the workspace of a profile whose sessions have a git worktree
// each.
const InWorktree = "worktree"

// Worktree is where a session works that has a tree of files of its own.
type Worktree struct {
	// Session is whose it is; those that it gives work to may share it. Empty: the
	// session gets one when its first loop begins.
	Session string `json:"session,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Branch  string `json:"branch,omitempty"`
	Base    string `json:"base,omitempty"` // the commit that it began at
	// Root is the folder in it that stands for the workspace, and Repository the
	// git directory that it shares with the workspace.
	Root       string   `json:"root,omitempty"`
	Repository string   `json:"repository,omitempty"`
	Notes      []string `json:"notes,omitempty"` // what of the workspace is not in it
}
