package dialect

import (
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

type setKey struct {
	key string
	at  source.Origin
}

// setKeys lists the native keys that a profile sets.
func setKeys(p *profile.Profile) []setKey {
	var out []setKey
	add := func(set bool, key string, at source.Origin) {
		if set {
			out = append(out, setKey{key, at})
		}
	}
	add(p.Title.Set, "title", p.Title.At)
	add(p.Description.Set, "description", p.Description.At)
	add(p.Summary.Set, "summary", p.Summary.At)
	add(p.Details.Set, "details", p.Details.At)
	add(p.Mode.Set, "mode", p.Mode.At)
	add(p.Hidden.Set, "hidden", p.Hidden.At)
	add(p.Extends.Set, "extends", p.Extends.At)
	add(p.Provider.Set, "provider", p.Provider.At)
	add(p.Model.Set, "model", p.Model.At)
	add(p.Temperature.Set, "temperature", p.Temperature.At)
	add(p.TopP.Set, "top-p", p.TopP.At)
	add(p.MaxTokens.Set, "max-tokens", p.MaxTokens.At)
	add(p.Thinking.Set, "thinking", p.Thinking.At)
	add(p.SystemPrompt.Set, "system-prompt", p.SystemPrompt.At)
	add(p.SubagentPrompt.Set, "subagent-prompt", p.SubagentPrompt.At)
	add(p.Persona.Set, "persona", p.Persona.At)
	add(p.Tools.Set, "tools", p.Tools.At)
	add(len(p.ToolSettings) > 0, "tool-settings", source.Origin{File: p.File})
	if len(p.Permission) > 0 {
		add(true, "permission", p.Permission[0].At)
	}
	add(p.DefaultPermission.Set, "default-permission", p.DefaultPermission.At)
	add(p.PermissionMode.Set, "permission-mode", p.PermissionMode.At)
	add(p.Limits.Turns.Set, "limits.turns", p.Limits.Turns.At)
	add(p.Limits.Tokens.Set, "limits.tokens", p.Limits.Tokens.At)
	add(p.Limits.Duration.Set, "limits.duration", p.Limits.Duration.At)
	add(p.Limits.Cost.Set, "limits.cost", p.Limits.Cost.At)
	add(p.Retry != profile.Retry{}, "retry", source.Origin{File: p.File})
	add(p.ToolExecution.Set, "tool-execution", p.ToolExecution.At)
	add(p.Cache.Set, "cache", p.Cache.At)
	add(p.Steering.Set, "steering", p.Steering.At)
	add(p.FollowUp.Set, "follow-up", p.FollowUp.At)
	add(p.Workspace.Set, "workspace", p.Workspace.At)
	add(p.SubagentTools.Set || p.SubagentMaxDepth.Set, "subagents", subagentsAt(p))
	return out
}

// all writes every key, as the native dialect does.
func (e *encoder) all() {
	p := e.p
	e.text("name", profile.Value[string]{V: p.Name, Set: true})
	e.text("title", p.Title)
	e.text("description", p.Description)
	e.text("summary", p.Summary)
	e.details()
	e.text("mode", p.Mode)
	e.flag("hidden", p.Hidden)
	e.extends()
	e.text("provider", p.Provider)
	e.text("model", p.Model)
	e.float("temperature", p.Temperature)
	e.float("top-p", p.TopP)
	e.integer("max-tokens", p.MaxTokens)
	e.text("thinking", p.Thinking)
	e.tools()
	e.settings("tool-settings")
	e.permission()
	if p.DefaultPermission.Set {
		e.node("default-permission", str(p.DefaultPermission.V.String()))
	}
	e.text("permission-mode", p.PermissionMode)
	e.limits()
	e.retry()
	e.toolExecution()
	e.text("cache", p.Cache)
	e.text("workspace", p.Workspace)
	e.text("steering", p.Steering)
	e.text("follow-up", p.FollowUp)
	e.subagents()
	e.text("subagent-prompt", p.SubagentPrompt)
	e.text("system-prompt", p.SystemPrompt)
	e.extras()
}

func (e *encoder) details() {
	d := e.p.Details
	if !d.Set || e.wrote["details"] {
		return
	}
	var pairs []*yaml.Node
	if d.V.Specialization != "" {
		pairs = append(pairs, str("specialization"), str(d.V.Specialization))
	}
	if d.V.WhenToUse != "" {
		pairs = append(pairs, str("when-to-use"), str(d.V.WhenToUse))
	}
	if d.V.KeyTools != nil {
		pairs = append(pairs, str(plus("key-tools", d.V.AddKeyTools)), list(d.V.KeyTools))
	}
	e.group("details", pairs...)
	if !e.wrote["details"] {
		e.node("details", &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle})
	}
}

func (e *encoder) limits() {
	l := e.p.Limits
	var pairs []*yaml.Node
	if l.Turns.Set && !e.wrote["limits.turns"] {
		pairs = append(pairs, str("turns"), countOrNone(int64(l.Turns.V), false))
	}
	if l.Tokens.Set {
		pairs = append(pairs, str("tokens"), countOrNone(l.Tokens.V, false))
	}
	if l.Duration.Set && !e.wrote["limits.duration"] {
		pairs = append(pairs, str("duration"), durationOrNone(l.Duration.V))
	}
	if l.Cost.Set && l.Cost.V == 0 {
		pairs = append(pairs, str("cost"), scalar("none"))
	} else if l.Cost.Set {
		pairs = append(pairs, str("cost"), formatFloat(l.Cost.V))
	}
	e.group("limits", pairs...)
	for _, k := range []string{"turns", "tokens", "duration", "cost"} {
		e.wrote["limits."+k] = true
	}
}

func (e *encoder) retry() {
	r := e.p.Retry
	var pairs []*yaml.Node
	if r.Max.Set {
		pairs = append(pairs, str("max"), scalar(strconv.Itoa(r.Max.V)))
	}
	if r.Base.Set {
		pairs = append(pairs, str("base"), scalar(r.Base.V.String()))
	}
	if r.Factor.Set {
		pairs = append(pairs, str("factor"), formatFloat(r.Factor.V))
	}
	if r.Cap.Set {
		pairs = append(pairs, str("cap"), scalar(r.Cap.V.String()))
	}
	e.group("retry", pairs...)
}

func (e *encoder) toolExecution() {
	t := e.p.ToolExecution
	if !t.Set {
		return
	}
	pairs := []*yaml.Node{str("strategy"), str(t.V.Strategy)}
	if t.V.Size > 0 {
		pairs = append(pairs, str("size"), scalar(strconv.Itoa(t.V.Size)))
	}
	e.group("tool-execution", pairs...)
}

func (e *encoder) subagents() {
	var pairs []*yaml.Node
	if t := e.p.SubagentTools; t.Set {
		pairs = append(pairs, str(plus("tools", e.p.SubagentToolsAdd)), list(t.V))
	}
	if m := e.p.SubagentMaxDepth; m.Set {
		pairs = append(pairs, str("max-depth"), scalar(strconv.Itoa(m.V)))
	}
	e.group("subagents", pairs...)
}

// subagentsAt is the place of the first key of subagents that is set.
func subagentsAt(p *profile.Profile) source.Origin {
	if p.SubagentTools.Set {
		return p.SubagentTools.At
	}
	return p.SubagentMaxDepth.At
}
