package roster_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// switching is one case: what became of a call of switch_profile to target, by
// an agent with these rules.
type switching struct {
	name   string
	rules  string // of the agent, in the form of the key permission
	keys   string // further keys of the agent
	target string // further keys of the target
	host   string // the policy's rules
	want   string // done, asked, denied, or how what the model is told begins

	headless, untrusted bool
	child               bool // the call is a child's
	flags               map[string]string
}

var switchings = []switching{
	{name: "it is asked for", want: "asked"},
	{name: "it is allowed", rules: "switch_profile: allow", want: "done"},
	{name: "to this one", rules: `switch_profile: {"*": deny, target: allow}`, want: "done"},
	{name: "to others only", rules: `switch_profile: {"*": allow, target: deny}`, want: `The profile "target" is not allowed: the rule switch_profile "target"`},
	{name: "to nobody", rules: "switch_profile: deny", want: "There is no profile that you can switch to"},
	{name: "the list has no switch_profile", keys: "tools: [read]", rules: "switch_profile: allow", want: "There is no profile that you can switch to"},
	{name: "nobody is there to ask", headless: true, want: "There is no profile that you can switch to"},
	{name: "nobody is there, and it is allowed", rules: "switch_profile: allow", headless: true, want: "done"},
	{name: "the target is a subagent", rules: "switch_profile: allow", target: "mode: subagent", want: `The profile "target" is a subagent`},
	{name: "the target is for people only", rules: "switch_profile: allow", target: "mode: primary", want: "done"},
	{name: "the target is hidden", rules: "switch_profile: allow", target: "hidden: true", want: `The profile "target" is hidden`},
	{name: "the target cannot be run", rules: "switch_profile: allow", target: "tool-settings: {read: {limit: 0}}", want: `The profile "target" does not load`},
	{name: "the host denies it", rules: "switch_profile: allow", host: "switch_profile: {target: deny}", want: `The profile "target" is not allowed`},
	{name: "the host has it asked", rules: "switch_profile: allow", host: "switch_profile: ask", want: "asked"},
	{name: "in a workspace that nobody trusts an allow counts as ask", rules: "switch_profile: allow", untrusted: true, want: "asked"},
	{name: "a child is not offered it", rules: "switch_profile: allow", child: true, want: "There is no profile that you can switch to"},
	{name: "in mode plan nothing is switched", rules: "switch_profile: allow", flags: map[string]string{"permission-mode": "plan"}, want: "There is no profile that you can switch to"},
	{name: "in mode dont-ask it is denied", flags: map[string]string{"permission-mode": "dont-ask"}, want: "There is no profile that you can switch to"},
}

// TestSwitching: a session goes to whom the rules name, as people say, and never
// to what is not for conversations.
func TestSwitching(t *testing.T) {
	for _, c := range switchings {
		t.Run(c.name, func(t *testing.T) {
			if got := c.run(t); got != c.want && (c.want == "done" || !strings.HasPrefix(got, c.want)) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func (c *switching) run(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\npolicy: {permission: {"+c.host+"}}\n")
	profile := func(name, keys, rules string) {
		write(t, dir, "profiles/"+name+".md", fmt.Sprintf("---\nname: %s\ndescription: Works. Well.\nmodel: bench/%s\n%s\npermission: {%s}\n---\nI am %s.\n", name, name, keys, rules, name))
	}
	profile("agent", c.keys, c.rules)
	profile("target", c.target, "")
	profile("other", "", "")
	profile("parent", "", "task: allow")
	call := script.Reply{Tools: []script.Call{{Name: "switch_profile", Input: `{"profile":"target","reason":"it is its subject"}`}}}
	give := script.Reply{Tools: []script.Call{{Name: "task", Input: `{"profile":"agent","prompt":"do it"}`}}}
	end := script.Reply{Text: "end"}
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: memory.New(memory.Options{}), Trust: !c.untrusted,
		Models: map[string]model.Model{
			"bench/agent":  script.New(call, end).Model("bench/agent"),
			"bench/target": script.New(end, end).Model("bench/target"),
			"bench/parent": script.New(give, end).Model("bench/parent"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	first := "agent"
	if c.child {
		first = "parent"
	}
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: first, Parts: text("go"), Headless: c.headless, Flags: c.flags})
	if err != nil {
		t.Fatal(err)
	}
	if _, waits := rests(t, app, sub.Key, sub.After()); waits {
		return "asked"
	}
	return said(t, app, sub.Key)
}

// said is done if the profile was switched, and otherwise what the model was told
// of the call.
func said(t *testing.T, app *roster.App, k session.Key) (told string) {
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *session.Switched:
			return "done"
		case *session.ToolAfter:
			if b.Tool == "switch_profile" {
				told = message.PartsText(b.Parts)
			}
		}
	}
	return told
}

// eyed is a model that shows what it is asked.
type eyed struct {
	model.Model
	seen func(context.Context, *model.Request)
}

func (m eyed) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	m.seen(ctx, r)
	return m.Model.Stream(ctx, r)
}

// hall is a workspace with the profiles desk and expert. desk hands over to
// expert at once.
func hall(t *testing.T, dir, state string, store session.Backend, seen func(context.Context, *model.Request)) *roster.App {
	t.Helper()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	write(t, dir, "profiles/desk.md", "---\ndescription: The desk.\nmodel: bench/desk\npermission: {switch_profile: allow}\n---\nI am the desk.\n")
	write(t, dir, "profiles/expert.md", "---\ndescription: Knows all of it. And more.\nmodel: bench/expert\ntools: [read]\npermission: {read: {\"secret*\": deny}}\n---\nI am the expert.\n")
	says := script.Reply{Text: "the desk"}
	desk := script.New(script.Reply{Tools: []script.Call{{Name: "switch_profile", Input: `{"profile":"expert","reason":"deep"}`}}}, says, says, says, says, says)
	expert := script.New(script.Reply{}, script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"secret.txt"}`}}}, script.Reply{Text: "the expert"}, script.Reply{Text: "still the expert"}, script.Reply{Text: "still the expert"})
	app, _, err := roster.Open(dir, roster.Options{
		State: state, Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: store, Trust: true,
		Models: map[string]model.Model{
			"bench/desk": eyed{desk.Model("bench/desk"), seen}, "bench/expert": eyed{expert.Model("bench/expert"), seen},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// TestSessionGoesOnAsWhoItWasSwitchedTo: with that profile's prompt, tools and
// rules, in this run and at the next prompt, unless that names one.
func TestSessionGoesOnAsWhoItWasSwitchedTo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "secret.txt", "s\n")
	var heads []*model.Prefix
	app := hall(t, dir, t.TempDir(), memory.New(memory.Options{}), func(_ context.Context, r *model.Request) { heads = append(heads, r.Prefix) })
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "desk", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	got, _ := rests(t, app, sub.Key, sub.After())
	if len(got) != 2 || got[0] != session.OK || got[1] != session.Denied {
		t.Errorf("the calls ended %v", got)
	}
	if len(heads) != 3 {
		t.Fatalf("%d calls of models", len(heads))
	}
	list := toolOf(heads[0], "switch_profile")
	if !strings.Contains(list, "- expert: Knows all of it.") || strings.Contains(list, "- desk") {
		t.Errorf("the tool lists: %s", list)
	}
	for i, want := range []string{"I am the desk.", "I am the expert.", "I am the expert."} {
		if head := strings.Join(heads[i].System, "\n"); !strings.Contains(head, want) || i > 0 && len(heads[i].Tools) != 1 {
			t.Errorf("call %d: %s, %d tools", i, head, len(heads[i].Tools))
		}
	}
	for _, c := range []struct{ profile, want string }{{"", "expert"}, {"desk", "desk"}, {"", "desk"}} {
		sub, err := app.Submit(t.Context(), roster.Ask{Key: sub.Key, Profile: c.profile, Parts: text("again")})
		if err != nil {
			t.Fatal(err)
		}
		if end := wait(t, app, sub); !strings.Contains(end.Text, c.want) {
			t.Errorf("with profile %q: %q, want %s", c.profile, end.Text, c.want)
		}
	}
}

func toolOf(p *model.Prefix, name string) string {
	for _, d := range p.Tools {
		if d.Name == name {
			return d.Description
		}
	}
	return ""
}

// TestSwitchedRunIsTakenUpAsWhoItIs by the next process: by what the log says of
// the profile, whatever has become of its file.
func TestSwitchedRunIsTakenUpAsWhoItIs(t *testing.T) {
	dir, state, store := t.TempDir(), t.TempDir(), memory.New(memory.Options{})
	asked := make(chan struct{})
	first := hall(t, dir, state, store, func(ctx context.Context, r *model.Request) {
		if strings.Contains(strings.Join(r.Prefix.System, ""), "expert") {
			close(asked)
			<-ctx.Done()
		}
	})
	sub, err := first.Submit(t.Context(), roster.Ask{Profile: "desk", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	gone, stop := context.WithCancel(t.Context())
	stop()
	first.Close(gone) // it is stopped in the middle of its work
	var heads []string
	app := hall(t, dir, state, store, func(_ context.Context, r *model.Request) { heads = append(heads, strings.Join(r.Prefix.System, "")) })
	write(t, dir, "profiles/expert.md", "---\ndescription: Other.\nmodel: bench/expert\n---\nI am another.\n")
	if err := app.Resume(t.Context(), sub.Key); err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, sub); end.Text != "the expert" {
		t.Errorf("the end: %+v", end)
	}
	for _, head := range heads {
		if !strings.Contains(head, "I am the expert.") {
			t.Errorf("the run goes on with the prompt %q", head)
		}
	}
}

// TestQueuedPromptIsForWhoItIsByThen: a prompt that names no profile and waits
// for the end of the loop is for whom that has switched to.
func TestQueuedPromptIsForWhoItIsByThen(t *testing.T) {
	dir := t.TempDir()
	var app *roster.App
	var key session.Key
	queued := make(chan roster.Submitted, 1)
	first := true
	app = hall(t, dir, t.TempDir(), memory.New(memory.Options{}), func(context.Context, *model.Request) {
		if first {
			first = false
			sub, err := app.Submit(t.Context(), roster.Ask{Key: key, Parts: text("and"), OnBusy: "queue"})
			if err != nil {
				t.Error(err)
			}
			queued <- sub
		}
	})
	key.Stream = "0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11"
	if _, err := app.Submit(t.Context(), roster.Ask{Key: key, Profile: "desk", Parts: text("go")}); err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, <-queued); end.Text != "still the expert" {
		t.Errorf("the queued prompt is answered: %q", end.Text)
	}
}
