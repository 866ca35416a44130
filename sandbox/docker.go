package sandbox

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// dockerProcesses bounds how many processes a container has.
	dockerProcesses = 2048
	// dockerAnswer bounds how long the engine may take to say that it is there.
	dockerAnswer = 10 * time.Second
)

func findDocker() (string, error) {
	path, err := exec.LookPath("docker")
	if err != nil {
		return "", &UnavailableError{Docker, "there is no program docker on PATH", "install it, or choose bubblewrap or landlock"}
	}
	return path, nil
}

// checkDocker asks the engine for the image: it never loads one by itself, which
// would reach for the network and take as long as it takes.
func (b Box) checkDocker(ctx context.Context) error {
	program, err := findDocker()
	if err != nil {
		return err
	}
	if b.Image == "" || strings.HasPrefix(b.Image, "-") || strings.ContainsAny(b.Image, " \t\r\n\x00") {
		return b.unavailable(fmt.Sprintf("%q is no name of an image", b.Image), "name one, such as debian:12")
	}
	limited, cancel := context.WithTimeout(ctx, dockerAnswer)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(limited, program, "image", "inspect", "--format", "{{.Id}}", b.Image)
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch text := strings.TrimSpace(said.String()); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return b.unavailable(fmt.Sprintf("its engine has not answered within %v", dockerAnswer), "see docker info, or choose bubblewrap or landlock")
	case strings.Contains(strings.ToLower(text), "no such image"):
		return b.unavailable("the image "+b.Image+" is not here", "load it: docker pull "+b.Image)
	case text != "":
		return b.unavailable("no engine answers: "+text, "start it, or choose bubblewrap or landlock")
	default:
		return b.unavailable(err.Error(), "see docker info, or choose bubblewrap or landlock")
	}
}

// container is what is told to docker beside the box.
type container struct {
	name     string
	dir      string
	uid, gid int
	env      []string // as the command has it; only the names are told, the values are docker's to read
	folder   func(path string) bool
}

// dockerArgs are the arguments by which docker runs the command in a container
// that goes with it. The container's system is the image's and can only be read.
func (b Box) dockerArgs(c container) []string {
	args := []string{
		"run", "--rm", "--init", "--interactive", "--name", c.name, "--label", "roster=command",
		"--pull", "never", "--log-driver", "none", "--entrypoint", "",
		"--read-only", "--tmpfs", "/tmp:rw,nosuid,nodev,mode=1777,size=" + strconv.Itoa(privateSize),
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--pids-limit", strconv.Itoa(dockerProcesses),
		"--user", strconv.Itoa(c.uid) + ":" + strconv.Itoa(c.gid), "--workdir", c.dir,
	}
	if !b.Network {
		args = append(args, "--network", "none")
	}
	for _, r := range b.Read {
		args = append(args, "--mount", option("type=bind", "source="+r, "target="+r, "readonly"))
	}
	for _, w := range b.Write {
		args = append(args, "--mount", option("type=bind", "source="+w, "target="+w))
	}
	for _, h := range b.Hidden {
		if !in(slices.Concat(b.Read, b.Write), h) {
			continue
		}
		for _, dir := range b.wayTo(h) {
			args = append(args, "--mount", option("type=bind", "source="+dir, "target="+dir))
		}
		if c.folder(h) {
			args = append(args, "--mount", option("type=tmpfs", "target="+h, "tmpfs-mode=0000"))
		} else {
			args = append(args, "--mount", option("type=bind", "source=/dev/null", "target="+h, "readonly"))
		}
	}
	for _, name := range c.names() {
		args = append(args, "--env", name)
	}
	return append(args, "--env", "HOME=/tmp", "--env", "TMPDIR=/tmp", b.Image)
}

// names are the variables that the command gets of its environment. What says
// where things are on the host is left out.
func (c container) names() []string {
	var out []string
	for _, e := range c.env {
		name, _, ok := strings.Cut(e, "=")
		switch {
		case !ok, name == "", strings.HasPrefix(name, "DOCKER_"), strings.HasPrefix(name, "XDG_"):
		case slices.Contains([]string{"PATH", "HOME", "TMPDIR", "SHELL", "USER", "LOGNAME", "HOSTNAME", "SSH_AUTH_SOCK"}, name):
		default:
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// option writes an option of several fields as docker reads it.
func option(fields ...string) string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	w.Write(fields)
	w.Flush()
	return strings.TrimSuffix(text.String(), "\n")
}

// docker is what the helper starts in the place of the command.
func (b Box) docker(program, name string, command []string) ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working directory: %w", err)
	}
	if err := b.makeHidden(); err != nil {
		return nil, err
	}
	c := container{name: name, dir: real(dir), uid: os.Getuid(), gid: os.Getgid(), env: os.Environ(), folder: isFolder}
	return append(append([]string{program}, b.dockerArgs(c)...), command...), nil
}

// removeContainer ends a container whose docker was killed: it would go on. One
// that is gone already is no error.
func removeContainer(program, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "rm", "--force", name)
	cmd.Stderr = &said
	err := cmd.Run()
	if err == nil || strings.Contains(strings.ToLower(said.String()), "no such container") {
		return nil
	}
	return errors.Join(fmt.Errorf("the container %s may still run: end it with docker rm --force %[1]s", name), err)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// wayTo are the folders on the way from one that may be written to what is
// hidden in it.
func (b Box) wayTo(hidden string) []string {
	var way []string
	for _, w := range b.Write {
		for dir := filepath.Dir(hidden); dir != w && within(w, dir); dir = filepath.Dir(dir) {
			way = append(way, dir)
		}
	}
	slices.Reverse(way)
	return way
}
