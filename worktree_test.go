package roster_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/worktree"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
)

// editors is a workspace in a repository, whose profiles edit.
type editors struct {
	*testing.T
	dir   string
	state string
	env   env
	app   *roster.App
}

func newEditors(t *testing.T, replies string) *editors {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &editors{T: t, dir: dir, state: t.TempDir()}
	e.env = env{"ROSTER_HOME": t.TempDir(), "HOME": t.TempDir(), "PATH": os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM": "1", "GORACE": os.Getenv("GORACE")}
	write(t, dir, "roster.yaml", "defaults: {model: \"script:replies.yaml\", permission: {write: allow, bash: allow}}\n")
	write(t, dir, "replies.yaml", replies)
	write(t, dir, "AGENTS.md", "The committed instructions.\n")
	write(t, dir, "docs/a.md", "a\n")
	write(t, dir, "profiles/editor.md", "---\ndescription: Edits.\nworkspace: worktree\ntools: [read, write, bash]\n---\nEdit.\n")
	write(t, dir, "profiles/plain.md", "---\ndescription: Edits too.\ntools: [read, write, bash, task, switch_profile]\n---\nEdit.\n")
	write(t, dir, "profiles/docs.md", "---\ndescription: Writes docs.\nworkspace: docs\ntools: [write]\n---\nWrite.\n")
	e.git("init", "-q", "-b", "main")
	e.git("config", "user.name", "P")
	e.git("config", "user.email", "p@example.com")
	e.git("add", "-A")
	e.git("commit", "-qm", "first")
	e.open()
	return e
}

func (e *editors) open() {
	e.Helper()
	app, _, err := roster.Open(e.dir, roster.Options{State: e.state, Getenv: e.env.get, Trust: true})
	if err != nil {
		e.Fatal(err)
	}
	e.app = app
	e.Cleanup(func() { app.Close(context.Background()) })
}

func (e *editors) git(args ...string) string {
	e.Helper()
	cmd := exec.CommandContext(e.Context(), "git", args...)
	cmd.Dir, cmd.Env = e.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.env["HOME"], "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (e *editors) run(ask roster.Ask) (session.Key, *session.LoopEnd) {
	e.Helper()
	if ask.Parts == nil {
		ask.Parts = text("Go")
	}
	ask.Headless = true
	s, err := e.app.Submit(e.Context(), ask)
	if err != nil {
		e.Fatal(err)
	}
	end := wait(e.T, e.app, s)
	return s.Key, end
}

func (e *editors) only() roster.Worktree {
	e.Helper()
	list, err := e.app.Worktrees(e.Context(), "")
	if err != nil || len(list) != 1 {
		e.Fatalf("worktrees = %+v, %v", list, err)
	}
	return list[0]
}

func (e *editors) there(path string, want bool) {
	e.Helper()
	if _, err := os.Stat(path); (err == nil) != want {
		e.Errorf("%s: %v, want it there: %t", path, err, want)
	}
}

const writesNew = "replies:\n  - {tools: [{name: write, input: {path: new.txt, content: x}}]}\n  - {text: Done.}\n"

func TestASessionKeepsItsWorktree(t *testing.T) {
	e := newEditors(t, writesNew+"  - {tools: [{name: bash, input: {command: \"pwd >where; cat AGENTS.md >>where\"}}]}\n  - {text: Done.}\n")
	write(t, e.dir, "AGENTS.md", "Not committed.\n")
	k, end := e.run(roster.Ask{Profile: "editor"})
	if end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	w := e.only()
	e.there(filepath.Join(e.dir, "new.txt"), false)
	e.there(filepath.Join(w.Dir, "new.txt"), true)
	if r, err := e.app.Request(t.Context(), k, k.Stream, 1, ""); err != nil || !strings.Contains(string(r.Body), "The committed instructions.") || !strings.Contains(string(r.Body), w.Branch) {
		t.Errorf("the model was told other things: %v %s", err, r.Body)
	}
	e.app.Close(context.Background())
	e.open() // by another process, and without the key
	if _, end := e.run(roster.Ask{Key: k, Set: map[string]string{"workspace": "."}}); end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	if got, _ := os.ReadFile(filepath.Join(w.Dir, "where")); string(got) != w.Dir+"\nThe committed instructions.\n" {
		t.Errorf("the second prompt worked in %q", got)
	}
	if err := e.app.Prune(t.Context(), k); !errors.As(err, new(*roster.HoldsWorktreeError)) || roster.Code(err) != "HoldsWorktree" {
		t.Errorf("prune: %v", err)
	}
	m, err := e.app.MergeWorktree(t.Context(), k, k.Stream)
	if err != nil || m.Into != "main" || len(m.Files) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	e.there(filepath.Join(e.dir, "new.txt"), true)
	e.there(w.Dir, false)
	if got := e.git("log", "-1", "--format=%an %B"); !strings.Contains(got, "P Go") || !strings.Contains(got, "Roster-Session: "+k.Stream) {
		t.Errorf("commit: %s", got)
	}
	if _, err := e.app.MergeWorktree(t.Context(), k, k.Stream); !errors.As(err, new(*roster.NoWorktreeError)) {
		t.Errorf("again: %v", err)
	}
	if err := e.app.Prune(t.Context(), k); err != nil {
		t.Errorf("prune: %v", err)
	}
}

func TestTheNextPromptAfterAWorktreeBeginsANewOne(t *testing.T) {
	e := newEditors(t, writesNew+writesNew[len("replies:\n"):])
	k, _ := e.run(roster.Ask{Profile: "editor"})
	first := e.only()
	if _, err := e.app.KeepWorktree(t.Context(), k, k.Stream); err != nil {
		t.Fatal(err)
	}
	e.run(roster.Ask{Key: k})
	second := e.only()
	if second.Branch == first.Branch || second.Dir == first.Dir || e.git("show", first.Branch+":new.txt") != "x" {
		t.Errorf("%+v then %+v", first, second)
	}
	if end, err := e.app.DropWorktree(t.Context(), k, k.Stream); err != nil || end.How != session.WorktreeDropped {
		t.Errorf("%+v, %v", end, err)
	}
	if got := e.git("branch", "--format=%(refname:short)"); got != "main\n"+first.Branch {
		t.Errorf("branches: %s", got)
	}
}

func TestChildrenHaveTheirOwnOrThatOfWhomTheyWorkFor(t *testing.T) {
	e := newEditors(t, `replies:
  - {when: {contains: Go}, tools: [{name: task, input: {profile: editor, prompt: own}}, {name: task, input: {profile: docs, prompt: shared}}]}
  - {when: {contains: own}, tools: [{name: write, input: {path: own.txt, content: x}}]}
  - {when: {contains: shared}, tools: [{name: write, input: {path: shared.txt, content: x}}]}
  - {text: Done.}
`)
	k, _ := e.run(roster.Ask{Profile: "plain", Flags: map[string]string{"workspace": "worktree"}})
	list, err := e.app.WorktreesOf(t.Context(), k)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	e.there(filepath.Join(list[0].Dir, "docs", "shared.txt"), true)
	e.there(filepath.Join(list[1].Dir, "own.txt"), true)
	e.there(filepath.Join(e.dir, "docs", "shared.txt"), false)
	store, _ := e.app.Backend(t.Context())
	told := false
	for ev, err := range store.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		told = told || ev.Type == "tool.after" && strings.Contains(string(ev.Data), list[1].Branch)
	}
	if !told {
		t.Error("the agent above is not told of the branch")
	}
	for _, w := range list {
		if _, err := e.app.MergeWorktree(t.Context(), k, w.Session); err != nil {
			t.Error(err)
		}
	}
	e.there(filepath.Join(e.dir, "docs", "shared.txt"), true)
	e.there(filepath.Join(e.dir, "own.txt"), true)
}

func TestAFolderOfTheTree(t *testing.T) {
	e := newEditors(t, writesNew)
	e.run(roster.Ask{Profile: "docs", Flags: map[string]string{"workspace": "worktree"}})
	e.there(filepath.Join(e.only().Dir, "docs", "new.txt"), true)
}

func TestASwitchStaysInTheTree(t *testing.T) {
	e := newEditors(t, `replies:
  - {tools: [{name: switch_profile, input: {profile: plain, reason: r}}]}
  - {tools: [{name: write, input: {path: new.txt, content: x}}]}
  - {text: Done.}
`)
	write(t, e.dir, "profiles/desk.md", "---\ndescription: Desk.\ntools: [switch_profile]\nworkspace: worktree\npermission: {switch_profile: allow}\n---\nx\n")
	e.run(roster.Ask{Profile: "desk"})
	e.there(filepath.Join(e.only().Dir, "new.txt"), true)
}

func TestWhatCannotBeHousedIsRefusedBeforeItIsStored(t *testing.T) {
	e := newEditors(t, writesNew)
	os.RemoveAll(filepath.Join(e.dir, ".git"))
	_, err := e.app.Submit(t.Context(), roster.Ask{Profile: "editor", Parts: text("Go"), Headless: true})
	if !errors.As(err, new(*worktree.NoRepoError)) || roster.Code(err) != "NoRepository" {
		t.Errorf("%v (%s)", err, roster.Code(err))
	}
	e.env["XDG_DATA_HOME"] = e.dir
	e.git("init", "-q")
	if _, err := e.app.Submit(t.Context(), roster.Ask{Profile: "editor", Parts: text("Go"), Headless: true}); err == nil || !strings.Contains(err.Error(), "XDG_DATA_HOME") {
		t.Errorf("trees in the workspace: %v", err)
	}
	store, _ := e.app.Backend(t.Context())
	for s := range store.List(t.Context(), roster.LocalTenant, session.Query{}) {
		t.Errorf("session %s was stored", s.Key)
	}
}

func TestAWorktreeThatSomebodyTookAway(t *testing.T) {
	e := newEditors(t, writesNew+writesNew[len("replies:\n"):])
	k, _ := e.run(roster.Ask{Profile: "editor"})
	w := e.only()
	os.RemoveAll(w.Dir)
	if gone := e.only(); gone.Status != "gone" {
		t.Errorf("%+v", gone)
	}
	_, end := e.run(roster.Ask{Key: k})
	if end.Error == nil || end.Error.Code != "WorktreeGone" || !strings.Contains(end.Error.Error, "roster sessions worktree drop "+k.Stream) {
		t.Errorf("%+v", end.Error)
	}
	e.there(filepath.Join(e.dir, "new.txt"), false)
	if _, err := e.app.MergeWorktree(t.Context(), k, k.Stream); roster.Code(err) != "WorktreeGone" {
		t.Errorf("merge: %v", err)
	}
	if _, err := e.app.DropWorktree(t.Context(), k, k.Stream); err != nil {
		t.Fatal(err)
	}
	if _, end := e.run(roster.Ask{Key: k}); end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	if again := e.only(); again.Status != "open" {
		t.Errorf("%+v", again)
	}
	e.there(filepath.Join(w.Dir, "docs", "a.md"), true)
}

func TestNobodyDecidesWhileTheSessionIsAtWork(t *testing.T) {
	e := newEditors(t, "replies: [{text: Done., delay: 1h}]\n")
	s, err := e.app.Submit(t.Context(), roster.Ask{Profile: "editor", Parts: text("Go"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	for events, err := range e.app.Follow(t.Context(), s.Key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if events[len(events)-1].Type == "turn.request" {
			break
		}
	}
	if w := e.only(); w.Status != "running" {
		t.Errorf("%+v", w)
	}
	for name, do := range map[string]func(context.Context, session.Key, string) (roster.WorktreeEnd, error){
		"merge": e.app.MergeWorktree, "keep": e.app.KeepWorktree, "drop": e.app.DropWorktree,
	} {
		if _, err := do(t.Context(), s.Key, s.Key.Stream); !errors.As(err, new(*session.Busy)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := e.app.Cancel(t.Context(), s.Key, "enough"); err != nil {
		t.Fatal(err)
	}
	wait(t, e.app, s)
}

// TestGitLooksInAWorktreeBehindTheWall: commands in a worktree see its history and
// change nothing of the repository.
func TestGitLooksInAWorktreeBehindTheWall(t *testing.T) {
	if err := sandbox.Probe(sandbox.Landlock); err != nil {
		t.Fatal(err)
	}
	e := newEditors(t, `replies:
  - {tools: [{name: bash, input: {command: "echo b >>docs/a.md; git diff --stat >seen; git log --format=%s >>seen; touch \"$(git rev-parse --git-common-dir)/hooks/evil\" || echo held >>seen"}}]}
  - {text: Done.}
`)
	e.run(roster.Ask{Profile: "editor", Set: map[string]string{"sandbox": "landlock"}})
	w := e.only()
	got, err := os.ReadFile(filepath.Join(w.Dir, "seen"))
	if err != nil || !strings.Contains(string(got), "docs/a.md | 1 +") || !strings.Contains(string(got), "first\nheld\n") {
		t.Errorf("%q, %v", got, err)
	}
	e.there(filepath.Join(e.dir, ".git", "hooks", "evil"), false)
}
