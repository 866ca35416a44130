package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/peers"
	"github.com/rosterrun/roster/session"
)

// serving is a workspace whose profile, worker, may do all, with MCP servers. Script
// is what its model says.
func serving(t *testing.T, servers, script string) *workspace {
	t.Helper()
	w := &workspace{t: t, dir: t.TempDir()}
	own, err := filepath.Abs("testdata/mcp/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	servers = strings.NewReplacer("SERVER", own, "PEERS", peers.Dir(t)).Replace(servers)
	w.write("roster.yaml", "defaults: {model: \"script:replies.yaml\"}\nsandbox: {read: ["+filepath.Dir(own)+", "+peers.Dir(t)+"]}\nmcp-servers:\n"+servers)
	w.write("profiles/worker.md", "---\ndescription: Works.\npermission: allow\n---\nWork.\n")
	w.write("replies.yaml", "replies:\n"+script)
	return w
}

// events runs the worker and gives what it logs.
func (w *workspace) events(want int, args ...string) []session.Event {
	w.t.Helper()
	out, code := w.roster(append([]string{"run", "worker", "go", "--json"}, args...)...)
	if code != want {
		w.t.Fatalf("exit code %d, want %d: %s", code, want, out)
	}
	return decoded(w.t, out)
}

func decoded(t testing.TB, out string) (list []session.Event) {
	t.Helper()
	for line := range strings.Lines(out) {
		var x struct {
			Type string
			Data json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		e := session.Event{V: 1, Type: x.Type, Data: x.Data}
		if x.Type != "tool.after" && x.Type != "tools.changed" {
			continue
		}
		var err error
		if e.Body, err = e.Decode(); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// ended gives what became of each call, and said what was said of tools.
func ended(events []session.Event) (calls, said []string) {
	for _, e := range events {
		switch b := e.Body.(type) {
		case *session.ToolAfter:
			data, _ := json.Marshal(b.Parts)
			calls = append(calls, b.Tool+" "+string(b.Outcome)+" "+string(data))
		case *session.ToolsChanged:
			said = append(said, fmt.Sprintf("added %v removed %v changed %v notes %v", b.Added, b.Removed, b.Changed, b.Notes))
		}
	}
	return calls, said
}

// TestRealServers lists and calls tools of the servers that the makers of the protocol
// have written, through a run.
func TestRealServers(t *testing.T) {
	w := serving(t, `  everything: {command: node, args: [PEERS/node_modules/@modelcontextprotocol/server-everything/dist/index.js]}
  files: {command: node, args: [PEERS/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js, "."]}
  memory: {command: node, args: [PEERS/node_modules/@modelcontextprotocol/server-memory/dist/index.js], env: {MEMORY_FILE_PATH: "${claude_dir:-graph.json}"}}
`, `  - tools:
      - {name: everything_echo, input: {message: hello}}
      - {name: everything_get-tiny-image, input: {}}
      - {name: files_list_directory, input: {path: profiles}}
      - {name: memory_read_graph, input: {}}
  - text: Done.
`)
	calls, said := ended(w.events(0))
	all := strings.Join(calls, "\n")
	for _, want := range []string{"everything_echo ok", "Echo: hello", "everything_get-tiny-image ok", `image/png`, "files_list_directory ok", "worker.md", "memory_read_graph ok"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if len(said) > 0 {
		t.Errorf("said: %v", said)
	}
	out, code := w.roster("mcp", "tools", "--profile", "worker", "--json")
	var list []struct{ Server, Name, Description string }
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		t.Fatalf("%v, exit code %d: %s", err, code, out)
	}
	count := map[string]int{}
	for _, x := range list {
		count[x.Server]++
		if !strings.HasPrefix(x.Name, x.Server+"_") || x.Description == "" {
			t.Errorf("%+v", x)
		}
	}
	if count["everything"] < 10 || count["files"] < 10 || count["memory"] != 9 {
		t.Errorf("tools: %v", count)
	}
	if out, code := w.roster("mcp", "call", "memory", "memory_read_graph"); code != 0 || !strings.Contains(out, "entities") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := w.roster("mcp", "call", "everything", "get-tiny-image"); code != 0 || !strings.Contains(out, "\n[image image/png, ") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestServerIsKilledInACall: the call is an error that says so, and the next one finds
// the server started anew.
func TestServerIsKilledInACall(t *testing.T) {
	w := serving(t, "  one: {command: node, args: [SERVER, hang, echo], env: {PID_FILE: pid}}\n", `  - tools: [{name: one_hang, input: {}}]
  - tools: [{name: one_echo, input: {text: again}}]
  - text: Done.
`)
	cmd, out := w.start("run", "worker", "go", "--json")
	var log strings.Builder
	for killed := false; ; {
		line, err := out.ReadString('\n')
		if log.WriteString(line); err != nil {
			break
		}
		if !killed && strings.Contains(line, `"tool.before"`) {
			data, err := os.ReadFile(filepath.Join(w.dir, "pid"))
			pid, err2 := strconv.Atoi(string(data))
			if err != nil || err2 != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
				t.Fatalf("the server cannot be killed: %v %v", err, err2)
			}
			killed = true
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	calls, _ := ended(decoded(t, log.String()))
	if len(calls) != 2 || !strings.HasPrefix(calls[0], "one_hang error") || !strings.Contains(calls[0], "went away during the call") || !strings.Contains(calls[1], "echo: again") {
		t.Errorf("calls:\n%s", strings.Join(calls, "\n"))
	}
}

// TestServerComesLater: it is not there when the run begins, which says so; when it
// comes, the next turn has its tools. The next run remembers them.
func TestServerComesLater(t *testing.T) {
	w := serving(t, "  late: {command: ./late.sh}\n  there: {command: node, args: [SERVER, echo]}\n", `  - tools: [{name: bash, input: {command: "printf '#!/bin/sh\nexec node SERVER here' > new && chmod +x new && mv new late.sh && sleep 5"}}]
  - tools: [{name: late_here, input: {text: hi}}, {name: there_echo, input: {text: too}}]
  - text: Done.
`)
	own, _ := filepath.Abs("testdata/mcp/server.mjs")
	script, _ := os.ReadFile(filepath.Join(w.dir, "replies.yaml"))
	w.write("replies.yaml", strings.ReplaceAll(string(script), "SERVER", own))
	calls, said := ended(w.events(0))
	if all := strings.Join(calls, "\n"); len(calls) != 3 || !strings.Contains(all, "late_here ok") || !strings.Contains(all, "here: hi") || !strings.Contains(all, "echo: too") {
		t.Errorf("calls:\n%s", all)
	}
	if len(said) != 2 || !strings.Contains(said[0], "the MCP server late is down") || !strings.Contains(said[1], "added [late_here] removed []") {
		t.Errorf("said:\n%s", strings.Join(said, "\n"))
	}
	if err := os.Remove(filepath.Join(w.dir, "late.sh")); err != nil {
		t.Fatal(err)
	}
	w.write("replies.yaml", "replies:\n  - tools: [{name: late_here, input: {text: hi}}]\n  - text: Done.\n")
	calls, said = ended(w.events(0))
	if len(calls) != 1 || !strings.Contains(calls[0], "late_here error") || !strings.Contains(calls[0], "is down") || len(said) != 1 || !strings.Contains(said[0], "its tools are those that it had") {
		t.Errorf("calls: %v, said: %v", calls, said)
	}
}

// TestServersThatCollide: a name that two servers make is offered by neither, and one
// of ours stays ours; a profile lists what it wants.
func TestServersThatCollide(t *testing.T) {
	w := serving(t, "  a: {command: node, args: [SERVER, b_c, d]}\n  a_b: {command: node, args: [SERVER, c]}\n  ask: {command: node, args: [SERVER, user, why], without: [why]}\n", "  - text: Done.\n")
	_, said := ended(w.events(0))
	if len(said) != 1 || strings.Count(said[0], "its name would be a_b_c") != 2 || !strings.Contains(said[0], "there is another tool of the name ask_user") {
		t.Errorf("said: %v", said)
	}
	names := func(profile string) (names []string) {
		out, _ := w.roster("mcp", "tools", "--profile", profile, "--json")
		var list []struct{ Name string }
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			names = append(names, x.Name)
		}
		return names
	}
	if got := names("worker"); !slices.Equal(got, []string{"a_d"}) {
		t.Errorf("offered: %v", got)
	}
	w.write("profiles/one.md", "---\ndescription: d\nmcp-servers: [a_b]\ntools: [read, a_b]\n---\nx\n")
	w.write("profiles/denied.md", "---\ndescription: d\npermission: {\"a_*\": deny}\n---\nx\n")
	w.write("profiles/other.md", "---\ndescription: d\ntools: [read]\n---\nx\n")
	if got := names("one"); !slices.Equal(got, []string{"a_b_c"}) {
		t.Errorf("offered to one: %v", got)
	}
	if got := append(names("denied"), names("other")...); len(got) > 0 {
		t.Errorf("offered: %v", got)
	}
}

// TestServerSecrets: what a server is sent is not in the log, in what is shown, nor in
// the environment of commands; without the variable the server is left out, and why.
func TestServerSecrets(t *testing.T) {
	const planted = "planted-0123456789"
	w := serving(t, "  one: {command: node, args: [SERVER, echo], env: {SAYS: \" ${MY_TOKEN}\"}}\n  lit: {url: \"http://127.0.0.1:1/mcp\", headers: {Authorization: Bearer "+planted+"-literal}}\n", `  - tools: [{name: one_echo, input: {text: it is}}, {name: bash, input: {command: "echo token $MY_TOKEN"}}]
  - text: Done.
`)
	run := func(args ...string) string {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "MY_TOKEN="+planted)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
		return string(out)
	}
	out := run("run", "worker", "go", "--json")
	if !strings.Contains(out, "echo: it is [secret]") || !strings.Contains(out, `token\n`) {
		t.Errorf("the calls: %s", out)
	}
	all := out + run("explain", "worker") + run("show", "worker") + run("mcp", "list") + run("mcp", "tools") + run("doctor")
	if strings.Contains(all, planted) {
		t.Errorf("a secret is in\n%s", all)
	}
	if out, err := exec.Command("grep", "-rl", planted, w.dir+".state", filepath.Join(w.dir, ".local")).Output(); err == nil {
		t.Errorf("a secret is in %s", out)
	}
	_, said := ended(w.events(0))
	if len(said) != 1 || !strings.Contains(said[0], "env.SAYS: the variable MY_TOKEN is not set") {
		t.Errorf("said: %v", said)
	}
}

// TestServerIsTrustedAsItIs: nothing starts before somebody has said so, nor when a
// byte of it has changed.
func TestServerIsTrustedAsItIs(t *testing.T) {
	w := serving(t, "  one: {command: node, args: [SERVER, echo], env: {PID_FILE: pid}}\n", "  - text: Done.\nloop: true\n")
	server, _ := filepath.Abs("testdata/mcp/server.mjs")
	text := fmt.Sprintf(`{"mcpServers": {"two": {"command": "node", "args": [%q, "x"], "env": {"PID_FILE": "pid2"}}}}`, server)
	w.write(".mcp.json", text)
	run := func(want int, args ...string) {
		t.Helper()
		cmd := exec.Command("roster", args...)
		cmd.Dir, cmd.Env = w.dir, environment(w.dir)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != want {
			t.Fatalf("%v: exit code %d: %s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	started := func(names ...string) {
		t.Helper()
		for _, name := range []string{"pid", "pid2"} {
			_, err := os.Stat(filepath.Join(w.dir, name))
			if (err == nil) != slices.Contains(names, name) {
				t.Errorf("%s is there: %t, want %v", name, err == nil, names)
			}
			os.Remove(filepath.Join(w.dir, name))
		}
	}
	run(0, "run", "worker", "go")
	started()
	run(0, "mcp", "tools")
	started()
	run(0, "trust", "--yes")
	run(0, "mcp", "list")
	run(0, "explain", "worker")
	run(0, "tools", "--profile", "worker")
	started()
	run(0, "run", "worker", "go")
	started("pid", "pid2")
	w.write(".mcp.json", strings.Replace(text, `"x"`, `"y"`, 1))
	run(0, "run", "worker", "go")
	started("pid")
	run(0, "trust", "--revoke")
	run(0, "run", "worker", "go")
	started()
}

// TestResourcesOfServers: those that an entry names stand in each request, and an agent
// reads others by itself.
func TestResourcesOfServers(t *testing.T) {
	w := serving(t, "  one: {command: node, args: [SERVER, echo], resources: [\"test://always\"]}\n", `  - tools: [{name: mcp_resources, input: {server: one}}, {name: mcp_read, input: {server: one, uri: "test://notes"}}, {name: mcp_read, input: {server: two, uri: x}}]
  - text: Done.
`)
	out, code := w.roster("run", "worker", "go", "--json")
	if code != 0 || !strings.Contains(out, "The notes of test://always.") {
		t.Errorf("exit code %d, and the requests lack it: %s", code, out)
	}
	calls, said := ended(decoded(t, out))
	all := strings.Join(calls, "\n")
	for _, want := range []string{"test://notes  notes", "The notes of test://notes.", "there is no such MCP server"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if len(calls) != 3 || len(said) > 0 {
		t.Errorf("%d calls, said: %v", len(calls), said)
	}
}

// TestPromptsOfServers: a prompt of a server is called like a command.
func TestPromptsOfServers(t *testing.T) {
	w := serving(t, "  one: {command: node, args: [SERVER, echo]}\n", "  - text: Done.\nloop: true\n")
	out, code := w.roster("run", "worker", "/one:greet", "Ada", "--json")
	if code != 0 || !strings.Contains(out, "Greet Ada.") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := w.roster("run", "worker", "/one:none", "--json"); code == 0 || !strings.Contains(out, "has no prompt") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestServersAreEdited: a server is added and taken away without touching the rest of
// the file, and what somebody adds to a trusted workspace is trusted.
func TestServersAreEdited(t *testing.T) {
	w := serving(t, "  # the first\n  one: {command: node, args: [SERVER, echo]} # stays\n", "  - text: Done.\n")
	before, _ := os.ReadFile(filepath.Join(w.dir, "roster.yaml"))
	run := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.Command("roster", args...)
		cmd.Dir, cmd.Env = w.dir, environment(w.dir)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want {
			t.Fatalf("%v: exit code %d: %s", args, cmd.ProcessState.ExitCode(), out)
		}
		return string(out)
	}
	if out := run(0, "mcp", "add", "two", "--", "node", "server.mjs", "--flag"); !strings.Contains(out, "no effect until you have trusted") {
		t.Errorf("untrusted: %s", out)
	}
	run(0, "mcp", "rm", "two")
	run(0, "trust", "--yes")
	run(0, "mcp", "add", "two", "--url", "https://x.example/mcp", "--header", "Authorization=Bearer ${T}")
	if out := run(0, "mcp", "list", "--json"); strings.Contains(out, "inert") || !strings.Contains(out, `"name":"two"`) || !strings.Contains(out, "${T}") {
		t.Errorf("listed: %s", out)
	}
	run(0, "mcp", "rm", "two")
	if after, _ := os.ReadFile(filepath.Join(w.dir, "roster.yaml")); string(after) != string(before) {
		t.Errorf("the file is another one:\n%s", after)
	}
	run(1, "mcp", "rm", "two")
	run(1, "mcp", "add", "a/b", "--", "x")
	run(2, "mcp", "add", "three")
}

// TestServersThatAreDownDoNotHold: a run does not wait long for what does not come.
func TestServersThatAreDownDoNotHold(t *testing.T) {
	w := serving(t, "  gone: {command: no-such-program-of-mcp}\n  far: {url: \"http://127.0.0.1:1/mcp\"}\n", "  - text: Done.\n")
	begin := time.Now()
	_, said := ended(w.events(0))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(said) != 1 || !strings.Contains(said[0], "gone is down") || !strings.Contains(said[0], "far is down") {
		t.Errorf("said: %v", said)
	}
}
