package roster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// called is a workspace with a profile, a script for a model, and commands.
type called struct {
	t         *testing.T
	dir, home string
}

func newCalled(t *testing.T, keys string) *called {
	c := &called{t, t.TempDir(), t.TempDir()}
	write(t, c.dir, "roster.yaml", "")
	write(t, c.dir, "profiles/p.md", "---\ndescription: Works.\nmodel: script:p.yaml\n"+keys+"---\nWork.\n")
	write(t, c.dir, "p.yaml", "replies: [{text: Done.}]\nloop: true\n")
	write(t, c.dir, "a.txt", "alpha\n")
	write(t, c.dir, "x.env", "KEY=1\n")
	return c
}

func (c *called) open(o roster.Options) *roster.App {
	c.t.Helper()
	o.State, o.Getenv = c.t.TempDir(), env{"ROSTER_HOME": filepath.Join(c.home, "roster"), "HOME": c.home, "MY_SECRET_TOKEN": "tok-1234567890"}.get
	app, _, err := roster.Open(c.dir, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func (c *called) ran() bool {
	_, err := os.Stat(filepath.Join(c.dir, "ran"))
	return err == nil
}

// TestLinesOfCommandsNeedTrust: what a file of the workspace runs is run when somebody
// has seen it, and not after it has changed.
func TestLinesOfCommandsNeedTrust(t *testing.T) {
	c := newCalled(t, "permission: {bash: allow}\n")
	write(t, c.dir, ".claude/commands/go.md", "Go.\n\n!`touch ran`\n")
	app := c.open(roster.Options{})
	expand := func() error {
		_, err := app.Expand(t.Context(), roster.CommandCall{Name: "go", Profile: "p"})
		return err
	}
	if err := expand(); !errors.Is(err, profile.ExecutingKey) || !strings.Contains(err.Error(), "go.md:3:1") || c.ran() {
		t.Fatalf("before it is trusted: %v, ran %v", err, c.ran())
	}
	if !app.CommandWants("go") {
		t.Error("the command does not want trust")
	}
	survey := app.Survey()
	if len(survey.Items) != 1 || survey.Items[0].Text != "touch ran" || survey.Items[0].Key != "/go !1" {
		t.Fatalf("the survey is %+v", survey.Items)
	}
	if err := app.TrustWorkspace(t.Context(), survey.Items); err != nil {
		t.Fatal(err)
	}
	if err := expand(); err != nil || !c.ran() || app.CommandWants("go") {
		t.Fatalf("trusted: %v, ran %v", err, c.ran())
	}
	os.Remove(filepath.Join(c.dir, "ran"))
	write(t, c.dir, ".claude/commands/go.md", "Go.\n\n!`touch ran `\n")
	if err := expand(); !errors.Is(err, profile.ExecutingKey) || c.ran() {
		t.Errorf("after one byte has changed: %v, ran %v", err, c.ran())
	}
	write(t, c.home, ".claude/commands/mine.md", "Mine: !`echo hi`")
	p, err := app.Expand(t.Context(), roster.CommandCall{Name: "mine", Profile: "p"})
	if err == nil && message.PartsText(p.Parts) != "Mine: hi" {
		err = errors.New(message.PartsText(p.Parts))
	}
	if err != nil {
		t.Errorf("the user's own: %v", err)
	}
}

// TestCommandsKeepTheRules: what a command runs and reads is judged as the profile's
// own calls are.
func TestCommandsKeepTheRules(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "out.txt", "outside\n")
	yes := func(context.Context, roster.Approval) (bool, error) { return true, nil }
	no := func(context.Context, roster.Approval) (bool, error) { return false, nil }
	for _, c := range []struct {
		name, keys, text string
		call             roster.CommandCall
		want, refused    string
	}{
		{"a line that is allowed", "permission: {bash: allow}\n", "A !`echo b` c", roster.CommandCall{}, "A b c", ""},
		{"one that fails", "permission: {bash: allow}\n", "!`echo b; exit 3`", roster.CommandCall{}, "b\n[exit code 3]", ""},
		{"one that writes nothing", "permission: {bash: allow}\n", "[ !`true` ]", roster.CommandCall{}, "[  ]", ""},
		{"one that is denied", "permission: {bash: deny}\n", "!`touch ran`", roster.CommandCall{Approve: yes}, "", "touch ran: denied"},
		{"asked for, and nobody is there", "", "!`touch ran`", roster.CommandCall{}, "", "nobody is there"},
		{"asked for, and refused", "", "!`touch ran`", roster.CommandCall{Approve: no}, "", "you said no"},
		{"asked for, and allowed", "", "!`echo b`", roster.CommandCall{Approve: yes}, "b", ""},
		{"what the command brings along", "", "---\nallowed-tools: Bash(echo *)\n---\n!`echo b`", roster.CommandCall{}, "b", ""},
		{"which lifts no denial", "permission: {bash: {\"echo *\": deny}}\n", "---\nallowed-tools: Bash\n---\n!`echo b`", roster.CommandCall{Approve: yes}, "", "denied"},
		{"nor is it more than it says", "", "---\nallowed-tools: Bash(echo *)\n---\n!`echo b; touch ran`", roster.CommandCall{}, "", "denied"},
		{"an argument is no command", "permission: {bash: {\"echo *\": allow}}\n", "!`echo $1`", roster.CommandCall{Arguments: `"x; touch ran"`}, "x; touch ran", ""},
		{"in plan mode", "permission-mode: plan\npermission: {bash: allow}\n", "!`touch ran`", roster.CommandCall{Approve: yes}, "", "denied"},
		{"a file", "", "See @a.txt", roster.CommandCall{}, "See @a.txt\n\n@a.txt:\n     1\talpha", ""},
		{"one that it would have to ask for", "", "See @x.env", roster.CommandCall{}, "", "@x.env: denied"},
		{"and is allowed", "", "See @x.env", roster.CommandCall{Approve: yes}, "See @x.env\n\n@x.env:\n     1\tKEY=1", ""},
		{"that a person has typed", "", "See $1", roster.CommandCall{Arguments: "@x.env", Typed: true}, "See @x.env\n\n@x.env:\n     1\tKEY=1", ""},
		{"that a program has given", "", "See $1", roster.CommandCall{Arguments: "@x.env"}, "", "@x.env: denied"},
		{"of which the command says half", "", "See @$1", roster.CommandCall{Arguments: "x.env", Typed: true}, "", "@x.env: denied"},
		{"outside", "", "See $1", roster.CommandCall{Arguments: "@" + outside + "/out.txt", Typed: true}, "", "denied"},
		{"that is denied", "permission: {read: {\"a.*\": deny}}\n", "See @a.txt", roster.CommandCall{Approve: yes}, "", "@a.txt: denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newCalled(t, c.keys)
			write(t, w.dir, "commands/c.md", c.text+"\n")
			c.call.Name, c.call.Profile = "c", "p"
			p, err := w.open(roster.Options{Trust: true}).Expand(t.Context(), c.call)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || !errors.Is(err, command.ErrDenied) {
					t.Errorf("err = %v, want %q", err, c.refused)
				}
			} else if err != nil {
				t.Error(err)
			} else if got := message.PartsText(p.Parts); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if w.ran() {
				t.Error("it has run what may not be run")
			}
		})
	}
}

// TestHooksHaveASayInCommands: no line of a command goes past them.
func TestHooksHaveASayInCommands(t *testing.T) {
	for _, c := range []struct {
		name          string
		on            hook.Event
		say           hook.Verdict
		want, refused string
	}{
		{"that deny it", hook.BeforeTool, hook.Verdict{Decision: hook.Deny, Reason: "not today"}, "", "not today"},
		{"that rewrite it", hook.BeforeTool, hook.Verdict{Decision: hook.Rewrite, Input: []byte(`{"command":"echo other"}`)}, "other", ""},
		{"that deny the verdict", hook.OnPermission, hook.Verdict{Decision: hook.Deny, Reason: "never"}, "", "never"},
		{"that want somebody asked", hook.OnPermission, hook.Verdict{Decision: hook.Ask}, "", "nobody is there"},
		{"that withhold its result", hook.AfterTool, hook.Verdict{Decision: hook.Deny}, "withheld", ""},
		{"that rewrite its result", hook.AfterTool, hook.Verdict{Decision: hook.Rewrite, Text: "clean"}, "clean", ""},
		{"that let it be", hook.BeforeTool, hook.Verdict{Decision: hook.Allow}, "b", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newCalled(t, "permission: {bash: allow}\n")
			write(t, w.dir, "commands/c.md", "!`echo b`\n")
			h := roster.Hook{On: c.on, Name: "test", Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
				if m.Tool != "bash" || m.Profile != "p" {
					t.Errorf("the moment is %+v", m)
				}
				return c.say, nil
			}}
			p, err := w.open(roster.Options{Trust: true, Hooks: []roster.Hook{h}}).Expand(t.Context(), roster.CommandCall{Name: "c", Profile: "p"})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("err = %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil || !strings.Contains(message.PartsText(p.Parts), c.want) {
				t.Errorf("%+v, %v, want %q", p, err, c.want)
			}
		})
	}
}

// TestACommandBeginsALoop: the prompt keeps what was typed and what was sent, and what
// the command brings along holds for its loop alone.
func TestACommandBeginsALoop(t *testing.T) {
	t.Setenv("MY_SECRET_TOKEN", "tok-1234567890")
	c := newCalled(t, "")
	write(t, c.dir, "p.yaml", "replies: [{tools: [{name: bash, input: {command: echo b}}]}, {text: Done.}, {tools: [{name: bash, input: {command: echo b}}]}, {text: Done.}]\n")
	write(t, c.dir, "commands/c.md", "---\nallowed-tools: Bash(echo *)\nmodel: script:p.yaml\nagent: p\n---\nDo $1, not tok-1234567890.\n")
	app := c.open(roster.Options{Trust: true})
	ask, err := app.Call(t.Context(), roster.Ask{Headless: true}, "c", "it")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := app.Submit(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, sub); end.Denied != 0 {
		t.Errorf("%d calls are denied in its loop", end.Denied)
	}
	again, err := app.Submit(t.Context(), roster.Ask{Key: sub.Key, Profile: "p", Parts: text("Go on."), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, again); end.Denied != 1 {
		t.Errorf("%d calls are denied after it", end.Denied)
	}
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range store.Read(t.Context(), sub.Key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		p, ok := body.(*session.Prompt)
		if !ok {
			continue
		}
		if got := message.PartsText(p.Parts); !strings.HasPrefix(got, "Do it, not ") || strings.Contains(got, "tok-") {
			t.Errorf("it sent %q", got)
		}
		if p.Command == nil || p.Command.Typed() != "/c it" || p.Command.File != "commands/c.md" || p.Set["model"] != "script:p.yaml" || len(p.Lent) != 1 {
			t.Errorf("the prompt is %+v", p)
		}
		break
	}
}

// TestUntrustedCommandsLendNothing: the rules of a workspace that nobody trusts are no
// more than those of its profiles.
func TestUntrustedCommandsLendNothing(t *testing.T) {
	c := newCalled(t, "")
	write(t, c.dir, "commands/c.md", "---\nallowed-tools: Bash\nmodel: x/y\n---\nDo it.\n")
	app := c.open(roster.Options{})
	p, err := app.Expand(t.Context(), roster.CommandCall{Name: "c", Profile: "p", Flags: map[string]string{"model": "script:p.yaml"}})
	if err != nil || len(p.Lent) != 0 || !strings.Contains(strings.Join(p.Notes, "\n"), "not trusted") {
		t.Errorf("%+v, %v", p, err)
	}
	if p.Set["model"] != "" {
		t.Error("the command's model goes before what the user says")
	}
	if !app.CommandWants("c") {
		t.Error("the command does not want trust")
	}
	if _, err := app.Expand(t.Context(), roster.CommandCall{Name: "c", Profile: "nobody"}); !errors.Is(err, profile.ProfileNotFound) {
		t.Errorf("a profile that is not there: %v", err)
	}
	var none *command.NotFoundError
	if _, err := app.Expand(t.Context(), roster.CommandCall{Name: "cc", Profile: "p"}); !errors.As(err, &none) {
		t.Errorf("a command that is not there: %v", err)
	}
}

// TestSkillsAreCalled: a person calls a skill as he calls a command, and a command of
// the same name goes before it.
func TestSkillsAreCalled(t *testing.T) {
	c := newCalled(t, "permission: {skill: {\"no*\": deny}}\n")
	const front = "---\ndescription: Does it.\nallowed-tools: Bash(git *)\n---\n"
	write(t, c.dir, "skills/deploy/SKILL.md", front+"Deploy $ARGUMENTS. !`touch ran`\n")
	write(t, c.dir, "skills/nope/SKILL.md", front+"Never.\n")
	write(t, c.dir, "skills/both/SKILL.md", front+"The skill.\n")
	write(t, c.dir, "commands/both.md", "The command.\n")
	app := c.open(roster.Options{Trust: true})
	p, err := app.Expand(t.Context(), roster.CommandCall{Name: "deploy", Arguments: "it", Profile: "p"})
	if err != nil || !strings.Contains(message.PartsText(p.Parts), "Deploy it. !`touch ran`") || c.ran() {
		t.Fatalf("%+v, %v", p, err)
	}
	if len(p.Lent) != 1 || p.Lent[0].Source != "skill deploy" || p.Lent[0].Rules[0].Subject != "git *" {
		t.Errorf("it brings %+v along", p.Lent)
	}
	if _, err := app.Expand(t.Context(), roster.CommandCall{Name: "nope", Profile: "p"}); !errors.Is(err, command.ErrDenied) {
		t.Errorf("one that the profile may not use: %v", err)
	}
	if p, err := app.Expand(t.Context(), roster.CommandCall{Name: "both", Profile: "p"}); err != nil || message.PartsText(p.Parts) != "The command." {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = c.open(roster.Options{}).Expand(t.Context(), roster.CommandCall{Name: "deploy", Profile: "p"})
	if err != nil || len(p.Lent) != 0 {
		t.Errorf("in a workspace that nobody trusts: %+v, %v", p, err)
	}
}
