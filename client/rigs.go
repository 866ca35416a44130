package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/internal/view"
)

// What the server says of its rigs: of files that start work by themselves.
type (
	// Rig is a rig with its knots, and how many jobs each has.
	Rig = view.Rig
	// Knot is one of its knots.
	Knot = view.Knot
	// RigJob is one strand for one knot.
	RigJob = view.RigJob
	// RigJobs is a page of them.
	RigJobs = view.RigJobs
	// TieOffs are answers of knots, and TieOff is one.
	TieOffs = view.TieOffs
	TieOff  = view.TieOff
	// Report is what was found in files.
	Report = view.Report
)

// Rigs lists the rigs that the caller may know of.
func (c *Client) Rigs(ctx context.Context) ([]Rig, error) {
	return get[[]Rig](ctx, c, "/rigs", nil)
}

// Rig says how a rig stands. One that is not there is an *Error with the code
// RigNotFound, here and below.
func (c *Client) Rig(ctx context.Context, name string) (Rig, error) {
	return get[Rig](ctx, c, escaped("/rigs/%s", name), nil)
}

// CheckRig says what is wrong with the files of a rig.
func (c *Client) CheckRig(ctx context.Context, name string) (Report, error) {
	return get[Report](ctx, c, escaped("/rigs/%s/check", name), nil)
}

// RigGraph draws what starts which knot of a rig, and where it writes, as json (also
// where format is empty), svg, mermaid or text.
func (c *Client) RigGraph(ctx context.Context, name, format string) ([]byte, error) {
	var q url.Values
	if format != "" {
		q = url.Values{"format": {format}}
	}
	return get[[]byte](ctx, c, escaped("/rigs/%s/graph", name), q)
}

// RigJobQuery narrows what RigJobs lists. The zero value lists the newest 100.
type RigJobQuery struct {
	Knot, Path string   // empty: any; a knot is named LOOM/NAME
	States     []string // queued, running, writing, done, dead; none: any
	Before     int64    // of the page before: RigJobs.Before
	Limit      int      // 1 to 1000; 0: 100
}

// RigJobs lists jobs of a rig, the newest first.
func (c *Client) RigJobs(ctx context.Context, rig string, q RigJobQuery) (RigJobs, error) {
	v := url.Values{}
	for name, text := range map[string]string{"knot": q.Knot, "path": q.Path, "state": strings.Join(q.States, ",")} {
		if text != "" {
			v.Set(name, text)
		}
	}
	if q.Before > 0 {
		v.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[RigJobs](ctx, c, escaped("/rigs/%s/jobs", rig), v)
}

// TieOffQuery narrows what RigTieOffs lists. The zero value lists the newest 100, without
// the answers themselves.
type TieOffQuery struct {
	Knot    string // LOOM/NAME, or a name that only one knot has; empty: of all
	Limit   int    // 1 to 1000; 0: 100
	Answers bool   // give the answers too
}

// RigTieOffs lists what the knots of a rig have answered, the newest first.
func (c *Client) RigTieOffs(ctx context.Context, rig string, q TieOffQuery) (TieOffs, error) {
	v := url.Values{}
	if q.Knot != "" {
		v.Set("knot", q.Knot)
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.Answers {
		v.Set("answers", "true")
	}
	return get[TieOffs](ctx, c, escaped("/rigs/%s/tie-offs", rig), v)
}

// KnotWish is what a knot is asked for.
type KnotWish struct {
	Knot string `json:"knot"` // LOOM/NAME, or a name that only one knot has
	// Path is that of a file in the knot's folder, relative to the workspace; empty for a
	// knot that watches no folder.
	Path string `json:"path,omitempty"`
	// IdempotencyKey makes one job of the wish, however often it is sent. Without one, a new
	// one is made for each call.
	IdempotencyKey string `json:"-"`
}

// AskKnot queues a job for a knot of a rig, and does not wait for it: RigJob says what
// became of it. It takes the role runner. What the knot cannot work on is an *Error with
// the code InvalidStrand; one that rests is KnotWaits.
func (c *Client) AskKnot(ctx context.Context, rig string, w KnotWish) (j RigJob, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPost, path: escaped("/rigs/%s/jobs", rig), body: w,
		head: map[string]string{"Idempotency-Key": cmp.Or(w.IdempotencyKey, newKey())}, idem: true,
	}, &j)
	return j, err
}

// RigJob returns one job of a rig. One that is not there is an *Error with the code
// JobNotFound, here and below; one in another state than is asked for has JobState.
func (c *Client) RigJob(ctx context.Context, rig, id string) (RigJob, error) {
	return get[RigJob](ctx, c, escaped("/rigs/%s/jobs/%s", rig, id), nil)
}

// ReplayJob queues a dead job of a rig anew, with the strand as it was then. It takes
// the role runner, as DropJob does.
func (c *Client) ReplayJob(ctx context.Context, rig, id string) (j RigJob, err error) {
	_, err = c.call(ctx, request{method: http.MethodPost, path: escaped("/rigs/%s/jobs/%s/replay", rig, id)}, &j)
	return j, err
}

// DropJob takes a job of a rig out that is queued or dead.
func (c *Client) DropJob(ctx context.Context, rig, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: escaped("/rigs/%s/jobs/%s", rig, id)}, nil)
	return err
}
