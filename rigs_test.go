package roster_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

// patience is how long a test waits for what has to happen.
const rigPatience = 90 * time.Second

// rigged is a workspace whose rig runs.
type rigged struct {
	t     *testing.T
	dir   string
	state string
	app   *roster.App
	stop  func()
	// doubted says that nobody has trusted the workspace.
	doubted bool
}

const fastProfile = "---\nname: fast\nprovider: openai\nmodel: gpt-4o\ntools:\n- fs\nsystem-prompt: |\n  You are a fast reviewer.\n---\n"

func reviewKnot(more string) string {
	return "---\nname: review\nagent-profile-ref: fast\nstrand-dir: strands\nprompt-template:\n  input-bundling: full-file\n  instructions: Review this document for clarity.\n" + more + "---\n"
}

// newRigged makes a workspace with the rig's files, and does not run it yet.
func newRigged(t *testing.T, files map[string]string) *rigged {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rigged{t: t, dir: dir, state: t.TempDir()}
	for name, text := range files {
		write(t, dir, name, text)
	}
	return r
}

// run opens the workspace and runs its rigs, with models that follow a script.
func (r *rigged) run(models map[string]*script.Script) *rigged {
	r.t.Helper()
	o := roster.Options{State: r.state, Claim: true, Trust: !r.doubted, Models: map[string]model.Model{}, Getenv: env{"ROSTER_HOME": r.t.TempDir(), "PATH": os.Getenv("PATH")}.get, Log: slog.New(slog.NewTextHandler(r.t.Output(), nil))}
	for name, s := range models {
		o.Models[name] = s.Model(name)
	}
	app, _, err := roster.Open(r.dir, o)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- app.RunRigs(ctx, roster.RigOptions{OnlyTrusted: r.doubted}) }()
	r.app = app
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		stop()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
		if err := app.Close(context.Background()); err != nil {
			r.t.Error(err)
		}
	}
	r.t.Cleanup(r.stop)
	return r
}

// tieOff waits until a tie-off has what is wanted, and returns it.
func (r *rigged) tieOff(knot string, wants ...string) string {
	r.t.Helper()
	loom, name, _ := strings.Cut(knot, "/")
	path := filepath.Join(r.dir, "rig", "tie-offs", loom, "tie-off-"+name+".md")
	text := ""
	r.until("the tie-off of "+knot, func() bool {
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			r.t.Fatal(err)
		}
		text = string(data)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				return false
			}
		}
		return true
	})
	return text
}

func (r *rigged) until(what string, is func() bool) {
	r.t.Helper()
	for late := time.Now().Add(rigPatience); !is(); {
		if time.Now().After(late) {
			jobs, err := r.app.RigJobs(r.t.Context(), "rig", ledger.Query{})
			r.t.Fatalf("%s does not come about; the jobs are %+v, %v", what, jobs, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func says(text string) *script.Script {
	return &script.Script{Loop: true, Replies: []script.Reply{{Text: text}}}
}

// TestSharedProfile is the seed's scenario: a knot that names a shared profile works on
// a file that appears, and the answer is added to its tie-off.
func TestSharedProfile(t *testing.T) {
	r := newRigged(t, map[string]string{"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot("")})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	write(t, r.dir, "strands/a.md", "# One\n")
	text := r.tieOff("docs-loom/review", "It is clear.", "<!-- roster job=")
	if !strings.Contains(text, "## review triggered by created strands/a.md") {
		t.Error(text)
	}
	write(t, r.dir, "strands/a.md", "# Two\n")
	r.tieOff("docs-loom/review", "## review triggered by modified strands/a.md")
}

// section counts the sections of a tie-off that have a text.
func sections(text, want string) (n int) {
	for _, part := range strings.Split(text, "\n## ") {
		if strings.Contains("## "+part, want) {
			n++
		}
	}
	return n
}

// jobs are those of the rig in a state.
func (r *rigged) jobs(states ...ledger.State) []view.RigJob {
	r.t.Helper()
	jobs, err := r.app.RigJobs(r.t.Context(), "rig", ledger.Query{States: states, Limit: ledger.MaxPage})
	if err != nil {
		r.t.Fatal(err)
	}
	return jobs
}

// TestTwoKnotsShareAProfile: an edit of the file counts for both from the next strand on.
func TestTwoKnotsShareAProfile(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""),
		"rig/docs-loom/count.md": strings.Replace(reviewKnot(""), "name: review", "name: count", 1),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Before."), "openai/gpt-4o-mini": says("After.")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("docs-loom/review", "Before.")
	r.tieOff("docs-loom/count", "Before.")
	write(t, r.dir, "rig/profiles/fast.md", strings.Replace(fastProfile, "gpt-4o", "gpt-4o-mini", 1))
	write(t, r.dir, "strands/b.md", "two\n")
	for _, knot := range []string{"docs-loom/review", "docs-loom/count"} {
		if text := r.tieOff(knot, "strands/b.md", "After."); sections(text, "Before.") != 1 || sections(text, "After.") != 1 {
			t.Error(text)
		}
	}
}

// TestOverride: what a knot sets over its profile counts, and nothing else changes.
func TestOverride(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot("agent-config:\n  model: gpt-4o-mini\n"),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("The profile's."), "openai/gpt-4o-mini": says("The knot's.")})
	write(t, r.dir, "strands/a.md", "one\n")
	if text := r.tieOff("docs-loom/review", "The knot's."); !strings.Contains(text, `model: "openai/gpt-4o-mini"`) {
		t.Error(text)
	}
}

// TestProfileInPlace: a knot with a whole agent-config needs no profile, and can be
// looked at as one.
func TestProfileInPlace(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/docs-loom/own.md": "---\nname: own\nagent-config: {provider: openai, model: gpt-4o, tools: [fs], goal: Say yes.}\nstrand-dir: strands\n---\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Yes.")})
	write(t, r.dir, "strands/a.md", "one\n")
	if text := r.tieOff("docs-loom/own", "Yes."); !strings.Contains(text, `profile: "docs-loom/own"`) {
		t.Error(text)
	}
}

// TestMissingProfile: a strand whose profile is not there waits, with the reason, stops
// nothing else, and is worked on once that is mended.
func TestMissingProfile(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""),
		"rig/docs-loom/lost.md": strings.NewReplacer("name: review", "name: lost", "ref: fast", "ref: slow").Replace(reviewKnot("")),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Read.")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("docs-loom/review", "Read.")
	r.until("the reason", func() bool {
		waiting := r.jobs(ledger.Queued)
		return len(waiting) == 1 && waiting[0].Code == "ProfileNotFound" && waiting[0].Attempt == 0 && strings.Contains(waiting[0].Error, "slow")
	})
	r.until("the end of the other", func() bool { return len(r.jobs(ledger.Done)) == 1 })
	status, err := r.app.RigStatus(t.Context(), "rig")
	if err != nil || len(status.Knots) != 2 || status.Knots[0].Queued != 1 || !strings.Contains(status.Knots[0].Waits, "slow") || status.Knots[1].Done != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	write(t, r.dir, "rig/profiles/slow.md", strings.Replace(fastProfile, "name: fast", "name: slow", 1))
	if text := r.tieOff("docs-loom/lost", "Read."); sections(text, "triggered by") != 1 {
		t.Error(text)
	}
}

// TestRewrites: the same content again is no change, and quick changes are one or two.
func TestRewrites(t *testing.T) {
	r := newRigged(t, map[string]string{"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot("")})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Read.")})
	write(t, r.dir, "strands/a.md", "the same\n")
	r.tieOff("docs-loom/review", "Read.")
	for range 13 {
		write(t, r.dir, "strands/a.md", "the same\n")
	}
	write(t, r.dir, "strands/mark.md", "after the rewrites\n")
	if text := r.tieOff("docs-loom/review", "strands/mark.md", "Read."); sections(text, "strands/a.md") != 1 {
		t.Error(text)
	}
	for i := range 13 {
		write(t, r.dir, "strands/a.md", strings.Repeat("x", i+1)+"\n")
	}
	r.until("the last content", func() bool {
		jobs := r.jobs(ledger.Done)
		return len(jobs) > 2 && strings.Contains(r.read(jobs[0].Session), strings.Repeat("x", 13))
	})
	if jobs := r.jobs(); len(jobs) > 4 {
		t.Errorf("13 quick rewrites were %d runs", len(jobs)-2)
	}
}

// read is what a session was asked.
func (r *rigged) read(session string) string {
	r.t.Helper()
	var b strings.Builder
	if err := r.app.Export(r.t.Context(), sessionKey(session), &b); err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}

// TestEventsOfKnots: the knot that is named sends an event, by its answer or the tool,
// each knot that waits gets it, and one that waits for another producer does not.
func TestEventsOfKnots(t *testing.T) {
	waits := func(name, of string) string {
		return "---\nname: " + name + "\nagent-profile-ref: other\nstrand-dir: event:" + of + "\nprompt-template: {instructions: Go on.}\nevent-description: It is ready.\n---\n"
	}
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/profiles/other.md": strings.NewReplacer("name: fast", "name: other", "gpt-4o", "gpt-4o-mini").Replace(fastProfile),
		"rig/docs-loom/review.md": reviewKnot(""),
		"rig/docs-loom/one.md":    waits("one", "review:Ready"), "rig/more-loom/two.md": waits("two", "docs-loom/review:Ready"),
		"rig/docs-loom/loom.md": waits("loom", "docs-loom:Ready"),
		"rig/docs-loom/not.md":  waits("not", "two:Ready"),
	})
	first := &script.Script{Replies: []script.Reply{
		{Tools: []script.Call{{Name: "emit", Input: `{"event":"Ready","description":"By the tool.","payload":"P-1"}`}, {Name: "emit", Input: `{"event":"Other"}`}}},
		{Text: "Done.\n\n```event\nevent: Ready\ndescription: By the answer.\npayload: P-2\n```\n"},
	}}
	r.run(map[string]*script.Script{"openai/gpt-4o": first, "openai/gpt-4o-mini": says("Gone on.")})
	write(t, r.dir, "strands/a.md", "one\n")
	for _, knot := range []string{"docs-loom/one", "more-loom/two", "docs-loom/loom"} {
		r.until(knot+" goes on twice", func() bool { return sections(r.tieOff(knot), "Gone on.") == 2 })
		if text := r.tieOff(knot); !strings.Contains(text, "triggered by Ready event:docs-loom/review:Ready") {
			t.Error(text)
		}
	}
	asked := ""
	for _, j := range r.jobs(ledger.Done) {
		if j.Knot == "docs-loom/not" {
			t.Errorf("%+v", j)
		}
		asked += r.read(j.Session)
		if j.Knot != "docs-loom/review" && (j.Hops != 1 || j.Parent == "") {
			t.Errorf("%+v", j)
		}
	}
	for _, want := range []string{"P-1", "P-2", "By the tool.", "By the answer.", "It is ready.", "sent the event Ready about `strands/a.md`", "there is no event \\\"Other\\\""} {
		if !strings.Contains(asked, want) {
			t.Errorf("nobody was told %q", want)
		}
	}
}

// TestKnotsWaitForTrust: the knots of a workspace that nobody has trusted wait where they
// are not what was asked for, say why, and go on once it is trusted.
func TestKnotsWaitForTrust(t *testing.T) {
	r := newRigged(t, map[string]string{"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""), "strands/a.md": "one\n"})
	r.doubted = true
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	r.until("a knot that says what it waits for", func() bool {
		rig, err := r.app.RigStatus(t.Context(), "rig")
		if err != nil {
			t.Fatal(err)
		}
		return len(rig.Knots) == 1 && strings.Contains(rig.Knots[0].Waits, "nobody has trusted the workspace")
	})
	if done := r.jobs(ledger.Done); len(done) > 0 {
		t.Errorf("%+v", done)
	}
	if err := r.app.TrustWorkspace(t.Context(), r.app.Survey().Items); err != nil {
		t.Fatal(err)
	}
	r.tieOff("docs-loom/review", "It is clear.")
}

// TestCircle: knots that go in a circle stop, and it is said why.
func TestCircle(t *testing.T) {
	knot := func(name, of string) string {
		return "---\nname: " + name + "\nagent-profile-ref: fast\nstrand-dir: event:" + of + ":Next\nprompt-template: {instructions: Go on.}\n---\n"
	}
	r := newRigged(t, map[string]string{
		"roster.yaml": "rig: {max-hops: 4}\n", "rig/profiles/fast.md": fastProfile,
		"rig/go-loom/review.md": strings.Replace(reviewKnot(""), "name: review", "name: start", 1),
		"rig/go-loom/a.md":      knot("a", "start"), "rig/go-loom/b.md": knot("b", "a"), "rig/go-loom/c.md": knot("c", "b"), "rig/go-loom/d.md": knot("d", "c"),
		"rig/go-loom/e.md": knot("e", "d"), "rig/go-loom/f.md": knot("f", "e"),
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("```event\nevent: Next\n```")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.until("an end", func() bool { return len(r.jobs(ledger.Dead)) == 1 })
	dead := r.jobs(ledger.Dead)[0]
	if dead.Knot != "go-loom/e" || dead.Code != "MaxHops" || !strings.Contains(dead.Error, "max-hops is 4") || len(r.jobs(ledger.Done)) != 5 {
		t.Errorf("%+v", dead)
	}
	if _, err := r.app.ReplayJob(t.Context(), "rig", dead.ID); err != nil {
		t.Fatal(err)
	}
	r.tieOff("go-loom/e", "Next")
}

// TestProfilesOverHTTP: a profile that is made, changed and removed over HTTP is what the next
// strand has, and the file says the same.
func TestProfilesOverHTTP(t *testing.T) {
	r := newRigged(t, map[string]string{"rig/docs-loom/review.md": reviewKnot("")})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("First."), "openai/gpt-4o-mini": says("Second.")})
	server := httptest.NewServer(r.app.Handler())
	defer server.Close()
	call := func(method, etag, body string, want int) (string, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/profiles/fast", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if etag != "" {
			req.Header.Set("If-Match", etag)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != want {
			t.Fatalf("%s: %d %s, %v", method, resp.StatusCode, data, err)
		}
		return string(data), resp.Header.Get("ETag")
	}
	call("POST", "", `{"provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"Be brief."}`, http.StatusCreated)
	if text := read(t, filepath.Join(r.dir, "rig/profiles/fast.md")); !strings.Contains(text, "model: gpt-4o") {
		t.Errorf("the file is %s", text)
	}
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("docs-loom/review", "First.")
	_, etag := call("GET", "", "", http.StatusOK)
	call("PUT", etag, `{"model":"gpt-4o-mini"}`, http.StatusOK)
	write(t, r.dir, "strands/b.md", "two\n")
	r.tieOff("docs-loom/review", "strands/b.md", "Second.")
	if body, _ := call("GET", "", "", http.StatusOK); !strings.Contains(body, `"model":"gpt-4o-mini"`) {
		t.Error(body)
	}
	call("DELETE", "", "", http.StatusNoContent)
	write(t, r.dir, "strands/c.md", "three\n")
	r.until("a strand that waits for its profile", func() bool {
		waiting := r.jobs(ledger.Queued)
		return len(waiting) == 1 && waiting[0].Code == "ProfileNotFound"
	})
}

// git runs git in the workspace, as a user does.
func (r *rigged) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

// TestCommits: a run's own files and its tie-off are committed, and nothing else: what the
// user has staged stays as it is.
func TestCommits(t *testing.T) {
	r := newRigged(t, map[string]string{
		"roster.yaml":          "defaults: {permission: [{tool: write, subject: \"*\", effect: allow}]}\n",
		"rig/profiles/fast.md": strings.Replace(fastProfile, "- fs", "- write", 1), "rig/docs-loom/review.md": reviewKnot("git-versioned: true\n"),
		"staged.md": "as it was\n", ".gitignore": "rig/state.json\nrig/logs/\n",
	})
	r.git("init", "-q")
	r.git("add", ".")
	r.git("commit", "-qm", "first")
	write(t, r.dir, "staged.md", "as the user wants it\n")
	r.git("add", "staged.md")
	write(t, r.dir, "left.md", "not added\n")
	before := r.git("status", "--porcelain")
	r.run(map[string]*script.Script{"openai/gpt-4o": {Replies: []script.Reply{
		{Tools: []script.Call{{Name: "write", Input: `{"path":"out/a.md","content":"written by the run\\n"}`}}}, {Text: "Written."},
	}}})
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("docs-loom/review", "Written.", "<!-- roster job=")
	r.until("the end", func() bool { return len(r.jobs(ledger.Done)) == 1 })
	job := r.jobs(ledger.Done)[0]
	if got := r.git("show", "--name-only", "--format=%B", "HEAD"); !strings.Contains(got, "Roster-Job: "+job.ID) ||
		!strings.Contains(got, "out/a.md\nrig/tie-offs/docs-loom/tie-off-review.md") || strings.Contains(got, "staged.md") || strings.Contains(got, "\nstrands/a.md") {
		t.Errorf("the commit is %s", got)
	}
	if after := r.git("status", "--porcelain"); after != before+"?? strands/\n" {
		t.Errorf("the user's changes were %q and are %q", before, after)
	}
}

// TestReadOnlyTieOffs: an answer that cannot be written waits, its run is not repeated, and
// other knots go on.
func TestReadOnlyTieOffs(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root may write everywhere: a file stands where the folder would be")
	}
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""), "rig/more-loom/review.md": reviewKnot(""),
		"rig/tie-offs/docs-loom": "in the way\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("Read.")})
	write(t, r.dir, "strands/a.md", "one\n")
	r.tieOff("more-loom/review", "Read.")
	r.until("the reason", func() bool {
		waiting := r.jobs(ledger.Queued)
		return len(waiting) == 1 && waiting[0].Code == "TieOffNotWritten" && strings.Contains(waiting[0].Error, "tie-offs")
	})
	first := r.jobs(ledger.Queued)[0].Session
	if err := os.Remove(filepath.Join(r.dir, "rig/tie-offs/docs-loom")); err != nil {
		t.Fatal(err)
	}
	if text := r.tieOff("docs-loom/review", "Read.", "<!-- roster job="); !strings.Contains(text, first) || sections(text, "triggered by") != 1 {
		t.Errorf("it ran again: %s", text)
	}
}

func sessionKey(stream string) session.Key { return session.Key{Tenant: "local", Stream: stream} }
