package view

// Undo is what an undo of files has done, or would do.
type Undo struct {
	ID     string     `json:"id"`
	DryRun bool       `json:"dry_run,omitempty"`
	Files  []UndoFile `json:"files"`
	// Plan names what would be done, for an undo that is to do just that.
	Plan string `json:"plan"`
	// Lost says of which calls it is not known what they have changed, and why.
	Lost []string `json:"lost,omitempty"`
	// Notes say what is not looked at.
	Notes []string `json:"notes,omitempty"`
}

// UndoFile is one path of it.
type UndoFile struct {
	Path string `json:"path"` // absolute
	// Outcome is restored, merged (what was changed since is kept), already (it is
	// as it was) or left (it stays as it is, and Why says why).
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
	Diff    string `json:"diff,omitempty"`
}

// Changes counts the paths that an undo changes.
func (u *Undo) Changes() (n int) {
	for _, f := range u.Files {
		if f.Outcome == "restored" || f.Outcome == "merged" {
			n++
		}
	}
	return n
}
