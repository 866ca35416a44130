package grants

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	ann   = Whose{"t", "ann", "/ws"}
	fetch = Grant{Tenant: "t", User: "ann", Workspace: "/ws", Profile: "p", Tool: "bash", Subject: "git fetch", Given: time.Unix(1, 0).UTC()}
)

func fine() error { return nil }

func add(t *testing.T, s *Store, list ...Grant) {
	t.Helper()
	if err := s.Add(t.Context(), fine, list...); err != nil {
		t.Fatal(err)
	}
}

// held gives the subjects that hold.
func held(t *testing.T, s *Store, w Whose, profile string) string {
	t.Helper()
	list, err := s.For(w, profile)
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, g := range list {
		subjects = append(subjects, g.Subject+g.Dir)
	}
	slices.Sort(subjects)
	return strings.Join(subjects, ", ")
}

func TestWhoseGrantsHold(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "grants.json"))
	if got := held(t, s, ann, "p"); got != "" {
		t.Errorf("nothing was granted, and %s holds", got)
	}
	status, elsewhere := fetch, fetch
	status.Subject, elsewhere.Dir = "git status", "sub"
	add(t, s, fetch, status, elsewhere)
	add(t, s, fetch) // again
	for _, c := range []struct {
		name    string
		whose   Whose
		profile string
		want    string
	}{
		{"his own", ann, "p", "git fetch, git fetchsub, git status"},
		{"another profile's", ann, "q", ""},
		{"another user's", Whose{"t", "bob", "/ws"}, "p", ""},
		{"another tenant's", Whose{"u", "ann", "/ws"}, "p", ""},
		{"in another workspace", Whose{"t", "ann", "/ws2"}, "p", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := held(t, s, c.whose, c.profile); got != c.want {
				t.Errorf("%q holds, want %q", got, c.want)
			}
		})
	}
}

func TestRevoke(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grants.json")
	s, other := New(file), New(file) // as of two processes
	status := fetch
	status.Subject = "git status"
	add(t, s, fetch, status)
	if got := held(t, other, ann, "p"); got != "git fetch, git status" {
		t.Fatalf("%q holds", got)
	}
	list, err := s.List("/ws")
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for name, err := range map[string]error{
		"none":                 second(s.Revoke(t.Context(), "/ws", "no such")),
		"all":                  second(s.Revoke(t.Context(), "/ws", "")),
		"of another workspace": second(s.Revoke(t.Context(), "/ws2", list[0].ID)),
		"where nothing is":     second(New(filepath.Join(t.TempDir(), "none", "grants.json")).Revoke(t.Context(), "/ws", "x")),
	} {
		if missing := (*NotFoundError)(nil); !errors.As(err, &missing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	gone, err := s.Revoke(t.Context(), "/ws", list[0].ID[:8])
	if err != nil || len(gone) != 1 || gone[0] != list[0] {
		t.Fatalf("%+v, %v", gone, err)
	}
	if got := held(t, other, ann, "p"); got != list[1].Subject {
		t.Errorf("after the revocation %q holds, want %q", got, list[1].Subject)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAnAnswerThatFailsGrantsNothing(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "grants.json"))
	late := errors.New("somebody was first")
	if err := s.Add(t.Context(), func() error { return late }, fetch); !errors.Is(err, late) {
		t.Errorf("%v", err)
	}
	if got := held(t, s, ann, "p"); got != "" {
		t.Errorf("%q holds", got)
	}
}

// TestForWaitsForAnAnswer: whoever goes on by an answer finds what it grants.
func TestForWaitsForAnAnswer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grants.json")
	answered := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		<-answered
		if got := held(t, New(file), ann, "p"); got != "git fetch" {
			t.Errorf("%q holds", got)
		}
	})
	if err := New(file).Add(t.Context(), func() error { close(answered); return nil }, fetch); err != nil {
		t.Error(err)
	}
	all.Wait()
}

func TestManyProcessesGrantAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "grants.json")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			g := fetch
			g.Subject = strings.Repeat("x", i+1)
			add(t, New(file), g)
		})
	}
	all.Wait()
	if list, err := New(file).List("/ws"); err != nil || len(list) != 16 {
		t.Errorf("%d grants, %v", len(list), err)
	}
}

// TestABadFileGrantsNothing: what cannot be read, or others may write, is not
// believed.
func TestABadFileGrantsNothing(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{"not JSON", "{", 0o600},
		{"of a later version", `{"version":9,"grants":[]}`, 0o600},
		{"others may write to it", `{"version":1,"grants":[]}`, 0o666},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "grants.json")
			add(t, New(file), fetch)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, c.mode); err != nil {
				t.Fatal(err)
			}
			if list, err := New(file).For(ann, "p"); err == nil || len(list) != 0 {
				t.Errorf("%v, %v", list, err)
			}
			if err := New(file).Add(t.Context(), fine, fetch); err == nil {
				t.Error("it is written over")
			}
		})
	}
}

func TestAddIsGivenUpWithItsContext(t *testing.T) {
	s := New(filepath.Join(t.TempDir(), "grants.json"))
	unlock, err := s.file.Lock(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Add(ctx, fine, fetch); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
