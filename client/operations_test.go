package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

// others are the operations that the client leaves out, and why.
var others = map[string]string{
	"createNamedProfile": "CreateProfile names the profile in the path",
	"openapi":            "for programs that make clients",
	"docs":               "for people with a browser",
	"metrics":            "for Prometheus",
	"chatCompletions":    "of a protocol with clients of its own", "listOpenAIModels": "as well", "getOpenAIModel": "as well",
	"defaultAgentCard": "of a protocol with clients of its own", "agentCard": "as well", "agentRequest": "as well",
	"mcpGet": "of a protocol with clients of its own", "mcpPost": "as well", "mcpDelete": "as well",
}

// recorder remembers what was asked for and answered.
type recorder struct {
	next  http.RoundTripper
	mu    sync.Mutex
	asked []string // method and path
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := r.next.RoundTrip(req)
	if err == nil && res.StatusCode < 300 {
		r.mu.Lock()
		r.asked = append(r.asked, req.Method+" "+req.URL.EscapedPath())
		r.mu.Unlock()
	}
	return res, err
}

// TestEveryOperation uses all methods on a server, and holds what they asked for
// against the server's document: an operation that no method succeeds in is missing.
func TestEveryOperation(t *testing.T) {
	s := newSite(t, tourReplies...).start()
	r := &recorder{next: &http.Transport{DisableKeepAlives: true}}
	c := s.client(client.Options{HTTPClient: &http.Client{Transport: r}, User: "ann"})
	tourOfProfiles(t, c)
	tourOfSessions(t, c)
	tourOfApprovals(t, c)
	tourOfTheWorkspace(t, c)
	tourOfTheServer(t, c)
	tourOfKeys(t, c)
	tourOfRigs(t, c, s)
	for id, o := range document(t, s) {
		if others[id] != "" {
			continue
		}
		if !slices.ContainsFunc(r.asked, func(asked string) bool { return o.MatchString(asked) }) {
			t.Errorf("no method of the client succeeds in %s (%s)", id, o)
		}
	}
}

var parameter = regexp.MustCompile(`\\\{[^/]*\\\}`)

// document gives the operations of a server by id, as expressions for their requests.
func document(t *testing.T, s *site) map[string]*regexp.Regexp {
	t.Helper()
	res, err := http.Get("http://" + s.addr + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer res.Body.Close()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]*regexp.Regexp{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if o.OperationID != "" {
				all[o.OperationID] = regexp.MustCompile("^" + strings.ToUpper(method) + " " + parameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			}
		}
	}
	if len(all) < 40 {
		t.Fatalf("the document has %d operations", len(all))
	}
	return all
}

// must fails if a call did.
func must[T any](t *testing.T, what string) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		return v
	}
}

func tourOfProfiles(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	list := must[[]client.Profile](t, "profiles")(c.Profiles(ctx))
	if len(list) != 1 || list[0].Name != "echo" || list[0].Description != "Says it again" || list[0].Revision == "" {
		t.Errorf("profiles %+v", list)
	}
	p := must[*client.Profile](t, "a profile")(c.Profile(ctx, "echo"))
	if p.SystemPrompt != "Be brief.\n" || p.Dialect != "roster" || len(p.Permission) != 1 {
		t.Errorf("echo is %+v", p)
	}
	revision := must[string](t, "create")(c.CreateProfile(ctx, "team/new", map[string]any{"model": "fake/text", "system_prompt": "First."}, "roster"))
	changed := must[*client.Profile](t, "update")(c.UpdateProfile(ctx, "team/new", revision, map[string]any{"system_prompt": "Second."}))
	if changed.SystemPrompt == "" || changed.Revision == revision || changed.Revision == "" {
		t.Errorf("the changed profile is %+v", changed)
	}
	if _, err := c.UpdateProfile(ctx, "team/new", revision, map[string]any{"system_prompt": "Third."}); err == nil {
		t.Error("a profile that has changed was changed")
	}
	versions := must[[]client.Version](t, "history")(c.ProfileHistory(ctx, "team/new"))
	if len(versions) != 2 {
		t.Fatalf("versions %+v", versions)
	}
	if diff := must[string](t, "diff")(c.ProfileDiff(ctx, "team/new", versions[1].Revision, "")); !strings.Contains(diff, "-First.") || !strings.Contains(diff, "+Second.") {
		t.Errorf("the change is %q", diff)
	}
	must[*client.Profile](t, "rollback")(c.RollbackProfile(ctx, "team/new", versions[1].Revision, changed.Revision))
	if err := c.DeleteProfile(ctx, "team/new", ""); err != nil {
		t.Error(err)
	}
	if prompt := must[client.ProfilePrompt](t, "prompt")(c.ProfilePrompt(ctx, "echo")); len(prompt.Layers) == 0 {
		t.Errorf("prompt %+v", prompt)
	}
	if d := must[client.Permit](t, "permit")(c.ProfilePermit(ctx, "echo", "write", "x")); d.Effect.String() != "ask" {
		t.Errorf("permit %+v", d)
	}
	if tools := must[client.Tools](t, "tools")(c.ProfileTools(ctx, "echo")); len(tools.Tools) == 0 {
		t.Errorf("tools %+v", tools)
	}
	must[[]client.Target](t, "targets")(c.ProfileTargets(ctx, "echo"))
	if ds := must[[]client.Diagnostic](t, "diagnostics")(c.Diagnostics(ctx)); len(ds) == 0 {
		t.Error("no diagnostics of the broken profile")
	}
	source := must[client.ProfileSource](t, "source")(c.ProfileSource(ctx, "profiles/echo.md"))
	if source.Text == "" || source.Status != "loaded" || !source.Writable {
		t.Errorf("source %+v", source)
	}
	if _, err := c.SaveProfileSource(ctx, source.Path, "---\nname: [\n---\n", source.Revision, false); err == nil {
		t.Error("a text is written that does not load")
	}
	saved := must[client.ProfileSource](t, "save")(c.SaveProfileSource(ctx, source.Path, source.Text+"\n", source.Revision, false))
	if _, err := c.SaveProfileSource(ctx, source.Path, source.Text, source.Revision, true); saved.Revision == source.Revision || !errors.Is(err, profile.RevisionMismatch) {
		t.Errorf("a text that has changed is written over: %v", err)
	}
	must[client.ProfileSource](t, "save again")(c.SaveProfileSource(ctx, source.Path, source.Text, "*", true))
	if f := must[client.Checked](t, "check")(c.CheckProfile(ctx, "profiles/x.md", "---\nname: [\n---\n")); f.Status != "refused" {
		t.Errorf("check %+v", f)
	}
}

var tourReplies = []script.Reply{
	{When: script.When{Contains: "hello"}, Text: "Hello."},
	{When: script.When{Contains: "write"}, Tools: []script.Call{{Name: "write", Input: `{"path":"x.txt","content":"one"}`}}},
	{When: script.When{Contains: "ask me"}, Tools: []script.Call{{Name: "ask_user", Input: `{"question":"Which?"}`}}},
	{Text: "Done."}, {Text: "Done."}, {Text: "Done."}, {Text: "Done."}, {Text: "Done."}, {Text: "Done."},
}

func tourOfSessions(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	a := must[*client.Answer](t, "chat")(c.Chat(ctx, client.Prompt{Profile: "echo", Message: "hello"}))
	id := a.SessionID
	if _, err := c.Prompt(ctx, id, client.Prompt{Message: "more"}); err != nil {
		t.Error(err)
	}
	events, _ := collect(t, c.Events(ctx, id, client.EventsOptions{UntilIdle: true}))
	whole(t, events)
	if err := errors.Join(c.Steer(ctx, id, "quickly"), c.Followup(ctx, id, "and then"), c.Cancel(ctx, id, "enough")); err != nil {
		t.Error(err)
	}
	collect(t, c.Events(ctx, id, client.EventsOptions{UntilIdle: true}))
	collect(t, c.Stream(ctx, client.Prompt{Profile: "echo", Message: "hello"}))
	n := 0
	for s, err := range c.Sessions(ctx, client.SessionQuery{Limit: 1}) {
		if err != nil || s.ID == "" || s.Profile != "echo" {
			t.Errorf("%+v, %v", s, err)
		}
		n++
	}
	for s, err := range c.Sessions(ctx, client.SessionQuery{Search: "more", Status: session.Idle, Profile: "echo"}) {
		if err != nil || s.ID != id || s.Match == "" {
			t.Errorf("found %+v, %v", s, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d sessions", n)
	}
	if s := must[client.Session](t, "session")(c.Session(ctx, id)); s.Last == 0 || s.Title == "" {
		t.Errorf("session %+v", s)
	}
	messages := must[[]client.Message](t, "messages")(c.Messages(ctx, id, true))
	if len(messages) < 4 {
		t.Fatalf("messages %+v", messages)
	}
	if tree := must[[]client.TreeMessage](t, "tree")(c.Tree(ctx, id)); len(tree) < len(messages) {
		t.Errorf("tree %+v", tree)
	}
	if r := must[*client.SentRequest](t, "request")(c.Request(ctx, id, 1, "")); r == nil || r.Turn != 1 || len(r.Body) == 0 {
		t.Errorf("request %+v", r)
	}
	if set := must[*client.Settings](t, "configure")(c.Configure(ctx, id, map[string]any{"temperature": 0.25})); set == nil || *set.Temperature != 0.25 {
		t.Errorf("settings %+v", set)
	}
	fork := must[string](t, "fork")(c.Fork(ctx, id, messages[1].ID))
	if last := must[string](t, "revert")(c.Revert(ctx, fork, messages[0].ID)); last == "" {
		t.Error("nothing is left after the revert")
	}
	must[client.Accepted](t, "rerun")(c.Rerun(ctx, id, "", client.Prompt{}))
	collect(t, c.Events(ctx, id, client.EventsOptions{UntilIdle: true}))
	tourOfCopies(t, c, id)
	must[client.Undone](t, "undo")(c.Undo(ctx, id, client.Undo{DryRun: true}))
	if err := c.DeleteSession(ctx, fork); err != nil {
		t.Error(err)
	}
	tourOfComparisons(t, c, id)
}

func tourOfComparisons(t *testing.T, c *client.Client, id string) {
	t.Helper()
	hot := map[string]any{"temperature": 0.9}
	got := must[*client.Compared](t, "compare")(c.Compare(t.Context(), client.Comparison{
		Message: "hello", Session: id, Candidates: []client.Candidate{{}, {Profile: "echo", Model: "fake/text", Overrides: hot}}, Pick: "most", Mode: "plan",
	}))
	if got.ID != id || len(got.Answers) != 2 || got.Answers[got.Winner].Text == "" {
		t.Errorf("compared %+v", got)
	}
	var refused *client.Error
	if _, err := c.Compare(t.Context(), client.Comparison{Message: "hello", Candidates: []client.Candidate{{Profile: "echo"}}}); !errors.As(err, &refused) || refused.Field != "candidates" {
		t.Errorf("one candidate: %v", err)
	}
}

func tourOfApprovals(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	a := must[*client.Answer](t, "chat")(c.Chat(ctx, client.Prompt{Profile: "echo", Message: "write", Approvals: "wait"}))
	if a.StopReason != session.ReasonWaiting || len(a.Approvals) != 1 {
		t.Fatalf("it does not wait: %+v", a)
	}
	if all := must[[]client.Approval](t, "approvals")(c.Approvals(ctx, "")); len(all) != 1 || all[0].Tool != "write" {
		t.Errorf("approvals %+v", all)
	}
	must[client.Answered](t, "decide")(c.Decide(ctx, a.Approvals[0].ID, client.Decision{Answer: session.AnswerOnce}))
	collect(t, c.Events(ctx, a.SessionID, client.EventsOptions{UntilIdle: true}))
	var refused *client.Error
	if _, err := c.Decide(ctx, a.Approvals[0].ID, client.Decision{Answer: session.AnswerNo}); !errors.As(err, &refused) || refused.Status != http.StatusConflict {
		t.Errorf("a second answer: %v", err)
	}
	for _, answer := range []func(context.Context, string, string, string) (client.Answered, error){c.Reply, c.Decline} {
		q := must[*client.Answer](t, "chat")(c.Chat(ctx, client.Prompt{Profile: "echo", Message: "ask me", Approvals: "wait"}))
		if of := must[[]client.Approval](t, "the session's")(c.Approvals(ctx, q.SessionID)); len(of) != 1 || of[0].Question != "Which?" {
			t.Errorf("questions %+v", of)
		}
		must[client.Answered](t, "answer")(answer(ctx, q.SessionID, "", "The second one"))
		collect(t, c.Events(ctx, q.SessionID, client.EventsOptions{UntilIdle: true}))
	}
}

func tourOfTheWorkspace(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	if err := errors.Join(c.Health(ctx), c.Ready(ctx)); err != nil {
		t.Error(err)
	}
	if all := must[client.Commands](t, "commands")(c.Commands(ctx)); len(all.Commands) == 0 {
		t.Errorf("commands %+v", all)
	}
	if all := must[[]client.Skill](t, "skills")(c.Skills(ctx, "")); len(all) == 0 {
		t.Error("no skills")
	}
	old := must[*client.Skill](t, "skill")(c.Skill(ctx, "release"))
	must[*client.Skill](t, "save")(c.SaveSkill(ctx, "release", skill+"\nThen rest.\n", old.Revision))
}

// tourOfCopies takes a session out, and in again.
func tourOfCopies(t *testing.T, c *client.Client, id string) {
	t.Helper()
	ctx := t.Context()
	var file bytes.Buffer
	if err := c.Export(ctx, id, &file); err != nil {
		t.Fatal(err)
	}
	var refused *client.Error
	if _, err := c.Import(ctx, bytes.NewReader(file.Bytes())); !errors.As(err, &refused) || refused.Status != http.StatusConflict {
		t.Errorf("a session that is there was imported: %v", err)
	}
	before := must[client.Session](t, "session")(c.Session(ctx, id))
	if err := c.DeleteSession(ctx, id); err != nil {
		t.Error(err)
	}
	if back := must[string](t, "import")(c.Import(ctx, &file)); back != id {
		t.Errorf("imported is %s, not %s", back, id)
	}
	if after := must[client.Session](t, "session")(c.Session(ctx, id)); after.Title != before.Title {
		t.Errorf("imported %+v, was %+v", after, before)
	}
	begun := must[client.Accepted](t, "new session")(c.NewSession(ctx, client.Prompt{Profile: "echo", Message: "hello"}))
	events, _ := collect(t, c.Events(ctx, begun.SessionID, client.EventsOptions{UntilIdle: true}))
	whole(t, events)
}

func tourOfTheServer(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	for f, err := range c.Feed(ctx, client.FeedOptions{After: client.FeedFromStart}) {
		if err != nil || f.Seq != 1 || f.Position == "" {
			t.Errorf("feed %+v, %v", f, err)
		}
		break
	}
	if me := must[client.Caller](t, "whoami")(c.WhoAmI(ctx)); me.TenantID != "local" || len(me.Roles) < 5 || me.Auth || me.Workspace == "" {
		t.Errorf("whoami %+v", me)
	}
	if found := must[client.Files](t, "files")(c.Files(ctx, "rofecho", 5)); !slices.Contains(found.Files, "profiles/echo.md") {
		t.Errorf("files %+v", found)
	}
	if e := must[client.Explanation](t, "spec")(c.ProfileSpec(ctx, "echo")); e.Fields["model"].Value != "fake/text" || e.Fields["model"].Origin.Line != 4 {
		t.Errorf("spec %+v", e.Fields["model"])
	}
	if all := must[[]client.ModelItem](t, "models")(c.Models(ctx)); len(all) == 0 {
		t.Error("no models")
	}
	if m := must[*client.Model](t, "model")(c.Model(ctx, "fake/text")); m == nil || m.ContextWindow != 1000 {
		t.Errorf("model %+v", m)
	}
	if all := must[[]client.Capability](t, "capabilities")(c.Capabilities(ctx)); len(all) == 0 {
		t.Error("no tools")
	}
	if found := must[[]client.Finding](t, "doctor")(c.Doctor(ctx)); len(found) == 0 {
		t.Error("the doctor finds nothing")
	}
	if s := must[json.RawMessage](t, "schema")(c.Schema(ctx)); !bytes.Contains(s, []byte("properties")) {
		t.Errorf("schema %s", s)
	}
	if u := must[client.Usage](t, "usage")(c.Usage(ctx, client.UsageQuery{Since: "2d", By: "profile", Limit: 5})); u.Total.Loops == 0 || len(u.Rows) != 1 {
		t.Errorf("usage %+v", u)
	}
	if err := errors.Join(
		c.CreateServer(ctx, "self", client.ServerConfig{URL: "http://127.0.0.1:1/mcp"}),
		c.SaveServer(ctx, "self", client.ServerConfig{URL: c.URL() + "/mcp", Timeout: "20s"}),
		c.RestartServer(ctx, "self"),
	); err != nil {
		t.Error(err)
	}
	if all := must[[]client.Server](t, "servers")(c.Servers(ctx, "")); len(all) != 1 {
		t.Errorf("servers %+v", all)
	}
	if s := must[*client.Server](t, "server")(c.Server(ctx, "self")); s == nil || s.Name != "self" {
		t.Errorf("server %+v", s)
	}
	if err := c.DeleteServer(ctx, "self"); err != nil {
		t.Error(err)
	}
}

func tourOfKeys(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	k := must[client.APIKey](t, "a key")(c.CreateAPIKey(ctx, client.NewAPIKey{Name: "ci", Roles: []string{"runner"}}))
	next := must[client.APIKey](t, "another key")(c.RotateAPIKey(ctx, k.ID, 0))
	if k.Key == "" || next.Key == "" || next.Key == k.Key || next.UserID != "ci" || !next.Alive {
		t.Errorf("%+v, %+v", k, next)
	}
	if err := c.RevokeAPIKey(ctx, next.ID); err != nil {
		t.Error(err)
	}
	all := must[[]client.APIKey](t, "keys")(c.APIKeys(ctx))
	if len(all) != 2 || all[0].Key != "" || all[0].Alive || all[1].Alive {
		t.Errorf("keys %+v", all)
	}
	done := must[client.AuditLog](t, "audit")(c.Audit(ctx, client.AuditQuery{Action: "revokeKey", Limit: 5}))
	if len(done.Entries) != 1 || done.Entries[0].Status != http.StatusNoContent {
		t.Errorf("audit %+v", done)
	}
}

// tourOfRigs looks at a rig with two dead jobs, has one of them done anew and takes the
// other out. Nothing runs the rig.
func tourOfRigs(t *testing.T, c *client.Client, s *site) {
	t.Helper()
	ctx := t.Context()
	store := must[ledger.Store](t, "the ledger")(s.app.Ledger(ctx))
	var ids []string
	for _, path := range []string{"in/a.md", "in/b.md"} {
		ids = append(ids, uuid.Must(uuid.NewV7()).String())
		j := ledger.Job{ID: ids[len(ids)-1], Knot: "a-loom/review", Event: "created", Path: path, State: ledger.Dead, Error: "no luck"}
		if err := store.Queue(ctx, s.app.RigKey("rig"), []ledger.Job{j}); err != nil {
			t.Fatal(err)
		}
	}
	if all := must[[]client.Rig](t, "rigs")(c.Rigs(ctx)); len(all) != 1 || all[0].Name != "rig" {
		t.Errorf("rigs %+v", all)
	}
	if r := must[client.Rig](t, "rig")(c.Rig(ctx, "rig")); len(r.Knots) != 1 || r.Knots[0].Dead != 2 || r.Knots[0].Status != "ok" || r.Knots[0].Input != "in" {
		t.Errorf("rig %+v", r)
	}
	if r := must[client.Report](t, "check")(c.CheckRig(ctx, "rig")); len(r.Files) != 1 || r.Files[0].Name != "a-loom/review" || r.Summary.Loaded != 1 {
		t.Errorf("check %+v", r)
	}
	for format, want := range map[string]string{"": `"nodes"`, "json": `"nodes"`, "svg": "<svg", "mermaid": "flowchart", "text": "a-loom/review"} {
		if g := must[[]byte](t, "graph")(c.RigGraph(ctx, "rig", format)); !bytes.Contains(g, []byte(want)) {
			t.Errorf("graph as %s: %s", format, g)
		}
	}
	if found := must[client.TieOffs](t, "answers")(c.RigTieOffs(ctx, "rig", client.TieOffQuery{Knot: "review", Answers: true, Limit: 3})); found.Rig != "rig" || len(found.Sections) != 0 {
		t.Errorf("answers %+v", found)
	}
	page := must[client.RigJobs](t, "jobs")(c.RigJobs(ctx, "rig", client.RigJobQuery{Knot: "a-loom/review", States: []string{"dead"}, Limit: 1}))
	if len(page.Jobs) != 1 || page.Jobs[0].Path != "in/b.md" || page.Jobs[0].Error != "no luck" || page.Before != page.Jobs[0].Seq {
		t.Fatalf("jobs %+v", page)
	}
	rest := must[client.RigJobs](t, "older jobs")(c.RigJobs(ctx, "rig", client.RigJobQuery{Before: page.Before}))
	if len(rest.Jobs) != 1 || rest.Jobs[0].Path != "in/a.md" || rest.Before != 0 {
		t.Errorf("older jobs %+v", rest)
	}
	if of := must[client.RigJobs](t, "a strand's")(c.RigJobs(ctx, "rig", client.RigJobQuery{Path: "in/a.md"})); len(of.Jobs) != 1 {
		t.Errorf("jobs of a strand %+v", of)
	}
	if j := must[client.RigJob](t, "replay")(c.ReplayJob(ctx, "rig", ids[0])); j.State != "queued" {
		t.Errorf("replayed %+v", j)
	}
	if j := must[client.RigJob](t, "job")(c.RigJob(ctx, "rig", ids[0])); j.ID != ids[0] || j.State != "queued" {
		t.Errorf("job %+v", j)
	}
	asked := must[client.RigJob](t, "ask")(c.AskKnot(ctx, "rig", client.KnotWish{Knot: "review", Path: "in/c.md", IdempotencyKey: "once"}))
	again := must[client.RigJob](t, "ask again")(c.AskKnot(ctx, "rig", client.KnotWish{Knot: "a-loom/review", Path: "in/c.md", IdempotencyKey: "once"}))
	if asked.ID != again.ID || asked.State != "queued" || asked.Event != "asked" || asked.Knot != "a-loom/review" {
		t.Errorf("asked %+v, and again %+v", asked, again)
	}
	if err := c.DropJob(ctx, "rig", ids[1]); err != nil {
		t.Error(err)
	}
	refusals := map[string]error{"RigNotFound": second(c.Rig(ctx, "other-rig")), "JobNotFound": second(c.RigJob(ctx, "rig", ids[1]))}
	for code, err := range refusals {
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != code || refused.Status != http.StatusNotFound {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
