package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestBubblewrap(t *testing.T) {
	tests := map[string]struct {
		script string
		works  bool
		out    string // what is in the output
	}{
		"writes in the workspace":    {"echo x > new && mkdir -p a/b && mv new a/b && rm -r a", true, ""},
		"reads the system":           {"ls /usr/bin /bin >/dev/null && cat /etc/passwd /proc/meminfo >/dev/null", true, ""},
		"reads what it is given":     {"cat $LIB/file", true, "lib/file"},
		"does not write there":       {"echo x > $LIB/new", false, "Read-only"},
		"nor in the system":          {"echo x > /etc/new", false, "Read-only"},
		"nor in the root":            {"mkdir /new", false, "Read-only"},
		"its home is empty":          {"ls -A ~ && echo x > ~/new", true, ""},
		"its /tmp is empty":          {`ls /tmp | grep -v -x "$(echo $PWD | cut -d/ -f3)"; echo x > /tmp/new && echo $TMPDIR`, true, "/tmp"},
		"starts where it is told":    {"pwd; echo $PWD", true, "/ws"},
		"signals its own":            {"sleep 100 & kill $!", true, ""},
		"sees only its own":          {"ls /proc | grep -c '^[0-9]'", true, ""},
		"gains nothing by setuid":    {`grep -q 'NoNewPrivs:\s1' /proc/self/status`, true, ""},
		"has no capability":          {`grep -q 'CapEff:\s0000000000000000' /proc/self/status && grep -q 'CapBnd:\s0000000000000000' /proc/self/status`, true, ""},
		"has no terminal":            {"exec </dev/tty", false, "No such device"},
		"has no other files open":    {"ls /proc/$$/fd; true", true, "0\n1\n2\n"},
		"cannot fill the memory":     {"df -k --output=size /tmp | tail -n 1", true, " 1048576"},
		"has memory to itself":       {"echo x > /dev/shm/new", true, ""},
		"tells its exit code":        {"exit 7", false, ""},
		"and the signal it ended by": {"kill -9 $$", false, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, out := boxed(t, Bubblewrap)
			c.Box.Network = false
			c.Argv[len(c.Argv)-1] = tt.script
			code, err := c.Run(t.Context())
			if err != nil || (code == 0) != tt.works || !strings.Contains(out.String(), tt.out) {
				t.Errorf("exit code %d, %v, %s", code, err, out)
			}
			if want := map[string]int{"exit 7": 7, "kill -9 $$": 137}[tt.script]; want != 0 && code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
		})
	}
}

// TestWhatIsHiddenInTheWorkspace: neither can it be reached, nor can something
// else be put where it is.
func TestWhatIsHiddenInTheWorkspace(t *testing.T) {
	for name, script := range map[string]string{
		"read":                  `cat a/b/state/secret`,
		"listed":                `ls a/b/state`,
		"written":               `echo x > a/b/state/new`,
		"deleted":               `rm -rf a/b/state`,
		"renamed":               `mv a/b/state other`,
		"moved with its folder": `mv a/b a/c`,
		"moved with all":        `mv a c`,
		"uncovered":             `umount -l a/b/state; cat a/b/state/secret`,
		"linked":                `ln a/b/state/secret s && cat s`,
		"made, if it is absent": `mkdir -p new/state && echo x > new/state/made`,
		"moved, if it was":      `mkdir -p new/state && mv new other`,
		"a file":                `grep secret file`,
		"a file, written":       `echo x > file`,
		"a file, replaced":      `mv own file`,
	} {
		t.Run(name, func(t *testing.T) {
			c, out := boxed(t, Bubblewrap)
			in := func(path string) string { return filepath.Join(c.Dir, path) }
			for _, err := range []error{
				os.MkdirAll(in("a/b/state"), 0o700), os.WriteFile(in("a/b/state/secret"), []byte("secret"), 0o600),
				os.WriteFile(in("file"), []byte("secret"), 0o600), os.WriteFile(in("own"), []byte("mine"), 0o600),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			c.Argv[len(c.Argv)-1] = script
			if code, err := c.Run(t.Context()); code != 0 || err != nil {
				t.Fatalf("cannot be had unhidden: %d, %v, %s", code, err, out)
			}
		})
		t.Run("not "+name, func(t *testing.T) {
			c, out := boxed(t, Bubblewrap)
			in := func(path string) string { return filepath.Join(c.Dir, path) }
			for _, err := range []error{
				os.MkdirAll(in("a/b/state"), 0o700), os.WriteFile(in("a/b/state/secret"), []byte("secret"), 0o600),
				os.WriteFile(in("file"), []byte("secret"), 0o600), os.WriteFile(in("own"), []byte("mine"), 0o600),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			c.Box.Hidden = []string{in("a/b/state"), in("new/state"), in("file")}
			c.Argv[len(c.Argv)-1] = script
			if code, err := c.Run(t.Context()); code == 0 || err != nil {
				t.Errorf("got %d, %v, %s", code, err, out)
			}
			for path, want := range map[string]string{"a/b/state/secret": "secret", "file": "secret"} {
				if got, err := os.ReadFile(in(path)); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v", path, got, err)
				}
			}
			if made, err := os.ReadDir(in("new/state")); err != nil || len(made) > 0 {
				t.Errorf("new/state: %v, %v", made, err)
			}
		})
	}
}

// TestALinkInThePlaceOfAFolder: a folder that a command may write cannot be
// turned into a way out for the next one.
func TestALinkInThePlaceOfAFolder(t *testing.T) {
	c, out := boxed(t, Bubblewrap)
	sub := filepath.Join(c.Dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	c.Box.Write = append(c.Box.Write, sub)
	for _, script := range []string{"rmdir sub && ln -s ../home sub", "cat sub/secret"} {
		c.Argv[len(c.Argv)-1] = script
		code, err := c.Run(t.Context())
		if err != nil || strings.Contains(out.String(), "home/secret") {
			t.Fatalf("%s: %d, %v, %s", script, code, err, out)
		}
	}
}

// TestAllOfTheMachineToRead: what is hidden and what holds sockets is not in it.
func TestAllOfTheMachineToRead(t *testing.T) {
	c, out := boxed(t, Bubblewrap)
	home := filepath.Join(filepath.Dir(c.Dir), "home")
	c.Box.Read, c.Box.Hidden = []string{"/"}, []string{home}
	for script, works := range map[string]bool{
		"echo x > new": true, "ls /var/lib /srv": true, "echo x > /var/lib/new": false, "echo x > /new": false,
		"[ -z \"$(ls -A /run)\" ]": true, "cat ~/secret": false, "echo x > /tmp/new": true, "/bin/true": true,
	} {
		out.Reset()
		c.Argv[len(c.Argv)-1] = script
		if code, err := c.Run(t.Context()); err != nil || (code == 0) != works {
			t.Errorf("%s: %d, %v, %s", script, code, err, out)
		}
	}
}

func TestBubblewrapWithTheNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, out := boxed(t, Bubblewrap)
	c.Argv[len(c.Argv)-1] = "exec 3<>/dev/tcp/127.0.0.1/" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	for _, open := range []bool{true, false} {
		c.Box.Network = open
		if code, err := c.Run(t.Context()); err != nil || (code == 0) != open {
			t.Errorf("network %v: %d, %v, %s", open, code, err, out)
		}
	}
}

func TestBubblewrapThatCannotStartTheCommand(t *testing.T) {
	for name, change := range map[string]func(*Command){
		"no such program":  func(c *Command) { c.Argv = []string{"no-such-program"} },
		"a folder outside": func(c *Command) { c.Dir = "/srv" },
		"program not in there": func(c *Command) {
			c.Argv = []string{filepath.Join(filepath.Dir(c.Dir), "home", "secret")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, out := boxed(t, Bubblewrap)
			change(c)
			if code, err := c.Run(t.Context()); code != NotStarted || err != nil || !strings.Contains(out.String(), "bwrap: ") {
				t.Errorf("got %d, %v, %s", code, err, out)
			}
		})
	}
}

func TestNothingOutlivesABoxOfBubblewrap(t *testing.T) {
	start := func(t *testing.T) (c *Command, ready <-chan struct{}, mark string) {
		mark = marker(t)
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		c, _ = boxed(t, Bubblewrap)
		c.Env = append(c.Env, mark)
		c.Stdout, c.Stderr = w, w
		return c, countReady(r, stubbornCount), mark
	}
	t.Run("that ends", func(t *testing.T) {
		c, ready, mark := start(t)
		c.Argv[len(c.Argv)-1] = stubborn + "\nwhile [ ! -e end ]; do read -r -t 0.01 <> <(:); done; exit 3"
		result := make(chan int, 1)
		go func() {
			code, _ := c.Run(t.Context())
			result <- code
		}()
		<-ready
		if n := len(marked(t, mark)); n < stubbornCount {
			t.Errorf("only %d processes run", n)
		}
		if err := os.WriteFile(filepath.Join(c.Dir, "end"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := <-result; code != 3 {
			t.Errorf("exit code %d", code)
		}
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("that is cancelled", func(t *testing.T) {
		c, ready, mark := start(t)
		c.Argv[len(c.Argv)-1] = stubborn + "\nwait"
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := c.Run(ctx)
			result <- err
		}()
		<-ready
		began := time.Now()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		t.Logf("cancel took %v", time.Since(began))
		if left := marked(t, mark); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	t.Run("whose parent dies", func(t *testing.T) {
		c, _, mark := start(t)
		parent := exec.Command(os.Args[0], "__parent", "bash", "-c", stubborn+"\nwait")
		parent.Env = append(os.Environ(), mark, "BOX="+c.Dir)
		out, err := parent.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		<-countReady(out, stubbornCount)
		parent.Process.Signal(syscall.SIGKILL)
		parent.Wait()
		waitGone(t, mark)
	})
}

// TestACancelledCommandInABoxCleansUp: it is told, and not only bwrap, with which
// it would be gone at once. On a busy machine the moment that it has is short.
func TestACancelledCommandInABoxCleansUp(t *testing.T) {
	for range 5 {
		c, _ := boxed(t, Bubblewrap)
		r, w := io.Pipe()
		c.Stdout = w
		c.Argv[len(c.Argv)-1] = `trap 'echo clean > state; exit' TERM; sleep 1000 & echo ready; wait`
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := c.Run(ctx)
			result <- err
		}()
		<-countReady(r, 1)
		cancel()
		<-result
		w.Close()
		if _, err := os.Stat(filepath.Join(c.Dir, "state")); err == nil {
			return
		}
	}
	t.Error("a command that is cancelled is not told")
}

func TestBubblewrapThatIsNotThere(t *testing.T) {
	c, out := boxed(t, Bubblewrap)
	t.Setenv("PATH", t.TempDir())
	var unavailable *UnavailableError
	if _, err := c.Run(t.Context()); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "install the package bubblewrap") || !bytes.Equal(out.Bytes(), nil) {
		t.Errorf("got %v, %s", err, out)
	}
}
