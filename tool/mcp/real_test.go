package mcp_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/peers"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool/mcp"
)

// node is a server of others, from npm.
func node(t *testing.T, name, file string, args ...string) mcp.Server {
	t.Helper()
	dir := t.TempDir()
	return mcp.Server{
		Name: name, Command: "node", Args: append([]string{peers.File(t, file)}, args...), Exec: sandbox.Self(), Dir: dir,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "MEMORY_FILE_PATH=" + filepath.Join(dir, "memory.jsonl"), "VISIBLE=yes"},
	}
}

// trial is a call of a tool of a real server, and what its result holds. After
// "; it fails" it is that of a failed call.
type trial struct{ tool, input, want string }

// every tries a server: each tool that it has must be among the trials.
func every(t *testing.T, f *fixture, s mcp.Server, trials []trial) *mcp.Client {
	t.Helper()
	c := f.connect(s)
	if p := c.Problems(); len(p) > 0 {
		t.Errorf("%v", p)
	}
	for _, x := range c.Tools() {
		if !slices.ContainsFunc(trials, func(tr trial) bool { return tr.tool == x.Tool }) {
			t.Errorf("nobody calls %s %s", x.Tool, x.Schema)
		}
	}
	for _, tr := range trials {
		text, r, err := call(t, find(t, c, tr.tool), tr.input)
		want, fails := strings.CutSuffix(tr.want, "; it fails")
		if !strings.Contains(text, want) || (err != nil || r.Error) != fails {
			t.Errorf("%s %s: %.400q, %v, %v\nwant %q", tr.tool, tr.input, text, r.Error, err, tr.want)
		}
	}
	return c
}

func everything() []trial {
	return []trial{
		{"echo", `{"message":"hello"}`, "Echo: hello"},
		{"get-annotated-message", `{"messageType":"success","includeImage":true}`, "<image/png "},
		{"get-env", `{}`, `"PATH": "`},
		{"get-resource-links", `{"count":2}`, "[a resource that can be read: demo://resource/dynamic/"},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "[resource demo://resource/dynamic/text/1 (text/plain)]\nResource 1:"},
		{"get-resource-reference", `{"resourceType":"Blob","resourceId":1}`, "[resource demo://resource/dynamic/blob/1"},
		{"get-structured-content", `{"location":"Chicago"}`, `"temperature":`},
		{"get-sum", `{"a":2,"b":3}`, "5"},
		{"get-tiny-image", `{}`, "<image/png "},
		{"gzip-file-as-resource", `{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`, "application/gzip"},
		{"toggle-simulated-logging", `{}`, "tarted simulated"},
		{"toggle-subscriber-updates", `{}`, "tarted simulated"},
		{"trigger-long-running-operation", `{"duration":0.1,"steps":2}`, "Long running operation completed. Duration: 0.1 seconds, Steps: 2."},
		{"simulate-research-query", `{"topic":"bees"}`, "requires task augmentation; it fails"},
		{"get-sum", `{"a":"two"}`, "nvalid arguments for tool get-sum; it fails"},
	}
}

func TestEverything(t *testing.T) {
	f := newFixture(t)
	s := node(t, "everything", "@modelcontextprotocol/server-everything/dist/index.js")
	s.Roots = []string{s.Dir}
	c := every(t, f, s, append(everything(), trial{"get-roots-list", `{}`, "file://" + s.Dir}))
	about(t, c)
}

func TestEverythingOverHTTP(t *testing.T) {
	f := newFixture(t)
	about(t, every(t, f, mcp.Server{Name: "everything", URL: serveNode(t)}, everything()))
}

// about reads what server-everything has besides tools.
func about(t *testing.T, c *mcp.Client) {
	t.Helper()
	var steps []string
	if text, _, err := callIn(t, t.Context(), find(t, c, "trigger-long-running-operation"), `{"duration":1,"steps":2}`, func(s string) { steps = append(steps, s) }); err != nil || len(steps) == 0 || steps[0] != "1/2" {
		t.Errorf("%q %v %v", text, err, steps)
	}
	resources, _, err := c.Resources(t.Context())
	if err != nil || len(resources) == 0 {
		t.Errorf("%v %v", resources, err)
	}
	for _, r := range resources {
		if parts, err := c.ReadResource(t.Context(), r.URI); err != nil || len(parts) == 0 {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	if list, _, err := c.Templates(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v %v", list, err)
	}
	prompts, _, err := c.Prompts(t.Context())
	if err != nil || len(prompts) != 4 {
		t.Errorf("%v %v", prompts, err)
	}
	if list, err := c.Prompt(t.Context(), "args-prompt", map[string]string{"city": "Bern", "state": "Bern"}); err != nil || len(list) != 1 || !strings.Contains(fmt.Sprint(list), "Bern") {
		t.Errorf("%v %v", list, err)
	}
	if _, err := c.Prompt(t.Context(), "no-such", nil); err == nil {
		t.Error("there is no such prompt")
	}
}

// serveNode serves server-everything by HTTP.
func serveNode(t *testing.T) string {
	t.Helper()
	l := listen(t, "127.0.0.1:0", nil)
	port := l.Listener.Addr().String()[strings.LastIndexByte(l.Listener.Addr().String(), ':')+1:]
	kill(l)
	cmd := exec.CommandContext(t.Context(), "node", peers.File(t, "@modelcontextprotocol/server-everything/dist/index.js"), "streamableHttp")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PORT=" + port}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for in := bufio.NewScanner(stderr); in.Scan(); {
		if strings.Contains(in.Text(), "listening") {
			return fmt.Sprintf("http://127.0.0.1:%s/mcp", port)
		}
	}
	t.Fatal("it did not come up")
	return ""
}

func TestFilesystem(t *testing.T) {
	f := newFixture(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), onePixel, 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(input string) string { return strings.ReplaceAll(input, "DIR", dir) }
	every(t, f, node(t, "files", "@modelcontextprotocol/server-filesystem/dist/index.js", dir), []trial{
		{"read_file", in(`{"path":"DIR/a.txt"}`), "one\ntwo\n"},
		{"read_text_file", in(`{"path":"DIR/a.txt","head":1}`), "one"},
		{"read_media_file", in(`{"path":"DIR/a.png"}`), "<image/png 70 bytes>"},
		{"read_multiple_files", in(`{"paths":["DIR/a.txt","DIR/b.txt"]}`), "rror"},
		{"write_file", in(`{"path":"DIR/b.txt","content":"three"}`), "Successfully wrote"},
		{"edit_file", in(`{"path":"DIR/b.txt","edits":[{"oldText":"three","newText":"four"}]}`), "+four"},
		{"create_directory", in(`{"path":"DIR/sub"}`), "Successfully created"},
		{"list_directory", in(`{"path":"DIR"}`), "[DIR] sub"},
		{"list_directory_with_sizes", in(`{"path":"DIR"}`), "a.txt"},
		{"directory_tree", in(`{"path":"DIR"}`), `"name": "sub"`},
		{"move_file", in(`{"source":"DIR/b.txt","destination":"DIR/sub/b.txt"}`), "Successfully moved"},
		{"search_files", in(`{"path":"DIR","pattern":"**/b.txt"}`), dir + "/sub/b.txt"},
		{"get_file_info", in(`{"path":"DIR/a.txt"}`), "size: 8"},
		{"list_allowed_directories", `{}`, dir},
		{"read_file", `{"path":"/etc/passwd"}`, "Access denied; it fails"},
	})
}

func TestMemory(t *testing.T) {
	f := newFixture(t)
	every(t, f, node(t, "memory", "@modelcontextprotocol/server-memory/dist/index.js"), []trial{
		{"create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["counts"]},{"name":"Bob","entityType":"person","observations":[]}]}`, "Ada"},
		{"create_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`, "knows"},
		{"add_observations", `{"observations":[{"entityName":"Ada","contents":["writes"]}]}`, "writes"},
		{"read_graph", `{}`, "counts"},
		{"search_nodes", `{"query":"Ada"}`, "writes"},
		{"open_nodes", `{"names":["Bob"]}`, "Bob"},
		{"delete_observations", `{"deletions":[{"entityName":"Ada","observations":["writes"]}]}`, "success"},
		{"delete_relations", `{"relations":[{"from":"Ada","to":"Bob","relationType":"knows"}]}`, "success"},
		{"delete_entities", `{"entityNames":["Bob"]}`, "success"},
		{"add_observations", `{"observations":[{"entityName":"Nobody","contents":["x"]}]}`, "not found; it fails"},
	})
}
