package sandbox

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// boxed runs a script in a box of a kind, with a workspace, and beside it a
// folder that may be read and a file that may not.
func boxed(t testing.TB, kind Kind) (c *Command, out *bytes.Buffer) {
	t.Helper()
	if err := Probe(kind); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"ws", "lib", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"lib/file", "home/secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out = &bytes.Buffer{}
	c = command(":", out, out, "HOME="+filepath.Join(dir, "home"), "LIB="+filepath.Join(dir, "lib"))
	c.Dir = filepath.Join(dir, "ws")
	c.Box = Box{Kind: kind, Write: []string{c.Dir}, Read: []string{filepath.Join(dir, "lib"), "/no/such/folder"}, Network: true}
	return c, out
}

func TestLandlock(t *testing.T) {
	tests := map[string]struct {
		script string
		works  bool
	}{
		"writes in the workspace":     {"echo x > new && mkdir -p a/b && mv new a/b && rm -r a", true},
		"renames, links, truncates":   {"echo x > f; ln f g; ln -s f h; : > f; mkfifo p", true},
		"runs and reads the system":   {"ls /usr/bin >/dev/null && cat /etc/passwd /proc/self/status /proc/meminfo >/dev/null", true},
		"devices that hold nothing":   {"head -c 1 /dev/urandom >/dev/null; echo x >/dev/stderr", true},
		"reads what it is given":      {"cat $LIB/file", true},
		"signals its own":             {"sleep 100 & kill $!", true},
		"does not write there":        {"echo x > $LIB/new", false},
		"does not read home":          {"cat ~/secret", false},
		"does not list home":          {"ls ~", false},
		"does not write home":         {"echo x > ~/new", false},
		"does not signal its helper":  {"kill -0 $PPID", false},
		"does not see into it":        {"cat /proc/$PPID/environ", false},
		"does not reopen its pipe":    {"exec 9</proc/$PPID/fd/3", false},
		"does not mount":              {"mount -t tmpfs none . 2>&1", false},
		"nor in a user namespace":     {"unshare -Urm mount -t tmpfs none . 2>&1", false},
		"gains nothing by setuid":     {"grep -q 'NoNewPrivs:\t0' /proc/self/status", false},
		"makes no device":             {"mknod d b 1 1 2>&1", false},
		"a link leads to nothing new": {"ln -s ~/secret l; cat l", false},
		"nothing is linked in":        {"ln ~/secret l && cat l", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, out := boxed(t, Landlock)
			c.Argv[len(c.Argv)-1] = tt.script
			code, err := c.Run(t.Context())
			if err != nil || (code == 0) != tt.works {
				t.Errorf("exit code %d, %v, %s", code, err, out)
			}
		})
	}
}

// TestOnlyPortsThatAreNamed: a box of Landlock with ports lets nothing connect
// elsewhere, or be connected to.
func TestOnlyPortsThatAreNamed(t *testing.T) {
	if abi, err := landlockABI(); err != nil || abi < 4 {
		t.Fatalf("this kernel's Landlock knows no ports: version %d, %v", abi, err)
	}
	listen := func() (port string, number int) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		number = l.Addr().(*net.TCPAddr).Port
		return strconv.Itoa(number), number
	}
	named, number := listen()
	other, _ := listen()
	for _, tt := range []struct {
		name, script string
		connect      []int
		works        bool
	}{
		{"the named port", ": 3<>/dev/tcp/127.0.0.1/" + named, []int{number}, true},
		{"another", ": 3<>/dev/tcp/127.0.0.1/" + other, []int{number}, false},
		{"none is named", ": 3<>/dev/tcp/127.0.0.1/" + named, []int{}, false},
		{"all", ": 3<>/dev/tcp/127.0.0.1/" + other, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, out := boxed(t, Landlock)
			c.Box.Connect = tt.connect
			c.Argv[len(c.Argv)-1] = tt.script
			code, err := c.Run(t.Context())
			if err != nil || (code == 0) != tt.works {
				t.Errorf("exit code %d, %v, %s", code, err, out)
			}
		})
	}
}

// TestRootKeepsNoPowerOverTheMachine: what root could do beyond files is gone.
func TestRootKeepsNoPowerOverTheMachine(t *testing.T) {
	c, out := boxed(t, Landlock)
	c.Argv[len(c.Argv)-1] = `grep CapPrm /proc/self/status`
	if code, err := c.Run(t.Context()); code != 0 || err != nil {
		t.Fatal(code, err, out)
	}
	want := "CapPrm:\t0000000000000000"
	if os.Geteuid() == 0 {
		want = "CapPrm:\t00000000000004fb"
	}
	if strings.TrimSpace(out.String()) != want {
		t.Errorf("got %s, want %s", out, want)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	if err := os.MkdirAll(in("ws"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("ws"), in("link")); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		box  Box
		want string
	}{
		"the host":                 {Box{}, ""},
		"as it should be":          {Box{Kind: Landlock, Write: []string{in("ws")}, Hidden: []string{in("state")}, Network: true}, ""},
		"no such kind":             {Box{Kind: "moat"}, "moat"},
		"without the network":      {Box{Kind: Landlock}, "choose bubblewrap"},
		"hidden in the workspace":  {Box{Kind: Landlock, Write: []string{in("ws")}, Hidden: []string{in("ws", "state")}, Network: true}, in("ws", "state")},
		"hidden behind a link":     {Box{Kind: Landlock, Write: []string{in("link")}, Hidden: []string{in("ws", "new", "state")}, Network: true}, in("ws")},
		"the workspace in hidden":  {Box{Kind: Landlock, Write: []string{in("ws")}, Hidden: []string{dir}, Network: true}, dir},
		"hidden where one reads":   {Box{Kind: Landlock, Read: []string{dir}, Hidden: []string{in("state")}, Network: true}, dir},
		"hidden in the system":     {Box{Kind: Landlock, Hidden: []string{"/etc/roster"}, Network: true}, "/etc"},
		"a path that is relative":  {Box{Kind: Landlock, Write: []string{"ws"}, Network: true}, `"ws"`},
		"all that there is":        {Box{Kind: Landlock, Write: []string{"/"}, Hidden: []string{in("state")}, Network: true}, "--state"},
		"a path with a nul in it":  {Box{Kind: Landlock, Read: []string{"/a\x00b"}, Network: true}, "absolute"},
		"hidden, and not in there": {Box{Kind: Landlock, Write: []string{in("ws")}, Hidden: []string{in("ws2")}, Network: true}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.box.Check(t.Context())
			var unavailable *UnavailableError
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &unavailable) || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestABoxThatCannotBeHad: nothing runs then.
func TestABoxThatCannotBeHad(t *testing.T) {
	c, out := boxed(t, Landlock)
	c.Argv[len(c.Argv)-1] = "echo ran"
	c.Box.Network = false
	if code, err := c.Run(t.Context()); err == nil || code == 0 || out.Len() > 0 {
		t.Errorf("got %d, %v, %s", code, err, out)
	}
}

func BenchmarkRunIn(b *testing.B) {
	for _, kind := range []Kind{None, Landlock, Bubblewrap} {
		b.Run(string(kind), func(b *testing.B) {
			c, out := boxed(b, kind)
			for b.Loop() {
				if code, err := c.Run(b.Context()); code != 0 || err != nil {
					b.Fatal(code, err, out)
				}
			}
		})
	}
}
