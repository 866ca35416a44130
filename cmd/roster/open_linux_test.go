package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpen: serve --open opens the page that it says it serves, also where it listens on
// every address, and goes on where there is no browser.
func TestOpen(t *testing.T) {
	w := newWorkspace(t)
	bin := filepath.Join(w.dir, "bin")
	w.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > "+w.dir+"/opened.tmp\nmv "+w.dir+"/opened.tmp "+w.dir+"/opened\n")
	if err := os.Chmod(filepath.Join(bin, "xdg-open"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ listen, opens string }{{"127.0.0.1:0", "127.0.0.1"}, {"0.0.0.0:0", "localhost"}} {
		cmd := w.command("serve", "--open", "--json", "--addr", c.listen, "--insecure-http", "--auth", "keys")
		cmd.Env = append(cmd.Env, "PATH="+bin+":/usr/bin:/bin")
		_, url := w.served(cmd)
		w.exists("opened")
		got, err := os.ReadFile(filepath.Join(w.dir, "opened"))
		if err != nil {
			t.Fatal(err)
		}
		if want := "http://" + c.opens + url[strings.LastIndex(url, ":"):]; strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is opened, and not %s", got, want)
		}
		end(t, cmd)
		if err := os.Remove(filepath.Join(w.dir, "opened")); err != nil {
			t.Fatal(err)
		}
	}
	cmd := w.command("serve", "--open", "--json", "--addr", "127.0.0.1:0")
	cmd.Env = append(cmd.Env, "PATH="+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	_, url := w.served(cmd)
	for said := bufio.NewScanner(stderr); said.Scan(); {
		if strings.Contains(said.Text(), "no browser was opened") && strings.Contains(said.Text(), "open "+url) {
			end(t, cmd)
			return
		}
	}
	t.Error("nobody says that there is no browser")
}
