package schema

// The shapes of larger maps. None is ever written.
var (
	permissionShape = effect.or(ruleMap.or(ruleList)).saying("`allow`, `ask`, `deny`, a map of tools to these or to maps of subjects to these, or a list of maps")
	ruleMap         = Shape{Kind: Map, Each: ref(effect.or(Shape{Kind: Map, Each: &effect}))}
	ruleList        = Shape{Kind: List, Each: ref(dict(
		Key{Name: "tool", Shape: text.filled(), Acts: true, Meaning: "the tool's name; `*` and `?` are wild"},
		Key{Name: "subject", Shape: text.filled(), Acts: true, Default: "*", Meaning: "a path, command, address or name, with wildcards"},
		Key{Name: "effect", Shape: effect, Acts: true, Meaning: "what happens"},
	))}

	server = dict(
		Key{Name: "command", Shape: text, Acts: true, Meaning: "the program of a server on this machine"},
		Key{Name: "args", Shape: list, Acts: true, Meaning: "its arguments"},
		Key{Name: "env", Shape: texts, Acts: true, Meaning: "variables that it gets, besides those that hold no keys; `${VAR}` and `${VAR:-text}` are filled in when it starts, here and in all other texts"},
		Key{Name: "dir", Shape: text, Acts: true, Default: "the workspace", Meaning: "the folder that it starts in"},
		Key{Name: "url", Shape: text, Acts: true, Meaning: "the address of a server elsewhere"},
		Key{Name: "headers", Shape: texts, Acts: true, Meaning: "headers that it is sent"},
		Key{Name: "timeout", Shape: duration, Acts: true, Default: "60s", Meaning: "the longest that a call may take"},
		Key{Name: "tools", Shape: list, Acts: true, Default: "all", Meaning: "the only ones of its tools that count, by its own names"},
		Key{Name: "without", Shape: list, Acts: true, Meaning: "those of its tools that do not"},
		Key{Name: "resources", Shape: list, Acts: true, Meaning: "URIs of resources that are added to each request"},
		Key{Name: "roots", Shape: boolean, Acts: true, Default: "false", Meaning: "it is told where the workspace is"},
		Key{Name: "trust-annotations", Shape: boolean, Acts: true, Default: "false", Meaning: "what it says of its tools' safety counts"},
		Key{Name: "enabled", Shape: boolean, Acts: true, Default: "true", Meaning: "`false` takes the server of that name away, as `NAME: false` does"},
		Key{Name: "type", Shape: text, Acts: true, Meaning: "as other tools write it; it follows from `command` or `url`"},
		Key{Name: "description", Shape: text, Acts: true, Meaning: "what it is for, for people"},
	)

	hookShape = dict(hook("before-loop", "before a prompt begins a loop: allow, rewrite, deny"),
		hook("on-message", "before a user's message is delivered: allow, rewrite, deny; after an answer of the model: allow, deny"),
		hook("before-turn", "before a model call: allow, deny"),
		hook("before-tool", "before a call is judged: allow, rewrite, deny"),
		hook("on-permission", "when the rules have judged a call: allow, ask, approve, deny"),
		hook("after-tool", "before the model gets a result: allow, rewrite, deny"),
		hook("after-turn", "after a model call and its tools: allow, deny"),
		hook("after-loop", "after the end of a loop, to be told of it"))
	hooks = Shape{Kind: List, Each: ref(dict(
		Key{Name: "command", Shape: text, Acts: true, Meaning: "a line for bash, which gets JSON and answers with JSON"},
		Key{Name: "url", Shape: text, Acts: true, Meaning: "or an address that JSON is posted to"},
		Key{Name: "match", Shape: text, Acts: true, Default: "*", Meaning: "the tools that it is asked about, as in permission rules; for events of tools"},
		Key{Name: "timeout", Shape: duration, Acts: true, Default: "10s", Meaning: "how long it may take, at most 10m; then it denies"},
	))}

	contextShape = dict(
		Key{Name: "window", Shape: atLeast1, Acts: true, Default: "the model's", Meaning: "tokens that a request may have"},
		Key{Name: "reserve", Shape: Shape{Kind: Count}, Acts: true, Default: "the longest answer, at most a quarter", Meaning: "tokens of it that are kept free for the answer"},
		Key{Name: "compact-at", Shape: fraction, Acts: true, Default: "0.85", Meaning: "the share of the window at which it is compacted"},
		Key{Name: "keep-first", Shape: Shape{Kind: Count}, Acts: true, Default: "2", Meaning: "turns at the start that stay"},
		Key{Name: "keep-recent", Shape: Shape{Kind: Count}, Acts: true, Default: "10", Meaning: "turns at the end that stay"},
		Key{Name: "strategy", Shape: word("summary", "prune", "none"), Acts: true, Default: "summary", Meaning: "what becomes of the others: `prune` leaves them out, `none` sends all"},
		Key{Name: "max-result", Shape: Shape{Kind: Count}, Acts: true, Default: "6000", Meaning: "tokens of a tool's result that are sent; what is more can be read as an artifact. 0: all"},
		Key{Name: "summariser", Shape: text, Acts: true, Default: "the profile itself", Meaning: "the profile that writes the summary"},
		Key{Name: "providers", Shape: list, Acts: true, Meaning: "what adds to each request, by the names that the program gave them"},
	)

	planning = boolean.or(dict(
		Key{Name: "enabled", Shape: boolean, Acts: true, Default: "true", Meaning: "on, with the rest of this map"},
		Key{Name: "mandatory", Shape: boolean, Acts: true, Default: "false", Meaning: "simple requests are planned too"},
		Key{Name: "analysis", Shape: boolean, Acts: true, Default: "true", Meaning: "the call that says what the task is"},
		Key{Name: "review", Shape: boolean, Acts: true, Default: "false", Meaning: "the call that looks for faults in the plan"},
		Key{Name: "plan", Shape: boolean, Acts: true, Default: "true", Meaning: "the call that writes the plan"},
	))
	habitShape = dict(
		Key{Name: "planning", Shape: planning, Acts: true, Default: "false", Meaning: "the same as the key `planning`"},
		habit("planning-reflect", "false", "the plan is reviewed when its analysis asks for it"),
		habit("iteration-budget", "true", "the model is told how many turns are left"),
		Key{Name: "goal-anchoring", Acts: true, Default: "true", Meaning: "the goal is said again from time to time", Shape: boolean.or(dict(
			habit("enabled", "true", "on, with the rest of this map"),
			Key{Name: "interval", Shape: atLeast1, Acts: true, Default: "5", Meaning: "every so many turns"},
		))},
		Key{Name: "anti-stall", Acts: true, Default: "true", Meaning: "a run without progress is nudged, then ended", Shape: boolean.or(dict(
			habit("enabled", "true", "on, with the rest of this map"),
			Key{Name: "threshold", Shape: atLeast1, Acts: true, Default: "8", Meaning: "turns without progress"},
		))},
		habit("step-validation", "false", "a step counts as done only with how it was checked"),
		habit("adaptive-replan", "false", "after a failed step the rest of the plan is made anew"),
		habit("think", "true", "extended thinking, at the level of `thinking`"),
	)

	block = text.or(dict(
		Key{Name: "text", Shape: text, Meaning: "the same"},
		Key{Name: "order", Shape: Shape{Kind: Count}, Meaning: "smaller numbers come first"},
		Key{Name: "max-length", Shape: atLeast1, Meaning: "characters before it is cut"},
	))
)

func ref(s Shape) *Shape { return &s }

func hook(name, when string) Key {
	return Key{Name: name, Shape: hooks, Acts: true, Meaning: when}
}

func habit(name, byDefault, meaning string) Key {
	return Key{Name: name, Shape: boolean, Acts: true, Default: byDefault, Meaning: meaning}
}
