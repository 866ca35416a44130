// Package sandbox says where a command runs, and sees to it that nothing of a
// command outlives it. A command is started by a helper: this program, started
// anew, in Main. The helper holds a pipe to its parent and ends the command
// with all its descendants when the command ends, when it is told to, or when
// the parent is gone.
//
// On Linux descendants are found even if they left the process group or made
// themselves daemons. Elsewhere only the process group is ended. A command that
// kills its helper is killed, and what had left its process group gets away:
// against that only a PID namespace helps.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// termGrace is how long a cancelled command has between SIGTERM and SIGKILL,
	// to take its lock files away.
	termGrace = 50 * time.Millisecond
	// killTime bounds how long the helper tries to end what is left. Only
	// processes stuck in the kernel or of another user last that long.
	killTime = 5 * time.Second
	// NotStarted is the exit code for a command that could not be started; the
	// reason is on its standard error.
	NotStarted = 127
)

// Command is one command to be run by the helper.
type Command struct {
	Helper []string // how the helper is started: Self, or another program that calls Main
	Argv   []string
	Box    Box // what it reaches; the zero Box is the host
	Dir    string
	Env    []string // of helper and command; nil is an empty environment
	// Stdin is what the command reads; nil: /dev/null.
	Stdin io.Reader
	// Stdout and Stderr may be the same writer, which is then written to by
	// one goroutine at a time. Nothing is written after Run has returned.
	Stdout, Stderr io.Writer
	// Hold, if set, is kept open by the helper, and not passed on to the
	// command, until nothing of the command is left: a file lock on it tells
	// others, after the death of this process, that something still runs.
	Hold *os.File
}

// Run starts the command and waits until it and all its descendants are gone.
// The code is the command's exit code, or 128 and the number of the signal
// that ended it. When ctx ends first, the command is told to end, is killed a
// moment later, and the error is that of ctx. It is safe to run a Command
// several times at once if its writers are.
func (c *Command) Run(ctx context.Context) (code int, err error) {
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	switch {
	case len(c.Helper) == 0:
		return -1, ErrNoHelper
	case len(c.Argv) == 0:
		return -1, errors.New("sandbox: no command given")
	}
	if err := c.Box.Check(ctx); err != nil {
		return -1, err
	}
	argv, err := c.Box.argv(c.Argv)
	if err != nil {
		return -1, err
	}
	control, ours, err := os.Pipe()
	if err != nil {
		return -1, fmt.Errorf("sandbox: %w", err)
	}
	defer ours.Close()
	cmd := c.build(ctx, argv, control, ours)
	err = cmd.Start()
	control.Close()
	if err != nil {
		return -1, fmt.Errorf("sandbox: cannot start the exec helper: %w", err)
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return -1, ctx.Err()
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 && !errors.Is(err, exec.ErrWaitDelay) {
		return code, ioError(err)
	}
	return -1, fmt.Errorf("sandbox: the exec helper did not end the command: %w", err)
}

func (c *Command) build(ctx context.Context, argv []string, control, ours *os.File) *exec.Cmd {
	argv = append(c.Helper[1:len(c.Helper):len(c.Helper)], argv...)
	cmd := exec.CommandContext(ctx, c.Helper[0], argv...)
	cmd.Dir = c.Dir
	cmd.Env = append([]string{}, c.Env...)
	if c.Box.Temp != "" {
		cmd.Env = append(cmd.Env, "TMPDIR="+c.Box.Temp) // of two, the last counts
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.ExtraFiles = []*os.File{control}
	if c.Hold != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, c.Hold)
	}
	cmd.SysProcAttr = helperAttr()
	cmd.Cancel = func() error {
		// The command may have stopped the helper, or read from its pipe.
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_, err := ours.Write([]byte{cancelByte})
		return errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	}
	cmd.WaitDelay = killTime + time.Second
	return cmd
}

// ioError leaves out the error that only says that the exit code is not 0.
func ioError(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}
