package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// TestSeenFilesOutliveTheProcess: what was read is known from the log alone, so a
// file that somebody has changed since is not overwritten by a later run either.
func TestSeenFilesOutliveTheProcess(t *testing.T) {
	root := t.TempDir()
	file := func(name, content string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file("theirs.txt", "one\n")
	file("ours.txt", "one\n")
	builtin := func() []tool.Tool { // each run has tools of its own, as in another process
		tools, err := tool.Builtins(tool.Env{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		return tools
	}
	call := func(name, input string) script.Call { return script.Call{Name: name, Input: input} }
	m := script.New(
		script.Reply{Tools: []script.Call{call("read", `{"path":"theirs.txt"}`), call("write", `{"path":"ours.txt","content":"two\n"}`)}},
		script.Reply{Text: "Read."},
		script.Reply{Tools: []script.Call{call("write", `{"path":"theirs.txt","content":"mine\n"}`), call("edit", `{"path":"ours.txt","old":"two","new":"three"}`)}},
		script.Reply{Tools: []script.Call{call("read", `{"path":"theirs.txt"}`)}},
		script.Reply{Tools: []script.Call{call("write", `{"path":"theirs.txt","content":"mine\n"}`)}},
		script.Reply{Text: "Written."},
	).Model("script/x")
	b := newBench(t, m, builtin()...)
	b.post(&session.Prompt{Parts: text("Read them."), Profile: "p"})
	b.run(engine.Deps{})

	file("theirs.txt", "one and a half\n")
	b.tools = builtin()
	b.post(&session.Prompt{Parts: text("Write them."), Profile: "p"})
	var got []string
	for _, a := range find[*session.ToolAfter](b.run(engine.Deps{})) {
		got = append(got, a.Tool+" "+string(a.Outcome)+" "+message.PartsText(a.Parts))
	}
	list := strings.Join(got, "\n")
	for _, want := range []string{
		"write error theirs.txt has changed since you last read it", "edit ok edited ours.txt", "write ok overwrote theirs.txt",
	} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	if data, err := os.ReadFile(filepath.Join(root, "theirs.txt")); err != nil || string(data) != "mine\n" {
		t.Errorf("%q, %v", data, err)
	}
}
