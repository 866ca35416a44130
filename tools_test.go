package roster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// TestToolsKeepOut: no tool reaches the state of any workspace, and writing to
// what makes agents is judged as such wherever it lies.
func TestToolsKeepOut(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"ws/sub", "more", "home"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"XDG_STATE_HOME": top + "/state", "ROSTER_HOME": top + "/home"}
	app, _, err := Open(top+"/ws", Options{Profiles: []string{top + "/more"}, Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	tools, err := app.tools(&spec.Spec{Workspace: top + "/ws/sub"})
	if err != nil {
		t.Fatal(err)
	}
	write := tools[slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Def().Name == "write" })]
	prepare := func(path string) (tool.Plan, error) {
		return write.Prepare(t.Context(), tool.Call{Session: "s", Input: []byte(`{"path":"` + path + `","content":""}`)})
	}
	for _, path := range []string{app.StateDir() + "/roster.db", filepath.Dir(app.StateDir()) + "/other/roster.db"} {
		if _, err := prepare(path); !errors.As(err, new(*tool.StateDirError)) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]bool{
		"../profiles/a.md": true, top + "/more/a.md": true, top + "/home/profiles/a.md": true, "../roster.yaml": true,
		"a.md": false, "../a.md": false,
	} {
		plan, err := prepare(path)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(plan.Needs(), func(q permission.Query) bool { return q.Tool == permission.Protected })
		if got != want {
			t.Errorf("%s: protected %v, want %v", path, got, want)
		}
		plan.Close()
	}
}
