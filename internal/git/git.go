// Package git calls the program git in repositories that may not be trusted: nothing
// runs which a repository names, no hook, filter, merge driver, monitor or transport.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/sandbox"
)

// Bounds of one call of git: how long it may take, and how much it may say.
const (
	Time      = 5 * time.Minute
	maxOutput = 64 << 20
	maxSaid   = 4 << 10
)

// Git calls git in a repository, so that nothing runs which that names. It is
// immutable, and safe for concurrent use. Its zero value cannot be used: see Open.
type Git struct {
	helper []string
	hold   *os.File
	dir    string
	env    []string
	config [][2]string
}

// Error says that git has refused something.
type Error struct {
	Command string // of git
	Code    int
	Said    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("git %s: %s", e.Command, strings.TrimPrefix(e.Said, "fatal: "))
}

// ErrTooMuch says that git has written more than is taken.
var ErrTooMuch = fmt.Errorf("git has written more than %d MiB", maxOutput>>20)

// fixed keep a repository from having something run: hooks, monitors, programs
// that sign, show or transport.
func fixed() [][2]string {
	return [][2]string{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"core.pager", "cat"}, {"core.editor", "true"},
		{"core.sshCommand", "false"}, {"core.askPass", "true"}, {"core.splitIndex", "false"}, {"core.safecrlf", "false"},
		{"core.quotePath", "false"}, {"core.untrackedCache", "false"},
		{"submodule.recurse", "false"}, {"diff.ignoreSubmodules", "all"}, {"diff.external", ""},
		{"commit.gpgSign", "false"}, {"log.showSignature", "false"}, {"merge.verifySignatures", "false"},
		{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"safe.bareRepository", "explicit"}, {"protocol.allow", "never"},
	}
}

// mergeText is the merge of texts that git has itself, for drivers that a
// repository names.
const mergeText = "git merge-file -q --marker-size=%L %A %O %B"

// disarm gives what takes the place of a key of the repository's configuration
// that has a program run; ok is false for all others.
func disarm(key string) (value string, ok bool) {
	section, rest, _ := strings.Cut(key, ".")
	i := strings.LastIndexByte(rest, '.')
	if i < 0 {
		return "", false
	}
	switch name := rest[i+1:]; {
	case section == "filter" && name == "required":
		return "false", true
	case section == "filter":
		return "", true
	case section == "merge" && name == "driver":
		return mergeText, true
	case section == "diff" && (name == "command" || name == "textconv"):
		return "", true
	}
	return "", false
}

// kept are the variables that git gets: where the user's own configuration is.
// GIT_DIR and the like would lead it elsewhere. GORACE is for the helper that
// starts it, where tests look for races in that.
var kept = [...]string{"PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GORACE"}

func environ(getenv func(string) string) []string {
	env := []string{
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1",
		"GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
	}
	for _, name := range kept {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// With returns the same git with more variables.
func (g *Git) With(env ...string) *Git {
	c := *g
	c.env = append(slices.Clone(g.env), env...)
	return &c
}

// In returns the same git in another folder, with more variables.
func (g *Git) In(dir string, env ...string) *Git {
	c := g.With(env...)
	c.dir = dir
	return c
}

// harden puts what is harmless in the place of all that the configuration would
// have run. Reading the configuration runs nothing.
func (g *Git) harden(ctx context.Context) error {
	out, err := g.Run(ctx, "config", "--list", "-z", "--name-only")
	if err != nil {
		return err
	}
	named, mailed := false, false
	for key := range strings.SplitSeq(out, "\x00") {
		if value, ok := disarm(key); ok {
			g.config = append(g.config, [2]string{key, value})
		}
		named = named || key == "user.name"
		mailed = mailed || key == "user.email"
	}
	// Who has never committed anything here has no name.
	if !named {
		g.config = append(g.config, [2]string{"user.name", "Roster"})
	}
	if !mailed {
		g.config = append(g.config, [2]string{"user.email", "roster@localhost"})
	}
	return nil
}

// Run gives what a command of git writes, without the last line break.
func (g *Git) Run(ctx context.Context, args ...string) (string, error) {
	return g.Read(ctx, nil, args...)
}

// Read is Run for a command that reads something.
func (g *Git) Read(ctx context.Context, in io.Reader, args ...string) (string, error) {
	out, err := g.raw(ctx, in, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

func (g *Git) raw(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	out := &bounded{most: maxOutput, full: cancel}
	said := &bounded{most: maxSaid}
	cmd := sandbox.Command{
		Helper: g.helper, Argv: append([]string{"git", "--no-pager"}, args...), Dir: g.dir, Env: g.environ(), Hold: g.hold,
		Stdin: in, Stdout: out, Stderr: said,
	}
	code, err := cmd.Run(limited)
	switch {
	case out.over:
		return out.Bytes(), ErrTooMuch
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return nil, fmt.Errorf("git %s took longer than %s", args[0], Time)
	case err != nil:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	case code == sandbox.NotStarted:
		return nil, ErrNoGit
	case code != 0:
		return out.Bytes(), &Error{args[0], code, strings.TrimSpace(said.String())}
	}
	return out.Bytes(), nil
}

// ErrNoGit says that there is no git here.
var ErrNoGit = errors.New("git is not installed, or not on PATH: it is needed for worktrees and commits")

// environ has the configuration that wins over the repository's own.
func (g *Git) environ() []string {
	env := slices.Clone(g.env)
	config := append(fixed(), g.config...)
	for i, kv := range config {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
}

// Holds asks git a question that it answers by its exit code.
func (g *Git) Holds(ctx context.Context, args ...string) (bool, error) {
	_, err := g.Run(ctx, args...)
	var no *Error
	if errors.As(err, &no) && no.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	bytes.Buffer
	most int
	over bool
	full func() // called when there is more; nil: the rest is dropped
}

func (b *bounded) Write(p []byte) (int, error) {
	if n := b.most - b.Len(); len(p) > n {
		b.Buffer.Write(p[:n])
		if b.over = true; b.full != nil {
			b.full()
		}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// Real follows links; a path that has none yet is as it is written.
func Real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
