package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestServeSaysThatFewFilesMayBeOpen raises the soft limit and warns of a hard one
// that is low.
func TestServeSaysThatFewFilesMayBeOpen(t *testing.T) {
	for name, c := range map[string]struct {
		limit string
		warns bool
	}{
		"a low limit":          {"ulimit -n 200", true},
		"a soft limit, raised": {"ulimit -Sn 200; ulimit -Hn 5000", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			cmd := w.command("serve", "--addr", "127.0.0.1:0", "--json")
			shell, err := exec.LookPath("bash")
			if err != nil {
				t.Fatal(err)
			}
			cmd.Args = append([]string{"bash", "-c", c.limit + "; exec " + `"$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
			cmd.Path = shell
			var said bytes.Buffer
			cmd.Stderr = &said
			w.served(cmd)
			cmd.Process.Signal(os.Interrupt)
			if code := exitCode(t, cmd); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if warns := strings.Contains(said.String(), "files=200"); warns != c.warns {
				t.Errorf("it says %s", said.String())
			}
		})
	}
}
