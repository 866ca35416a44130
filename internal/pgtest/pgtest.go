// Package pgtest runs a PostgreSQL server of a test's own, from the programs
// that are installed. It is for tests.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server, which listens on a socket in its own directory.
type Server struct {
	dir, bin string
	flags    []string
	cmd      *exec.Cmd
}

// startTime is how long a server may take until it answers.
const startTime = 60 * time.Second

// Start makes an empty database and starts a server for it. Flags are settings
// of the server, such as fsync=off. It must be stopped.
func Start(ctx context.Context, flags ...string) (*Server, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, flags: flags}
	if err := s.init(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// programs is the directory of the newest server that is installed.
func programs() (string, error) {
	dirs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	if len(dirs) == 0 {
		return "", errors.New("there is no PostgreSQL server: install postgresql")
	}
	return slices.Max(dirs), nil
}

func (s *Server) init(ctx context.Context) error {
	initdb, err := s.program(ctx, "initdb", "-D", s.data(), "-U", "roster", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions")
	if err != nil {
		return err
	}
	if err := initdb.Run(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, s.said())
	}
	return s.Start(ctx)
}

// Start starts the server anew, after Crash.
func (s *Server) Start(ctx context.Context) error {
	args := []string{"-D", s.data(), "-k", s.dir, "-c", "listen_addresses="}
	for _, f := range s.flags {
		args = append(args, "-c", f)
	}
	server, err := s.program(context.WithoutCancel(ctx), "postgres", args...)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	s.cmd = server
	return s.wait(ctx)
}

// Crash ends the server without a chance to write what it holds, and all its
// connections with it.
func (s *Server) Crash() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	_ = s.cmd.Wait() // it says that it was ended by us
	s.cmd = nil
}

// program prepares one of PostgreSQL's programs, which writes into the log.
func (s *Server) program(ctx context.Context, name string, args ...string) (*exec.Cmd, error) {
	out, err := os.OpenFile(s.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.Env = s.dir, []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr, err = attributes(s.dir)
	return cmd, err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// said is what the server has written.
func (s *Server) said() string {
	b, _ := os.ReadFile(s.log()) // none is none
	return strings.TrimSpace(string(b))
}

// wait returns when the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w\n%s", err, s.said())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// URL is the address of the database.
func (s *Server) URL() string { return "postgres:///postgres?user=roster&host=" + s.dir }

// Stop ends the server at once and removes what it has stored.
func (s *Server) Stop() error {
	if s.cmd != nil {
		s.Crash()
	}
	return os.RemoveAll(s.dir)
}
