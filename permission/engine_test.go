package permission

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/source"
)

func compile(t testing.TB, l Layers) *Engine {
	t.Helper()
	e, err := Compile(l)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// rules reads "tool subject effect" lines; a subject may contain spaces.
func rules(t testing.TB, text string) []Rule {
	t.Helper()
	var out []Rule
	for line := range strings.SplitSeq(text, ";") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		tool, rest, _ := strings.Cut(line, " ")
		i := strings.LastIndexByte(rest, ' ')
		effect, err := ParseEffect(rest[i+1:])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Rule{Tool: tool, Subject: rest[:i], Effect: effect, At: source.Origin{File: "test", Line: len(out) + 1}})
	}
	return out
}

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		rules, host   string
		fallback      Effect
		headless      bool
		tool, subject string
		want          Effect
		reason        string
		line          int // of the rule that decided; 0: none
	}{
		"last match wins":           {rules: "read * allow; read a* deny; read ab ask", tool: "read", subject: "ab", want: Ask, reason: ReasonRule, line: 3},
		"earlier when later miss":   {rules: "read * allow; read a* deny", tool: "read", subject: "b", want: Allow, reason: ReasonRule, line: 1},
		"none matches":              {rules: "write * allow", fallback: Ask, tool: "read", subject: "b", want: Ask, reason: ReasonDefault},
		"zero default denies":       {tool: "read", subject: "b", want: Deny, reason: ReasonDefault},
		"no tool":                   {rules: "* * allow", fallback: Allow, subject: "b", want: Deny, reason: ReasonNoQuery},
		"tool pattern":              {rules: "github_* * deny", fallback: Allow, tool: "github_push", subject: "x", want: Deny, reason: ReasonRule, line: 1},
		"tool case":                 {rules: "Read * deny", fallback: Allow, tool: "read", subject: "x", want: Allow, reason: ReasonDefault},
		"star is not external":      {rules: "external_directory * ask; * * allow", tool: ExternalDirectory, subject: "/etc", want: Ask, reason: ReasonRule, line: 1},
		"star is not protected":     {rules: "* * allow; ** * allow", fallback: Ask, tool: Protected, subject: "x", want: Ask, reason: ReasonDefault},
		"star with subject neither": {rules: "* x allow", fallback: Ask, tool: Protected, subject: "x", want: Ask, reason: ReasonDefault},
		"named protected":           {rules: "protected AGENTS.md allow", tool: Protected, subject: "AGENTS.md", want: Allow, reason: ReasonRule, line: 1},

		"host denies":             {rules: "read * allow", host: "read s* deny", tool: "read", subject: "s", want: Deny, reason: ReasonHost, line: 1},
		"host's own last match":   {rules: "read * allow", host: "read * deny; read s* allow", tool: "read", subject: "s", want: Allow, reason: ReasonRule, line: 1},
		"host ask is a floor":     {rules: "x x allow; read * allow", host: "read * ask", tool: "read", subject: "s", want: Ask, reason: ReasonHost, line: 1},
		"host ask keeps deny":     {rules: "x x allow; read * deny", host: "read * ask", tool: "read", subject: "s", want: Deny, reason: ReasonRule, line: 2},
		"host allow adds nothing": {rules: "x x allow; read * deny", host: "read * allow", tool: "read", subject: "s", want: Deny, reason: ReasonRule, line: 2},
		"host on the default":     {host: "read * ask", fallback: Allow, tool: "read", subject: "s", want: Ask, reason: ReasonHost, line: 1},

		"headless ask":         {rules: "read * ask", headless: true, tool: "read", subject: "s", want: Deny, reason: ReasonHeadless, line: 1},
		"headless default ask": {fallback: Ask, headless: true, tool: "read", subject: "s", want: Deny, reason: ReasonHeadless},
		"headless allow":       {rules: "read * allow", headless: true, tool: "read", subject: "s", want: Allow, reason: ReasonRule, line: 1},
		"headless host ask":    {rules: "read * allow", host: "read * ask", headless: true, tool: "read", subject: "s", want: Deny, reason: ReasonHeadless, line: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := compile(t, Layers{Rules: rules(t, tt.rules), Host: rules(t, tt.host), Default: tt.fallback, Headless: tt.headless})
			check(t, e.Decide(Query{Tool: tt.tool, Subject: tt.subject}), tt.want, tt.reason, tt.line)
		})
	}
}

func check(t *testing.T, d Decision, want Effect, reason string, line int) {
	t.Helper()
	got := 0
	if d.Rule != nil {
		got = d.Rule.At.Line
	}
	if d.Effect != want || d.Reason != reason || got != line {
		t.Errorf("got %v, %q, rule %d; want %v, %q, rule %d", d.Effect, d.Reason, got, want, reason, line)
	}
}

func TestDecideSeveral(t *testing.T) {
	e := compile(t, Layers{Rules: rules(t, "read * allow; external_directory * ask; write * deny")})
	read, external, write := Query{Tool: "read", Subject: "/x"}, Query{Tool: ExternalDirectory, Subject: "/x"}, Query{Tool: "write", Subject: "/x"}
	check(t, e.Decide(), Deny, ReasonNoQuery, 0)
	check(t, e.Decide(read, external), Ask, ReasonRule, 2)
	d := e.Decide(read, external, write, read)
	check(t, d, Deny, ReasonRule, 3)
	if len(d.Parts) != 4 || d.Parts[1].Effect != Ask || d.Parts[1].Query != external || d.Parts[1].Rule.At.Line != 2 {
		t.Errorf("parts %v", d.Parts)
	}
	if p := e.Decide(Query{Tool: "bash", Subject: "'l's -l"}).Parts; len(p) != 1 || p[0].Subject != "ls -l" {
		t.Errorf("parts %v", p)
	}
}

func TestZeroEnginesDeny(t *testing.T) {
	for name, e := range map[string]*Engine{"nil": nil, "zero": {}} {
		if d := e.Decide(Query{Tool: "read", Subject: "x"}); d.Effect != Deny || d.Reason == "" {
			t.Errorf("%s: %v", name, d)
		}
		if e.Offered("read") {
			t.Errorf("%s: offers", name)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	at := source.Origin{File: "a.md", Line: 3}
	for name, l := range map[string]Layers{
		"no tool":         {Rules: []Rule{{Subject: "x", At: at}}},
		"bad effect":      {Rules: []Rule{{Tool: "x", Effect: 9, At: at}}},
		"bad host effect": {Host: []Rule{{Tool: "x", Effect: 9, At: at}}},
		"not utf-8":       {Rules: []Rule{{Tool: "x", Subject: "\xff", At: at}}},
	} {
		e, err := Compile(l)
		if err == nil || !strings.HasPrefix(err.Error(), "a.md:3: ") || e != nil {
			t.Errorf("%s: %v, %v", name, e, err)
		}
	}
	if _, err := Compile(Layers{Default: 9}); err == nil {
		t.Error("default 9 compiles")
	}
}

func TestOffered(t *testing.T) {
	tests := map[string]struct {
		rules, host string
		fallback    Effect
		want        bool
	}{
		"no rule, ask":           {"", "", Ask, true},
		"no rule, deny":          {"", "", Deny, false},
		"denied":                 {"x * allow; x * deny", "", Ask, false},
		"allowed again":          {"x * deny; x a* allow", "", Deny, true},
		"asked again":            {"* * deny; x a* ask", "", Deny, true},
		"some denied":            {"x * allow; x a* deny", "", Ask, true},
		"some denied, nothing":   {"x * deny; x a* deny", "", Ask, false},
		"pattern denies":         {"x * allow; x** * deny", "", Ask, false},
		"star denies":            {"x * allow; * * deny", "", Ask, false},
		"other denied":           {"x * allow; y * deny", "", Ask, true},
		"host denies":            {"x * allow", "x * deny", Ask, false},
		"host denies some":       {"x * allow", "x a deny", Ask, true},
		"host allows one":        {"x * allow", "x * deny; x a allow", Ask, true},
		"host allow is not ours": {"x * deny", "x * allow", Ask, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := compile(t, Layers{Rules: rules(t, tt.rules), Host: rules(t, tt.host), Default: tt.fallback})
			if got := e.Offered("x"); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestBuiltinRulesHaveALayer(t *testing.T) {
	for _, r := range Builtin() {
		if r.At.Layer != source.Builtin {
			t.Errorf("%v has no layer", r)
		}
	}
}

// TestHostOnlyNarrows: whatever the host policy says, the verdict is never
// laxer than without it, and a headless engine never asks.
func TestHostOnlyNarrows(t *testing.T) {
	rule := rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			Tool:    rapid.SampledFrom([]string{"*", "bash", "read", "b*"}).Draw(t, "tool"),
			Subject: rapid.SampledFrom([]string{"*", "rm *", "git *", "a", "a?"}).Draw(t, "subject"),
			Effect:  rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(t, "effect"),
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		l := Layers{
			Rules:   rapid.SliceOfN(rule, 0, 5).Draw(r, "rules"),
			Default: rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(r, "default"),
		}
		q := Query{
			Tool:    rapid.SampledFrom([]string{"bash", "read", "other", Protected}).Draw(r, "tool"),
			Subject: rapid.SampledFrom([]string{"a", "rm x", "git x", "git x; rm y", "a|b", "'"}).Draw(r, "subject"),
		}
		free := compile(t, l).Decide(q)
		l.Host = rapid.SliceOfN(rule, 0, 4).Draw(r, "host")
		capped := compile(t, l).Decide(q)
		l.Headless = true
		headless := compile(t, l).Decide(q)
		if capped.Effect > free.Effect {
			r.Fatalf("%v with the host policy, %v without", capped, free)
		}
		if headless.Effect == Ask || headless.Effect > capped.Effect {
			r.Fatalf("headless %v, else %v", headless, capped)
		}
	})
}

// TestLinesAreNeverLaxerThanTheirParts: a line of two commands is never
// allowed when one of them alone is not.
func TestLinesAreNeverLaxerThanTheirParts(t *testing.T) {
	rule := rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			Tool:    "bash",
			Subject: rapid.SampledFrom([]string{"*", "rm *", "git *", "git log*", "rm", "*x"}).Draw(t, "subject"),
			Effect:  rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(t, "effect"),
		}
	})
	command := rapid.SampledFrom([]string{"rm x", "rm", "git log", "git push x", "ls", "/bin/rm y"})
	join := rapid.SampledFrom([]string{"; ", " | ", " && ", " || ", "\n", " & "})
	rapid.Check(t, func(r *rapid.T) {
		e := compile(t, Layers{
			Rules:   rapid.SliceOfN(rule, 0, 6).Draw(r, "rules"),
			Host:    rapid.SliceOfN(rule, 0, 3).Draw(r, "host"),
			Default: rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(r, "default"),
		})
		a, b := command.Draw(r, "a"), command.Draw(r, "b")
		both := e.Decide(Query{Tool: "bash", Subject: a + join.Draw(r, "join") + b}).Effect
		if alone := min(e.Decide(Query{Tool: "bash", Subject: a}).Effect, e.Decide(Query{Tool: "bash", Subject: b}).Effect); both > alone {
			r.Fatalf("together %v, alone %v", both, alone)
		}
	})
}

func TestDecideDoesNotAllocate(t *testing.T) {
	e := compile(t, Layers{Rules: Builtin(), Host: rules(t, "read s?cret* deny"), Default: Ask})
	for _, q := range []Query{{Tool: "read", Subject: "a/b/c.go"}, {Tool: "webfetch", Subject: "https://example.org/a"}, {Tool: "other", Subject: "x"}} {
		if n := testing.AllocsPerRun(100, func() { e.Decide(q) }); n > 0 {
			t.Errorf("%s: %v allocations", q.Tool, n)
		}
	}
}

func TestEffectText(t *testing.T) {
	for _, e := range []Effect{Deny, Ask, Allow} {
		text, err := e.MarshalText()
		back := Effect(7)
		if err != nil || back.UnmarshalText(text) != nil || back != e {
			t.Errorf("%v: %q, %v", e, text, err)
		}
	}
	for _, bad := range []string{"", "Allow", "allow ", "yes"} {
		e := Allow
		if err := e.UnmarshalText([]byte(bad)); err == nil || e != Deny {
			t.Errorf("%q: %v, %v", bad, e, err)
		}
	}
	if _, err := Effect(3).MarshalText(); err == nil {
		t.Error("an effect that is none was written")
	}
}

func TestExpand(t *testing.T) {
	env := map[string]string{"HOME": "/home/me", "DIR": "/d/", "EMPTY": "", "STAR": "/a*", "KEY": "sk-planted-key"}
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	for in, want := range map[string]string{
		"":            "",
		"~":           "/home/me",
		"~/x/*":       "/home/me/x/*",
		"a~":          "a~",
		"~other/x":    "~other/x",
		"$HOME/x":     "/home/me/x",
		"${DIR}x$DIR": "/dx/d",
		"$":           "$",
		"$1 $$ ${":    "$1 $$ ${",
		"${a b}":      "${a b}",
		"a$DIR/b":     "a/d/b",
	} {
		if got, err := Expand(in, getenv); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"$NONE", "a/${NONE}", "$EMPTY", "$STAR/x", "$KEY", "*${KEY}*"} {
		if got, err := Expand(in, getenv); err == nil || strings.Contains(got+err.Error(), env["KEY"]) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	delete(env, "HOME")
	if got, err := Expand("~/x", getenv); err == nil || !strings.Contains(err.Error(), "$HOME is not set") {
		t.Errorf("~ without HOME: %q, %v", got, err)
	}
}
