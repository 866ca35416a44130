package roster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster"
	delegate "github.com/rosterrun/roster/capability/delegation"
	workfiles "github.com/rosterrun/roster/capability/files"
	"github.com/rosterrun/roster/capability/knowledge"
	"github.com/rosterrun/roster/capability/skills"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// coded is an app whose profiles are in code, and what its models were sent.
type coded struct {
	*roster.App
	dir string

	mu   sync.Mutex
	sent []*model.Request
}

// newCoded serves a workspace with options, where the model code/m gives the replies.
func newCoded(t testing.TB, o roster.Options, replies ...script.Reply) *coded {
	t.Helper()
	c := &coded{dir: o.Dir}
	if c.dir == "" {
		c.dir = t.TempDir()
	}
	write(t, c.dir, "roster.yaml", "providers:\n  code: {api: script, base-url: none.yaml}\ndefaults: {model: code/m}\n")
	if len(replies) == 0 {
		replies = []script.Reply{{Text: "Yes."}}
	}
	s := script.New(replies...)
	s.Loop = true
	o.Dir, o.Getenv = c.dir, env{"ROSTER_HOME": t.TempDir()}.get
	if o.State == "" {
		o.State = t.TempDir()
	}
	if o.Backend == nil {
		o.Backend = memory.New(memory.Options{})
	}
	if o.Models == nil {
		o.Models = map[string]model.Model{}
	}
	if o.Models["code/m"] == nil {
		o.Models["code/m"] = eyed{s.Model("code/m"), c.see}
	}
	app, err := roster.NewApp(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	c.App = app
	return c
}

func (c *coded) see(_ context.Context, r *model.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, r)
}

// head is the system prompt of the i-th request.
func (c *coded) head(t testing.TB, i int) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if i >= len(c.sent) {
		t.Fatalf("the model was asked %d times", len(c.sent))
	}
	return strings.Join(c.sent[i].Prefix.System, "\n")
}

// ask has a prompt answered.
func (c *coded) ask(t testing.TB, a roster.Ask) (*session.LoopEnd, roster.Submitted) {
	t.Helper()
	a.Headless = true
	if a.Parts == nil {
		a.Parts = text("hi")
	}
	s, err := c.Submit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return wait(t, c.App, s), s
}

// simple is a definition that is whole.
func simple(id string) roster.Definition {
	return roster.Definition{ID: id, Name: "The " + id, Agent: roster.Static{Model: "code/m", System: "You are " + id + "."}}
}

func resolving(all ...roster.Definition) roster.Options {
	var list []*roster.Profile
	for _, d := range all {
		list = append(list, roster.DefineProfile(d))
	}
	return roster.Options{ResolveProfile: roster.StaticResolver(list...)}
}

// TestDefinitionErrors: what is missing or said twice is the error of NewApp, with its
// profile and field.
func TestDefinitionErrors(t *testing.T) {
	create := func(context.Context, roster.ProfileContext) (*roster.Agent, error) { return nil, nil }
	prompt := func(context.Context, roster.ProfileContext) (string, error) { return "", nil }
	for _, c := range []struct {
		name, field string
		change      func(*roster.Definition)
	}{
		{"no ID", "ID", func(d *roster.Definition) { d.ID = "" }},
		{"no Name", "Name", func(d *roster.Definition) { d.Name = " " }},
		{"neither Agent nor Create", "Agent", func(d *roster.Definition) { d.Agent = roster.Static{} }},
		{"both Agent and Create", "Create", func(d *roster.Definition) { d.Create = create }},
		{"two prompts", "Agent.Prompt", func(d *roster.Definition) { d.Agent.Prompt = prompt }},
		{"an ID that is a path", "ID", func(d *roster.Definition) { d.ID = "../x" }},
		{"an ID with blanks", "ID", func(d *roster.Definition) { d.ID = "a b" }},
		{"an ID of other letters", "ID", func(d *roster.Definition) { d.ID = "专家" }},
		{"an ID that is long", "ID", func(d *roster.Definition) { d.ID = strings.Repeat("x", 300) }},
		{"turns below zero", "Agent.MaxTurns", func(d *roster.Definition) { d.Agent.MaxTurns = -1 }},
		{"a window below zero", "ContextWindow", func(d *roster.Definition) { d.ContextWindow = -1 }},
		{"tokens below zero", "ModelConfig.MaxTokens", func(d *roster.Definition) { d.ModelConfig.MaxTokens = -1 }},
		{"a huge prompt", "Agent.System", func(d *roster.Definition) { d.Agent.System = strings.Repeat("x", 5<<20) }},
		{"a temperature", "Keys", func(d *roster.Definition) { hot := 9.0; d.ModelConfig.Temperature = &hot }},
		{"an unknown key", "Keys", func(d *roster.Definition) { d.Keys = map[string]string{"nonsense": "1"} }},
		{"a key that has a field", "Keys", func(d *roster.Definition) { d.Keys = map[string]string{"max_turns": "1"} }},
		{"a provider that is nil", "ContextProviders", func(d *roster.Definition) {
			d.ContextProviders = map[string]roster.ContextProvider{"x": nil}
		}},
		{"a capability without tools", "Capabilities", func(d *roster.Definition) { d.Capabilities = []roster.Capability{{Name: "x"}} }},
		{"a capability that is not built in", "Capabilities", func(d *roster.Definition) {
			d.Capabilities = []roster.Capability{{Name: "x", Builtin: []string{"nothing"}}}
		}},
		{"capabilities that disagree", "Capabilities", func(d *roster.Definition) {
			d.Capabilities = []roster.Capability{workfiles.New(workfiles.Sandbox{Dir: "a"}), workfiles.New(workfiles.Sandbox{Dir: "b"})}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := simple("worker")
			c.change(&d)
			_, err := roster.NewApp(resolving(simple("other"), d))
			var bad *roster.DefinitionError
			if !errors.As(err, &bad) || bad.Field != c.field || bad.Profile != d.ID || !errors.Is(err, profile.SchemaValidation) {
				t.Errorf("got %+v, want a fault of %s", err, c.field)
			}
		})
	}
	for name, all := range map[string][]*roster.Profile{
		"twice": {roster.DefineProfile(simple("x")), roster.DefineProfile(simple("x"))},
		"nil":   {nil},
	} {
		_, err := roster.NewApp(roster.Options{ResolveProfile: roster.StaticResolver(all...)})
		if bad := (*roster.DefinitionError)(nil); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDefinitionIsCopied: what is done to a definition afterwards changes nothing.
func TestDefinitionIsCopied(t *testing.T) {
	d := simple("worker")
	d.Capabilities = []roster.Capability{workfiles.New(workfiles.Sandbox{ReadOnly: true})}
	d.Keys = map[string]string{"limits.cost": "0.5"}
	p := roster.DefineProfile(d)
	d.Capabilities[0] = skills.New()
	d.Keys["limits.cost"] = "100"
	d.Keys["permission"] = "allow"
	app := newCoded(t, roster.Options{ResolveProfile: roster.StaticResolver(p)})
	s, _, err := app.Resolve(t.Context(), "worker", session.Overrides{})
	if err != nil || s.Limits.Cost != 0.5 || !slices.Equal(s.Tools, []string{"read", "glob", "grep"}) || p.ID() != "worker" || p.Name() != "The worker" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestStaticAgent: model, prompt, turns, capabilities and the rest are those of the
// definition, and everything is run by the spec that the catalog shows.
func TestStaticAgent(t *testing.T) {
	cool := 0.25
	d := roster.Definition{
		ID: "team/worker", Name: "The Worker", Description: "Works. And more.",
		Agent:        roster.Static{Model: "code:m", System: "You work in {{ .Workspace }}.", MaxTurns: 7},
		Capabilities: []roster.Capability{workfiles.New(workfiles.Sandbox{Dir: "data"}), knowledge.New("docs"), skills.New("x-*"), delegate.New("other")},
		ModelConfig:  roster.ModelConfig{Temperature: &cool, MaxTokens: 99},
		Keys:         map[string]string{"limits.cost": "2"},
	}
	dir := t.TempDir()
	write(t, dir, "data/a.txt", "a\n")
	write(t, dir, "docs/a.md", "a\n")
	o := resolving(d, simple("other"))
	o.Dir = dir
	app := newCoded(t, o)
	end, sub := app.ask(t, roster.Ask{Profile: "team/worker"})
	if end.Text != "Yes." {
		t.Fatalf("%+v %+v", end, end.Error)
	}
	s, _, err := app.Resolve(t.Context(), "team/worker", session.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintln(s.Model, s.Limits.Turns, s.Limits.Cost, *s.Params.Temperature, s.Params.MaxTokens, s.Title); got != "code/m 7 2 0.25 99 The Worker\n" {
		t.Errorf("the spec has %s", got)
	}
	if head := app.head(t, 0); !strings.Contains(head, "You work in "+s.Workspace) || !strings.HasSuffix(s.Workspace, "/data") {
		t.Errorf("the head: %s", head)
	}
	var offered []string
	for _, d := range app.sent[0].Prefix.Tools {
		offered = append(offered, d.Name)
	}
	if want := "read glob grep write edit task knowledge_list knowledge_read knowledge_search"; !sameWords(offered, want) {
		t.Errorf("offered: %v", offered)
	}
	if start := loopStart(t, app.App, sub.Key); start.Profile != "team/worker" || start.Revision != s.Revision {
		t.Errorf("the log says %+v", start)
	}
}

func sameWords(got []string, want string) bool {
	got, all := slices.Clone(got), strings.Fields(want)
	slices.Sort(got)
	slices.Sort(all)
	return slices.Equal(got, all)
}

// TestPromptIsAskedForEachRequest: with tenant, user, session, its reference and store,
// the chain, the depth and the policy.
func TestPromptIsAskedForEachRequest(t *testing.T) {
	var got []roster.ProfileContext
	d := simple("worker")
	d.Capabilities = []roster.Capability{workfiles.New(workfiles.Sandbox{})}
	d.Keys = map[string]string{"permission": "{write: {'*': allow, 'secret*': deny}}"}
	d.Agent = roster.Static{Model: "code/m", Prompt: func(ctx context.Context, c roster.ProfileContext) (string, error) {
		got = append(got, c)
		before := 0
		for _, err := range c.SessionStore.Events(ctx, c.SessionRef.Stream, 0) {
			if err != nil {
				return "", err
			}
			before++
		}
		return fmt.Sprintf("You serve %s of %s, after %d events.", c.User, c.Tenant, before), nil
	}}
	app := newCoded(t, resolving(d))
	_, sub := app.ask(t, roster.Ask{Profile: "worker", Key: session.Key{Tenant: "acme"}, User: "ann", Chain: "c1"})
	app.ask(t, roster.Ask{Key: sub.Key, User: "bob", Chain: "c2"})
	if head := app.head(t, 0); !strings.Contains(head, "You serve ann of acme, after 0 events.") {
		t.Errorf("first: %s", head)
	}
	if head := app.head(t, 1); !strings.Contains(head, "You serve bob of acme, after ") || strings.Contains(head, "after 0 ") {
		t.Errorf("second: %s", head)
	}
	if len(got) != 2 {
		t.Fatalf("it was asked %d times", len(got))
	}
	c := got[0]
	if c.AgentID != "worker" || c.Session != sub.Key.Stream || c.SessionRef != sub.Key || c.ChainID != "c1" || c.Depth != 0 || got[1].ChainID != "c2" {
		t.Errorf("the context is %+v", c)
	}
	for file, want := range map[string]permission.Effect{"a.txt": permission.Allow, "secret.txt": permission.Deny} {
		if e := c.PermissionPolicy.Decide(permission.Query{Tool: "write", Subject: file}).Effect; e != want {
			t.Errorf("the policy says %v of %s", e, file)
		}
	}
	if _, err := c.SessionStore.Summary(t.Context(), sub.Key.Stream); err != nil {
		t.Errorf("its own session: %v", err)
	}
	_, other := app.ask(t, roster.Ask{Profile: "worker", Key: session.Key{Tenant: "evil"}})
	if _, err := c.SessionStore.Summary(t.Context(), other.Key.Stream); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("another tenant's session: %v", err)
	}
}

// TestCreate: the agent is built for each request, by what Create gives over what the
// definition says.
func TestCreate(t *testing.T) {
	d := roster.Definition{
		ID: "worker", Name: "Worker", ModelConfig: roster.ModelConfig{Provider: "code", ModelID: "m"},
		Create: func(_ context.Context, c roster.ProfileContext) (*roster.Agent, error) {
			def := roster.AgentDef{ID: "worker", System: "You serve " + c.Tenant + ".", MaxTurns: len(c.Tenant)}
			if c.Tenant == "acme" {
				def.Model = roster.ModelRef{Provider: "code", ModelID: "other"}
			}
			return roster.DefineAgent(def), nil
		},
	}
	o := resolving(d)
	other := script.New(script.Reply{Text: "I am the other."})
	o.Models = map[string]model.Model{"code/other": other.Model("code/other")}
	app := newCoded(t, o)
	if end, _ := app.ask(t, roster.Ask{Profile: "worker", Key: session.Key{Tenant: "acme"}}); end.Text != "I am the other." {
		t.Errorf("acme: %+v", end)
	}
	_, sub := app.ask(t, roster.Ask{Profile: "worker", Key: session.Key{Tenant: "globex"}})
	if head := app.head(t, 0); !strings.Contains(head, "You serve globex.") {
		t.Errorf("globex: %s", head)
	}
	if start := loopStart(t, app.App, sub.Key); start.Model != "code/m" {
		t.Errorf("globex asks %s", start.Model)
	}
	_, ds, err := app.Resolve(t.Context(), "worker", session.Overrides{})
	if err != nil || !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool { return d.Code == profile.CodePerRequest }) {
		t.Errorf("looked at: %v, %v", ds, err)
	}
}

// TestCreateThatFails: nothing is stored and nothing runs, and the error says whose
// fault it is.
func TestCreateThatFails(t *testing.T) {
	boom := errors.New("the prompt store is down")
	cases := map[string]struct {
		create func(context.Context, roster.ProfileContext) (*roster.Agent, error)
		want   string
	}{
		"error": {func(context.Context, roster.ProfileContext) (*roster.Agent, error) { return nil, boom }, "the prompt store is down"},
		"panic": {func(context.Context, roster.ProfileContext) (*roster.Agent, error) { panic("oh no") }, "it panicked: oh no"},
		"nil":   {func(context.Context, roster.ProfileContext) (*roster.Agent, error) { return nil, nil }, "it gave no agent"},
		"slow": {func(ctx context.Context, _ roster.ProfileContext) (*roster.Agent, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "context"},
		"other":     {agentOf(roster.AgentDef{ID: "somebody"}), "give that of the profile"},
		"turns":     {agentOf(roster.AgentDef{MaxTurns: -1}), "MaxTurns"},
		"no model":  {agentOf(roster.AgentDef{Model: roster.ModelRef{Provider: "code"}}), "no ModelID"},
		"huge":      {agentOf(roster.AgentDef{System: strings.Repeat("x", 5<<20)}), "more than"},
		"not known": {agentOf(roster.AgentDef{Model: roster.ModelRef{Provider: "nobody", ModelID: "m"}}), "nobody"},
	}
	var all []roster.Definition
	for name, c := range cases {
		all = append(all, roster.Definition{ID: strings.ReplaceAll(name, " ", "-"), Name: name, Create: c.create})
	}
	app := newCoded(t, resolving(all...))
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		ctx, cancel := context.WithCancel(t.Context())
		if name == "slow" {
			cancel()
		}
		_, err := app.Submit(ctx, roster.Ask{Profile: strings.ReplaceAll(name, " ", "-"), Parts: text("hi"), Headless: true})
		cancel()
		var bad *roster.BuildError
		if err == nil || !strings.Contains(err.Error(), cases[name].want) || !errors.As(err, &bad) && name != "not known" && name != "slow" {
			t.Errorf("%s: %v", name, err)
		}
		if name == "error" && (!errors.Is(err, boom) || roster.Code(err) != "ProfileFailed") {
			t.Errorf("%v has the code %s", err, roster.Code(err))
		}
	}
	store, _ := app.Backend(t.Context())
	for s := range store.List(t.Context(), roster.LocalTenant, session.Query{}) {
		t.Errorf("session %s was stored", s.Key)
	}
}

func agentOf(d roster.AgentDef) func(context.Context, roster.ProfileContext) (*roster.Agent, error) {
	return func(context.Context, roster.ProfileContext) (*roster.Agent, error) { return roster.DefineAgent(d), nil }
}

// TestDefinedAgentRunsNowhere: it is told so, and not by a panic.
func TestDefinedAgentRunsNowhere(t *testing.T) {
	g := roster.DefineAgent(roster.AgentDef{ID: "worker"})
	ctx := t.Context()
	_, err1 := g.Prompt(ctx, "hi")
	_, err2 := g.State(ctx)
	_, err3 := g.Continue(ctx)
	_, err4 := g.CheckAndRotate(ctx, 1)
	for i, err := range []error{err1, err2, err3, err4, g.Steer(ctx, "x"), g.FollowUp(ctx, "x"), g.Abort(ctx), g.Reset(ctx), g.Set("model", "x"), g.SetHooks()} {
		if !errors.Is(err, roster.ErrNotRunning) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if g.ID() != "worker" || g.Session() != (session.Key{}) {
		t.Errorf("it is %s in %v", g.ID(), g.Session())
	}
}
