package resolve

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/rosterrun/roster/spec"
)

// fieldKeys says by which native key each field of a spec is explained.
var fieldKeys = map[string]string{
	"Name": "name", "ProfileID": "profile-id", "ConfigID": "config-id", "Title": "title", "Description": "description", "Revision": "revision", "Mode": "mode",
	"Model.Provider": "provider", "Model.ID": "model", "Model.ContextWindow": "context-window", "Model.MaxOutput": "max-output",
	"Model.Price.Input": "input-price", "Model.Price.Output": "output-price",
	"Model.Price.CacheRead": "cache-read-price", "Model.Price.CacheWrite": "cache-write-price",
	"Params.Temperature": "temperature", "Params.TopP": "top-p", "Params.MaxTokens": "max-tokens", "Params.Thinking": "thinking",
	"Model.Thinking": "thinking-levels", "Model.ThinksAlone": "model",
	"Prompt": "system-prompt", "Skills": "skills", "SkillsBudget": "skills-budget", "Tools": "tools", "AllTools": "tools", "ToolSettings": "tool-settings", "ToolTimeout": "tool-timeout", "RotateAfter": "session.rotate-after",
	"Rules": "permission", "HostRules": "policy.permission", "DefaultPermission": "default-permission",
	"PermissionMode": "permission-mode",
	"Limits.Turns":   "limits.turns", "Limits.Tokens": "limits.tokens", "Limits.Duration": "limits.duration", "Limits.Cost": "limits.cost",
	"Limits.Set": "limits.turns",
	"Retry.Max":  "retry.max", "Retry.Base": "retry.base", "Retry.Factor": "retry.factor", "Retry.Cap": "retry.cap",
	"ToolExecution.Strategy": "tool-execution", "ToolExecution.Size": "tool-execution",
	"Cache": "cache", "CacheBreakpoints": "cache-breakpoints", "Steering": "steering", "FollowUp": "follow-up", "Workspace": "workspace", "Worktree": "workspace", "Fallbacks": "fallbacks",
	"Subagents.MaxDepth": "subagents.max-depth", "Subagents.MaxParallel": "subagents.max-parallel", "Subagents.Tools": "subagents.tools",
	"Subagents.Prompt": "subagents.prompt", "Subagents.InheritDenies": "subagents.inherit-denies", "Model.NoSampling": "model", "Hooks": "hooks", "Servers": "mcp-servers", "Services": "openapi",
	"Context.Window": "context.window", "Context.Reserve": "context.reserve", "Context.CompactAt": "context.compact-at",
	"Context.KeepFirst": "context.keep-first", "Context.KeepRecent": "context.keep-recent", "Context.Strategy": "context.strategy",
	"Context.MaxResult": "context.max-result", "Context.Summariser": "context.summariser", "Context.Providers": "context.providers",
	"Sandbox.Kind": "sandbox.kind", "Sandbox.Preset": "sandbox.preset", "Sandbox.Read": "sandbox.read", "Sandbox.NoNetwork": "sandbox.network",
	"Sandbox.Image":      "sandbox.image",
	"Limits.FinalAnswer": "limits.final-answer",
	"Habits.Planning.On": "planning", "Habits.Planning.Mandatory": "planning", "Habits.Planning.Analysis": "planning",
	"Habits.Planning.Review": "planning", "Habits.Planning.Plan": "planning",
	"Subagents.Planning.On": "subagents.planning", "Subagents.Planning.Mandatory": "subagents.planning",
	"Subagents.Planning.Analysis": "subagents.planning", "Subagents.Planning.Review": "subagents.planning", "Subagents.Planning.Plan": "subagents.planning",
	"Habits.PlanningReflect": "habits.planning-reflect", "Habits.IterationBudget": "habits.iteration-budget",
	"Habits.GoalAnchoring": "habits.goal-anchoring", "Habits.AntiStall": "habits.anti-stall",
	"Habits.StepValidation": "habits.step-validation", "Habits.AdaptiveReplan": "habits.adaptive-replan",
}

// TestNoFieldWithoutOrigin walks the fields of a spec: each has a native key,
// the key has an origin with a layer, and explain shows it.
func TestNoFieldWithoutOrigin(t *testing.T) {
	w := newWorld(t, nil)
	s, _, err := Spec(w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n---\n."))
	if err != nil {
		t.Fatal(err)
	}
	explained := Explain(s).Fields
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		for f := range typ.Fields() {
			name := strings.TrimPrefix(path+"."+f.Name, ".")
			switch name {
			case "Origins", "Files", "Withheld", "Trusted", "HostNow", "Targets", "Switches", "Above", "Coded", "Code": // not of the profile
				continue
			}
			if f.Type.Kind() == reflect.Struct {
				walk(name, f.Type)
				continue
			}
			key, ok := fieldKeys[name]
			if !ok {
				t.Errorf("the field %s has no native key", name)
				continue
			}
			if s.Origins[key].Origin.Layer == "" {
				t.Errorf("%s (%s) has no origin", key, name)
			}
			if explained[key].Origin.Layer == "" {
				t.Errorf("%s (%s) is not explained", key, name)
			}
		}
	}
	walk("", reflect.TypeFor[spec.Spec]())
	for key := range s.Origins {
		if _, ok := explained[key]; !ok {
			t.Errorf("%s has an origin and is not explained", key)
		}
	}
}

func TestExplain(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake + "defaults: {temperature: 0.9}\n", "AGENTS.md": "Use tabs."})
	s, _, err := Spec(w.input(t, "profiles/reviewer.md", reviewer))
	if err != nil {
		t.Fatal(err)
	}
	e := Explain(s)
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name, Revision string
		Fields         map[string]struct {
			Value  any
			Origin struct {
				Layer, File string
				Line        int
			}
			Overrides []struct {
				Layer, File string
				Line        int
			}
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	f := got.Fields["temperature"]
	if got.Name != "reviewer" || f.Value != 0.3 || f.Origin.Layer != "profile" || f.Origin.File != "profiles/reviewer.md" || f.Origin.Line != 5 ||
		len(f.Overrides) != 1 || f.Overrides[0].Layer != "defaults" || f.Overrides[0].Line != 7 {
		t.Errorf("temperature = %+v in %s", f, data)
	}
	if !strings.Contains(string(data), `"overrides":[]`) {
		t.Error("a field that overrode nothing has no empty list")
	}
	var b strings.Builder
	if err := e.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), w.dir, "WS")
	for _, want := range []string{
		"temperature               0.3 ", "profiles/reviewer.md:5", "(over roster.yaml:7)", `bash "git *" allow`, "tool-settings.read", `{"limit":100}`, "AGENTS.md",
		"limits.duration           10m ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var back Explanation
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := back.WriteText(&again); err != nil || again.String() != b.String() {
		t.Errorf("read back it says (%v)\n%s\nand not\n%s", err, again.String(), b.String())
	}
	if got, err := json.Marshal(back); err != nil || string(got) != string(data) {
		t.Errorf("read back it is (%v)\n%s\nand not\n%s", err, got, data)
	}
}
