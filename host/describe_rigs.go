package host

import (
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/graph"
)

// describeRigs is about files that start work by themselves.
func describeRigs() map[string]Description {
	rig := Param{"path", "rig", "required", "The rig's folder: rig, or one that ends in -rig."}
	job := Param{"path", "id", "required;pattern=" + jobPattern, "The job's id."}
	noRig, noJob := map[int]string{404: "RigNotFound"}, map[int]string{404: "RigNotFound JobNotFound"}
	otherJob := map[int]string{404: "RigNotFound JobNotFound", 409: "JobState"}
	return map[string]Description{
		"listRigs": {
			Tag: "rigs", Summary: "List the rigs", About: "Those of the tenant's workspace, each knot with how many jobs it has. In a workspace that tenants share, they are local's.",
			Params: []Param{ifNoneMatch}, Replies: cached("The rigs.", []view.Rig{}),
		},
		"getRig":   {Tag: "rigs", Summary: "Show how a rig stands", About: "Also knots whose files are refused, and those that are gone and have jobs left.", Params: []Param{rig, ifNoneMatch}, Replies: cached("The rig.", view.Rig{}), Errors: noRig},
		"checkRig": {Tag: "rigs", Summary: "Say what is wrong with the files of a rig", Params: []Param{rig, ifNoneMatch}, Replies: cached("Each file with what was found.", view.Report{}), Errors: noRig},
		"rigGraph": {
			Tag: "rigs", Summary: "Draw a rig", About: "What starts which knot, and where it writes.",
			Params: []Param{rig, {"query", "format", "enum=json|svg|mermaid|text|", "How it is drawn; without it, json. Mermaid is text too."}, ifNoneMatch},
			Replies: []Reply{
				{Status: 200, About: "The graph.", Body: graph.Graph{}, Type: "application/json, image/svg+xml, text/plain", Headers: taggedHeaders},
				{Status: 304, About: "The client has it: If-None-Match names its ETag."},
			},
			Errors: map[int]string{400: "InvalidField", 404: "RigNotFound"},
		},
		"listTieOffs": {
			Tag: "rigs", Summary: "List what the knots of a rig have answered", About: "The newest first, as the files have it now.",
			Params: []Param{
				rig, {"query", "knot", "", "Of this knot: LOOM/NAME, or a name that only one knot has."}, {"query", "answers", "enum=true|false|", "Give the answers too."},
				{"query", "limit", "type=integer;min=1;max=1000", "How many at most; without it, 100."},
			},
			Replies: ok("The answers.", view.TieOffs{}), Errors: map[int]string{400: "InvalidField", 404: "RigNotFound KnotNotFound"},
		},
		"listRigJobs": {
			Tag: "rigs", Summary: "List the jobs of a rig", About: "The newest first.",
			Params: []Param{
				rig, {"query", "knot", "", "Of this knot, as LOOM/NAME."}, {"query", "path", "", "Of this strand."},
				{"query", "state", "", "In these states, with commas between: queued, running, writing, done, dead."},
				{"query", "before", "type=integer;min=0", "The page after: what the answer before says under before."},
				{"query", "limit", "type=integer;min=1;max=1000", "How many at most; without it, 100."},
			},
			Replies: ok("The jobs.", view.RigJobs{}), Errors: map[int]string{400: "InvalidField", 404: "RigNotFound"},
		},
		"askKnot": {
			Tag: "rigs", Summary: "Have a knot work on a file now", About: "The job is queued, and worked on where the rig runs; getRigJob says what became of it, and why it waits. The file need not have changed.",
			Params: []Param{rig, idempotencyKey}, Body: askKnotBody{}, Example: `{"knot":"a-loom/review","path":"in/a.md"}`,
			Replies: []Reply{{Status: 202, About: "It is queued.", Body: view.RigJob{}, Headers: map[string]string{"Location": "The job."}}},
			Errors:  map[int]string{400: "MissingField InvalidField InvalidStrand", 404: "RigNotFound KnotNotFound", 409: "KnotWaits", 422: "IdempotencyConflict"},
		},
		"getRigJob": {Tag: "rigs", Summary: "Show a job of a rig", About: "With its answer, or why it does not go on.", Params: []Param{rig, job, ifNoneMatch}, Replies: cached("The job.", view.RigJob{}), Errors: noJob},
		"replayRigJob": {
			Tag: "rigs", Summary: "Queue a dead job anew", About: "With the strand as it was then. A job that is not dead is JobState.",
			Params: []Param{rig, job}, Replies: ok("It is queued.", view.RigJob{}), Errors: otherJob,
		},
		"dropRigJob": {
			Tag: "rigs", Summary: "Take a job out", About: "One that is queued or dead; another is JobState.",
			Params: []Param{rig, job}, Replies: []Reply{{Status: 204, About: "It is gone."}}, Errors: otherJob,
		},
	}
}
