package roster_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

func exported(t *testing.T, app *roster.App, k session.Key) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := app.Export(t.Context(), k, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestExportAndImport: what was exported in one place goes on in another.
func TestExportAndImport(t *testing.T) {
	var asked []string
	from := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, from, session.Key{}, "1").Key
	if _, err := from.Rerun(t.Context(), k, "", roster.Ask{Profile: "nobody"}); err == nil {
		t.Error("a profile that is not there answers")
	}
	say(t, from, k, "2")
	data := exported(t, from, k)

	to := parrot(t, memory.New(memory.Options{}), &asked)
	got, err := to.Import(t.Context(), "", bytes.NewReader(data))
	if err != nil || got.Stream != k.Stream {
		t.Fatalf("%v, %v", got, err)
	}
	a, b := fold(t, from, k), fold(t, to, k)
	if texts(a.Root.Messages) != texts(b.Root.Messages) || b.Last != a.Last+1 || b.Root.Runnable() {
		t.Errorf("%d events and %s became %d and %s", a.Last, texts(a.Root.Messages), b.Last, texts(b.Root.Messages))
	}
	say(t, to, k, "3")
	if want := texts(a.Root.Messages) + "; user 3"; asked[len(asked)-1] != want {
		t.Errorf("asked %s, want %s", asked[len(asked)-1], want)
	}
	var exists *session.Exists
	if _, err := to.Import(t.Context(), "", bytes.NewReader(data)); !errors.As(err, &exists) {
		t.Errorf("imported twice: %v", err)
	}
	if err := to.Prune(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Import(t.Context(), "", bytes.NewReader(data)); err != nil {
		t.Errorf("after it was pruned: %v", err)
	}
}

// TestImportGrantsNothing: what was allowed elsewhere is not allowed here.
func TestImportGrantsNothing(t *testing.T) {
	var asked []string
	from := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, from, session.Key{}, "1").Key
	sub, err := from.Submit(t.Context(), roster.Ask{Key: k, Parts: text("2"), AllowAll: true, Flags: map[string]string{"permission-mode": "bypass"}})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, from, sub)
	if !fold(t, from, k).Root.Asked.AllowAll {
		t.Fatal("there is nothing to take back")
	}
	to := parrot(t, memory.New(memory.Options{}), &asked)
	if _, err := to.Import(t.Context(), "", bytes.NewReader(exported(t, from, k))); err != nil {
		t.Fatal(err)
	}
	st := fold(t, to, k)
	if a := st.Root.Asked; a.AllowAll || len(a.Flags) > 0 || len(st.Grants) > 0 {
		t.Errorf("%+v, %+v", a, st.Grants)
	}
}

// TestImportRefuses whatever is not as it was written, and keeps nothing of it.
func TestImportRefuses(t *testing.T) {
	var asked []string
	from := parrot(t, memory.New(memory.Options{}), &asked)
	k := say(t, from, session.Key{}, "1").Key
	good := exported(t, from, k)
	lines := bytes.SplitAfter(good, []byte("\n"))
	lines = lines[:len(lines)-1]
	to := parrot(t, memory.New(memory.Options{}), &asked)
	refused := func(name string, data []byte) {
		t.Helper()
		var bad *roster.ImportError
		if _, err := to.Import(t.Context(), "", bytes.NewReader(data)); !errors.As(err, &bad) {
			t.Errorf("%s: err = %v, want an ImportError", name, err)
		}
		if b, err := to.Backend(t.Context()); err != nil {
			t.Fatal(err)
		} else if _, err := b.Summary(t.Context(), session.Key{Tenant: roster.LocalTenant, Stream: k.Stream}); !errors.Is(err, session.ErrNoStream) {
			t.Fatalf("%s: something is left: %v", name, err)
		}
	}
	refused("nothing", nil)
	refused("no JSON", []byte("hello\n"))
	refused("another file", []byte(`{"a":1}`+"\n"))
	refused("more behind its end", append(bytes.Clone(good), '\n'))
	for i := range lines {
		without := slices.Concat(lines[:i], lines[i+1:])
		refused(fmt.Sprintf("without line %d", i+1), bytes.Join(without, nil))
		twice := slices.Concat(lines[:i+1], lines[i:])
		refused(fmt.Sprintf("line %d twice", i+1), bytes.Join(twice, nil))
		refused(fmt.Sprintf("cut in line %d", i+1), bytes.Join(lines[:i], nil))
	}
	for i := 0; i < len(good); i += 7 {
		changed := bytes.Clone(good)
		changed[i] ^= 1
		refused(fmt.Sprintf("byte %d changed", i), changed)
	}
	for _, c := range []struct{ name, old, new string }{
		{"a newer form", `"v":1`, `"v":2`},
		{"another id", k.Stream, "../../etc/passwd-00000000000000000000"},
	} {
		refused(c.name, []byte(strings.Replace(string(good), c.old, c.new, 1)))
	}
	if _, err := to.Import(t.Context(), "", bytes.NewReader(good)); err != nil {
		t.Error(err)
	}
}
