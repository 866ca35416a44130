package oracle

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/anthropic"
	"github.com/rosterrun/roster/model/gemini"
	"github.com/rosterrun/roster/model/openaichat"
	"github.com/rosterrun/roster/model/openairesponses"
)

// aimock starts a server that others have written for testing clients of the four
// protocols, from the npm registry, in the version that package-lock.json pins.
func aimock(t *testing.T) (url string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "server.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "aimock", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s\nThis test needs Node.js from 20.15 with npm, and its registry.", err, out)
	}
	serve := exec.Command("node", "server.mjs")
	serve.Dir, serve.Stderr = dir, os.Stderr
	stdin, err := serve.StdinPipe() // whose end ends it
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := serve.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// entry is what aimock keeps of a request: as it understood it, whatever its
// protocol.
type entry struct {
	Body struct {
		Messages []struct {
			Role    string
			Content any
			Calls   []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			Call string `json:"tool_call_id"`
		}
		Tools []struct {
			Function struct{ Name string }
		}
	}
}

// TestAIMock has a call made and its result answered, over each protocol.
func TestAIMock(t *testing.T) {
	url := aimock(t)
	const usual = `system user assistant:read{"path":"a.txt"} tool:2 and 2 | read list`
	for _, c := range []struct {
		name  string
		hears string // of the second request
		at    func(url string, c *http.Client) model.Model
	}{
		{"chat", usual, func(url string, c *http.Client) model.Model {
			return openaichat.New(openaichat.Config{Provider: "mock", Model: "gpt-5", BaseURL: url + "/v1", HTTPClient: c})
		}},
		{"responses", `system user assistant assistant:read{"path":"a.txt"} tool:2 and 2 | read list`, func(url string, c *http.Client) model.Model {
			return openairesponses.New(openairesponses.Config{Provider: "mock", Model: "gpt-5", BaseURL: url + "/v1", HTTPClient: c})
		}},
		{"messages", usual, func(url string, c *http.Client) model.Model {
			return anthropic.New(anthropic.Config{Provider: "mock", Model: "claude-opus-5", BaseURL: url, HTTPClient: c})
		}},
		{"gemini", `system user assistant:read{"path":"a.txt"} tool:{"output":"2 and 2"} | read list`, func(url string, c *http.Client) model.Model {
			return gemini.New(gemini.Config{Provider: "mock", Model: "gemini-3-flash", BaseURL: url + "/v1beta", HTTPClient: c})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := c.at(url, wiretest.Client(t))
			r := wiretest.Request(wiretest.Text(message.User, "How many?"))
			first := last(t, m, r)
			calls := first.Calls()
			if first.Text() != "I look." || len(calls) != 1 || calls[0].Name != "read" || string(calls[0].Input) != `{"path":"a.txt"}` {
				t.Fatalf("answer %+v", first.Parts)
			}
			r.Messages = append(r.Messages, first, &message.Message{Role: message.Tool, Parts: []message.Part{
				message.ToolResult{Call: calls[0].ID, Name: "read", Parts: []message.Part{message.Text{Text: "2 and 2"}}},
			}})
			second := last(t, m, r)
			thought := ""
			for _, p := range second.Parts {
				if p, ok := p.(message.Thinking); ok {
					thought += p.Text
				}
			}
			if second.Text() != "It is four." || thought != "Two and two." {
				t.Errorf("answer %+v", second.Parts)
			}
			if d := cmp.Diff(c.hears, understood(t, url)); d != "" {
				t.Error(d)
			}
		})
	}
}

func last(t *testing.T, m model.Model, r *model.Request) *message.Message {
	t.Helper()
	chunks, err := wiretest.Collect(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	return chunks[len(chunks)-1].Done
}

// understood is the outline of the last request that aimock had.
func understood(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url + "/__aimock/journal")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var journal []entry
	if err := json.NewDecoder(res.Body).Decode(&journal); err != nil || len(journal) == 0 {
		t.Fatalf("the journal has %d entries: %v", len(journal), err)
	}
	var words []string
	body := journal[len(journal)-1].Body
	for _, m := range body.Messages {
		word := m.Role
		for _, c := range m.Calls {
			word += ":" + c.Function.Name + c.Function.Arguments
		}
		if text, ok := m.Content.(string); ok && m.Role == "tool" {
			word += ":" + text
		}
		words = append(words, word)
	}
	words = append(words, "|")
	for _, tool := range body.Tools {
		words = append(words, tool.Function.Name)
	}
	return strings.Join(words, " ")
}
