package roster

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

// rigRecords are what a rig's files for other programs say: the same as the commands do.
type rigRecords struct{ app *App }

var _ runner.Records = rigRecords{}

// State implements runner.Records.
func (r rigRecords) State(ctx context.Context, rig string) ([]byte, error) {
	status, err := r.app.RigStatus(ctx, rig)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(view.RigState{Updated: time.Now().UTC(), Rig: status}, "", "  ")
	return append(text, '\n'), err
}

// Job implements runner.Records.
func (r rigRecords) Job(j *ledger.Job) ([]byte, error) { return json.Marshal(view.NewRigJob(j)) }
