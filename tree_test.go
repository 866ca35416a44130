package roster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// parrot opens a workspace whose profile answers with a, b, c …, and
// notes what it was asked.
func parrot(t *testing.T, store session.Backend, asked *[]string) *roster.App {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	write(t, dir, "profiles/parrot.md", "---\ndescription: Speaks.\nmodel: bench/text\n---\nSpeak.\n")
	write(t, dir, "profiles/other.md", "---\ndescription: Speaks too.\nmodel: bench/text\n---\nSpeak too.\n")
	var replies []script.Reply
	for c := 'a'; c <= 'z'; c++ {
		replies = append(replies, script.Reply{Text: string(c)})
	}
	says := script.New(replies...)
	seen := func(_ context.Context, r *model.Request) { *asked = append(*asked, texts(r.Messages)) }
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: store, Trust: true,
		Models: map[string]model.Model{"bench/text": eyed{says.Model("bench/text"), seen}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func say(t *testing.T, app *roster.App, k session.Key, words string) roster.Submitted {
	t.Helper()
	sub, err := app.Submit(t.Context(), roster.Ask{Key: k, Profile: "parrot", Parts: text(words)})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	return sub
}

// whys lists why the loops of a session began.
func whys(t *testing.T, app *roster.App, k session.Key) (list []string) {
	t.Helper()
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.Read(t.Context(), session.Key{Tenant: roster.LocalTenant, Stream: k.Stream}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if body, err := e.Decode(); err != nil {
			t.Fatal(err)
		} else if s, ok := body.(*session.LoopStart); ok {
			list = append(list, s.Why+" "+s.Profile)
		}
	}
	return list
}

// TestTree goes back and forth in a session: a prompt is answered anew, taken
// back, and the branch that was left is gone on with. What the model is asked is
// the branch each time, and nothing is lost.
func TestTree(t *testing.T) {
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	sub := say(t, app, session.Key{}, "1")
	k := sub.Key
	say(t, app, k, "2")
	first := fold(t, app, k).Root.Messages

	again, err := app.Rerun(t.Context(), k, "", roster.Ask{Profile: "other"})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, again)
	if last, err := app.Revert(t.Context(), k, ""); err != nil || last != first[1].ID {
		t.Fatalf("taken back to %q, %v", last, err)
	}
	say(t, app, k, "3")
	if last, err := app.Revert(t.Context(), k, first[3].ID); err != nil || last != first[3].ID {
		t.Fatalf("back on the first branch: %q, %v", last, err)
	}
	say(t, app, k, "4")
	all, err := app.Rerun(t.Context(), k, first[0].ID, roster.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, all)

	want := []string{
		"user 1",
		"user 1; assistant a; user 2",
		"user 1; assistant a; user 2",
		"user 1; assistant a; user 3",
		"user 1; assistant a; user 2; assistant b; user 4",
		"user 1",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("the model was asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
	if got, want := whys(t, app, k), []string{"prompt parrot", "prompt parrot", "rerun other", "branch parrot", "branch parrot", "rerun parrot"}; !slices.Equal(got, want) {
		t.Errorf("the loops began by %v, want %v", got, want)
	}
	tree, err := app.Tree(t.Context(), k, k.Stream)
	if err != nil {
		t.Fatal(err)
	}
	var said, sent []string
	for _, m := range tree {
		said = append(said, message.PartsText(m.Parts))
		if m.Sent {
			sent = append(sent, message.PartsText(m.Parts))
		}
	}
	if strings.Join(said, "") != "1a2b2b3b4c1a" || strings.Join(sent, "") != "1a" {
		t.Errorf("the tree has %v, and sends %v", said, sent)
	}
}

// TestForkOfALeftBranch: a fork begins at a message that the session itself has
// gone back from, as the profile of then.
func TestForkOfALeftBranch(t *testing.T) {
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, app, session.Key{}, "1").Key
	left := fold(t, app, k).Root.Messages[1].ID
	sub, err := app.Rerun(t.Context(), k, "", roster.Ask{Profile: "other"})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	fork, err := app.Fork(t.Context(), k, k.Stream, left)
	if err != nil {
		t.Fatal(err)
	}
	if st := fold(t, app, fork); texts(st.Root.Messages) != "user 1; assistant a" || st.Root.Profile != "parrot" {
		t.Errorf("%s says %s", st.Root.Profile, texts(st.Root.Messages))
	}
}

// TestTreeIsLeftAlone where it cannot be gone back.
func TestTreeIsLeftAlone(t *testing.T) {
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, app, session.Key{}, "1").Key
	before := fold(t, app, k)
	answer := before.Root.Messages[1].ID
	var none *roster.NoMessageError
	if _, err := app.Revert(t.Context(), k, "nothing"); !errors.As(err, &none) {
		t.Errorf("to no message: %v", err)
	}
	if _, err := app.Rerun(t.Context(), k, answer, roster.Ask{}); err == nil || !strings.Contains(err.Error(), "name one of the user") {
		t.Errorf("an answer anew: %v", err)
	}
	if _, err := app.Revert(t.Context(), session.Key{Stream: "x"}, ""); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("of no session: %v", err)
	}
	if last, err := app.Revert(t.Context(), k, ""); err != nil || last != "" {
		t.Errorf("the first prompt taken back: %q, %v", last, err)
	}
	var nothing *roster.NothingSaidError
	if _, err := app.Revert(t.Context(), k, ""); !errors.As(err, &nothing) {
		t.Errorf("with no prompt left: %v", err)
	}
	// Somebody else was quicker: the message is not on the branch any more.
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full := session.Key{Tenant: roster.LocalTenant, Stream: k.Stream}
	late := session.Event{V: 1, Session: k.Stream, Body: &session.Branch{Why: session.BranchBack, Cut: true, At: answer}}
	if _, err := b.Post(t.Context(), full, session.Post{Events: []session.Event{late}}); err != nil {
		t.Fatal(err)
	}
	if st := fold(t, app, k); len(st.Root.Messages) != 0 {
		t.Errorf("%s", texts(st.Root.Messages))
	}
	say(t, app, k, "2")
	if want := []string{"user 1", "user 2"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v", asked)
	}
}

// TestRotate: a session that was not used for a while begins anew, as who it was.
func TestRotate(t *testing.T) {
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, app, session.Key{Tenant: roster.LocalTenant}, "1").Key
	if _, err := app.Configure(t.Context(), k, map[string]string{"temperature": "0.5"}); err != nil {
		t.Fatal(err)
	}
	if same, err := app.Rotate(t.Context(), k, time.Hour); err != nil || same.Stream != k.Stream {
		t.Errorf("one that is in use: %v, %v", same, err)
	}
	to, err := app.Rotate(t.Context(), k, 0)
	if err != nil || to.Stream == k.Stream {
		t.Fatalf("%v, %v", to, err)
	}
	sub, err := app.Submit(t.Context(), roster.Ask{Key: to, Parts: text("2")})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	st := fold(t, app, to)
	if asked[len(asked)-1] != "user 2" || st.Root.Profile != "parrot" || st.Root.Settings.Temperature != "0.5" {
		t.Errorf("asked %v as %s with %+v", asked, st.Root.Profile, st.Root.Settings)
	}
	if got := texts(fold(t, app, k).Root.Messages); got != "user 1; assistant a" {
		t.Errorf("the old one says %s", got)
	}
}
