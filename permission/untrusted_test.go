package permission

import "testing"

// TestUntrusted: the allow rules of a workspace that nobody trusts count as ask,
// where nobody else's rule allows the same; its ask and deny hold.
func TestUntrusted(t *testing.T) {
	theirs := func(tool, subject string, effect Effect) Rule {
		return Rule{Tool: tool, Subject: subject, Effect: effect, Untrusted: true}
	}
	for _, c := range []struct {
		name          string
		mine, theirs  []Rule
		tool, subject string
		want          Effect
		reason        string
	}{
		{name: "an allow counts as ask", theirs: []Rule{theirs("bash", "git *", Allow)}, tool: "bash", subject: "git status", want: Ask, reason: ReasonUntrusted},
		{name: "also one that narrows a deny", theirs: []Rule{theirs("bash", "*", Deny), theirs("bash", "git *", Allow)}, tool: "bash", subject: "git status", want: Ask, reason: ReasonUntrusted},
		{name: "a deny holds", theirs: []Rule{theirs("bash", "*", Deny), theirs("bash", "git *", Allow)}, tool: "bash", subject: "rm x", want: Deny, reason: ReasonRule},
		{name: "an ask holds", theirs: []Rule{theirs("read", "*", Ask)}, tool: "read", subject: "a", want: Ask, reason: ReasonRule},
		{name: "what is built in stays allowed", theirs: []Rule{theirs("read", "*", Allow)}, tool: "read", subject: "a", want: Allow, reason: ReasonRule},
		{name: "and no more than that", theirs: []Rule{theirs("read", "*", Allow)}, tool: "read", subject: "a.env", want: Ask, reason: ReasonUntrusted},
		{name: "an allow of everything", theirs: []Rule{theirs("*", "*", Allow)}, tool: "write", subject: "a", want: Ask, reason: ReasonUntrusted},
		{name: "an allow of everything, for what is built in", theirs: []Rule{theirs("*", "*", Allow)}, tool: "glob", subject: "a", want: Allow, reason: ReasonRule},
		{name: "what the user allows stays allowed", mine: []Rule{{Tool: "bash", Subject: "*", Effect: Allow}}, theirs: []Rule{theirs("bash", "git *", Allow)}, tool: "bash", subject: "git status", want: Allow, reason: ReasonRule},
		{name: "what the user denies stays denied", mine: []Rule{{Tool: "bash", Subject: "*", Effect: Deny}}, theirs: []Rule{theirs("bash", "git *", Allow)}, tool: "bash", subject: "git status", want: Deny, reason: ReasonRule},
		{name: "a tool that no other rule knows", theirs: []Rule{theirs("github_merge", "*", Allow)}, tool: "github_merge", subject: "1", want: Ask, reason: ReasonUntrusted},
		{name: "a line that is not simple", theirs: []Rule{theirs("bash", "*", Allow)}, tool: "bash", subject: "a && b", want: Ask, reason: ReasonUntrusted},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := append(append(Builtin(), c.mine...), c.theirs...)
			e, err := Compile(Layers{Rules: rules, Default: Deny})
			if err != nil {
				t.Fatal(err)
			}
			if d := e.Decide(Query{Tool: c.tool, Subject: c.subject}); d.Effect != c.want || d.Reason != c.reason {
				t.Errorf("%s, %s; want %s, %s", d.Effect, d.Reason, c.want, c.reason)
			}
			alone, err := Compile(Layers{Rules: rules, Default: Deny, Headless: true})
			if err != nil {
				t.Fatal(err)
			}
			if d := alone.Decide(Query{Tool: c.tool, Subject: c.subject}); c.reason == ReasonUntrusted && (d.Effect != Deny || d.Reason != ReasonUntrustedAlone) {
				t.Errorf("headless: %s, %s", d.Effect, d.Reason)
			}
		})
	}
}

func TestBeyond(t *testing.T) {
	mine := append(Builtin(), Rule{Tool: "webfetch", Subject: "*", Effect: Allow})
	for _, c := range []struct {
		name string
		rule Rule
		want bool
	}{
		{"glob", Rule{Tool: "glob", Subject: "*", Effect: Allow}, false},
		{"a part of glob", Rule{Tool: "glob", Subject: "src/*", Effect: Allow}, false},
		{"read, with its secrets", Rule{Tool: "read", Subject: "*", Effect: Allow}, true},
		{"bash", Rule{Tool: "bash", Subject: "git *", Effect: Allow}, true},
		{"everything", Rule{Tool: "*", Subject: "*", Effect: Allow}, true},
		{"some tools", Rule{Tool: "*ob", Subject: "*", Effect: Allow}, true},
		{"what the user allows", Rule{Tool: "webfetch", Subject: "https://a/*", Effect: Allow}, false},
		{"a tool that nobody knows", Rule{Tool: "x_y", Subject: "*", Effect: Allow}, true},
		{"an ask", Rule{Tool: "bash", Subject: "*", Effect: Ask}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Beyond(c.rule, mine); got != c.want {
				t.Errorf("beyond = %v, want %v", got, c.want)
			}
		})
	}
}
