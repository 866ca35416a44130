package history

import (
	"context"
	"encoding/json"

	"github.com/rosterrun/roster/session"
)

// Bounds of an event and of a blob.
const (
	maxInline = 64      // changes
	blobSize  = 8 << 20 // bytes of contents
)

// writer gathers the contents of changes into blobs.
type writer struct {
	ctx    context.Context
	blobs  session.Blobs
	tenant string
	out    *session.FilesChanged
	chunk  []byte
	at     map[digest]place
	total  int64
}

type place struct {
	blob   int
	offset int64
}

// write puts changes into an event, and their contents into blobs.
func write(ctx context.Context, out *session.FilesChanged, list []change, blobs session.Blobs, tenant string, before, after *pack) error {
	w := &writer{ctx: ctx, blobs: blobs, tenant: tenant, out: out, at: map[digest]place{}}
	out.Count = len(list)
	files := make([]session.FileChange, len(list))
	for i, c := range list {
		files[i] = session.FileChange{Path: c.path, Before: c.before.state(), After: c.after.state()}
		if err := w.content(files[i].Before, c.before, before); err != nil {
			return err
		}
		if err := w.content(files[i].After, c.after, after); err != nil {
			return err
		}
	}
	if err := w.flush(); err != nil {
		return err
	}
	if len(files) <= maxInline {
		out.Files = files
		return nil
	}
	data, err := json.Marshal(files)
	if err == nil {
		out.List, err = blobs.PutBlob(ctx, tenant, data)
	}
	return err
}

// content takes in what a file holds.
func (w *writer) content(s *session.FileState, n *node, from *pack) error {
	if s == nil || n.kind != kindFile || n.why != kept {
		return nil
	}
	if p, ok := w.at[n.digest]; ok {
		s.Blob, s.Offset = p.blob, p.offset
		return nil
	}
	if w.total += n.stamp.size; w.total > maxNotes {
		s.Digest, s.Unkept = "", full.String()
		return nil
	}
	data, err := from.read(n)
	if err != nil {
		s.Digest, s.Unkept = "", err.Error()
		return nil
	}
	if len(w.chunk) > 0 && len(w.chunk)+len(data) > blobSize {
		if err := w.flush(); err != nil {
			return err
		}
	}
	p := place{len(w.out.Blobs), int64(len(w.chunk))}
	w.at[n.digest] = p
	s.Blob, s.Offset = p.blob, p.offset
	w.chunk = append(w.chunk, data...)
	return nil
}

// flush writes a blob. An empty file needs none.
func (w *writer) flush() error {
	if len(w.chunk) == 0 {
		return nil
	}
	d, err := w.blobs.PutBlob(w.ctx, w.tenant, w.chunk)
	w.out.Blobs = append(w.out.Blobs, d)
	w.chunk = nil
	return err
}
