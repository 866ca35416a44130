package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDockerArguments holds the arguments that docker is started with against
// testdata/docker.
func TestDockerArguments(t *testing.T) {
	c := container{
		name: "roster-x", dir: "/project/sub", uid: 1000, gid: 100,
		env:    []string{"PATH=/bin", "TOKEN=a secret", "LANG=C.UTF-8", "HOME=/home/me", "DOCKER_HOST=unix:///x", "LANG=C", "odd", "XDG_RUNTIME_DIR=/run/user/1"},
		folder: func(path string) bool { return !strings.HasSuffix(path, ".file") },
	}
	for name, box := range map[string]Box{
		"plain":            {Write: []string{"/project"}, Image: "debian:12"},
		"with the network": {Write: []string{"/project"}, Image: "debian:12", Network: true},
		"read more":        {Write: []string{"/project"}, Read: []string{"/usr/local/go"}, Image: "example.org/a/b@sha256:1"},
		"odd paths":        {Write: []string{"/project, or \"play\":ro"}, Image: "debian"},
		"hidden":           {Write: []string{"/project"}, Hidden: []string{"/project/a/b/state", "/srv/state", "/project/x.file"}, Image: "debian"},
	} {
		t.Run(name, func(t *testing.T) { golden(t, "docker", box.dockerArgs(c)) })
	}
}

// inPlaceOfDocker puts a script on PATH that is called as docker is; it notes how
// it was called in the file that it returns.
func inPlaceOfDocker(t *testing.T, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	text := "#!/bin/bash\necho \"$@\" >> " + calls + "\n" + script
	if err := os.WriteFile(filepath.Join(dir, "docker"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return calls
}

func TestDockerThatCannotBeHad(t *testing.T) {
	tests := map[string]struct {
		script string // in the place of docker; empty: there is none
		image  string
		want   string
	}{
		"no docker":      {"", "debian:12", "no program docker on PATH (install it"},
		"no engine":      {"echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1", "debian:12", "no engine answers: Cannot connect to the Docker daemon at unix:///var/run/docker.sock"},
		"no such image":  {"echo 'Error response from daemon: No such image: debian:12' >&2; exit 1", "debian:12", "load it: docker pull debian:12"},
		"silence":        {"exit 3", "debian:12", "exit status 3"},
		"no image named": {"exit 0", "", "no name of an image"},
		"an option":      {"exit 0", "--privileged", "no name of an image"},
		"two words":      {"exit 0", "debian --privileged", "no name of an image"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.script == "" {
				t.Setenv("PATH", t.TempDir())
			} else {
				inPlaceOfDocker(t, tt.script)
			}
			ran := filepath.Join(t.TempDir(), "ran")
			c := &Command{Helper: Self(), Argv: []string{"touch", ran}, Box: Box{Kind: Docker, Image: tt.image}}
			_, err := c.Run(t.Context())
			var unavailable *UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the command ran on the host")
			}
		})
	}
}

// TestAContainerIsEnded: docker itself can be killed, and its container goes on.
func TestAContainerIsEnded(t *testing.T) {
	calls := inPlaceOfDocker(t, `case $1 in run) echo ready; trap '' TERM; exec tail -f /dev/null;; esac`)
	r, w := io.Pipe()
	defer w.Close()
	dir := t.TempDir()
	c := &Command{
		Helper: Self(), Argv: []string{"make", "it"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: w, Stderr: w,
		Box: Box{Kind: Docker, Image: "debian:12", Write: []string{dir}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx)
		ended <- err
	}()
	<-countReady(r, 1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "image inspect ") || !strings.HasSuffix(lines[1], " debian:12 make it") {
		t.Fatalf("calls: %q", lines)
	}
	_, after, _ := strings.Cut(lines[1], "--name ")
	name, _, _ := strings.Cut(after, " ")
	if name == "" || lines[2] != "rm --force "+name {
		t.Errorf("%q is not ended by %q", name, lines[2])
	}
}

// TestAContainerThatEndsByItself is not looked for again.
func TestAContainerThatEndsByItself(t *testing.T) {
	calls := inPlaceOfDocker(t, `[ $1 = run ] && exit 7 || exit 0`)
	c := &Command{Helper: Self(), Argv: []string{"false"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Box: Box{Kind: Docker, Image: "debian:12"}}
	if code, err := c.Run(t.Context()); code != 7 || err != nil {
		t.Errorf("got %d, %v", code, err)
	}
	if text, _ := os.ReadFile(calls); strings.Contains(string(text), "rm --force") {
		t.Errorf("calls: %s", text)
	}
}
