package host_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/internal/peers"
	"github.com/rosterrun/roster/model/script"
)

// TestOpenAILibraries has the libraries of OpenAI for Node and of Vercel, unmodified,
// list models, stream, have tools called and make their own errors.
func TestOpenAILibraries(t *testing.T) {
	s := openSite(t, siteOptions{model: (&script.Script{Loop: true, Replies: []script.Reply{
		{When: script.When{Contains: "What is the weather?"}, Tools: []script.Call{{Name: "weather", Input: `{"city":"Bern"}`}}},
		{When: script.When{Contains: "Bern has 12 degrees"}, Text: "It is cold."},
		{When: script.When{Contains: "Hi"}, Text: "Good day to you.", Usage: &script.Usage{Input: 100, Output: 7}},
	}}).Model("fake/text")})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", "testdata/openai.mjs", peers.Dir(t), s.url).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := strings.Join([]string{
		`["models",["echo","fast","nomodel","team/echo"]]`,
		`["model","team/echo"]`,
		`["whole",["Good day to you.","stop",107]]`,
		`["stream",["Good day to you.",107]]`,
		`["tools","It is cold."]`,
		`["unknown",["NotFoundError",404,"model_not_found",null]]`,
		`["bad",["BadRequestError",400,"InvalidField","n"]]`,
		`["ai",["Good day to you.","stop",107]]`,
		`["ai tools","It is cold."]`,
	}, "\n") + "\n"
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
