package roster

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/grants"
	"github.com/rosterrun/roster/internal/worktree"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
	"github.com/rosterrun/roster/session"
)

// Code is the stable name of an error, such as "ProfileNotFound" or "Busy", for
// programs. An error without one is "Error".
func Code(err error) string {
	var name profile.ErrorName
	var me *modelcatalog.ModelError
	var diag *profile.Diagnostic
	var busy *session.Busy
	var conflict *session.Conflict
	var none *NoApprovalError
	var answered *AnsweredError
	var answer *AnswerError
	var grant *grants.NotFoundError
	var noMessage *NoMessageError
	var schema *SchemaError
	var clientTool *engine.ClientToolError
	var results *ResultsError
	var nothing *NothingSaidError
	var noPrompt *NotPromptError
	var export *ImportError
	var exists *session.Exists
	var other *PlanError
	var noTree *NoWorktreeError
	var goneTree *WorktreeGoneError
	var holdsTree *HoldsWorktreeError
	var gone *worktree.GoneError
	var conflicts *worktree.ConflictError
	var dirty *worktree.DirtyError
	var noRepo *worktree.NoRepoError
	var noCommit *worktree.NoCommitError
	var noCommand *command.NotFoundError
	var badCommand *command.Error
	var noTenant *UnknownTenantError
	var undefined *DefinitionError
	var unbuilt *BuildError
	var noRig *rig.NoRigError
	var noKnot *rig.NotFoundError
	var noStrand *runner.StrandError
	var waits *runner.Waiting
	var jobState *JobStateError
	var compared *ComparisonError
	switch {
	case errors.As(err, &noTenant):
		return "UnknownTenant"
	case errors.As(err, &undefined):
		return "InvalidDefinition"
	case errors.As(err, &unbuilt):
		return "ProfileFailed"
	case errors.As(err, &me):
		return me.Name()
	case errors.As(err, &name):
		return string(name)
	case errors.As(err, &diag) && diag.Name != "":
		return diag.Name
	case errors.As(err, &busy):
		return "Busy"
	case errors.As(err, &holdsTree):
		return "HoldsWorktree"
	case errors.As(err, &export):
		return "InvalidExport"
	case errors.As(err, &exists):
		return "SessionExists"
	case errors.As(err, &other):
		return "OtherPlan"
	case errors.As(err, &conflict):
		return "IdempotencyConflict"
	case errors.As(err, &none):
		return "ApprovalNotFound"
	case errors.As(err, &answered):
		return "AlreadyAnswered"
	case errors.As(err, &answer):
		return "InvalidAnswer"
	case errors.As(err, &noMessage), errors.As(err, &nothing), errors.As(err, &noPrompt):
		return "MessageNotFound"
	case errors.As(err, &compared) && compared.Asked:
		return "NoAnswer"
	case errors.As(err, &compared):
		return "InvalidComparison"
	case errors.As(err, &schema):
		return "InvalidSchema"
	case errors.As(err, &clientTool):
		return "InvalidTool"
	case errors.As(err, &results):
		return "UnknownToolCall"
	case errors.As(err, &noTree):
		return "NoWorktree"
	case errors.As(err, &goneTree), errors.As(err, &gone):
		return "WorktreeGone"
	case errors.As(err, &conflicts), errors.As(err, &dirty):
		return "MergeConflict"
	case errors.As(err, &noRepo), errors.As(err, &noCommit):
		return "NoRepository"
	case errors.Is(err, command.ErrDenied):
		return "CommandDenied"
	case errors.As(err, &noCommand):
		return "CommandNotFound"
	case errors.As(err, &badCommand):
		return "InvalidCommand"
	case errors.As(err, &noRig):
		return "RigNotFound"
	case errors.As(err, &noKnot):
		return "KnotNotFound"
	case errors.As(err, &noStrand):
		return "InvalidStrand"
	case errors.As(err, &waits):
		return "KnotWaits"
	case errors.Is(err, ledger.ErrNoJob):
		return "JobNotFound"
	case errors.As(err, &jobState):
		return "JobState"
	case errors.As(err, &grant):
		return "GrantNotFound"
	case errors.Is(err, session.ErrNoStream):
		return "SessionNotFound"
	case errors.Is(err, session.ErrNoWork):
		return "NothingToResume"
	case errors.Is(err, ErrClosed):
		return "Closed"
	case errors.Is(err, context.Canceled):
		return "Cancelled"
	}
	return "Error"
}
