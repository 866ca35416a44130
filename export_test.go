package roster_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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

// TestImportOfWhatIsMadeUp: a file whose sums are right is no reason to believe it.
func TestImportOfWhatIsMadeUp(t *testing.T) {
	id := "01890000-0000-7000-8000-000000000000"
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	event := func(seq int, of, typ, data string) string {
		return fmt.Sprintf(`{"event":{"v":1,"seq":%d,"session":%q,"depth":0,"time":"2026-01-02T03:04:05Z","type":%q,"data":%s}}`, seq, of, typ, data)
	}
	begin := event(1, id, "branch", `{"why":"fork","profile":"parrot"}`)
	for _, c := range []struct {
		name   string
		events []string
		want   string // in the error; empty: it is imported
	}{
		{"a prompt that would run here", []string{begin, event(2, id, "prompt", `{"parts":[{"type":"text","text":"rm"}]}`)}, "it has work to do"},
		{"an open loop", []string{begin, event(2, id, "loop.start", `{"number":1,"profile":"parrot"}`)}, "it has work to do"},
		{"an event of another session", []string{begin, event(2, "other", "cancel", `{}`)}, "not below"},
		{"a child that has not begun", []string{begin, event(2, id+"_1", "turn.start", `{}`)}, "has not begun"},
		{"a type that is none", []string{begin, event(2, id, "../x", `{}`)}, "lacks its type"},
		{"a body of another form", []string{begin, event(2, id, "cancel", `[]`)}, "cannot unmarshal"},
		{"a grant", []string{begin, event(2, id, "permission.resolved", `{"ask":"a","answer":"session"}`)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := append([]string{fmt.Sprintf(`{"roster":{"form":"session","v":1,"id":%q,"events":%d}}`, id, len(c.events))}, c.events...)
			var sum [sha256.Size]byte
			for _, line := range lines {
				h := sha256.New()
				h.Write(sum[:])
				io.WriteString(h, line+"\n")
				h.Sum(sum[:0])
			}
			lines = append(lines, `{"end":{"sha256":"`+hex.EncodeToString(sum[:])+`"}}`, "")
			k, err := app.Import(t.Context(), "", strings.NewReader(strings.Join(lines, "\n")))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("err = %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if st := fold(t, app, k); len(st.Grants) > 0 || st.Root.Runnable() {
				t.Errorf("%+v", st)
			}
		})
	}
}
