package resolve

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

const variables = `[provider]
provider = "${MY_PROVIDER}"
model = "${MY_MODEL}"

[agent]
workspace = "${MY_DIR}"
system_prompt = "Serve ${TEAM}, for $${TEAM}."
`

// own is the path of a file in the user's folder.
func (w *world) own(name string) string { return filepath.Join(w.vars["ROSTER_HOME"], "agents", name) }

// TestVariablesOfAWorkspace: a cloned file takes nothing out of the environment.
func TestVariablesOfAWorkspace(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake, "work/x": ""})
	w.vars["MY_PROVIDER"], w.vars["MY_MODEL"], w.vars["MY_DIR"], w.vars["TEAM"] = "fake", "text", "work", "secret"
	for _, file := range []string{"agent.toml", filepath.Join(w.dir, "agents", "agent.toml"), filepath.Join(w.vars["ROSTER_HOME"], "..", "agent.toml")} {
		_, _, err := Spec(w.cloned(t, file, variables))
		if !errors.Is(err, profile.ExecutingKey) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestVariables: values of a config profile are filled in where a run uses
// them, and what explains the run shows them as they are written.
func TestVariables(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake, "work/x": ""})
	for k, v := range map[string]string{"MY_PROVIDER": "fake", "MY_MODEL": "text", "MY_DIR": "work", "TEAM": "the-core-team"} {
		w.vars[k] = v
	}
	s, _, err := Spec(w.cloned(t, w.own("agent.toml"), variables))
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
	_, _, err := Spec(w.cloned(t, w.own("agent.toml"), variables))
	var value *ValueError
	if !errors.As(err, &value) || value.Key != "system-prompt" || value.At.Line != 7 || !strings.Contains(err.Error(), "TEAM is not set") {
		t.Errorf("a missing variable: %v", err)
	}
	in := w.cloned(t, w.own("agent.toml"), variables)
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

// TestBlocks: a prompt of blocks, some from files, is put together for a run.
func TestBlocks(t *testing.T) {
	w := newWorld(t, map[string]string{"prompts/task.md": "Sort the letters of ${TEAM}.\n", "prompts/long.md": strings.Repeat("é", 1200)})
	const file = "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"{{main}}\"\n[[system_prompt.instances]]\nid = \"main\"\ntype = \"minimal\"\n"
	s, ds, err := Spec(w.input(t, "agent.toml", file+"task = \"file:prompts/task.md\"\nidentity = \"file:prompts/long.md\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("é", 1000) + "\n\nSort the letters of ${TEAM}."; s.Prompt[0].Text != want {
		t.Errorf("prompt %q", s.Prompt[0].Text)
	}
	if len(ds) != 1 || ds[0].Code != "P152" || s.Origins["system-prompt"].Origin.Line != 4 {
		t.Errorf("%v, %+v", ds, s.Origins["system-prompt"])
	}
	w.vars["TEAM"] = "the-core-team"
	s, _, err = Spec(w.cloned(t, w.own("agent.toml"), file+"identity = \"You serve ${TEAM}.\"\ntask = \"file:prompts/task.md\"\n"))
	if err != nil || !strings.HasPrefix(s.Prompt[0].Text, "You serve the-core-team.\n\nSort the letters of ${TEAM}.") {
		t.Errorf("%v", err)
	}
	if data, _ := json.Marshal(Explain(s)); strings.Contains(string(data), "the-core-team") {
		t.Error("what a variable holds is shown")
	}
	for _, task := range []string{"file:none.md", "file:../x", "{{other}}", "${NONE}"} {
		if _, _, err := Spec(w.cloned(t, w.own("agent.toml"), file+"identity = \"file:prompts/task.md\"\ntask = \""+task+"\"\n")); err == nil || !strings.HasPrefix(err.Error(), w.own("agent.toml")+":4:1: ") {
			t.Errorf("%s: %v", task, err)
		}
	}
}
