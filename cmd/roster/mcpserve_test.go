package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/peers"
)

// mcpReplies asks for a permission, and then answers twice.
const mcpReplies = `replies:
  - text: "Let me."
    tools: [{name: write, input: {path: new.txt, content: hello}}]
  - text: "Written."
  - text: "And more."
`

func newMCPWorkspace(t *testing.T) *workspace {
	w := newWorkspace(t)
	w.write("roster.yaml", "defaults: {model: fake/text}\nproviders:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 10000}}}\n")
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: [bash, write]\npermission: {bash: allow, write: ask}\n---\nWork.\n")
	w.write("replies.yaml", mcpReplies)
	return w
}

// The official client drives a profile to its end, on both ways.
func TestOfficialMCPClient(t *testing.T) {
	sdk := filepath.Join(peers.Dir(t), "node_modules/@modelcontextprotocol/sdk")
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			w := newMCPWorkspace(t)
			args := []string{filepath.Join(root(t), "cmd/roster/testdata/mcp/client.mjs")}
			if way == "stdio" {
				args = append(args, "stdio", "mcp", "serve", "work*")
			} else {
				_, url := w.serve()
				args = append(args, url+"/mcp")
			}
			cmd := exec.Command("node", args...)
			cmd.Dir, cmd.Env = w.dir, append(environment(w.dir), "ROSTER_TRUST=1", "SDK="+sdk)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &errs)
			}
			checkOfficial(t, out)
		})
	}
}

func checkOfficial(t *testing.T, out []byte) {
	t.Helper()
	type result struct {
		Content           []struct{ Text string }
		IsError           bool
		StructuredContent struct{ Session, Answer, Reason string }
	}
	var seen struct {
		Asked, Progress, Logged, Tools, Resources []string
		Updated                                   int
		First, Second, Wrong                      result
		Read                                      string
	}
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	id := seen.First.StructuredContent.Session
	switch {
	case !slices.Equal(seen.Tools, []string{"worker"}),
		len(seen.Asked) != 1 || !strings.Contains(seen.Asked[0], "worker asks to use write:\n  write new.txt"),
		seen.First.IsError || seen.First.Content[0].Text != "Written." || seen.First.StructuredContent.Reason != "done",
		seen.Second.StructuredContent.Answer != "And more." || seen.Second.StructuredContent.Session != id,
		!slices.Equal(seen.Resources, []string{"roster://sessions/" + id}),
		!strings.Contains(seen.Read, "> And more."), seen.Updated == 0,
		!seen.Wrong.IsError || !strings.Contains(seen.Wrong.Content[0].Text, "prompt is missing"),
		// What comes together with the answer, the client drops.
		!slices.Contains(seen.Progress, "turn 1"), !slices.Contains(seen.Progress, "waits for an approval"),
		!slices.Contains(seen.Logged, "began"), !slices.Contains(seen.Logged, "ended"):
		t.Errorf("the client saw %s", out)
	}
}

// mcpClient talks to `roster mcp serve` by hand.
type mcpClient struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs *bytes.Buffer
}

func (w *workspace) mcp(t *testing.T, args ...string) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t, cmd: w.command(append([]string{"mcp", "serve"}, args...)...), errs: &bytes.Buffer{}}
	c.cmd.Stderr = c.errs
	in, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, w.launch(c.cmd)
	c.send(`{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"by hand","version":"1"}}}`)
	c.until(`"id":"hi"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *mcpClient) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// until reads up to the message that has a text. Each line must be one.
func (c *mcpClient) until(text string) string {
	c.t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%v after %q, standard error:\n%s", err, line, c.errs)
		}
		var m struct{ JSONRPC string }
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			c.t.Fatalf("this is not the protocol: %q", line)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

func callOf(id, key string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"worker","arguments":{"prompt":"Work"},`+
		`"_meta":{"progressToken":"p","io.github.rosterrun/idempotency-key":"%s"}}}`, id, key)
}

// Whatever comes in, what goes out is the protocol, and the program ends well.
func TestMCPServeToleratesItsClient(t *testing.T) {
	w := newMCPWorkspace(t)
	w.write("profiles/broken.md", "---\nname: [\n---\n") // is said on standard error, if anywhere
	c := w.mcp(t)
	for name, x := range map[string][2]string{
		"no JSON":                {"garbage", `"code":-32700`},
		"half":                   {`{"jsonrpc":"2.0",`, `"code":-32700`},
		"no message":             {`42`, `"code":-32600`},
		"an empty batch":         {`[]`, `"code":-32600`},
		"a batch of nothings":    {`[1,2]`, `"code":-32600`},
		"not UTF-8":              {"{\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"\xff\"}", `"error"`},
		"deep":                   {strings.Repeat("[", 100_000), `"code":-32700`},
		"long":                   {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 17<<20) + `"}`, `"code":-32600`},
		"no method":              {`{"jsonrpc":"2.0","id":"n","method":"nothing"}`, `"id":"n"`},
		"no arguments":           {`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"worker"}}`, `prompt is missing`},
		"arguments of no object": {`{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"worker","arguments":[1]}}`, `"id":"b"`},
		"no name":                {`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{}}`, `"id":"c"`},
		"no params":              {`{"jsonrpc":"2.0","id":"d","method":"tools/call"}`, `"id":"d"`},
		"cancel of nothing":      {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}` + "\n" + `{"jsonrpc":"2.0","id":"e","method":"ping"}`, `"id":"e"`},
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.send(x[0])
			c.until(x[1])
		})
	}
	c.t = t
	c.send(callOf("work", "k"))
	if line := c.until(`"id":"work"`); !strings.Contains(line, `"Written."`) { // denied, as nobody can be asked
		t.Errorf("the answer is %s", line)
	}
	c.in.Close()
	rest, err := io.ReadAll(c.out)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the end: %q %v", rest, err)
	}
	if code := exitCode(t, c.cmd); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, c.errs)
	}
}

// What is asked by a pipe that ends is answered before the program does.
func TestMCPServeInAPipe(t *testing.T) {
	w := newMCPWorkspace(t)
	cmd := w.command("mcp", "serve")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"pipe","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	out, err := cmd.Output()
	if err != nil || bytes.Count(out, []byte("\n")) != 2 || !bytes.Contains(out, []byte(`"name":"worker"`)) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMCPServeRefusesUnknownProfiles(t *testing.T) {
	w := newMCPWorkspace(t)
	if out, code := w.roster("mcp", "serve", "wroker"); code != exitUsage || out != "" {
		t.Errorf("exit code %d, %q", code, out)
	}
	if out, code := w.roster("mcp", "serve", "[x"); code != exitUsage || out != "" {
		t.Errorf("exit code %d, %q", code, out)
	}
}

// A run whose server was killed is finished when the call comes once more, and
// nothing of it is done twice.
func TestMCPServerKilled(t *testing.T) {
	w := newMCPWorkspace(t)
	w.write("profiles/worker.md", "---\ndescription: Works.\ntools: [bash]\npermission: {bash: allow, write: allow}\n---\nWork.\n")
	const first = "replies:\n  - tools: [{name: bash, input: {command: \"echo ran >> effects.log\"}}]\n"
	w.write("replies.yaml", first+"  - {text: late, delay: 1h}\n")
	c := w.mcp(t)
	c.send(callOf("work", "k"))
	c.until(`"turn 2"`)
	c.cmd.Process.Kill()
	c.cmd.Wait()
	w.write("replies.yaml", first+"  - text: At last.\n")
	c = w.mcp(t)
	c.send(callOf("again", "k"))
	if line := c.until(`"id":"again"`); !strings.Contains(line, `"At last."`) {
		t.Errorf("the answer is %s", line)
	}
	if n := w.effects(); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
}
