package rig

import (
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/internal/corpus"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
)

const place = "rig/review-loom/my-knot.md"

func parse(front, body string) (*Knot, []profile.Diagnostic) {
	return Parse("review-loom", place, []byte("---\n"+front+"\n---\n"+body), Policy{})
}

// valid parses a knot in which nothing is wrong.
func valid(t *testing.T, front string) *Knot {
	t.Helper()
	k, ds := parse(front, "Review this document.")
	for i := range ds {
		t.Errorf("%s\n%v", front, &ds[i])
	}
	return k
}

// failures gives the names of the errors, in order.
func failures(ds []profile.Diagnostic) (names []profile.ErrorName) {
	for _, d := range ds {
		if d.Severity == profile.SeverityError {
			names = append(names, profile.ErrorName(d.Name))
		}
	}
	return names
}

// TestErrors names what is wrong, all at once and in order.
func TestErrors(t *testing.T) {
	type names = []profile.ErrorName
	for _, c := range []struct {
		name, file, body string
		want             names
	}{
		{name: "nothing", file: "---\n---\n", want: names{"MissingAgentConfigOrProfileRef", "MissingPromptTemplate", "MissingStrandDir"}},
		{name: "no frontmatter", file: "Review this.", want: names{"InvalidFormat"}},
		{name: "not closed", file: "---\nname: a\n", want: names{"InvalidFormat"}},
		{name: "no YAML", file: "---\nname: [a\n---\n", want: names{"InvalidFormat"}},
		{name: "no map", file: "---\n- a\n---\n", want: names{"InvalidFormat"}},
		{name: "not UTF-8", file: "---\nname: \xff\n---\n", want: names{"InvalidFormat"}},
		{name: "a key twice", file: "---\nagent-profile-ref: a\nagent_profile_ref: b\nstrand-dir: x\n---\nDo.", want: names{"InvalidFormat"}},
		{name: "a nested key twice", file: "---\nagent-profile-ref: a\nstrand-dir: x\nretries: {attempts: 1, attempts: 2}\n---\nDo.", want: names{"InvalidFormat"}},
		{name: "a blank name", file: "---\nname: ' '\nagent-profile-ref: a\nstrand-dir: x\n---\nDo.", want: names{"MissingName"}},
		{name: "both complete", file: "---\nagent-profile-ref: a\nagent-config: {provider: openai, model: gpt-4o}\nstrand-dir: x\n---\nDo.", want: names{"BothProfileAndConfig"}},
		{name: "both with a goal", file: "---\nagent-profile-ref: a\nagent-config: {goal: Do.}\nstrand-dir: x\n---\nDo.", want: names{"BothProfileAndConfig"}},
		{name: "both with a prompt", file: "---\nagent-profile-ref: a\nagent-config: {system-prompt: Be.}\nstrand-dir: x\n---\nDo.", want: names{"BothProfileAndConfig"}},
		{name: "neither", file: "---\nstrand-dir: x\n---\nDo.", want: names{"MissingAgentConfigOrProfileRef"}},
		{name: "an empty config", file: "---\nstrand-dir: x\nagent-config:\n---\nDo.", want: names{"MissingAgentConfigOrProfileRef"}},
		{name: "blank keys", file: "---\nstrand-dir: x\nagent-config:\n  model: ' '\n  provider:\n  goal: ''\n---\nDo.", want: names{"EmptyGoal", "EmptyProvider", "EmptyModel"}},
		{name: "absent keys", file: "---\nstrand-dir: x\nagent-config: {temperature: 1}\n---\nDo.", want: names{"EmptyProvider", "EmptyModel"}},
		{name: "a provider in the model", file: "---\nstrand-dir: x\nagent-config: {model: builtin/demo}\n---\nDo.", want: nil},
		{name: "blank keys over a profile", file: "---\nstrand-dir: x\nagent-profile-ref: a\nagent-config: {goal: ''}\n---\nDo.", want: nil},
		{name: "no instructions", file: "---\nstrand-dir: x\nagent-profile-ref: a\nprompt-template: {instructions: ' '}\n---\n \n", want: names{"MissingPromptTemplate"}},
		{name: "a goal is instructions", file: "---\nstrand-dir: x\nagent-config: {goal: Do., model: builtin/demo}\n---\n", want: nil},
		{name: "no strand-dir", file: "---\nagent-profile-ref: a\n---\nDo.", want: names{"MissingStrandDir"}},
		{name: "a blank strand-dir", file: "---\nstrand-dir: ''\nagent-profile-ref: a\n---\nDo.", want: names{"MissingStrandDir"}},
		{name: "a schedule", file: "---\nschedule: '@daily'\nagent-profile-ref: a\n---\nDo.", want: nil},
		{name: "all at once", file: "---\nconcurrency: 0\nagent-config: {goal: '', model: ''}\nname: ''\n---\n",
			want: names{"MissingName", "EmptyGoal", "EmptyProvider", "EmptyModel", "MissingPromptTemplate", "MissingStrandDir", "SchemaValidation"}},
		{name: "the seed without its indentation", file: "---\nname: my-knot\nagent-profile-ref: fast\nstrand-dir: strands\nprompt-template:\ninput-bundling: full-file\ninstructions: |\nReview this document for clarity.\n---\n", want: names{"InvalidFormat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse("review-loom", place, []byte(c.file), Policy{})
			if diff := cmp.Diff(c.want, failures(ds)); diff != "" {
				t.Errorf("%s\n%v", diff, &profile.ParseError{Diagnostics: ds})
			}
			err := error(&profile.ParseError{Diagnostics: ds})
			for _, n := range c.want {
				if !errors.Is(err, n) {
					t.Errorf("errors.Is does not find %s", n)
				}
			}
			for _, d := range ds {
				if d.File != place || d.Line < 1 || d.Column < 1 {
					t.Errorf("no place: %+v", d)
				}
			}
		})
	}
}

// TestValues refuses single values, and says what to do instead.
func TestValues(t *testing.T) {
	for _, c := range []struct{ front, code, says string }{
		{"name: ../x", profile.CodeName, `"../x" is a path`},
		{"name: a/b", profile.CodeName, "holds a '/'"},
		{"name: my knot", profile.CodeName, "letters"},
		{"agent-profile-ref: ../secret", profile.CodeName, "agent-profile-ref: the name"},
		{"strand-dir: ../x", profile.CodeStrandDir, "leads out of the workspace"},
		{"strand-dir: a/../../x", profile.CodeStrandDir, "leads out"},
		{"strand-dir: /etc", profile.CodeStrandDir, "absolute"},
		{"strand-dir: ~/x", profile.CodeStrandDir, "home folder"},
		{`strand-dir: a\b`, profile.CodeStrandDir, "backslash"},
		{`strand-dir: "a\u0000b"`, profile.CodeStrandDir, "control character"},
		{"strand-dir: event:X", profile.CodeStrandDir, "event:PRODUCER:ID"},
		{"strand-dir: event:a/b/c:X", profile.CodeStrandDir, "names no producer"},
		{"strand-dir: 'event:a:X Y'", profile.CodeStrandDir, "no name of an event"},
		{"strand-dir: event:a:None", profile.CodeStrandDir, "word of its own"},
		{"strand-dir: event:a:modified", profile.CodeStrandDir, "word of its own"},
		{"prompt-template: {input-bundling: full}", profile.CodeNotAllowed, `did you mean "full-file"?`},
		{"on: [created, renamed]", profile.CodeNotAllowed, `not "renamed"`},
		{"on: []", profile.CodeNotAllowed, "no event"},
		{"concurrency: 65", profile.CodeNotAllowed, "1 to 64"},
		{"debounce: 1", profile.CodeWrongType, "write the unit: 1s"},
		{"debounce: 1ms", profile.CodeNotAllowed, "10ms to 1h"},
		{"timeout: 25h", profile.CodeNotAllowed, "1s to 24h"},
		{"git-versioned: maybe", profile.CodeWrongType, "true or false"},
		{"budget: 5", profile.CodeWrongType, "a map"},
		{"budget: {cost-per-day: 0}", profile.CodeNotAllowed, "budget.cost-per-day"},
		{"retries: {attempts: 0}", profile.CodeNotAllowed, "1 or more"},
		{"schedule: every morning", profile.CodeKnotTimes, "five fields"},
		{"schedule: 0 0 30 2 *", profile.CodeKnotTimes, "never due"},
		{"schedule: '@every 10s'", profile.CodeKnotTimes, "once a minute"},
		{"schedule: TZ=UTC 0 0 * * *", profile.CodeKnotTimes, "time-zone"},
		{"quiet-hours: 22:00-07:00\ntime-zone: Mars/Base", profile.CodeKnotTimes, "Europe/Berlin"},
		{"quiet-hours: [22-7]", profile.CodeKnotTimes, "22:00-07:00"},
		{"quiet-hours: Foo 22:00-07:00", profile.CodeKnotTimes, "no day"},
		{"quiet-hours: 07:00-07:00", profile.CodeKnotTimes, "00:00-24:00"},
		{"quiet-hours: [00:00-12:00, 12:00-24:00]", profile.CodeKnotTimes, "no time"},
		{"event-description: x", profile.CodeKnotIdle, "waits for no event"},
		{"strand-dir: event:a:X\nignore: '*.log'", profile.CodeKnotIdle, "watches no folder"},
		{"time-zone: UTC", profile.CodeKnotIdle, "without schedule"},
		{"debouce: 1s", profile.CodeUnknownKey, `did you mean "debounce"?`},
		{"instructions: Do.", profile.CodeUnknownKey, "is it one of prompt-template? indent it below it"},
		{"prompt-template: {instruction: Do.}", profile.CodeUnknownKey, `did you mean "prompt-template.instructions"?`},
		{"agent-config: {modelx: x}", profile.CodeUnknownKey, `did you mean "model"?`},
	} {
		t.Run(c.front, func(t *testing.T) {
			front := c.front
			if !strings.Contains(front, "strand-dir") {
				front += "\nstrand-dir: docs"
			}
			if !strings.Contains(front, "agent-profile-ref") {
				front += "\nagent-profile-ref: fast"
			}
			_, ds := parse(front, "Do.")
			if len(ds) != 1 || ds[0].Code != c.code || !strings.Contains(ds[0].Error(), c.says) || ds[0].Line < 2 {
				t.Errorf("%s that says %q, not: %v", c.code, c.says, ds)
			}
		})
	}
}

// TestDefaults is a knot that says no more than it must.
func TestDefaults(t *testing.T) {
	k := valid(t, "agent-profile-ref: fast\nstrand-dir: ./strands/")
	got := []any{k.Name, k.ID(), k.Input.V.Dir, k.Bundling.V, k.On.V, k.Self.V, k.Debounce.V, k.Concurrency.V, k.Timeout.V, k.GitVersioned.V, k.Retries.Attempts.V, k.Retries.Backoff.V, k.Retries.MaxBackoff.V, k.Budget.PerDay.Set, k.Zone.V}
	want := []any{"my-knot", "review-loom/my-knot", "strands", FullFile, []Event{Created, Modified, Deleted}, false, 100 * time.Millisecond, 1, 5 * time.Minute, false, 5, 2 * time.Second, 5 * time.Minute, false, time.Local}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *time.Location) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if k.Debounce.Set || k.Inline() != nil || k.Overrides() != nil || k.Agent.Ref != "fast" || k.Task() != "Review this document." || len(k.Digest) != 64 {
		t.Errorf("%+v", k)
	}
	if !k.Next(time.Now()).IsZero() || !k.Quiet(time.Now()).IsZero() || k.Ignores("a.md", false) || !k.Wants(Deleted) {
		t.Error("a knot without times and patterns has some")
	}
}

// TestAllKeys sets each key, and finds its place.
func TestAllKeys(t *testing.T) {
	k := valid(t, `name: all
agent-profile-ref: fast
strand-dir: docs
prompt-template:
  input-bundling: diff
  instructions: |
    First this.
git-versioned: false
concurrency: 4
on: [created]
debounce: 250ms
timeout: 90s
schedule: 30 9 * * Mon-Fri
time-zone: Europe/Berlin
quiet-hours: [22:00-07:00, Sat Sun 00:00-24:00]
ignore: ["*.log", "!keep.log", drafts/]
self: true
budget: {cost-per-run: 0.5, cost-per-day: 5}
retries: {attempts: 3, backoff: 1s, max-backoff: 10s}`)
	type at struct {
		V    any
		Line int
	}
	got := []at{
		{k.Bundling.V, k.Bundling.At.Line}, {k.Instructions.V, k.Instructions.At.Line}, {k.GitVersioned.V, k.GitVersioned.At.Line},
		{k.Concurrency.V, k.Concurrency.At.Line}, {k.On.V, k.On.At.Line}, {k.Debounce.V, k.Debounce.At.Line}, {k.Timeout.V, k.Timeout.At.Line},
		{k.Schedule.V.Text, k.Schedule.At.Line}, {k.Zone.V.String(), k.Zone.At.Line}, {len(k.QuietHours.V), k.QuietHours.At.Line},
		{k.Self.V, k.Self.At.Line}, {k.Budget.PerRun.V, k.Budget.PerRun.At.Line}, {k.Budget.PerDay.V, k.Budget.PerDay.At.Line},
		{k.Retries.Attempts.V, k.Retries.Attempts.At.Line}, {k.Retries.Backoff.V, k.Retries.Backoff.At.Line}, {k.Retries.MaxBackoff.V, k.Retries.MaxBackoff.At.Line},
	}
	want := []at{
		{Diff, 6}, {"First this.", 7}, {false, 9}, {4, 10}, {[]Event{Created}, 11}, {250 * time.Millisecond, 12}, {90 * time.Second, 13},
		{"30 9 * * Mon-Fri", 14}, {"Europe/Berlin", 15}, {2, 16}, {true, 18}, {0.5, 19}, {5.0, 19}, {3, 20}, {time.Second, 20}, {10 * time.Second, 20},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if k.Task() != "First this.\n\nReview this document." {
		t.Errorf("task %q", k.Task())
	}
	for file, ignored := range map[string]bool{"a/b.log": true, "keep.log": false, "a.md": false} {
		if k.Ignores(file, false) != ignored {
			t.Errorf("%s: ignored %v", file, !ignored)
		}
	}
	if !k.Ignores("drafts", true) || k.Ignores("drafts", false) || k.Wants(Modified) {
		t.Error("drafts/ is a folder, and modified does not count")
	}
}

// TestInputs reads where strands come from.
func TestInputs(t *testing.T) {
	home := Policy{Outside: true, Home: "/home/me"}
	for text, want := range map[string]Input{
		".": {Dir: "."}, "a/./b/": {Dir: "a/b"}, "a..b": {Dir: "a..b"}, "/srv/in/": {Dir: "/srv/in"}, "~": {Dir: "/home/me"}, "~/x": {Dir: "/home/me/x"}, "~x": {Dir: "~x"}, "../b": {Dir: "../b"}, "a/../../b/": {Dir: "../b"},
		"event:reviewer:Done": {Producer: "reviewer", ID: "Done"}, "event:x-loom/reviewer:Done_2": {Producer: "x-loom/reviewer", ID: "Done_2"},
	} {
		in, why, _ := parseInput(text, home)
		if in != want || why != "" {
			t.Errorf("%s: %+v %s", text, in, why)
		}
	}
	for in, fired := range map[Input]bool{
		{Producer: "k", ID: "X"}: true, {Producer: "l-loom", ID: "X"}: true, {Producer: "l-loom/k", ID: "X"}: true,
		{Producer: "k", ID: "Y"}: false, {Producer: "m-loom/k", ID: "X"}: false, {Producer: "other", ID: "X"}: false, {Dir: "k"}: false,
	} {
		if in.FiredBy("l-loom", "k", "X") != fired {
			t.Errorf("%v: fired %v", in, !fired)
		}
	}
	if (Input{Dir: "k"}).FiredBy("", "", "") {
		t.Error("a folder is fired by nothing")
	}
}

// TestInline is an agent in place: its tools are what its list grants, and none without.
func TestInline(t *testing.T) {
	k := valid(t, "strand-dir: docs\nagent-config:\n  goal: Be brief.\n  provider: openai\n  model: gpt-4o\n  tools: [fs]\n  system-prompt: You review.\n  limits: {turns: 4}")
	p := k.Inline()
	if p == nil || p.Name != "review-loom/my-knot" || p.Provider.V != "openai" || p.Model.At.Line != 6 || p.SystemPrompt.V != "You review." || p.Limits.Turns.V != 4 || p.Revision() == "" {
		t.Fatalf("%+v", p)
	}
	if len(p.Tools.V.Names) == 0 || len(p.Permission) != len(p.Tools.V.Names) || p.Permission[0].Effect != permission.Allow || p.Permission[0].At.Line != 7 {
		t.Errorf("the list is not the grant: %+v", p.Permission)
	}
	if k.Task() != "Be brief.\n\nReview this document." || k.Overrides() != nil {
		t.Errorf("%q %v", k.Task(), k.Overrides())
	}
	k = valid(t, "strand-dir: docs\nagent-config: {model: builtin/demo}")
	if p := k.Inline(); !p.Tools.Set || len(p.Tools.V.Names) > 0 {
		t.Errorf("without a list there are tools: %+v", p.Tools)
	}
}

// TestOverrides gives what is set over a profile as resolve reads it.
func TestOverrides(t *testing.T) {
	k := valid(t, "strand-dir: docs\nagent-profile-ref: fast\nagent-config:\n  model: claude-sonnet\n  max_tokens: 100\n  tools: [read, 'bash(git log:*)']\n  limits:\n    turns: 4\n    duration: 90s\n  description: |\n    Two\n    lines: \"yes\"")
	want := map[string]string{
		"model": "claude-sonnet", "max-tokens": "100", "tools": `["read", "bash(git log:*)"]`,
		"limits": `{"turns": 4, "duration": "90s"}`, "description": "Two\nlines: \"yes\"\n",
	}
	if diff := cmp.Diff(want, k.Overrides()); diff != "" {
		t.Error(diff)
	}
	p, err := resolve.Keys("override", k.Overrides())
	if err != nil {
		t.Fatal(err)
	}
	c := k.Agent.Config
	if p.Model.V != c.Model.V || p.MaxTokens.V != c.MaxTokens.V || p.Limits.Turns.V != c.Limits.Turns.V || p.Limits.Duration.V != c.Limits.Duration.V ||
		p.Description.V != c.Description.V || !cmp.Equal(p.Tools.V.Names, c.Tools.V.Names) || k.Inline() != nil {
		t.Errorf("read anew it is another: %+v", p)
	}
}

// TestSeed is the knots of the first design, indented.
func TestSeed(t *testing.T) {
	const rest = "strand-dir: strands\nprompt-template:\n  input-bundling: full-file\n  instructions: |\n    Review this document for clarity.\n"
	for _, c := range []struct {
		name, front string
		fails       []profile.ErrorName
		model       string
	}{
		{"profile only", "agent-profile-ref: fast\n", nil, ""},
		{"profile and another model", "agent-profile-ref: fast\nagent-config:\n  model: claude-sonnet\n", nil, "claude-sonnet"},
		{"both complete", "agent-profile-ref: fast\nagent-config:\n  provider: openai\n  model: gpt-4o\n", []profile.ErrorName{"BothProfileAndConfig"}, "gpt-4o"},
		{"neither", "", []profile.ErrorName{"MissingAgentConfigOrProfileRef"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, ds := parse("name: my-knot\n"+c.front+rest, "")
			if diff := cmp.Diff(c.fails, failures(ds)); diff != "" {
				t.Error(diff)
			}
			if k.Overrides()["model"] != c.model || k.Instructions.V != "Review this document for clarity." {
				t.Errorf("%+v", k)
			}
		})
	}
}

// TestRepairs reads a slip as it was meant, with the warning that profiles get.
func TestRepairs(t *testing.T) {
	k, ds := parse("agent-profile-ref: fast\nstrand-dir: event:a:X\nevent-description: Note: it is late", "Do.")
	if len(ds) != 1 || ds[0].Code != profile.CodeRepaired || k.EventDescription.V != "Note: it is late" {
		t.Errorf("%q %v", k.EventDescription.V, ds)
	}
}

// TestCorpus reads the real knots that stand beside the project.
func TestCorpus(t *testing.T) {
	want := map[string][]profile.ErrorName{
		"demo/knot-test/review-knot.md":    {profile.MissingStrandDir},
		"rig/new-loom/review-knot.md":      nil,
		"rig/workflow-loom/review-knot.md": nil,
	}
	files := corpus.Files(t, func(p string) bool { return path.Base(p) == "review-knot.md" })
	if len(files) != len(want) {
		t.Fatalf("%d knots", len(files))
	}
	for p, data := range files {
		_, name, _ := strings.Cut(p, "+knot/")
		k, ds := Parse(path.Base(path.Dir(p)), name, data, Policy{})
		if diff := cmp.Diff(want[name], failures(ds)); diff != "" || k.Name != "review-knot" || k.Task() == "" {
			t.Errorf("%s: %s\n%+v", name, diff, k)
		}
	}
}

// FuzzKnot: no file panics; each diagnostic has a place; a knot that holds makes a prompt
// and survives being asked everything.
func FuzzKnot(f *testing.F) {
	f.Add("agent-profile-ref: fast\nstrand-dir: docs", "Do.")
	f.Add("agent-config: {goal: Do., model: a/b, tools: [fs], limits: {turns: 3}}\nstrand-dir: event:a:X\nquiet-hours: [22:00-07:00, Sat 00:00-24:00]", "")
	f.Add("agent-profile-ref: a\nagent-config: {model: &x [a, *x]}\nschedule: '@every 1h'\ntime-zone: Europe/Berlin\nprompt-template: {input-bundling: diff}", "Do.")
	f.Add("name: ../x\nschedule: 0 0 30 2 *\nretries: {attempts: 3, backoff: 1h}\nignore: ['[', '**/a']\non: deleted", "Do.")
	f.Fuzz(func(t *testing.T, front, body string) {
		k, ds := parse(front, body)
		for _, d := range ds {
			if d.File != place || d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" {
				t.Fatalf("no place or no words: %+v", d)
			}
		}
		if k.Name != "" && checkName(k.Name) != nil {
			t.Fatalf("the name %q", k.Name)
		}
		if profile.Refused(ds) {
			return
		}
		prompt := k.Prompt([]Awaited{{ID: "X"}}, Strand{Event: Modified, Path: body, Content: []byte(front), Diff: body})
		if k.Task() == "" || !strings.HasPrefix(prompt, k.Task()) {
			t.Fatalf("the prompt %q", prompt)
		}
		now := time.Date(2026, 3, 29, 1, 30, 0, 0, time.UTC)
		if next := k.Next(now); k.Schedule.Set && !next.After(now) {
			t.Fatalf("next at %s", next)
		}
		if end := k.Quiet(now); !end.IsZero() && !end.After(now) {
			t.Fatalf("quiet until %s", end)
		}
		if _, err := resolve.Keys("override", k.Overrides()); err != nil && k.Agent.Ref != "" {
			t.Fatalf("overrides %q: %v", k.Overrides(), err)
		}
		k.Ignores(body, false)
	})
}

func BenchmarkParse(b *testing.B) {
	file := []byte("---\nname: my-knot\nagent-profile-ref: fast\nagent-config:\n  model: claude-sonnet\nstrand-dir: strands\nprompt-template:\n  input-bundling: full-file\n  instructions: |\n    Review this document for clarity.\n---\n")
	for b.Loop() {
		if _, ds := Parse("review-loom", place, file, Policy{}); len(ds) > 0 {
			b.Fatal(ds)
		}
	}
}
