package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// exampleClient builds the example client of the protocol's library, as it is.
func exampleClient(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client")
	build := exec.Command("go", "build", "-o", path, "github.com/coder/acp-go-sdk/example/client")
	build.Dir = root(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestExampleACPClient: the example client of the protocol's library opens a session,
// streams, and is asked for a permission.
func TestExampleACPClient(t *testing.T) {
	client := exampleClient(t)
	for choice, want := range map[string]string{"1": "hello", "4": ""} {
		w := newMCPWorkspace(t)
		cmd := w.command("acp", "worker")
		cmd.Args = append([]string{client, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = client
		cmd.Env = append(cmd.Env, "ROSTER_TRUST=1")
		cmd.Stdin = strings.NewReader(choice + "\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, text := range []string{"Connected to agent", "Permission requested: write new.txt", "1. Allow this once (allow_once)", "Written.", "Agent completed"} {
			if !strings.Contains(string(out), text) {
				t.Errorf("choice %s: %q is not in\n%s", choice, text, out)
			}
		}
		if want != "" {
			w.exists("new.txt")
		}
	}
}

// TestACPCommand: standard output carries the protocol alone, and the end of the input
// ends the program.
func TestACPCommand(t *testing.T) {
	w := newMCPWorkspace(t)
	cmd := w.command("acp", "--mode", "plan")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := w.launch(cmd)
	for _, line := range []string{
		"what is this\n",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n",
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"` + w.dir + `","mcpServers":[{"name":"mine","command":"sh","args":[],"env":[]}]}}` + "\n",
	} {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
	}
	in.Close()
	all, err := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &errs)
	}
	for _, want := range []string{`"code":-32700`, `"name":"roster"`, `"currentModeId":"worker"`, `"currentValue":"plan"`} {
		if !strings.Contains(string(all), want) {
			t.Errorf("%s is not in %s", want, all)
		}
	}
	if err != nil {
		t.Error(err)
	}
	for line := range bytes.Lines(all) {
		var m struct{ JSONRPC string }
		if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
			t.Errorf("not the protocol: %q", line)
		}
	}
	if !strings.Contains(errs.String(), "MCP servers of the editor are not used") {
		t.Errorf("said %s", &errs)
	}
	if out, code := w.roster("acp", "nobody"); code != 1 || out != "" {
		t.Errorf("a profile that is not there: exit code %d: %s", code, out)
	}
}
