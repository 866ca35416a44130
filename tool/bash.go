package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
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
	jobs    *Jobs
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

// Notes implements Noting: the log has the numbers of jobs.
func (t *bashTool) Notes() {}

// Recovery implements Recoverer: to look at a job once more does no harm.
func (t *bashTool) Recovery(c Call) Recovery {
	if in, err := decode[bashInput](c); err == nil && in.Job > 0 {
		return Repeat
	}
	return Unknown
}

// Conflicts implements Conflicter: what a job has written is shown once.
func (t *bashTool) Conflicts(c Call) []string {
	if in, err := decode[bashInput](c); err == nil && in.Job > 0 {
		return []string{fmt.Sprint("job ", in.Job)}
	}
	return nil
}

type bashInput struct {
	Command    string          `json:"command"`
	Workdir    string          `json:"workdir"`
	Timeout    json.RawMessage `json:"timeout"`
	Background bool            `json:"background"`
	Job        int             `json:"job"`
	Stop       bool            `json:"stop"`
}

func (t *bashTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[bashInput](c)
	if err != nil {
		return nil, err
	}
	timeout := t.timeout
	if in.Background {
		timeout = t.maxTimeout
	}
	if len(in.Timeout) > 0 {
		if timeout, err = contract.ParseSpan(in.Timeout); err != nil {
			return nil, fmt.Errorf("timeout: %.40s is not a time; write seconds or a duration such as 90s or 5m, at most %v", in.Timeout, t.maxTimeout)
		}
	}
	switch {
	case timeout > t.maxTimeout:
		return nil, fmt.Errorf("timeout: %v is more than the maximum, which is %v", timeout, t.maxTimeout)
	case in.Job > 0:
		return t.look(c, in, timeout)
	case in.Stop:
		return nil, errors.New("stop: it needs the number of a job")
	case in.Command == "":
		return nil, errors.New("command: say what to run, or give the number of a job to look at")
	case len(in.Command) > shell.MaxLine || strings.ContainsRune(in.Command, 0):
		return nil, fmt.Errorf("command: at most %d bytes and no NUL; write a longer script to a file and run that", shell.MaxLine)
	case in.Background && t.jobs == nil:
		return nil, errors.New("background: nothing can be left at work here")
	}
	if in.Workdir == "" {
		in.Workdir = "."
	}
	to, err := t.workspace.open(in.Workdir)
	if err != nil {
		return nil, err
	}
	p := &bashPlan{target: to, tool: t, call: c, command: in.Command, timeout: timeout, background: in.Background}
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
	tool       *bashTool
	call       Call
	command    string
	timeout    time.Duration
	background bool
	opens      []permission.Query
	dir        *pinned.Dir // nil: a job has it
	err        error
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
	switch {
	case errors.Is(p.err, syscall.ENOTDIR):
		return Result{}, fmt.Errorf("workdir: %s is not a directory", p.subject)
	case p.err != nil:
		return Result{}, fmt.Errorf("workdir: %w", notFound(p.subject, p.err))
	}
	gone, work := p.tool.gone(p.call)
	if p.background {
		return p.leave(ctx, gone, work.LastJob)
	}
	out := &output{progress: progress, last: time.Now()}
	cmd := p.line(out)
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
	r := Text(goneText(gone) + out.text(end))
	r.Error = end != ""
	return noteJobs(r, p.call, 0, gone), nil
}

// line is how the command is run, with its output to one writer.
func (p *bashPlan) line(out io.Writer) sandbox.Command {
	return sandbox.Command{
		Helper: p.tool.exec,
		Argv:   []string{"bash", "--noprofile", "--norc", "-c", "--", p.command},
		Box:    p.tool.box,
		Dir:    pinned.WorkingDir(p.dir.File(), p.Path),
		Env:    append(p.tool.environ[:len(p.tool.environ):len(p.tool.environ)], "PWD="+p.Path),
		Stdout: out,
		Stderr: out,
		Hold:   p.tool.hold,
	}
}
