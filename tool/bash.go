package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/permission/shell"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

var bashDef = def("bash", "Run a command line in bash and see its output and exit code. Each call is a new shell in the workspace, "+
	"without a terminal or input; nothing that it starts goes on after it. Long output loses its middle.", `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "minLength": 1, "description": "The command line"},
    "workdir": {"type": "string", "minLength": 1, "description": "Directory to run in, relative to the workspace or absolute; default: the workspace"},
    "timeout": {"type": ["number", "string"], "description": "Seconds, or a duration such as 5m"}
  },
  "required": ["command"],
  "additionalProperties": false
}`)

type bashTool struct {
	*workspace
	bashSet
	exec    []string
	environ []string
	hold    *os.File
	box     sandbox.Box
	def     *model.ToolDef
}

func (t *bashTool) Def() *model.ToolDef { return t.def }

// bashIn is the definition of bash in a box: the model is told what its commands
// reach.
func bashIn(b sandbox.Box) *model.ToolDef {
	wall := b.Describe()
	if wall == "" {
		return bashDef
	}
	d := *bashDef
	d.Description += " " + wall
	return &d
}

type bashInput struct {
	Command string          `json:"command"`
	Workdir string          `json:"workdir"`
	Timeout json.RawMessage `json:"timeout"`
}

func (t *bashTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[bashInput](c)
	if err != nil {
		return nil, err
	}
	if len(in.Command) > shell.MaxLine || strings.ContainsRune(in.Command, 0) {
		return nil, fmt.Errorf("command: at most %d bytes and no NUL; write a longer script to a file and run that", shell.MaxLine)
	}
	timeout := t.timeout
	if len(in.Timeout) > 0 {
		if timeout, err = parseSpan(in.Timeout); err != nil {
			return nil, fmt.Errorf("timeout: %w", err)
		}
	}
	if timeout > t.maxTimeout {
		return nil, fmt.Errorf("timeout: %v is more than the maximum, which is %v", timeout, t.maxTimeout)
	}
	if in.Workdir == "" {
		in.Workdir = "."
	}
	to, err := t.workspace.open(in.Workdir)
	if err != nil {
		return nil, err
	}
	p := &bashPlan{tool: t, target: to, command: in.Command, timeout: timeout}
	p.opens, err = t.opens(in.Command, to.Path)
	if err != nil {
		to.Close()
		return nil, err
	}
	p.dir, p.err = to.OpenDir()
	return p, nil
}

// bashPlan has the working directory open; err, if that failed, is told only
// to one who may know it.
type bashPlan struct {
	*target
	tool    *bashTool
	command string
	timeout time.Duration
	opens   []permission.Query
	dir     *pinned.Dir
	err     error
}

func (p *bashPlan) Needs() []permission.Query {
	line := permission.Query{Tool: "bash", Subject: p.command}
	if p.subject != "." {
		line.Dir = p.subject
	}
	q := []permission.Query{line}
	if p.outside {
		q = append(q, permission.Query{Tool: permission.ExternalDirectory, Subject: p.subject})
	}
	return append(q, p.opens...)
}

func (p *bashPlan) Close() error {
	var err error
	if p.dir != nil {
		err = p.dir.Close()
	}
	return errors.Join(err, p.target.Close())
}

func (p *bashPlan) Run(ctx context.Context, progress func(string)) (Result, error) {
	if p.err != nil {
		return Result{}, fmt.Errorf("workdir: %w", notFound(p.subject, p.err))
	}
	out := &output{progress: progress, last: time.Now()}
	cmd := sandbox.Command{
		Helper: p.tool.exec,
		Argv:   []string{"bash", "--noprofile", "--norc", "-c", p.command},
		Box:    p.tool.box,
		Dir:    pinned.WorkingDir(p.dir.File(), p.Path),
		Env:    append(p.tool.environ[:len(p.tool.environ):len(p.tool.environ)], "PWD="+p.Path),
		Stdout: out,
		Stderr: out,
		Hold:   p.tool.hold,
	}
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	code, err := cmd.Run(limited)
	var end string
	switch {
	case err == nil && code == 0:
	case err == nil:
		end = fmt.Sprintf("[exit code %d]", code)
	case limited.Err() == nil:
		end = "[" + err.Error() + "]"
	case ctx.Err() == nil:
		end = fmt.Sprintf("[timed out after %v; the command and all that it started were ended]", p.timeout)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		end = "[timed out; the command and all that it started were ended]"
	default:
		end = "[cancelled; the command and all that it started were ended]"
	}
	return Result{Parts: Text(out.text(end)).Parts, Error: end != ""}, nil
}
