package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/permission/shell"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

type bashTool struct {
	defined
	*workspace
	bashSet
	exec    []string
	environ []string
	hold    *os.File
	box     sandbox.Box
}

// bashIn is the definition of bash: in a box the model is told what its commands
// reach.
func bashIn(env Env) defined {
	var more []string
	if wall := env.Box.Describe(); wall != "" {
		more = append(more, wall)
	}
	return defined{Define("bash", env.Settings["bash"], more...)}
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
		if timeout, err = contract.ParseSpan(in.Timeout); err != nil {
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
