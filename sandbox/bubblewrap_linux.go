package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// statusFD is where bwrap says what became of the command; filterFD, where it
// reads which system calls there are not.
const (
	statusFD = 3
	filterFD = 4
)

func findBubblewrap() (string, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "", &UnavailableError{Bubblewrap, "there is no program bwrap on PATH", "install the package bubblewrap, or choose landlock or docker"}
	}
	return path, nil
}

// probeBubblewrap says whether bwrap is here and whether the kernel lets it make
// user namespaces, without which it can do nothing.
func probeBubblewrap() error {
	if _, err := findBubblewrap(); err != nil {
		return err
	}
	for _, setting := range []struct{ path, off string }{
		{"/proc/sys/user/max_user_namespaces", "0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0"},
	} {
		value, err := os.ReadFile(setting.path)
		if err == nil && strings.TrimSpace(string(value)) == setting.off && (os.Geteuid() != 0 || strings.HasPrefix(setting.path, "/proc/sys/user/")) {
			return &UnavailableError{Bubblewrap, "this machine does not let it make user namespaces: " + setting.path + " is " + setting.off,
				"have its administrator change that, or choose landlock or docker"}
		}
	}
	return nil
}

// bubblewrap is what the helper starts in the place of the command, with the file
// that it has to have as filterFD.
func (b Box) bubblewrap(program string, command []string) (argv []string, filter *os.File, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, fmt.Errorf("the working directory: %w", err)
	}
	if err := b.makeHidden(); err != nil {
		return nil, nil, err
	}
	if filter, err = filterFile(b.Network); err != nil {
		return nil, nil, err
	}
	p := place{dir: real(dir), home: os.Getenv("HOME"), path: b.programs(), look: look, folder: isFolder}
	if filepath.IsAbs(p.home) {
		p.home = real(p.home)
	} else {
		p.home = ""
	}
	if os.Geteuid() == 0 {
		_, p.private = parts("/etc")
	}
	argv = []string{program, "--json-status-fd", strconv.Itoa(statusFD)}
	if filter != nil {
		argv = append(argv, "--seccomp", strconv.Itoa(filterFD))
	}
	return append(append(argv, b.bubblewrapArgs(p)...), command...), filter, nil
}

func look(path string) (link string, found bool) {
	link, err := os.Readlink(path)
	if err == nil {
		return link, true
	}
	return "", errors.Is(err, unix.EINVAL) // it is there, and no link
}

// started reads what bwrap said, and tells whether the command was started at
// all. It does not wait.
func started(said *os.File) bool {
	text, _ := io.ReadAll(io.LimitReader(said, 64<<10))
	return bytes.Contains(text, []byte(`"exit-code"`))
}

// inside lists the processes of the command in a box of bwrap: the descendants
// of bwrap apart from its own, which are itself and the first process inside.
func inside(bwrap int) []int {
	children := map[string][]string{}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] >= '1' && name[0] <= '9' {
			up := parent(name)
			children[up] = append(children[up], name)
		}
	}
	var pids []int
	for level := children[strconv.Itoa(bwrap)]; len(level) > 0; {
		var next []string
		for _, pid := range level {
			next = append(next, children[pid]...)
		}
		for _, pid := range next {
			if n, err := strconv.Atoi(pid); err == nil {
				pids = append(pids, n)
			}
		}
		level = next
	}
	return pids
}
