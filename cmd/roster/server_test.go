package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// result is what a command has said.
type result struct {
	stdout, stderr string
	code           int
}

func (w *workspace) run(env []string, args ...string) result {
	w.t.Helper()
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// idle waits until the newest session rests.
func (w *workspace) idle() {
	w.t.Helper()
	for late := time.Now().Add(patience); ; {
		_, status := w.session()
		if status == "idle" {
			return
		}
		if time.Now().After(late) {
			w.t.Fatalf("the session is still %s", status)
		}
	}
}

// TestServerSaysTheSame runs commands here and with a server of the same workspace:
// what they write is the same, byte for byte.
func TestServerSaysTheSame(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "defaults: {model: builtin/demo}\n")
	w.write("profiles/broken.md", "---\nname: [\n---\n")
	w.write("profiles/cold.md", "---\nmodel: anthropic/claude-opus-5-5\ntemperature: 0.2\n---\nIt has a warning.\n")
	w.write(".claude/commands/hello.md", "---\ndescription: Greets\n---\nSay hello to $ARGUMENTS\n")
	w.write("rig/a-loom/review.md", "---\nagent-profile-ref: worker\nstrand-dir: in\n---\nReview.\n")
	w.write("rig/a-loom/plan.md", "---\nagent-profile-ref: nobody\nstrand-dir: event:review:Done\n---\nPlan.\n")
	w.write("rig/tie-offs/a-loom/tie-off-review.md", "## review triggered by created in/a.md\n\n---\njob: \"j1\"\ntime: 2026-01-01T00:00:00Z\n---\n\nClear.\n\n<!-- roster job=j1 sha256="+strings.Repeat("0", 64)+" -->\n")
	w.write("x-rig/b-loom/bad.md", "---\ntimeout: never\n---\n")
	if r := w.run(nil, "run", "worker", "hello there", "--non-interactive"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	id, _ := w.session()
	_, url := w.serve()
	for _, line := range []string{
		"list", "list --model none/*", "list --tool bash", "list --tool bahs", "show worker", "show nobody", "show --prompt worker", "explain worker", "explain cold", "explain nobody",
		"explain --diff worker worker", "permit worker bash ls", "permit nobody bash ls", "tools", "tools --profile worker", "tools --profile nobody",
		"profile history worker", "profile diff worker", "skills list", "skills list --profile worker", "skills show roster-profiles", "commands list", "models list", "mcp list", "doctor",
		"sessions list", "sessions list --children", "sessions list --status failed", "sessions show ID", "sessions show ID --full", "sessions events ID", "sessions events ID --after 3",
		"sessions tree ID", "sessions search hello", "sessions search nothing", "sessions request ID 1", "sessions undo ID --dry-run", "sessions show ID_1",
		"approvals list", "approvals list --session ID", "approvals answer ID.1 once",
		"usage", "usage --by day,profile,model --since all", "usage --profile nobody --since 7d --limit 1", "usage --by nothing",
		"sessions export ID", "sessions export ID_1", "sessions prune --older-than 0d --dry-run", "sessions prune --older-than 30d", "sessions prune ID_1",
		"check profiles/worker.md", "check profiles/broken.md", "check profiles/worker.md profiles/broken.md", "new worker --prompt x", "new other --set nothing=1",
		"rig check", "rig check --format github", "rig list", "rig graph", "rig status", "rig status rig", "rig log", "rig log --rig rig a-loom/review --limit 3", "rig dead --rig rig",
		"rig replay --rig rig ID", "rig replay --rig rig --all", "rig drop --rig rig ID", "tieoffs --rig rig", "tieoffs --rig rig review", "tieoffs --rig rig nobody",
		"rig status x-rg", "rig log --rig x-rg", "rig dead --rig x-rg", "rig dead --rig nothing", "rig replay --rig x-rg ID", "rig drop --rig x-rg ID", "rig run --rig x-rg a b", "tieoffs --rig x-rg",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "ID", id))
		for _, more := range [][]string{nil, {"--json"}} {
			args := append(slices.Clone(args), more...)
			a, b := w.run(nil, args...), w.run(nil, append([]string{"--server", url}, args...)...)
			b.stderr = strings.ReplaceAll(b.stderr, url, w.dir)
			if a != b && !(a.code == 1 && a.stderr == b.stderr && a.code == b.code) { // an error has more of a name there
				t.Errorf("roster %s: here (%d) and with a server (%d) differ:\n%s", strings.Join(args, " "), a.code, b.code, cmp.Diff(a.stdout+a.stderr, b.stdout+b.stderr))
			}
		}
	}
}

// compares has a server compare answers, in new sessions and in one of them.
func (w *workspace) compares(env []string) {
	w.t.Helper()
	w.write("short.yaml", "loop: true\nreplies:\n- text: Short.\n")
	w.write("long.yaml", "loop: true\nreplies:\n- text: Of many words.\n")
	both := []string{"--model", "script:short.yaml", "--model", "script:long.yaml"}
	compare := func(args ...string) result {
		return w.run(env, append(append([]string{"compare", "Which?"}, args...), both...)...)
	}
	r := compare("--profile", "worker", "--pick", "most", "--mode", "plan", "--json")
	var got struct {
		ID     string
		Winner int
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || got.Winner != 1 {
		w.t.Fatalf("%v: %+v", err, r)
	}
	if r := compare("--session", got.ID, "--pick", "fewest"); r.code != 0 || r.stdout != "Short.\n" || !strings.Contains(r.stderr, "session: "+got.ID) {
		w.t.Errorf("in a session: %+v", r)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--profile", "nobody"}, 1, "nobody"},
		{[]string{"--profile", "worker", "--judge", "worker", "--pick", "most"}, 2, "a judge goes with"},
		{[]string{"--profile", "worker", "--profile", "a", "--profile", "b", "--profile", "c", "--profile", "d"}, 2, "2 to 8"},
		{[]string{"--session", "0197a1f4-0000-7000-8000-000000000000"}, 1, "no such session"},
		{[]string{"--profile", "worker", "--mode", "nothing"}, 2, "unknown permission mode"},
	} {
		if r := compare(c.args...); r.code != c.code || !strings.Contains(r.stderr, c.says) || r.stdout != "" {
			w.t.Errorf("%v: %+v", c.args, r)
		}
	}
}

// TestRunWithServer has a server run prompts, as a command, with a session that is
// gone on with, and with what has to be allowed.
func TestRunWithServer(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "providers:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 1000}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "replies:\n- text: One.\n- text: Two.\n- tools: [{name: write, input: {path: a.txt, content: x}}]\n- text: Written.\n- text: Five.\n")
	w.write("profiles/worker.md", "---\ntools: [write]\npermission: {write: ask}\n---\nWork.\n")
	w.write(".claude/commands/hello.md", "Say hello to $ARGUMENTS\n")
	_, url := w.serve()
	env := []string{"ROSTER_SERVER=" + url}
	w.compares(env)
	r := w.run(env, "run", "worker", "first")
	if r.stdout != "One.\n" || r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if r = w.run(env, "run", "worker", "/hello you", "--continue", "--json"); r.code != 0 || !strings.Contains(r.stdout, "Say hello to you") {
		t.Errorf("a command: %+v", r)
	}
	for _, line := range []string{"run worker /helo you", "run worker /helo", "run /helo you"} {
		if r := w.run(env, strings.Fields(line)...); r.code != 1 || !strings.Contains(r.stderr, "there is no command /helo; did you mean /hello?") {
			t.Errorf("%s: %+v", line, r)
		}
	}
	last := r.stdout[strings.LastIndexByte(strings.TrimSuffix(r.stdout, "\n"), '\n')+1:]
	if !strings.Contains(last, `"type":"loop.end"`) || strings.Contains(r.stdout, "context_usage") {
		t.Errorf("the last line is %s", last)
	}
	r = w.run(env, "run", "worker", "third", "--continue", "--approvals", "wait")
	if r.code != 3 || !strings.Contains(r.stderr, "a.txt") {
		t.Fatalf("what has to be allowed: %+v", r)
	}
	var asked []struct{ ID, SessionID string }
	if err := json.Unmarshal([]byte(w.run(env, "approvals", "list", "--json").stdout), &asked); err != nil || len(asked) != 1 {
		t.Fatalf("%v, %v", asked, err)
	}
	if r = w.run(env, "approvals", "answer", asked[0].ID, "once"); r.code != 0 {
		t.Errorf("the answer: %+v", r)
	}
	w.idle()
	if r = w.run(env, "run", "worker", "fifth", "--session", asked[0].SessionID); r.code != 0 || r.stdout != "Five.\n" {
		t.Errorf("the session goes on: %+v", r)
	}
	id := strings.TrimSpace(w.run(env, "sessions", "fork", asked[0].SessionID).stdout)
	w.copies(env, id)
	for _, args := range [][]string{
		{"new", "second", "--description", "Helps", "--tools", "read,grep", "--prompt", "Help.", "--set", "limits.turns=3"},
		{"sessions", "show", id}, {"sessions", "revert", id}, {"sessions", "cancel", id}, {"sessions", "steer", id, "hello"},
		{"rm", "worker"}, {"list"}, {"profile", "history", "worker"},
	} {
		if r := w.run(env, args...); r.code != 0 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, "profiles/worker.md")); err == nil {
		t.Error("the profile is still there")
	}
	if text := w.file("profiles/second.md"); !strings.Contains(text, "turns: 3") || !strings.HasSuffix(text, "---\nHelp.\n") {
		t.Errorf("the new profile is\n%s", text)
	}
}

func (w *workspace) file(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// copies takes a session out of a server, and back into it after it was removed there.
func (w *workspace) copies(env []string, id string) {
	w.t.Helper()
	for _, line := range []string{
		"sessions export ID --out copy.jsonl", "sessions prune ID", "sessions import copy.jsonl", "sessions show ID",
	} {
		if r := w.run(env, strings.Fields(strings.ReplaceAll(line, "ID", id))...); r.code != 0 {
			w.t.Errorf("%s: %+v", line, r)
		}
	}
	if r := w.run(env, "sessions", "import", "copy.jsonl"); r.code != 1 {
		w.t.Errorf("a second copy: %+v", r)
	}
	if r := w.run(env, "sessions", "prune", "--older-than", "1h", "--json"); r.stdout != "{\"pruned\":[]}\n" {
		w.t.Errorf("nothing is old: %+v", r)
	}
}

// TestRunThroughARestart stops the server in the middle of a run that a command shows.
func TestRunThroughARestart(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "providers:\n  fake: {api: script, base-url: replies.yaml, models: {text: {context-window: 1000}}}\ndefaults: {model: fake/text}\n")
	w.write("replies.yaml", "replies:\n- {text: \""+strings.Repeat("word ", 200)+"end.\", gap: 10ms}\n")
	server, url := w.serve()
	cmd, out := w.start("--server", url, "run", "worker", "hello", "--json")
	var all []string
	next := func() bool {
		line, err := out.ReadString('\n')
		if line != "" {
			all = append(all, line)
		}
		return err == nil
	}
	for next() && !strings.Contains(all[len(all)-1], `"delta"`) {
	}
	server.Process.Signal(os.Interrupt)
	if code := exitCode(t, server); code != 0 {
		t.Errorf("the server ends with %d", code)
	}
	again, lines := w.start("serve", "--addr", strings.TrimPrefix(url, "http://"), "--json")
	defer again.Process.Kill()
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	for next() {
	}
	if code := exitCode(t, cmd); code != 0 {
		t.Errorf("the command ends with %d", code)
	}
	seq := 0
	for _, line := range all {
		var e struct {
			Seq  int
			Type string
			Data struct{ Text string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Seq > 0 {
			if seq++; e.Seq != seq {
				t.Errorf("event %d comes as number %d", e.Seq, seq)
			}
		}
	}
	if last := all[len(all)-1]; !strings.Contains(last, `"loop.end"`) || !strings.Contains(last, "end.") {
		t.Errorf("the last line is %s", last)
	}
}

// TestOnlyHere has commands that make no sense with a server, and flags that do not.
func TestOnlyHere(t *testing.T) {
	w := newWorkspace(t)
	const url = "http://127.0.0.1:1"
	for _, c := range []struct{ line, want string }{
		{"serve", "works on this machine only"}, {"init", "works on this machine only"}, {"trust", "works on this machine only"},
		{"convert profiles/worker.md --to claude", "works on this machine only"}, {"version", "works on this machine only"}, {"check", "name the files"}, {"check --fix profiles/worker.md", "for this machine"}, {"check ..", "not below this folder"}, {"check profiles", "not a file"},
		{"usage --tenant acme", "for this machine"}, {"models sync", "works on this machine only"},
		{"sessions resume x", "works on this machine only"}, {"completion bash", "works on this machine only"},
		{"list --dir .", "--dir is about this machine"}, {"show worker --prompt --set temperature=1", "--set and --mode"}, {"permit worker bash ls --mode plan", "--set and --mode"},
		{"run worker hello --worktree", "for runs on this machine"}, {"run worker hello --record x", "for runs on this machine"},
		{"rig watch", "works on this machine only"}, {"rig check profiles", "paths are those of this machine"},
		{"list --key-file nothing", "--key-file"}, {"doctor --config", "about this machine"},
	} {
		if r := w.run(nil, append([]string{"--server", url}, strings.Fields(c.line)...)...); r.code != 2 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v", c.line, r)
		}
	}
	for _, bad := range []string{"localhost", "ftp://x", "http://", "http://a:b@c", "nonsense\x01"} {
		if r := w.run(nil, "--server", bad, "list"); r.code != 2 || strings.Contains(r.stderr, "a:b") {
			t.Errorf("--server %q: %+v", bad, r)
		}
	}
	if r := w.run(nil, "--server", url, "list"); r.code != 1 || !strings.Contains(r.stderr, "connection refused") {
		t.Errorf("no server: %+v", r)
	}
	if r := w.run([]string{"ROSTER_SERVER=" + url}, "version"); r.code != 0 {
		t.Errorf("version needs no server: %+v", r)
	}
	if r := w.run([]string{"ROSTER_SERVER=" + url}, "serve"); r.code != 2 || !strings.Contains(r.stderr, "unset ROSTER_SERVER") {
		t.Errorf("serve: %+v", r)
	}
	w.write("key", "secret\n")
	if r := w.run(nil, "--server", "http://example.invalid", "--key-file", "key", "list"); r.code != 2 || !strings.Contains(r.stderr, "in the clear") || strings.Contains(r.stderr, "secret") {
		t.Errorf("a key in the clear: %+v", r)
	}
	if r := w.run(nil, "--key-file", "key", "list"); r.code != 2 {
		t.Errorf("a key without a server: %+v", r)
	}
}
