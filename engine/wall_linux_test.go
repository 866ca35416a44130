package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool"
)

// secret stands in every file that an agent of the wall's tests must not see,
// and in the names of some.
const secret = "SECRET"

// wall is a folder with a workspace and what lies around it. $W, $O and $S in
// the cases are the workspace, a folder outside and roster's state.
type wall struct {
	t                 testing.TB
	base, ws, out, st string
}

func newWall(t testing.TB) *wall {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &wall{t, base, base + "/ws", base + "/outside", base + "/state"}
	for _, dir := range []string{w.ws + "/d/e", w.ws + "/.git", w.ws + "/profiles", w.out + "/deep", w.st} {
		w.must(os.MkdirAll(dir, 0o777))
	}
	for _, file := range []string{w.out + "/SECRET.txt", w.out + "/deep/SECRET.txt", w.st + "/SECRET.db"} {
		w.must(os.WriteFile(file, []byte(secret+"\n"), 0o666))
	}
	for _, file := range []string{"d/a.txt", "d/e/b.txt", "roster.yaml", ".git/config", "profiles/p.md", "AGENTS.md"} {
		w.must(os.WriteFile(w.ws+"/"+file, []byte("mine\n"), 0o666))
	}
	return w
}

func (w *wall) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *wall) link(target, name string) {
	w.t.Helper()
	w.must(os.Symlink(w.fill(target), w.ws+"/"+name))
}

func (w *wall) fill(s string) string {
	return strings.NewReplacer("$W", w.ws, "$O", w.out, "$S", w.st, "$PID", fmt.Sprint(os.Getpid())).Replace(s)
}

// guarded is all that no case may change, as one text: everything outside of
// the workspace, and the protected files in it.
func (w *wall) guarded() string {
	w.t.Helper()
	var b strings.Builder
	for _, root := range []string{w.out, w.st, w.base, w.ws + "/.git", w.ws + "/profiles", w.ws + "/roster.yaml", w.ws + "/AGENTS.md"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // the case itself has moved it
			}
			if root == w.base && path != w.base && d.IsDir() {
				fmt.Fprintln(&b, path)
				return fs.SkipDir
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			fmt.Fprintln(&b, path, info.Mode())
			if info.Mode().IsRegular() {
				data, err := os.ReadFile(path)
				fmt.Fprintf(&b, "  %q %v\n", data, err)
			}
			return nil
		})
		w.must(err)
	}
	return b.String()
}

// plain does without any wall what a tool would do with a path, or a command
// line, and says whether that reaches what it must not.
func (w *wall) plain(tool, path string) bool {
	w.t.Helper()
	before := w.guarded()
	if !filepath.IsAbs(path) && tool != "bash" {
		path = w.ws + "/" + path
	}
	var seen string
	switch tool {
	case "read":
		data, _ := os.ReadFile(path)
		seen = string(data)
	case "write", "edit":
		os.MkdirAll(filepath.Dir(path), 0o777)
		os.WriteFile(path, []byte("taken"), 0o666)
	case "grep", "glob":
		entries, _ := os.ReadDir(path)
		data, _ := os.ReadFile(path)
		seen = fmt.Sprint(entries, string(data))
	case "bash":
		cmd := exec.CommandContext(w.t.Context(), "bash", "--noprofile", "--norc", "-c", path)
		cmd.Dir = w.ws
		data, _ := cmd.CombinedOutput()
		seen = string(data)
	}
	return strings.Contains(seen, secret) || w.guarded() != before
}

// input is what a model would write to do that with the tool.
func input(tool, path string) string {
	in := map[string]any{"path": path}
	switch tool {
	case "write":
		in["content"], in["force"] = "taken", true
	case "edit":
		in["old"], in["new"], in["force"] = secret, "taken", true
	case "grep":
		in["pattern"] = "."
	case "glob":
		in["pattern"] = "**"
	case "bash":
		in = map[string]any{"command": path}
	}
	data, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// rules allow all in the workspace, and forbid what is outside and protected.
func (w *wall) rules() []permission.Rule {
	at := func(line int) source.Origin {
		return source.Origin{Layer: source.Profile, File: "profiles/p.md", Line: line}
	}
	return append(permission.Builtin(),
		permission.Rule{Tool: "*", Subject: "*", Effect: permission.Allow, At: at(5)},
		permission.Rule{Tool: permission.ExternalDirectory, Subject: "*", Effect: permission.Deny, At: at(6)},
		permission.Rule{Tool: permission.Protected, Subject: "*", Effect: permission.Deny, At: at(7)})
}

// tools are the real ones; swap, if set, is called between the check of a call
// and its use of what was checked.
func (w *wall) tools(swap func()) []tool.Tool {
	w.t.Helper()
	list, err := tool.Builtins(tool.Env{Root: w.ws, StateDir: w.st, Exec: sandbox.Self()})
	w.must(err)
	if swap != nil {
		for i, t := range list {
			list[i] = swapped{t, swap}
		}
	}
	return list
}

type swapped struct {
	tool.Tool
	swap func()
}

type swappedPlan struct {
	tool.Plan
	swap func()
}

func (s swapped) Prepare(ctx context.Context, c tool.Call) (tool.Plan, error) {
	p, err := s.Tool.Prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	return swappedPlan{p, s.swap}, nil
}

func (p swappedPlan) Needs() []permission.Query {
	needs := p.Plan.Needs()
	p.swap()
	return needs
}

// verdict is what came of one call: in the log, and in what the model is told.
type verdict struct {
	before *session.ToolBefore
	after  *session.ToolAfter
	text   string
}

// call has a model make one call in a run of its own.
func (w *wall) call(tools []tool.Tool, name, in string) verdict {
	w.t.Helper()
	b := newBench(w.t, script.New(script.Reply{Tools: []script.Call{{Name: name, Input: in}}}, script.Reply{Text: "done"}).Model("script/x"), tools...)
	b.spec.Rules, b.spec.Workspace = w.rules(), w.ws
	b.post(&session.Prompt{Parts: text("go")})
	began := time.Now()
	events := b.run(engine.Deps{})
	if took := time.Since(began); took > 20*time.Second {
		w.t.Errorf("the call took %v", took)
	}
	before, after := find[*session.ToolBefore](events), find[*session.ToolAfter](events)
	if len(before) != 1 || len(after) != 1 {
		w.t.Fatalf("%d calls began, %d ended", len(before), len(after))
	}
	return verdict{before[0], after[0], message.PartsText(after[0].Parts)}
}

// check holds a verdict against what decided it: the name of a rule's tool,
// "state", or "=" and what the model is told of a call that nothing forbids and
// that reaches nothing.
func (v verdict) check(t *testing.T, by string) {
	t.Helper()
	told, nothing := strings.CutPrefix(by, "=")
	switch {
	case strings.Contains(v.text, secret+"\n") || strings.Contains(v.text, "deep/"):
		t.Errorf("the model sees %q", v.text)
	case nothing:
		if !strings.Contains(v.text, told) {
			t.Errorf("the model is told %q, not %q", v.text, told)
		}
		if v.after.Outcome == session.ToolError && v.before.Effect != "allow" && v.before.Reason != permission.ReasonUnusable {
			t.Errorf("the record says %q", v.before.Reason)
		}
	case v.after.Outcome != session.Denied || v.before.Effect != "deny":
		t.Errorf("%s (%s): %q", v.after.Outcome, v.before.Effect, v.text)
	case by == "state":
		if v.before.Reason != permission.ReasonState || !strings.Contains(v.text, permission.ReasonState) {
			t.Errorf("the record says %q, the model is told %q", v.before.Reason, v.text)
		}
	default:
		rule := v.before.Rule
		if rule == nil || rule.Tool != by || rule.File != "profiles/p.md" || rule.Line == 0 {
			t.Fatalf("the record names %+v: %q", rule, v.text)
		}
		if want := fmt.Sprintf(`(rule %s "*" at profiles/p.md:%d)`, by, rule.Line); !strings.Contains(v.text, want) {
			t.Errorf("the model is told %q, without %s", v.text, want)
		}
	}
}

// TestWall tries the ways out. Each is shown to be one, with the same path and
// no wall in another folder made the same way; then a model tries it with the
// tools. What lies outside and what is protected stays as it is, byte for byte,
// and the log and the model are told what stood in the way.
func TestWall(t *testing.T) {
	cases := 0
	for _, group := range [][]escape{pathLinks, pathNames, pathReadings, pathGuarded, lineRedirections} {
		for _, e := range group {
			cases++
			if e.tools == "" {
				e.tools = "bash"
			}
			for _, name := range strings.Fields(e.tools) {
				t.Run(e.name+"/"+name, func(t *testing.T) { e.try(t, name) })
			}
		}
	}
	if cases < 60 {
		t.Errorf("%d cases", cases)
	}
}

func (e escape) try(t *testing.T, name string) {
	if !e.bounds {
		free := e.world(t)
		path := e.path
		if e.as != nil {
			path = free.fill(e.as(path))
		}
		if !free.plain(name, free.fill(path)) {
			t.Errorf("%.200q reaches nothing without the wall", path)
		}
	}
	w := e.world(t)
	before := w.guarded()
	v := w.call(w.tools(nil), name, input(name, w.fill(e.path)))
	v.check(t, e.by)
	if after := w.guarded(); after != before {
		t.Errorf("was\n%s\nis\n%s", before, after)
	}
}

func (e escape) world(t *testing.T) *wall {
	w := newWall(t)
	if e.set != nil {
		e.set(w)
	}
	return w
}
