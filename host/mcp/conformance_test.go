package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/peers"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
)

var update = flag.Bool("update", false, "write the table of conformance")

// scenarios are those of the official suite, in its order, and why one does not
// apply; empty: it must pass.
var scenarios = []struct{ name, not string }{
	{"server-initialize", ""},
	{"logging-set-level", ""},
	{"ping", ""},
	{"completion-complete", ""},
	{"tools-list", ""},
	{"tools-call-simple-text", ""},
	{"tools-call-image", "an agent answers with text"},
	{"tools-call-audio", "an agent answers with text"},
	{"tools-call-embedded-resource", "an agent answers with text; its session is a resource by its own address"},
	{"tools-call-mixed-content", "an agent answers with text"},
	{"tools-call-with-logging", ""},
	{"tools-call-error", ""},
	{"tools-call-with-progress", ""},
	{"tools-call-sampling", "agents have models of their own, and never ask for one of the client's"},
	{"tools-call-elicitation", ""},
	{"json-schema-2020-12", "all tools take the same arguments, which need none of these keywords"},
	{"elicitation-sep1034-defaults", "a permission has no default"},
	{"server-sse-polling", "a stream is kept open until the answer; it is no error to lose it, as the scenarios of streams show"},
	{"server-sse-multiple-streams", ""},
	{"elicitation-sep1330-enums", "what is asked is one choice or one text, so four of its five kinds of fields never come"},
	{"resources-list", ""},
	{"resources-read-text", ""},
	{"resources-read-binary", "a session is text"},
	{"resources-templates-read", ""},
	{"resources-subscribe", ""},
	{"resources-unsubscribe", ""},
	{"prompts-list", ""},
	{"prompts-get-simple", ""},
	{"prompts-get-with-args", ""},
	{"prompts-get-embedded-resource", "a command comes to a text"},
	{"prompts-get-with-image", "a command comes to a text"},
	{"dns-rebinding-protection", ""},
}

// TestConformance runs the official suite of the protocol against a server over
// HTTP. The suite calls the tools of a server that is made for it; here they are
// profiles of these names, and its resources are a session.
func TestConformance(t *testing.T) {
	dir := peers.Dir(t)
	s := conformanceSite(t)
	sub, err := s.app.Submit(t.Context(), roster.Ask{Profile: "test_simple_text", Parts: []message.Part{message.Text{Text: "This is 123."}}, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	s.end(t)
	target := s.asFixture(t, sub.Key.Stream)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	out := t.TempDir()
	cmd := exec.CommandContext(ctx, "node", filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", target+"/mcp", "--suite", "all", "--output-dir", out)
	cmd.Dir = out
	text, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed { // it fails where one scenario does
		t.Fatal(err)
	}
	checks := readChecks(t, out)
	for _, x := range scenarios {
		t.Run(x.name, func(t *testing.T) {
			list, ran := checks[x.name]
			if !ran {
				t.Fatalf("the suite has no such scenario:\n%s", text)
			}
			delete(checks, x.name)
			passed := 0
			for _, c := range list {
				switch {
				case c.Status == "SUCCESS":
					passed++
				case c.Status == "FAILURE" && x.not == "":
					t.Errorf("%s: %s", c.ID, c.ErrorMessage)
				}
			}
			if passed == 0 && x.not == "" {
				t.Errorf("nothing was checked: %+v", list)
			}
		})
	}
	for name := range checks {
		t.Errorf("the suite has the scenario %s, which is not in the table", name)
	}
	table(t)
}

// check is one of those that a scenario makes.
type check struct{ ID, Status, ErrorMessage string }

var resultName = regexp.MustCompile(`^server-(.*?)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readChecks(t *testing.T, dir string) map[string][]check {
	t.Helper()
	all := map[string][]check{}
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		m := resultName.FindStringSubmatch(f.Name())
		if m == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name(), "checks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var list []check
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		all[m[1]] = list
	}
	return all
}

func conformanceSite(t *testing.T) *site {
	profile := func(name, tools string) string {
		return "---\nname: " + name + "\ndescription: A profile of the test.\nmodel: fake/text\ntools: [" + tools + "]\n---\nBe brief.\n"
	}
	files := map[string]string{
		"commands/test_simple_prompt.md":         "---\ndescription: A prompt.\n---\nThis is a simple prompt for testing.\n",
		"commands/test_prompt_with_arguments.md": "---\ndescription: A prompt.\narguments: [arg1, arg2]\n---\nPrompt with arguments: $arg1, $arg2\n",
	}
	for _, name := range []string{"test_simple_text", "test_error_handling", "test_tool_with_progress", "test_tool_with_logging", "test_elicitation"} {
		files["profiles/"+name+".md"] = profile(name, "todo, write")
	}
	return newSite(t, files,
		script.Reply{When: script.When{Contains: "test_error_handling"}, Error: &script.Failure{Status: 400}},
		script.Reply{When: script.When{Contains: "test_elicitation"}, Tools: []script.Call{{Name: "write", Input: `{"path":"a","content":"b"}`}}},
		script.Reply{When: script.When{Contains: "test_tool"}, Text: "Working.", Tools: []script.Call{{Name: "todo", Input: `{"items":[]}`}}},
		script.Reply{Text: "This is a simple text response for testing."},
		script.Reply{Text: "Done."}, script.Reply{Text: "Done."})
}

// asFixture stands between the suite and the server, and puts what there is here
// for what the suite's own server has: a prompt where it calls a tool without
// arguments, and a session for its resources.
func (s *site) asFixture(t *testing.T, id string) string {
	t.Helper()
	h := s.app.Handler()
	inner := httptest.NewServer(h)
	at, err := url.Parse(inner.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(at)
			r.Out.Host = r.In.Host
		},
	}
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return // the client is gone
		}
		data := ours(body.Bytes(), id)
		r.Body, r.ContentLength = http.NoBody, 0
		if len(data) > 0 {
			r.Body, r.ContentLength = readCloser{bytes.NewReader(data)}, int64(len(data))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.Shutdown()
		outer.Close()
		inner.Close()
		transport.CloseIdleConnections()
	})
	return outer.URL
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

// ours is a message of the suite, with what there is here.
func ours(data []byte, id string) []byte {
	for _, uri := range []string{"test://static-text", "test://watched-resource", "test://template/123/data"} {
		data = bytes.ReplaceAll(data, []byte(`"`+uri+`"`), []byte(`"roster://sessions/`+id+`"`))
	}
	var m map[string]any
	if json.Unmarshal(data, &m) != nil || m["method"] != "tools/call" {
		return data
	}
	params, ok := m["params"].(map[string]any)
	if !ok {
		return data
	}
	params["arguments"] = map[string]any{"prompt": fmt.Sprint("call of ", params["name"])}
	changed, err := json.Marshal(m)
	if err != nil {
		return data
	}
	return changed
}

// table holds the page about conformance against the scenarios.
func table(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Conformance to the Model Context Protocol\n\n" +
		"The scenarios for servers of the official suite (`@modelcontextprotocol/conformance`), run by a test\n" +
		"against `/mcp` of the HTTP interface. The suite is written for a server of its own, with tools and\n" +
		"resources that it expects by name; in the test, profiles have the names of these tools, and a session\n" +
		"stands for the resources. This page is generated from the table that the test holds the results against.\n\n" +
		"| scenario | result |\n|---|---|\n")
	for _, x := range scenarios {
		result := "passes"
		if x.not != "" {
			result = "does not apply: " + x.not
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", x.name, result)
	}
	path := filepath.FromSlash("../../docs/reference/mcp-conformance.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(have)); diff != "" {
		t.Errorf("the page is not up to date: go test ./host/mcp -run TestConformance -update\n%s", diff)
	}
}
