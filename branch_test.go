package roster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// fold reads a session's state.
func fold(t *testing.T, app *roster.App, k session.Key) *session.State {
	t.Helper()
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.Tenant = roster.LocalTenant
	st, err := session.ReadState(t.Context(), b, k)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func texts(list []*message.Message) string {
	var all []string
	for _, m := range list {
		all = append(all, string(m.Role)+" "+message.PartsText(m.Parts))
	}
	return strings.Join(all, "; ")
}

// TestFork: the new session begins with the conversation, as the profile that it
// had by then, and goes its own way.
func TestFork(t *testing.T) {
	var app *roster.App
	var asked []int
	dir := t.TempDir()
	write(t, dir, "secret.txt", "s\n")
	app = hall(t, dir, t.TempDir(), memory.New(memory.Options{}), func(_ context.Context, r *model.Request) { asked = append(asked, len(r.Messages)) })
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "desk", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	first := fold(t, app, sub.Key)
	all := first.Root.Messages
	for _, c := range []struct {
		name, at string
		want     int
		profile  string // of then
	}{
		{"all", "", len(all), "expert"},
		{"to the end", all[len(all)-1].ID, len(all), "expert"},
		{"after the first results", all[2].ID, 3, "expert"},
		{"calls without their results are left out", all[1].ID, 1, "desk"},
		{"the first message", all[0].ID, 1, "desk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := app.Fork(t.Context(), sub.Key, sub.Key.Stream, c.at)
			if err != nil {
				t.Fatal(err)
			}
			st := fold(t, app, k)
			if got, want := texts(st.Root.Messages), texts(all[:c.want]); got != want || k.Stream == sub.Key.Stream {
				t.Errorf("the fork says %s, want %s", got, want)
			}
			b, err := app.Backend(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sum, err := b.Summary(t.Context(), k)
			if err != nil || sum.Origin != sub.Key.Stream || sum.Why != session.BranchFork || sum.Profile != c.profile || sum.Title != "go" || sum.Status() != session.Idle {
				t.Errorf("%+v, %v", sum, err)
			}
		})
	}
	k, err := app.Fork(t.Context(), sub.Key, sub.Key.Stream, "")
	if err != nil {
		t.Fatal(err)
	}
	asked = nil
	more, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again")})
	if err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, more); end.Text != "still the expert" || !slices.Equal(asked, []int{len(all) + 1}) {
		t.Errorf("the fork goes on with %+v, asked with %v messages", end, asked)
	}
	if got := fold(t, app, sub.Key); got.Last != first.Last {
		t.Error("the session that was forked is not as it was")
	}
	var none *roster.NoMessageError
	if _, err := app.Fork(t.Context(), sub.Key, sub.Key.Stream, "nothing"); !errors.As(err, &none) {
		t.Errorf("at no message: %v", err)
	}
	if _, err := app.Fork(t.Context(), session.Key{Stream: "x"}, "x", ""); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("of no session: %v", err)
	}
}

// TestForkKeepsWhatWasRefused for the session, and grants nothing.
func TestForkKeepsWhatWasRefused(t *testing.T) {
	for _, c := range []struct {
		answer roster.Answer
		want   string
	}{
		{roster.Answer{Answer: session.AnswerNo, ForSession: true}, "denied"},
		{roster.Answer{Answer: session.AnswerSession}, "asked"},
	} {
		dir := t.TempDir()
		read := script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}}
		app := askingApp(t, dir, t.TempDir(), memory.New(memory.Options{}), script.New(read, script.Reply{Text: "done"}, read, script.Reply{Text: "done"}).Model("bench/text"), "")
		k, q, last := askOnce(t, app)
		answer(t, app, k, q.ID, c.answer)
		rests(t, app, k, last)
		fork, err := app.Fork(t.Context(), k, k.Stream, "")
		if err != nil {
			t.Fatal(err)
		}
		sub, err := app.Submit(t.Context(), roster.Ask{Key: fork, Parts: text("more")})
		if err != nil {
			t.Fatal(err)
		}
		got := "asked"
		if outcomes, waits := rests(t, app, fork, sub.After()); !waits {
			got = string(outcomes[0])
		}
		if got != c.want {
			t.Errorf("after %s the fork's call is %s, want %s", c.answer.Answer, got, c.want)
		}
	}
}
