package roster_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// delegation is one case of the matrix: an agent (parent) gives a task to
// another (child), which calls write on out.txt. Rules are in the form of the key
// permission.
type delegation struct {
	name   string
	parent string // its rules
	child  string // its rules
	want   string // done, asked, denied; no tool: the child has no write; no task: there is none to give it to

	host     string            // the policy's rules
	keys     string            // further keys of the parent
	childs   string            // further keys of the child
	said     string            // what a person says to the parent's own call of write on out.txt, for the session: yes or no
	middle   bool              // the parent gives the task to an agent between, who gives it to the child
	headless bool              // nobody answers
	flags    map[string]string // of the run
	allowAll bool
}

var delegations = []delegation{
	// What a child may do is in its own profile.
	{name: "the child allows", child: "write: allow", want: "done"},
	{name: "the child asks", child: "write: ask", want: "asked"},
	{name: "the child denies this", child: `write: {"out*": deny}`, want: "denied"},
	{name: "the child denies all", child: "write: deny", want: "no tool"},
	{name: "the child says nothing, and the built-in rules ask", child: "", want: "asked"},
	{name: "the child's star denies", child: `"*": deny`, want: "no tool"},
	{name: "the child lists other tools", childs: "tools: [read]", child: "write: allow", want: "no tool"},
	{name: "the child asks and nobody is there", child: "write: ask", headless: true, want: "denied"},
	{name: "the child allows and nobody is there", child: "write: allow", headless: true, want: "done"},

	// The parent's own rules are its own.
	{name: "an orchestrator that may not write delegates to a writer", parent: "edit: deny, write: deny", child: "write: allow", want: "done"},
	{name: "an orchestrator that may do nothing delegates all the same", parent: `"*": deny`, child: "write: allow", want: "done"},
	{name: "the parent asks and the child allows", parent: "write: ask", child: "write: allow", want: "done"},
	{name: "the parent allows and the child asks", parent: "write: allow", child: "write: ask", want: "asked"},
	{name: "the parent allows and the child denies", parent: "write: allow", child: `write: {"out*": deny}`, want: "denied"},
	{name: "the parent allows everything and the child denies", parent: `"*": allow`, child: `write: {"out*": deny}`, want: "denied"},
	{name: "the parent's default denies", keys: "default-permission: deny", child: "write: allow", want: "done"},

	// Whom the parent may call.
	{name: "no task may be given", parent: "task: deny", child: "write: allow", want: "no task"},
	{name: "only to this child", parent: `task: {"*": deny, child: allow}`, child: "write: allow", want: "done"},
	{name: "only to others", parent: `task: {"*": deny, "other-*": allow}`, child: "write: allow", want: "no task"},
	{name: "to all but this child", parent: `task: {"*": allow, child: deny}`, child: "write: allow", want: "no task"},
	{name: "a person is asked before", parent: "task: ask", child: "write: allow", want: "asked"},
	{name: "the child is for people only", childs: "mode: primary", child: "write: allow", want: "no task"},
	{name: "the child is hidden", childs: "hidden: true", child: "write: allow", want: "no task"},
	{name: "no agent may work below the parent", keys: "subagents: {max-depth: 0}", child: "write: allow", want: "no task"},
	{name: "the parent's list has no task", keys: "tools: [read]", child: "write: allow", want: "no task"},
	{name: "the parent bounds its subagents' tools", keys: "subagents: {tools: [read]}", child: "write: allow", want: "no tool"},

	// The host's policy caps everybody.
	{name: "the host denies this", host: `write: {"out*": deny}`, child: "write: allow", want: "denied"},
	{name: "the host denies the tool", host: "write: deny", child: "write: allow", want: "no tool"},
	{name: "the host denies what both allow", host: `write: {"out*": deny}`, parent: `"*": allow`, child: `"*": allow`, want: "denied"},
	{name: "the host asks", host: "write: ask", child: "write: allow", want: "asked"},
	{name: "the host asks and nobody is there", host: "write: ask", child: "write: allow", headless: true, want: "denied"},
	{name: "the host allows and the child asks", host: "write: allow", child: "write: ask", want: "asked"},
	{name: "the host allows and the child denies", host: "write: allow", child: `write: {"out*": deny}`, want: "denied"},
	{name: "the host's last rule counts", host: `write: {"*": deny, "out*": allow}`, child: "write: allow", want: "done"},
	{name: "the host allows no tasks", host: "task: deny", child: "write: allow", want: "no task"},
	{name: "the host denies everything", host: `"*": deny`, child: `"*": allow`, want: "no task"},
	{name: "the host denies, two levels down", host: `write: {"out*": deny}`, child: "write: allow", middle: true, want: "denied"},

	// What a person said no to in the session holds for all; a yes is for one profile.
	{name: "refused, and the child allows", said: "no", child: "write: allow", want: "denied"},
	{name: "refused, and the child asks", said: "no", child: "write: ask", want: "denied"},
	{name: "refused, two levels down", said: "no", child: "write: allow", middle: true, want: "denied"},
	{name: "allowed to the parent, and the child asks", said: "yes", child: "write: ask", want: "asked"},
	{name: "allowed to the parent, and the child denies", said: "yes", child: `write: {"out*": deny}`, want: "denied"},
	{name: "allowed to the parent, and the child allows", said: "yes", child: "write: allow", want: "done"},
	{name: "allowed to the parent, and the host has it asked each time", said: "yes", host: `write: {"out.txt": ask, "*": allow}`, child: "write: ask", want: "asked"},

	// With inherit-denies a child gets the parent's denials, and nothing else of it.
	{name: "inherited: the parent denies this", keys: "subagents: {inherit-denies: true}", parent: `write: {"out*": deny}`, child: "write: allow", want: "denied"},
	{name: "inherited: the parent denies the tool", keys: "subagents: {inherit-denies: true}", parent: "write: deny", child: "write: allow", want: "no tool"},
	{name: "inherited: the parent's last rule counts", keys: "subagents: {inherit-denies: true}", parent: `write: {"*": deny, "out*": allow}`, child: "write: allow", want: "done"},
	{name: "inherited: the parent asks", keys: "subagents: {inherit-denies: true}", parent: "write: ask", child: "write: allow", want: "done"},
	{name: "inherited: the parent allows and the child denies", keys: "subagents: {inherit-denies: true}", parent: "write: allow", child: `write: {"out*": deny}`, want: "denied"},
	{name: "inherited two levels down", keys: "subagents: {inherit-denies: true}", parent: `write: {"out*": deny}`, child: "write: allow", middle: true, want: "denied"},
	{name: "not inherited two levels down", parent: `write: {"out*": deny}`, child: "write: allow", middle: true, want: "done"},

	// Depth.
	{name: "at the last level no task is offered", keys: "subagents: {max-depth: 1}", child: "write: allow", middle: true, want: "no task"},
	{name: "one level before it is", keys: "subagents: {max-depth: 2}", child: "write: allow", middle: true, want: "done"},

	// The permission mode of the run is everybody's.
	{name: "in mode plan nothing is delegated", flags: map[string]string{"permission-mode": "plan"}, child: "write: allow", want: "no task"},
	{name: "in mode dont-ask the child's ask is a no", flags: map[string]string{"permission-mode": "dont-ask"}, child: "write: ask", want: "denied"},
	{name: "in mode dont-ask its allow counts", flags: map[string]string{"permission-mode": "dont-ask"}, child: "write: allow", want: "done"},
	{name: "in mode bypass the child's ask is a yes", flags: map[string]string{"permission-mode": "bypass"}, allowAll: true, child: "write: ask", want: "done"},
	{name: "in mode bypass its deny stays", flags: map[string]string{"permission-mode": "bypass"}, allowAll: true, child: `write: {"out*": deny}`, want: "denied"},
	{name: "the mode of the parent's profile is its own", keys: "permission-mode: dont-ask", child: "write: ask", want: "asked"},
}

// TestDelegationMatrix: a child may do what its own profile says, and never more
// than the host's policy and the session's denials leave.
func TestDelegationMatrix(t *testing.T) {
	for _, c := range delegations {
		t.Run(c.name, func(t *testing.T) {
			if got := c.run(t); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

const writes = `{"path":"out.txt","content":"x"}`

func (c *delegation) run(t *testing.T) string {
	app := c.open(t)
	k := session.Key{}
	if c.said != "" {
		k = c.say(t, app)
	}
	sub, err := app.Submit(t.Context(), roster.Ask{
		Key: k, Profile: "parent", Parts: text("delegate"), Headless: c.headless, Flags: c.flags, AllowAll: c.allowAll, Shared: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.outcome(t, app, sub)
}

func (c *delegation) open(t *testing.T) *roster.App {
	dir := t.TempDir()
	profile := func(name, keys, rules string) {
		write(t, dir, "profiles/"+name+".md", fmt.Sprintf("---\nname: %s\ndescription: Works. Well.\nmodel: bench/%s\n%s\npermission: {%s}\n---\nWork.\n", name, name, keys, rules))
	}
	profile("parent", c.keys, c.parent)
	profile("child", c.childs, c.child)
	next := "child"
	if c.middle {
		profile("middle", "", "")
		next = "middle"
	}
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\npolicy: {permission: {"+c.host+"}}\n")
	give := func(to string) script.Reply {
		return script.Reply{Tools: []script.Call{{Name: "task", Input: fmt.Sprintf(`{"profile":%q,"prompt":"do it"}`, to)}}}
	}
	call := script.Reply{Tools: []script.Call{{Name: "write", Input: writes}}}
	end := script.Reply{Text: "end"}
	first := []script.Reply{give(next), end}
	if c.said != "" {
		first = append([]script.Reply{call, end}, first...)
	}
	models := map[string]model.Model{
		"bench/parent": script.New(first...).Model("bench/parent"),
		"bench/middle": script.New(give("child"), end).Model("bench/middle"),
		"bench/child":  script.New(call, end).Model("bench/child"),
	}
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: memory.New(memory.Options{}), Models: models, Trust: true, Claim: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// say has the parent ask for its own call, and answers for the session.
func (c *delegation) say(t *testing.T, app *roster.App) session.Key {
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "parent", Parts: text("write"), Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	after := sub.After()
	if _, waits := rests(t, app, sub.Key, after); waits {
		list, err := app.Approvals(t.Context(), sub.Key)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		answer := roster.Answer{Answer: session.AnswerSession}
		switch {
		case c.said == "no":
			answer = roster.Answer{Answer: session.AnswerNo, ForSession: true}
		case c.host != "":
			answer = roster.Answer{Answer: session.AnswerOnce} // the host has it asked each time
		}
		if _, err := app.Answer(t.Context(), "", list[0].ID, answer); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, app, sub)
	return sub.Key
}

// outcome says what became of the call of write in a child.
func (c *delegation) outcome(t *testing.T, app *roster.App, sub roster.Submitted) string {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tasks := map[string]bool{}
	for batch, err := range app.Follow(ctx, sub.Key, sub.After()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			body, err := batch[i].Decode()
			if err != nil {
				t.Fatal(err)
			}
			switch b := body.(type) {
			case *session.PermissionAsked:
				c.asked(t, app, &batch[i], b)
				return "asked"
			case *session.ToolAfter:
				said := message.PartsText(b.Parts)
				switch {
				case b.Tool == "task":
					tasks[batch[i].Session] = true
					if b.Outcome != session.OK {
						return "no task"
					}
				case strings.Contains(said, `no tool "write"`):
					return "no tool"
				case b.Outcome == session.OK:
					return "done"
				}
				if b.Outcome == session.Denied {
					return "denied"
				}
			}
		}
	}
	return "nothing"
}

// asked holds that the question is the session's: it is listed under its id, and
// the child has not answered it.
func (c *delegation) asked(t *testing.T, app *roster.App, e *session.Event, q *session.PermissionAsked) {
	list, err := app.Approvals(t.Context(), session.Key{Stream: session.StreamOf(e.Session)})
	if err != nil || len(list) != 1 || list[0].ID != q.Ask || list[0].Depth != e.Depth {
		t.Errorf("the session's questions are %+v, %v", list, err)
	}
}
