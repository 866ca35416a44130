package resolve

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const variables = `[provider]
provider = "${MY_PROVIDER}"
model = "${MY_MODEL}"

[agent]
workspace = "${MY_DIR}"
system_prompt = "Serve ${TEAM}, for $${TEAM}."
`

// TestVariables: values of a config profile are filled in where a run uses
// them, and what explains the run shows them as they are written.
func TestVariables(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake, "work/x": ""})
	for k, v := range map[string]string{"MY_PROVIDER": "fake", "MY_MODEL": "text", "MY_DIR": "work", "TEAM": "the-core-team"} {
		w.vars[k] = v
	}
	s, _, err := Spec(w.input(t, "agent.toml", variables))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Model.String() + " " + strings.TrimPrefix(s.Workspace, w.dir) + " " + s.Prompt[0].Text; got != "fake/text /work Serve the-core-team, for ${TEAM}." {
		t.Errorf("resolved %q", got)
	}
	data, err := json.Marshal(Explain(s).Fields)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"${MY_PROVIDER}"`, `"${MY_MODEL}"`, `"${MY_DIR}"`, `"Serve ${TEAM}, for $${TEAM}."`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not explained", want)
		}
	}
	if strings.Contains(string(data), "the-core-team") {
		t.Error("what a variable holds is shown")
	}
}

func TestVariablesOnlyWhereUsed(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake, "work/x": ""})
	w.vars["MY_PROVIDER"], w.vars["MY_MODEL"], w.vars["MY_DIR"] = "fake", "text", "work"
	_, _, err := Spec(w.input(t, "agent.toml", variables))
	var value *ValueError
	if !errors.As(err, &value) || value.Key != "system-prompt" || value.At.Line != 7 || !strings.Contains(err.Error(), "TEAM is not set") {
		t.Errorf("a missing variable: %v", err)
	}
	in := w.input(t, "agent.toml", variables)
	in.Overrides = map[string]string{"system-prompt": "Plain ${TEAM}."}
	s, _, err := Spec(in)
	if err != nil || s.Prompt[0].Text != "Plain ${TEAM}." {
		t.Errorf("overridden, and asked for: %v", err)
	}
	native, _, err := Spec(w.input(t, "profiles/a.md", "---\nmodel: fake/text\n---\nUse ${TEAM}."))
	if err != nil || native.Prompt[0].Text != "Use ${TEAM}." {
		t.Errorf("a native profile has no variables: %v", err)
	}
}
