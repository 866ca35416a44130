package roster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// undoing opens a workspace in which an agent writes, and gives a task to another
// that runs a command.
func undoing(t *testing.T, parent, child []script.Reply) *roster.App {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	for _, name := range []string{"parent", "child"} {
		write(t, dir, "profiles/"+name+".md", "---\ndescription: Works. Well.\nmodel: bench/"+name+"\npermission: {bash: allow, write: allow, edit: allow}\n---\nWork.\n")
	}
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: memory.New(memory.Options{}), Trust: true,
		Models: map[string]model.Model{"bench/parent": script.New(parent...).Model("bench/parent"), "bench/child": script.New(child...).Model("bench/child")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func calls(list ...string) script.Reply {
	var r script.Reply
	for i := 0; i < len(list); i += 2 {
		r.Tools = append(r.Tools, script.Call{Name: list[i], Input: list[i+1]})
	}
	return r
}

func work(t *testing.T, app *roster.App, k session.Key) session.Key {
	t.Helper()
	sub, err := app.Submit(t.Context(), roster.Ask{Key: k, Profile: "parent", Parts: text("work"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, sub); end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	return sub.Key
}

func undo(t *testing.T, app *roster.App, k session.Key, o roster.UndoOptions) map[string]string {
	t.Helper()
	u, err := app.Undo(t.Context(), k, o)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range u.Files {
		rel, err := filepath.Rel(app.Dir(), f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out[rel] = f.Outcome
	}
	return out
}

// TestUndo: a run and what it delegated to create, change, rename and remove files,
// with the file tools and by commands, and a person's edit of the same file
// survives the undo, the undo of that, and the next one.
func TestUndo(t *testing.T) {
	end := script.Reply{Text: "end"}
	app := undoing(t, []script.Reply{
		calls("edit", `{"path":"a.txt","old":"two","new":"TWO"}`, "write", `{"path":"new/b.txt","content":"b"}`),
		calls("task", `{"profile":"child","prompt":"do it"}`),
		end,
		calls("bash", `{"command":"sed -i s/four/FOUR/ a.txt"}`), end,
	}, []script.Reply{calls("bash", `{"command":"mv moved.txt there.txt && rm gone.txt && chmod 700 run.sh && mkdir -p empty/dir && ln -s a.txt link"}`), end})
	dir := app.Dir()
	write(t, dir, "a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
	write(t, dir, "moved.txt", "m\n")
	write(t, dir, "gone.txt", "g\n")
	write(t, dir, "run.sh", "#!/bin/sh\n")
	read := func() string {
		b, err := os.ReadFile(filepath.Join(dir, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	k := work(t, app, session.Key{})
	k = work(t, app, k)
	write(t, dir, "a.txt", strings.Replace(read(), "six", "six, and a person's", 1))
	if got := undo(t, app, k, roster.UndoOptions{DryRun: true}); got["a.txt"] != "merged" || !strings.Contains(read(), "TWO") {
		t.Errorf("a dry run: %v, %s", got, read())
	}
	if got := undo(t, app, k, roster.UndoOptions{Last: true}); len(got) != 1 || read() != "one\nTWO\nthree\nfour\nfive\nsix, and a person's\n" {
		t.Errorf("the last prompt: %v, %s", got, read())
	}
	want := "one\ntwo\nthree\nfour\nfive\nsix, and a person's\n"
	check := func() {
		t.Helper()
		for _, name := range []string{"new", "there.txt", "empty", "link"} {
			if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o600 || read() != want {
			t.Errorf("%v, %v, %s", info, err, read())
		}
		for _, name := range []string{"moved.txt", "gone.txt"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	for path, outcome := range undo(t, app, k, roster.UndoOptions{}) {
		if outcome != "restored" && outcome != "merged" {
			t.Errorf("%s: %s", path, outcome)
		}
	}
	check()
	if got := undo(t, app, k, roster.UndoOptions{Redo: true}); len(got) < 9 || !strings.Contains(read(), "TWO") {
		t.Errorf("%v, %s", got, read())
	}
	undo(t, app, k, roster.UndoOptions{})
	check()
	if got := undo(t, app, k, roster.UndoOptions{}); len(got) > 0 {
		t.Errorf("there is more: %v", got)
	}
}

// TestUndoIsWhatWasShown: nothing is done when the files have changed since.
func TestUndoIsWhatWasShown(t *testing.T) {
	app := undoing(t, []script.Reply{calls("write", `{"path":"a.txt","content":"new\n"}`), {Text: "end"}}, nil)
	k := work(t, app, session.Key{})
	u, err := app.Undo(t.Context(), k, roster.UndoOptions{DryRun: true})
	if err != nil || u.Changes() != 1 {
		t.Fatalf("%+v, %v", u, err)
	}
	write(t, app.Dir(), "a.txt", "somebody's\n")
	var other *roster.PlanError
	if _, err := app.Undo(t.Context(), k, roster.UndoOptions{Plan: u.Plan}); !errors.As(err, &other) || roster.Code(err) != "OtherPlan" {
		t.Errorf("%v", err)
	}
	if _, err := app.Undo(t.Context(), session.Key{Stream: "none"}, roster.UndoOptions{}); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("%v", err)
	}
}

// TestUndoOfWhatWasImported: another machine's log changes nothing here.
func TestUndoOfWhatWasImported(t *testing.T) {
	app := undoing(t, []script.Reply{calls("write", `{"path":"a.txt","content":"new\n"}`), {Text: "end"}}, nil)
	k := work(t, app, session.Key{})
	var file strings.Builder
	if err := app.Export(t.Context(), k, &file); err != nil {
		t.Fatal(err)
	}
	if err := app.Prune(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := app.Import(t.Context(), "", strings.NewReader(file.String())); err != nil {
		t.Fatal(err)
	}
	if got := undo(t, app, k, roster.UndoOptions{}); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
