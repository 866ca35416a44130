package schema

// Shapes that several keys have.
var (
	text      = Shape{Kind: Text}
	boolean   = Shape{Kind: Bool}
	duration  = Shape{Kind: Duration}
	list      = Shape{Kind: List}
	texts     = Shape{Kind: Map, Each: &text}
	atLeast1  = Shape{Kind: Count, Low: 1}
	fraction  = Shape{Kind: Number, Low: 0, High: 1}
	queue     = word("one-at-a-time", "all")
	price     = Shape{Kind: Number, Low: 0, High: 1e6}
	effect    = word("allow", "ask", "deny")
	strategy  = word("parallel", "sequential", "batched")
	sandboxes = word("none", "landlock", "bubblewrap", "docker", "public", "maintenance")
)

func word(words ...string) Shape { return Shape{Kind: Word, Words: words} }

func dict(keys ...Key) Shape { return Shape{Kind: Map, Keys: keys} }

func (s Shape) or(other Shape) Shape {
	s.Or = &other
	return s
}

func (s Shape) orNone() Shape {
	s.None = true
	return s
}

func (s Shape) saying(words string) Shape {
	s.Says = words
	return s
}

func (s Shape) filled() Shape {
	s.Filled = true
	return s
}

// keys is never written.
var keys = [...]Key{
	{Name: "name", Shape: text.filled(), Acts: true, Own: true, Default: "from the path", Meaning: "the key in the catalog: segments of letters, digits, `.`, `_`, `-`, joined by `/`"},
	{Name: "title", Shape: text, Acts: true, Own: true, Meaning: "the name for people"},
	{Name: "description", Shape: text, Acts: true, Meaning: "what the profile is for, for people and for agents that delegate"},
	{Name: "summary", Shape: text, Acts: true, Default: "the first sentence of `description`", Meaning: "the same in one line"},
	{Name: "details", Acts: true, Meaning: "more for agents that delegate", Shape: dict(
		Key{Name: "specialization", Shape: text, Acts: true, Meaning: "what it does better than others"},
		Key{Name: "when-to-use", Shape: text, Acts: true, Meaning: "the tasks that it should be given"},
		Key{Name: "key-tools", Shape: list, Acts: true, Adds: true, Meaning: "the tools that set it apart"},
	)},
	{Name: "mode", Shape: word("all", "primary", "subagent"), Acts: true, Default: "all", Meaning: "whether people start it, agents delegate to it, or both"},
	{Name: "hidden", Shape: boolean, Acts: true, Own: true, Default: "false", Meaning: "agents are not told of it"},
	{Name: "extends", Shape: list, Acts: true, Own: true, Meaning: "the profiles that this one builds on"},
	{Name: "profile-id", Shape: text, Acts: true, Own: true, Default: "a UUID that follows from the name", Meaning: "names the profile across renames"},
	{Name: "config-id", Shape: text, Acts: true, Own: true, Default: "another one", Meaning: "names the configuration by which loops are numbered"},

	{Name: "provider", Shape: text.filled(), Acts: true, Meaning: "the provider of `model`"},
	{Name: "model", Shape: text.filled(), Acts: true, Meaning: "`provider/model-id`, an id with `provider`, an alias, or `inherit`"},
	{Name: "fallbacks", Shape: list, Acts: true, Adds: true, Meaning: "models that are tried in order when the model's provider is overloaded or down"},
	{Name: "model-config", Meaning: "what is to be known of a model that the catalog lacks", Shape: dict(
		Key{Name: "api", Shape: word("openai-chat", "openai-responses", "anthropic", "gemini", "script", "builtin"), Meaning: "the wire protocol"},
		Key{Name: "base-url", Shape: text, Meaning: "where the provider is"},
		Key{Name: "key-env", Shape: text, Meaning: "the variable that holds the key"},
		Key{Name: "context-window", Shape: atLeast1, Meaning: "tokens that a request may have"},
		Key{Name: "max-output", Shape: atLeast1, Meaning: "tokens that an answer may have"},
		Key{Name: "prices", Meaning: "US dollars per million tokens", Shape: dict(
			Key{Name: "input", Shape: price, Meaning: "sent"},
			Key{Name: "output", Shape: price, Meaning: "answered"},
			Key{Name: "cache-read", Shape: price, Meaning: "read from the provider's cache"},
			Key{Name: "cache-write", Shape: price, Meaning: "written to it"},
		)},
	)},
	{Name: "temperature", Shape: Shape{Kind: Number, Low: 0, High: 2}, Acts: true, Default: "the provider's", Meaning: "how freely the model chooses its words"},
	{Name: "top-p", Shape: fraction, Acts: true, Default: "the provider's", Meaning: "the share of likely words that it chooses from"},
	{Name: "max-tokens", Shape: atLeast1, Acts: true, Default: "the model's", Meaning: "the longest answer, in tokens"},
	{Name: "thinking", Shape: word("off", "minimal", "low", "medium", "high"), Acts: true, Default: "medium where the model can, else off", Meaning: "how much the model thinks before it answers"},

	{Name: "tools", Acts: true, Adds: true, Default: "*", Meaning: "what it may be offered: names, `*`, or a map of names to true and false; `bash(git *)` is also an allow rule",
		Shape: list.or(Shape{Kind: Map, Each: &boolean}).saying("a list of texts, or a map of names to true or false")},
	{Name: "tool-settings", Acts: true, Meaning: "settings of tools; an unknown one is an error", Shape: toolSettings()},
	{Name: "permission", Acts: true, Meaning: "rules by tool and subject in order; the last that matches decides", Shape: permissionShape},
	{Name: "default-permission", Shape: effect, Acts: true, Default: "ask", Meaning: "what holds where no rule matches"},
	{Name: "permission-mode", Shape: word("default", "plan", "accept-edits", "dont-ask", "bypass"), Acts: true, Default: "default", Meaning: "what becomes of questions; `plan` also denies what does not only read, `bypass` counts only with `--dangerously-allow-all`"},
	{Name: "limits", Acts: true, Meaning: "where a run ends; the host's policy may set smaller ones", Shape: dict(
		Key{Name: "turns", Shape: atLeast1.orNone(), Acts: true, Default: "50", Meaning: "model calls"},
		Key{Name: "tokens", Shape: atLeast1.orNone(), Acts: true, Default: "1000000", Meaning: "uncached input, cache writes and output together"},
		Key{Name: "duration", Shape: duration.orNone(), Acts: true, Default: "10m", Meaning: "time at work, without waiting for people"},
		Key{Name: "cost", Shape: Shape{Kind: Number, Low: 0.000001, High: 1e9, None: true}, Acts: true, Default: "none", Meaning: "US dollars"},
		Key{Name: "final-answer", Shape: boolean, Acts: true, Default: "false", Meaning: "one last call without tools sums up"},
	)},
	{Name: "retry", Acts: true, Meaning: "model calls that fail for a passing reason", Shape: dict(
		Key{Name: "max", Shape: Shape{Kind: Count}, Acts: true, Default: "3", Meaning: "tries after the first"},
		Key{Name: "base", Shape: duration, Acts: true, Default: "1s", Meaning: "the first pause"},
		Key{Name: "factor", Shape: Shape{Kind: Number, Low: 1, High: 100}, Acts: true, Default: "2", Meaning: "how much longer each next one is"},
		Key{Name: "cap", Shape: duration, Acts: true, Default: "30s", Meaning: "the longest pause"},
	)},
	{Name: "tool-execution", Acts: true, Default: "parallel", Meaning: "how the calls of one turn run", Shape: strategy.or(dict(
		Key{Name: "strategy", Shape: strategy, Acts: true, Default: "parallel", Meaning: "the same"},
		Key{Name: "size", Shape: atLeast1, Acts: true, Default: "3", Meaning: "calls at a time when batched"},
	))},
	{Name: "tool-timeout", Shape: duration, Acts: true, Default: "15m", Meaning: "the longest that a tool call may take; what is given to other agents, and what a person is asked, takes as long as it does"},
	{Name: "sandbox", Acts: true, Guard: true, Meaning: "where commands run; `roster.yaml` may set more for all", Shape: sandboxes.or(dict(
		Key{Name: "kind", Shape: word("none", "landlock", "bubblewrap", "docker"), Acts: true, Default: "landlock where the kernel has it", Meaning: "the wall around them"},
		Key{Name: "preset", Shape: word("public", "maintenance"), Acts: true, Meaning: "`public`: no network and no further files of the host; `maintenance`: all of the host may be read"},
		Key{Name: "read", Shape: list, Acts: true, Meaning: "further files and folders that may be read"},
		Key{Name: "network", Shape: boolean, Acts: true, Default: "true with none and landlock, else false", Meaning: "whether they may connect"},
		Key{Name: "image", Shape: text, Acts: true, Meaning: "the image for docker"},
	))},
	{Name: "cache", Shape: word("auto", "manual", "off"), Acts: true, Default: "auto", Meaning: "the provider's prompt cache"},
	{Name: "cache-breakpoints", Shape: list, Acts: true, Default: "all three", Meaning: "what `cache: manual` has the provider keep: `system`, `tools`, `messages` (up to the last but one)"},
	{Name: "workspace", Shape: text, Acts: true, Default: ".", Meaning: "the folder below the root that tools work in; worktree: a git worktree of each session's own"},
	{Name: "steering", Shape: queue, Acts: true, Default: "one-at-a-time", Meaning: "how many waiting steering messages a turn takes"},
	{Name: "follow-up", Shape: queue, Acts: true, Default: "one-at-a-time", Meaning: "how many waiting follow-ups a turn takes when the one before has ended without calls"},
	{Name: "reload", Shape: word("next-loop", "next-turn"), Default: "next-loop", Meaning: "when a running session takes up a changed profile"},

	{Name: "skills", Shape: list, Acts: true, Adds: true, Default: "all but those built in", Meaning: "the [skills](../howto/skills.md) that it may use: names, and patterns with `*`; `[]` is none"},
	{Name: "skills-budget", Shape: atLeast1, Acts: true, Default: "6000, and at most a tenth of the model's window", Meaning: "tokens that the list of skills in the prompt may have"},
	{Name: "mcp-servers", Acts: true, Default: "those of the workspace", Meaning: "MCP servers by name, besides those of the workspace; `NAME: false` takes one away, and a list of names all others", Shape: Shape{Kind: Map, Each: ref(server.or(boolean))}.or(list)},
	{Name: "openapi", Acts: true, Meaning: "services that are called by their OpenAPI documents, by name, or the names of those of roster.yaml that count here", Shape: Shape{Kind: Map, Each: &serviceShape}.or(list)},
	{Name: "hooks", Acts: true, Guard: true, Meaning: "commands or addresses that are asked at each step, and may change or deny it", Shape: hookShape},
	{Name: "memory", Meaning: "what is remembered across sessions", Shape: word("none", "session", "persistent").or(dict(
		Key{Name: "scope", Shape: word("none", "session", "persistent"), Default: "none", Meaning: "how long it is kept"},
		Key{Name: "profile", Shape: text, Meaning: "the profile that extracts it"},
	))},
	{Name: "context", Acts: true, Meaning: "what of a long conversation is sent", Shape: contextShape},
	{Name: "session", Acts: true, Meaning: "the session that a run belongs to", Shape: dict(
		Key{Name: "rotate-after", Shape: duration, Acts: true, Meaning: "a prompt for one that has rested so long begins a new one, with its settings and without its conversation"},
		Key{Name: "scope", Shape: word("ephemeral", "persistent"), Meaning: "whether it is kept"},
	)},
	{Name: "planning", Acts: true, Default: "false", Meaning: "a plan before the first tool call", Shape: planning},
	{Name: "habits", Acts: true, Meaning: "thinking habits", Shape: habitShape},
	{Name: "subagents", Acts: true, Meaning: "agents that this one delegates to", Shape: dict(
		Key{Name: "tools", Shape: list, Acts: true, Adds: true, Meaning: "what they may be offered, at most"},
		Key{Name: "planning", Shape: planning, Acts: true, Default: "false", Meaning: "whether they plan, as under `planning`"},
		Key{Name: "prompt", Shape: text, Acts: true, Meaning: "added to each one's prompt"},
		Key{Name: "max-depth", Shape: Shape{Kind: Count}, Acts: true, Default: "3", Meaning: "how deep they may delegate in turn; 0: not at all"},
		Key{Name: "max-parallel", Shape: atLeast1, Acts: true, Meaning: "how many run at a time"},
		Key{Name: "inherit-denies", Shape: boolean, Acts: true, Guard: true, Default: "false", Meaning: "the deny rules of this profile hold for them too"},
	)},
	{Name: "vars", Shape: texts, Acts: true, Meaning: "texts by name, for `{{ .Vars.name }}` in prompts"},
	{Name: "prompt", Acts: true, Meaning: "a prompt made of blocks; with it the body is documentation", Shape: dict(
		Key{Name: "strategy", Shape: text, Meaning: "`agent`, `minimal`, `custom`, or one of roster.yaml"},
		Key{Name: "blocks", Meaning: "the blocks by name; each text or `file:PATH`", Shape: Shape{Kind: Map, Each: &block}.saying("a map of names to text or maps")},
	)},
	{Name: "subagent-prompt", Shape: text, Acts: true, Meaning: "the prompt when this profile runs as a subagent"},
	{Name: "system-prompt", Shape: text, Acts: true, Default: "the body", Meaning: "text, `file:PATH` in the workspace, or `{{name}}`; with it the body is documentation"},
}
