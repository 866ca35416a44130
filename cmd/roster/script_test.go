package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"roster": main, "ask-health": askHealth})
}

// TestScripts runs the program itself, as a shell would.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               func(e *testscript.Env) error { return setUp(t, e) },
		Cmds:                commands(),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setUp gives each script a provider of its own, and a home and state that no
// other uses. Keys of whoever runs the tests are kept out.
func setUp(t *testing.T, e *testscript.Env) error {
	p := newProvider(t)
	for _, v := range environment(e.WorkDir) {
		name, value, _ := strings.Cut(v, "=")
		e.Setenv(name, value)
	}
	// Where scripts look at them. No command runs in a workspace that holds them.
	e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, ".state"))
	e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, ".config"))
	e.Setenv("ROSTER_TRUST", "1") // those about trust take it back
	e.Setenv("SERVER", p.URL)
	e.Setenv("PROVIDER", p.URL+"/v1")
	e.Setenv("EXAMPLES", filepath.Join(root(t), "examples", "workspace"))
	e.Values["provider"] = p
	return nil
}

// environment is that of a user who has set nothing, and whose own files are
// beside the workspace.
func environment(dir string) []string {
	return []string{
		"HOME=" + filepath.Join(dir, ".home"),
		"XDG_STATE_HOME=" + dir + ".state",
		"XDG_CONFIG_HOME=" + dir + ".config",
		"TMPDIR=" + filepath.Dir(dir),
		"ROSTER_HOME=", "NO_COLOR=", "TERM=xterm", "LC_ALL=C", "TZ=UTC",
		"ANTHROPIC_API_KEY=", "OPENAI_API_KEY=", "GEMINI_API_KEY=", "OLLAMA_HOST=",
		"PATH=" + os.Getenv("PATH"),
		"GORACE=atexit_sleep_ms=0", // else each process of a -race build waits a second before it ends
	}
}

func root(t testing.TB) string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func commands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "expand": expand, "fill": fill, "requests": requests, "lastline": lastLine,
		"waiting": waitingFor, "grant": grant, "newest": newest,
	}
}

// newest VAR sets a variable to the id of the newest session that stdout lists.
func newest(ts *testscript.TestScript, _ bool, args []string) {
	var list []struct{ ID string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	if len(list) == 0 {
		ts.Fatalf("there is no session")
	}
	ts.Setenv(args[0], list[0].ID)
}

// exits CODE COMMAND… runs a command that must exit with CODE.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exited *exec.ExitError
		if !errors.As(err, &exited) {
			ts.Fatalf("%v", err)
		}
		got = exited.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// expand FILE… fills in $PROVIDER.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), "$PROVIDER", ts.Getenv("PROVIDER"))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o666))
	}
}

// fill FILE BYTES writes a text of that size.
func fill(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := bytes.Repeat([]byte("All work and no play. "), size/22+1)[:size]
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o666))
}

// requests N says that the provider was asked N times so far, and writes the
// bodies to requests.jsonl.
func requests(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := ts.Value("provider").(*provider).requests()
	ts.Check(os.WriteFile(ts.MkAbs("requests.jsonl"), []byte(strings.Join(got, "\n")+"\n"), 0o666))
	if len(got) != want {
		ts.Fatalf("%d requests, want %d", len(got), want)
	}
}

// lastline TEXT… says that the last line of stdout holds each text.
func lastLine(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.Split(strings.TrimRight(ts.ReadFile("stdout"), "\n"), "\n")
	last := lines[len(lines)-1]
	for _, text := range args {
		if !strings.Contains(last, text) {
			ts.Fatalf("the last line has no %q: %s", text, fmt.Sprintf("%.2000s", last))
		}
	}
}
