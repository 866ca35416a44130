package session

// FilesChanged says what a call has changed of the files in a directory.
type FilesChanged struct {
	Call  string       `json:"call"`
	Root  string       `json:"root"`            // the directory, absolute
	Count int          `json:"count,omitempty"` // of the changes
	Files []FileChange `json:"files,omitempty"` // by path; none where List has them
	// List is the digest of the blob that has the changes as a JSON array, where
	// there are too many of them for an event.
	List string `json:"list,omitempty"`
	// Blobs are the digests of those that have the contents (FileState.Blob).
	Blobs []string `json:"blobs,omitempty"`
	// Any says that the call could have changed any file, and not just those it
	// names, so that files which are not kept may have changed too.
	Any bool `json:"any,omitempty"`
	// Late says that it was found when the worker that ran the call was gone: what
	// others did until then is among it.
	Late bool `json:"late,omitempty"`
	// Beside are other sessions, or processes, that ran a command there at the same
	// time: nobody can tell which change is whose.
	Beside []string `json:"beside,omitempty"`
	// Lost is why it is not known what the call has changed.
	Lost string `json:"lost,omitempty"`
}

// FileChange is what became of one path. nil: nothing is there.
type FileChange struct {
	Path   string     `json:"path"` // below the root
	Before *FileState `json:"before,omitempty"`
	After  *FileState `json:"after,omitempty"`
}

// FileState is what stands at a path.
type FileState struct {
	Kind   string `json:"kind"` // see the constants
	Mode   uint32 `json:"mode"` // permission bits
	Size   int64  `json:"size,omitempty"`
	Target string `json:"target,omitempty"` // of a link
	// Digest is that of a file's content; empty: it is not kept, and Unkept says
	// why. The content begins at Offset of the Blob with that index.
	Digest string `json:"digest,omitempty"`
	Blob   int    `json:"blob,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Unkept string `json:"unkept,omitempty"`
}

// The kinds of what can stand at a path.
const (
	KindFile = "file"
	KindLink = "link"
	KindDir  = "dir"
)

// FilesUndone says that changes of files were taken back, and what that changed
// itself. It is inbound, and it can be taken back too.
type FilesUndone struct {
	// Of are the numbers of the events whose changes were taken back, but for the
	// paths of Left, which stayed as they were.
	Of      []int64        `json:"of"`
	Left    []FilePath     `json:"left,omitempty"`
	Changed []FilesChanged `json:"changed,omitempty"` // by that, one for each root
	By      string         `json:"by,omitempty"`      // the user
}

// FilePath names a path below a root.
type FilePath struct {
	Root string `json:"root"`
	Path string `json:"path"`
}

func (*FilesChanged) Type() string { return "files.changed" }
func (*FilesUndone) Type() string  { return "files.undone" }

// AppendJSON implements Body.
func (b *FilesChanged) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// AppendJSON implements Body.
func (b *FilesUndone) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// Refs are the blobs that the event needs.
func (b *FilesChanged) Refs() []string {
	refs := append([]string(nil), b.Blobs...)
	if b.List != "" {
		refs = append(refs, b.List)
	}
	return refs
}
