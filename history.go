package roster

import (
	"context"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool/history"
)

// files has the engine's calls kept in the state directory, and what they have
// changed in the store.
type files struct {
	*history.Keeper
	blobs session.Blobs
}

// Keep implements engine.Files.
func (f files) Keep(ctx context.Context, c engine.FileCall) (engine.Kept, error) {
	w, err := f.Begin(ctx, fileCall(&c))
	if err != nil {
		return nil, err
	}
	return keptFiles{w, f.blobs, c.Key.Tenant}, nil
}

// Left implements engine.Files.
func (f files) Left(ctx context.Context, c engine.FileCall) (*session.FilesChanged, error) {
	return f.Keeper.Left(ctx, fileCall(&c), f.blobs, c.Key.Tenant)
}

func fileCall(c *engine.FileCall) history.Call {
	return history.Call{Stream: c.Key.String(), Session: c.Session, ID: c.Call, Root: c.Root, Paths: c.Paths}
}

// keptFiles is what was kept for a call.
type keptFiles struct {
	*history.Window
	blobs  session.Blobs
	tenant string
}

// Changed implements engine.Kept.
func (k keptFiles) Changed(ctx context.Context) (*session.FilesChanged, error) {
	return k.End(ctx, k.blobs, k.tenant)
}
