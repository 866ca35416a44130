package roster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster"
	delegate "github.com/rosterrun/roster/capability/delegation"
	workfiles "github.com/rosterrun/roster/capability/files"
	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/tool"
)

// TestOneCatalog: profiles of files and of code are listed, shown, explained and reached
// alike, and code goes before a file of the same name.
func TestOneCatalog(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "profiles/writer.md", "---\ndescription: Writes.\n---\nYou write.\n")
	write(t, dir, "profiles/both.md", "---\ndescription: Of a file.\n---\nYou are of a file.\n")
	both := simple("both")
	both.Description = "Of the program. And more."
	lead := simple("lead")
	lead.Capabilities = []roster.Capability{delegate.New()}
	o := resolving(lead, both)
	o.Dir = dir
	app := newCoded(t, o)
	var names []string
	for p := range app.Catalog().List() {
		names = append(names, p.Name+"/"+p.Dialect)
	}
	if want := []string{"both/code", "lead/code", "writer/roster"}; !slices.Equal(names, want) {
		t.Errorf("the catalog has %v", names)
	}
	shadowed := func(d profile.Diagnostic) bool { return d.Code == profile.CodeShadowed && d.File == "profiles/both.md" }
	if ds := app.Catalog().Diagnostics(); !slices.ContainsFunc(ds, shadowed) {
		t.Errorf("nothing says that the file is not used: %v", ds)
	}
	tools, _, err := app.Tools(t.Context(), "lead", session.Overrides{})
	if got := fmt.Sprint(tools.Targets); err != nil || !strings.Contains(got, "{both Of the program.") || !strings.Contains(got, "{writer Writes.") {
		t.Errorf("lead reaches %v, %v", tools.Targets, err)
	}
	s, _, err := app.Resolve(t.Context(), "both", session.Overrides{})
	if err != nil || s.Origins["description"].Origin.Layer != source.Profile || s.Origins["name"].Origin.Layer != source.Profile {
		t.Errorf("explained: %v, %v", s.Origins["description"], err)
	}
	server := httptest.NewServer(app)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var list []struct{ Name string }
	var one view.Profile
	get(t, server.URL+"/profiles", http.StatusOK, &list)
	get(t, server.URL+"/profiles/both?verbose", http.StatusOK, &one)
	if len(list) != 3 || one.SystemPrompt != "You are both." || one.Source.File != catalog.Memory || one.Title != "The both" {
		t.Errorf("over HTTP: %v, %+v", list, one)
	}
	if all, _, err := app.Catalog().History(t.Context(), "both"); err != nil || len(all) != 0 {
		t.Errorf("its history: %v, %v", all, err)
	}
	if _, err := app.Catalog().Save(t.Context(), &profile.Profile{Name: "both"}, catalog.SaveOptions{}); !errors.Is(err, profile.ReadOnly) {
		t.Errorf("saved: %v", err)
	}
}

func get(t *testing.T, url string, status int, into any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answered(t, resp, status, into)
}

func answered(t *testing.T, resp *http.Response, status int, into any) {
	t.Helper()
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil || resp.StatusCode != status {
		t.Fatalf("%s: %s, %v", resp.Status, data, err)
	}
}

// TestAFileCannotPassForCode: a file of the workspace has no name by which what it
// allows counts as the program's.
func TestAFileCannotPassForCode(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog.Memory, "---\nname: sly\ndescription: x\npermission: {bash: allow}\n---\nx\n")
	o := resolving(simple("good"))
	o.Dir, o.Profiles = dir, nil
	o.Catalog = catalog.Open(catalog.Options{Sources: catalog.Standard("", dir, catalog.Memory)})
	app := newCoded(t, o)
	for name, want := range map[string]permission.Effect{"sly": permission.Ask} {
		if p, _, err := app.Permit(t.Context(), name, session.Overrides{}, "bash", "ls"); err != nil || p.Effect != want {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestRulesInCodeCount: what a program allows needs nobody's trust, and what files
// allow does.
func TestRulesInCodeCount(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "profiles/filed.md", "---\ndescription: x\npermission: {bash: allow}\n---\nx\n")
	d := simple("coded")
	d.Keys = map[string]string{"permission.bash": "allow"}
	o := resolving(d)
	o.Dir = dir
	app := newCoded(t, o)
	for name, want := range map[string]permission.Effect{"coded": permission.Allow, "filed": permission.Ask} {
		if p, _, err := app.Permit(t.Context(), name, session.Overrides{}, "bash", "ls"); err != nil || p.Effect != want {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// byTenant is a resolver that is asked, and has a profile for one tenant.
type byTenant struct {
	asked  atomic.Int64
	acme   *roster.Profile
	broken *roster.Profile
}

func (b *byTenant) ResolveProfile(_ context.Context, r roster.ProfileRequest) (*roster.Profile, error) {
	b.asked.Add(1)
	switch {
	case r.AgentID == "fails":
		return nil, errors.New("the directory is down")
	case r.AgentID == "panics":
		panic("oh no")
	case r.AgentID == "broken":
		return b.broken, nil
	case r.Tenant == "acme":
		return b.acme, nil
	}
	return nil, nil
}

// TestResolverIsAskedByNameAndTenant: what it gives goes by the name that was asked for;
// what it does not have is looked up in the catalog, and what fails is said.
func TestResolverIsAskedByNameAndTenant(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "profiles/support.md", "---\ndescription: x\n---\nYou support everybody.\n")
	r := &byTenant{acme: roster.DefineProfile(simple("acme-support")), broken: roster.DefineProfile(roster.Definition{ID: "broken"})}
	app := newCoded(t, roster.Options{Dir: dir, ResolveProfile: r})
	_, sub := app.ask(t, roster.Ask{Profile: "support", Key: session.Key{Tenant: "acme"}})
	app.ask(t, roster.Ask{Key: sub.Key})
	app.ask(t, roster.Ask{Profile: "support", Key: session.Key{Tenant: "globex"}})
	for i, want := range []string{"You are acme-support.", "You are acme-support.", "You support everybody."} {
		if head := app.head(t, i); !strings.Contains(head, want) {
			t.Errorf("%d: %s", i, head)
		}
	}
	if start := loopStart(t, app.App, sub.Key); start.Profile != "support" || start.Number != 2 {
		t.Errorf("the log says %+v", start)
	}
	ctx := identity.With(t.Context(), identity.Caller{Tenant: "acme"})
	if s, _, err := app.Resolve(ctx, "support", session.Overrides{}); err != nil || s.Title != "The acme-support" {
		t.Errorf("acme looks at it: %v", err)
	}
	for name, code := range map[string]string{"fails": "ProfileFailed", "panics": "ProfileFailed", "broken": "InvalidDefinition", "nobody": "ProfileNotFound", "../x": "ProfileNotFound"} {
		if _, err := app.Submit(t.Context(), roster.Ask{Profile: name, Parts: text("hi")}); roster.Code(err) != code {
			t.Errorf("%s: %v (%s)", name, err, roster.Code(err))
		}
	}
}

// TestCatalogResolver: each tenant has the files of a catalog of its own.
func TestCatalogResolver(t *testing.T) {
	tenants := map[string]roster.ProfileResolver{}
	for _, name := range []string{"acme", "globex"} {
		c := catalog.Open(catalog.Options{})
		if err := c.AddString("support", "---\ndescription: x\nmodel: code/m\n---\nYou serve "+name+".\n"); err != nil {
			t.Fatal(err)
		}
		tenants[name] = roster.CatalogResolver(c)
	}
	app := newCoded(t, roster.Options{ResolveProfile: roster.ResolverFunc(func(ctx context.Context, r roster.ProfileRequest) (*roster.Profile, error) {
		if own := tenants[r.Tenant]; own != nil {
			return own.ResolveProfile(ctx, r)
		}
		return nil, nil
	})})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			tenant := []string{"acme", "globex"}[i%2]
			s, err := app.Submit(t.Context(), roster.Ask{Profile: "support", Key: session.Key{Tenant: tenant}, Parts: text("from " + tenant), Headless: true})
			if err != nil {
				t.Error(err)
				return
			}
			wait(t, app.App, s)
		})
	}
	all.Wait()
	for i, r := range app.sent {
		if from, head := strings.TrimPrefix(r.Messages[0].Text(), "from "), app.head(t, i); !strings.Contains(head, "You serve "+from+".") {
			t.Errorf("%s was served by %s", from, head)
		}
	}
	if _, err := app.Submit(t.Context(), roster.Ask{Profile: "support", Parts: text("hi")}); !errors.Is(err, profile.ProfileNotFound) {
		t.Errorf("another tenant: %v", err)
	}
}

// TestTheChainGoesThrough: an agent that gets a task has the chain of the request, and a
// depth one more, also where its prompt is made; OnSubAgentEvent is told of it.
func TestTheChainGoesThrough(t *testing.T) {
	var contexts []roster.ProfileContext
	var told []session.Event
	lead := roster.Definition{
		ID: "lead", Name: "Lead", Capabilities: []roster.Capability{delegate.New("helper")},
		Create: func(_ context.Context, c roster.ProfileContext) (*roster.Agent, error) {
			contexts = append(contexts, c)
			return roster.DefineAgent(roster.AgentDef{
				ID: "lead", Model: roster.ModelRef{Provider: "code", ModelID: "lead"}, System: "You lead.",
				OnSubAgentEvent: func(e session.Event) { told = append(told, e) },
			}), nil
		},
	}
	helper := simple("helper")
	helper.Agent = roster.Static{Prompt: func(_ context.Context, c roster.ProfileContext) (string, error) {
		contexts = append(contexts, c)
		return "You help.", nil
	}}
	o := resolving(lead, helper)
	task := script.New(script.Reply{Tools: []script.Call{{Name: "task", Input: `{"profile":"helper","description":"help","prompt":"help me"}`}}}, script.Reply{Text: "Done."})
	o.Models = map[string]model.Model{"code/lead": task.Model("code/lead")}
	app := newCoded(t, o)
	end, sub := app.ask(t, roster.Ask{Profile: "lead", User: "ann", Chain: "chain-1"})
	if end.Text != "Done." || len(contexts) != 2 {
		t.Fatalf("%+v; asked %d times", end, len(contexts))
	}
	if c := contexts[1]; c.ChainID != "chain-1" || c.Depth != 1 || c.User != "ann" || c.SessionRef != sub.Key || c.Session == sub.Key.Stream {
		t.Errorf("the helper is built for %+v", c)
	}
	stored := 0
	store, _ := app.Backend(t.Context())
	for e, err := range store.Read(t.Context(), sub.Key, 0) {
		if err != nil || e.Chain != "chain-1" {
			t.Errorf("event %d has the chain %q, %v", e.Seq, e.Chain, err)
		}
		if e.Depth == 1 {
			stored++
		}
	}
	var last int64
	got := 0
	for _, e := range told {
		if e.Depth != 1 || e.Chain != "chain-1" || e.Seq > 0 && e.Seq <= last {
			t.Errorf("told of %+v after %d", e, last)
		}
		if last = max(last, e.Seq); e.Seq > 0 {
			got++
		}
	}
	if got == 0 || got != stored {
		t.Errorf("told of %d events of %d", got, stored)
	}
}

// TestObserverThatPanics does not end the run.
func TestObserverThatPanics(t *testing.T) {
	told := 0
	lead := roster.Definition{
		ID: "lead", Name: "Lead", Capabilities: []roster.Capability{delegate.New()},
		Create: agentOf(roster.AgentDef{Model: roster.ModelRef{Provider: "code", ModelID: "lead"}, OnSubAgentEvent: func(session.Event) { told++; panic("oh no") }}),
	}
	o := resolving(lead, simple("helper"))
	task := script.New(script.Reply{Tools: []script.Call{{Name: "task", Input: `{"profile":"helper","description":"help","prompt":"help me"}`}}}, script.Reply{Text: "Done."})
	o.Models = map[string]model.Model{"code/lead": task.Model("code/lead")}
	if end, _ := newCoded(t, o).ask(t, roster.Ask{Profile: "lead"}); end.Text != "Done." || told != 1 {
		t.Errorf("%+v, told %d times", end, told)
	}
}

// TestPolicyReachesOwnTools: a program's own tool is judged by the rules of the profile
// before it runs, and what it starts is told of them, and of the chain.
func TestPolicyReachesOwnTools(t *testing.T) {
	var scope roster.Scope
	bolts := thing("stock_count", `{"type":"object","properties":{"thing":{"type":"string"}}}`)
	d := simple("clerk")
	d.Agent.Model = ""
	d.Capabilities = []roster.Capability{{
		Name: "stock", Tools: []tool.Tool{bolts}, Fragment: "The stock is counted.",
		Open: func(_ context.Context, s roster.Scope) (io.Closer, error) {
			scope = s
			return &stock{map[string]int{"bolts": 7}}, nil
		},
	}}
	d.Keys = map[string]string{"permission.stock_count": "{'*': allow, gold: deny}"}
	app := newCoded(t, resolving(d),
		script.Reply{Tools: []script.Call{{Name: "stock_count", Input: `{"thing":"bolts"}`}, {Name: "stock_count", Input: `{"thing":"gold"}`}}}, script.Reply{Text: "So."})
	_, sub := app.ask(t, roster.Ask{Profile: "clerk", Chain: "c1", User: "ann", Key: session.Key{Tenant: "acme"}})
	if got, _ := rests(t, app.App, sub.Key, sub.After()); len(got) != 2 || !slices.Contains(got, session.OK) || !slices.Contains(got, session.Denied) {
		t.Errorf("the calls ended %v", got)
	}
	if scope.Chain != "c1" || scope.User != "ann" || scope.Key != sub.Key || scope.Permit.Decide(permission.Query{Tool: "stock_count", Subject: "gold"}).Effect != permission.Deny {
		t.Errorf("opened for %+v", scope)
	}
	if !strings.Contains(app.head(t, 0), "The stock is counted.") {
		t.Error("the model is not told of the stock")
	}
	d.Capabilities[0].Name = "taken"
	o := resolving(d)
	o.Capabilities = []roster.Capability{{Name: "own", Tools: []tool.Tool{bolts}}}
	if _, err := roster.NewApp(o); roster.Code(err) != "InvalidDefinition" {
		t.Errorf("two tools of a name: %v", err)
	}
}

// TestProfilesAddToRequests: by their providers and transforms, and to their own alone.
func TestProfilesAddToRequests(t *testing.T) {
	d := simple("worker")
	d.ContextProviders = map[string]roster.ContextProvider{"weather": func(_ context.Context, m roster.ContextMoment) (string, error) {
		return "It rains on " + m.Profile + ".", nil
	}}
	d.Transform = func(_ context.Context, _ roster.ContextMoment, r *model.Request) (*model.Request, error) {
		c := *r
		c.Tail += " (seen)"
		return &c, nil
	}
	app := newCoded(t, resolving(d, simple("other")))
	app.ask(t, roster.Ask{Profile: "worker"})
	app.ask(t, roster.Ask{Profile: "other"})
	if tail := app.sent[0].Tail; !strings.Contains(tail, "It rains on worker.") || !strings.HasSuffix(tail, "(seen)") {
		t.Errorf("worker: %q", tail)
	}
	if tail := app.sent[1].Tail; strings.Contains(tail, "rains") || strings.Contains(tail, "seen") {
		t.Errorf("other: %q", tail)
	}
}

// TestContextWindow: what is shown as used is of the profile's window.
func TestContextWindow(t *testing.T) {
	d := simple("worker")
	d.ContextWindow = 1000
	app := newCoded(t, resolving(d, simple("usual")), script.Reply{Text: "Yes.", Usage: &script.Usage{Input: 100, Output: 1}})
	server := httptest.NewServer(app)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for name, want := range map[string]string{"worker": `"budgetUsedPct":10`, "usual": `"budgetUsedPct":0.05`} {
		resp, err := http.Post(server.URL+"/stream", "application/json", strings.NewReader(`{"message":"hi","agentId":"`+name+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(data), want) {
			t.Errorf("%s: no %s in %s", name, want, data)
		}
	}
}

// TestOwnMux: the two handlers stand at any path, and take the chain of the request.
func TestOwnMux(t *testing.T) {
	app := newCoded(t, resolving(simple("worker")))
	mux := http.NewServeMux()
	mux.Handle("POST /api/ask", roster.ChatHandler(app.App))
	mux.Handle("POST /api/watch", roster.StreamHandler(app.App))
	server := httptest.NewServer(mux)
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	post := func(path string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+path, strings.NewReader(`{"message":"hi","agentId":"worker"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var chat struct{ SessionID, Text string }
	resp := post("/api/ask")
	answered(t, resp, http.StatusOK, &chat)
	if chat.Text != "Yes." || resp.Header.Get("X-Chain-Id") != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("%+v, %v", chat, resp.Header)
	}
	resp = post("/api/watch")
	data, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if !strings.Contains(string(data), "event: loop.end") || !strings.Contains(string(data), `"chainId":"0af7651916cd43dd8448eb211c80319c"`) {
		t.Errorf("the stream: %s", data)
	}
	answered(t, post("/chat"), http.StatusNotFound, nil)
}

// TestOptionsOfAnApp: defaults, tools and depth hold for profiles that do not say.
func TestOptionsOfAnApp(t *testing.T) {
	warm := 0.75
	dir := t.TempDir()
	write(t, dir, "profiles/filed.md", "---\ndescription: x\n---\nx\n")
	write(t, dir, "profiles/own.md", "---\ndescription: x\ntools: [grep]\ntemperature: 0.1\nsubagents: {max-depth: 9}\n---\nx\n")
	bare := simple("bare")
	o := resolving(bare)
	o.Dir, o.Tools, o.MaxTaskDepth = dir, []string{"read", "delegation"}, 1
	o.Defaults = roster.Defaults{Model: "code/m", Temperature: &warm}
	app := newCoded(t, o)
	for name, want := range map[string]string{
		"filed": "[read task switch_profile] 0.75 1", "bare": "[read task switch_profile] 0.75 1", "own": "[grep] 0.1 1",
	} {
		s, _, err := app.Resolve(t.Context(), name, session.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(s.Tools, " ", *s.Params.Temperature, s.Subagents.MaxDepth); strings.ReplaceAll(got, "  ", " ") != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	hot := 9.0
	if _, err := roster.NewApp(roster.Options{Dir: dir, Defaults: roster.Defaults{Temperature: &hot}}); err == nil {
		t.Error("a temperature of 9 is taken")
	}
}

// TestCodeIsFoundAgain: a loop that a process left is gone on with by another that has
// the same code, with its capabilities, and refused by one that has not.
func TestCodeIsFoundAgain(t *testing.T) {
	for _, has := range []bool{true, false} {
		t.Run(fmt.Sprint(has), func(t *testing.T) {
			asked := 0
			d := simple("clerk")
			d.Agent = roster.Static{Model: "code/m", Prompt: func(context.Context, roster.ProfileContext) (string, error) {
				asked++
				return fmt.Sprintf("You were made %d times.", asked), nil
			}}
			d.Capabilities = []roster.Capability{workfiles.New(workfiles.Sandbox{}), {
				Name: "stock", Tools: []tool.Tool{thing("stock_count", `{"type":"object","properties":{"thing":{"type":"string"}}}`)},
				Open: func(context.Context, roster.Scope) (io.Closer, error) { return &stock{map[string]int{"bolts": 7}}, nil },
			}}
			d.Keys = map[string]string{"permission.stock_count": "allow"}
			o := resolving(d)
			o.Backend, o.Dir, o.State = memory.New(memory.Options{}), t.TempDir(), t.TempDir()
			first := o
			first.Models = map[string]model.Model{"code/m": silent{}}
			left := newCoded(t, first)
			sub, err := left.Submit(t.Context(), roster.Ask{Profile: "clerk", Parts: text("hi"), Headless: true})
			if err != nil {
				t.Fatal(err)
			}
			for batch, err := range left.Follow(t.Context(), sub.Key, sub.After()) {
				if err != nil {
					t.Fatal(err)
				}
				if batch[len(batch)-1].Type == "turn.request" {
					break
				}
			}
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			if err := left.Close(gone); err != nil {
				t.Fatal(err)
			}
			if !has {
				o.ResolveProfile = roster.StaticResolver(roster.DefineProfile(simple("another")))
			}
			o.Models = nil
			next := newCoded(t, o, script.Reply{Tools: []script.Call{{Name: "stock_count", Input: `{"thing":"bolts"}`}}}, script.Reply{Text: "Seven."})
			if err := next.Resume(t.Context(), sub.Key); err != nil {
				t.Fatal(err)
			}
			end := wait(t, next.App, sub)
			switch {
			case !has && (end.Error == nil || end.Error.Code != "ProfileNotFound" || !strings.Contains(end.Error.Error, "this one does not have it")):
				t.Errorf("without the code: %+v %+v", end, end.Error)
			case has && (end.Text != "Seven." || asked != 1 || !strings.Contains(next.head(t, 0), "You were made 1 times.")):
				t.Errorf("with the code: %+v, made %d times", end, asked)
			}
		})
	}
}

// TestManyRequestsAtOnce builds agents from many goroutines; each answer is of its own.
func TestManyRequestsAtOnce(t *testing.T) {
	d := simple("worker")
	d.Agent = roster.Static{Model: "code/m", Prompt: func(_ context.Context, c roster.ProfileContext) (string, error) {
		return "You serve " + c.User + ".", nil
	}}
	app := newCoded(t, resolving(d, simple("static")))
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			user := fmt.Sprint("user", i)
			s, err := app.Submit(t.Context(), roster.Ask{Profile: []string{"worker", "static"}[i%2], User: user, Parts: text("I am " + user), Headless: true})
			if err != nil {
				t.Error(err)
				return
			}
			wait(t, app.App, s)
		})
	}
	all.Wait()
	served := 0
	for i, r := range app.sent {
		if head := app.head(t, i); strings.Contains(head, "You serve "+strings.TrimPrefix(r.Messages[0].Text(), "I am ")+".") {
			served++
		} else if !strings.Contains(head, "You are static.") {
			t.Errorf("%s: %s", r.Messages[0].Text(), head)
		}
	}
	if served != 16 || len(app.sent) != 32 {
		t.Errorf("%d of %d", served, len(app.sent))
	}
}

// TestHugePrompt: as long as a file may be is sent whole.
func TestHugePrompt(t *testing.T) {
	d := simple("worker")
	d.Agent = roster.Static{Model: "code/m", Prompt: func(context.Context, roster.ProfileContext) (string, error) {
		return strings.Repeat("y", profile.MaxFile-1) + "\xff", nil
	}}
	d.Keys = map[string]string{"limits.tokens": "none"}
	o := resolving(d)
	app := newCoded(t, o)
	app.ask(t, roster.Ask{Profile: "worker"})
	if head := app.head(t, 0); !strings.Contains(head, strings.Repeat("y", profile.MaxFile-1)+"\uFFFD") {
		t.Errorf("%d bytes were sent", len(head))
	}
}

// TestStateOnDisk: an app needs no options but its profiles.
func TestStateOnDisk(t *testing.T) {
	o := resolving(simple("worker"))
	o.Dir = t.TempDir()
	o.State = filepath.Join(t.TempDir(), "state")
	app := newCoded(t, o)
	if end, _ := app.ask(t, roster.Ask{Profile: "worker"}); end.Text != "Yes." {
		t.Errorf("%+v", end)
	}
}
