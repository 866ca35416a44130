package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newLog(t *testing.T) (*audit.Log, *memory.Store) {
	s := memory.New(memory.Options{})
	l := audit.NewLog(func(context.Context) (audit.Store, error) { return s, nil }, slog.New(slog.DiscardHandler))
	t.Cleanup(l.Close)
	return l, s
}

func all(t *testing.T, s audit.Store) []audit.Entry {
	t.Helper()
	list, err := s.Recorded(t.Context(), audit.AllTenants, audit.Query{Limit: audit.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestLogStoresWhatWasAddedBeforeClose(t *testing.T) {
	l, s := newLog(t)
	var adding sync.WaitGroup
	for i := range 10 {
		adding.Go(func() {
			for j := range 50 {
				l.Add(audit.Entry{Tenant: "acme", Action: "chat", Status: 200, Request: fmt.Sprint(i, j)})
			}
		})
	}
	adding.Wait()
	l.Close()
	if n := len(all(t, s)); n != 500 {
		t.Errorf("%d entries", n)
	}
}

func TestLogStoresWithoutClose(t *testing.T) {
	l, s := newLog(t)
	l.Add(audit.Entry{Tenant: "acme", Action: "chat", Status: 200})
	for end := time.Now().Add(10 * time.Second); len(all(t, s)) == 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("nothing was stored")
		}
	}
}

func TestLogCountsRefusedCalls(t *testing.T) {
	l, s := newLog(t)
	for i := range 1000 {
		l.Add(audit.Entry{Status: 401, Code: "InvalidCredentials", Address: "192.0.2.1", Request: fmt.Sprint(i)})
	}
	l.Close()
	list := all(t, s)
	times := 0
	for _, e := range list {
		times += e.Times
	}
	if times != 1000 || len(list) > 20 {
		t.Errorf("%d entries of %d calls", len(list), times)
	}
}

func TestLogBoundsRefusedCalls(t *testing.T) {
	l, s := newLog(t)
	for i := range 3000 {
		l.Add(audit.Entry{Status: 401, Address: fmt.Sprintf("2001:db8::%x", i)})
	}
	l.Close()
	list := all(t, s)
	times := 0
	for _, e := range list {
		times += e.Times
	}
	if times != 3000 || len(list) > 800 {
		t.Errorf("%d entries of %d calls", len(list), times)
	}
}

// Who is refused again and again, each time otherwise, adds but few entries.
func TestLogIsNotFilledByStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counted{}
		l := audit.NewLog(func(context.Context) (audit.Store, error) { return s, nil }, slog.New(slog.DiscardHandler))
		const calls = 10 * 60 * 1000
		for i := range calls {
			l.Add(audit.Entry{Status: 401, Code: "InvalidCredentials", Action: "chat", Address: fmt.Sprintf("2001:db8::%x", i)})
			time.Sleep(time.Millisecond)
		}
		l.Add(audit.Entry{Tenant: "acme", User: "ann", Status: 403, Code: "MissingRole", Action: "createKey", Target: "POST /keys"})
		l.Close()
		if s.times != calls+1 || s.entries > 1000 {
			t.Errorf("%d entries of %d calls in ten minutes", s.entries, s.times)
		}
		if !s.ann {
			t.Error("what a caller was refused that is known does not say whom")
		}
	})
}

// counted is a store that keeps nothing.
type counted struct {
	audit.Store
	entries, times int
	ann            bool
}

func (c *counted) Record(_ context.Context, entries []audit.Entry) error {
	c.entries += len(entries)
	for _, e := range entries {
		c.times += e.Times
		c.ann = c.ann || e.User == "ann" && e.Action == "createKey"
	}
	return nil
}

func (c *counted) ForgetRecorded(context.Context, time.Time) error { return nil }

func TestLogSaysWhatItCouldNotStore(t *testing.T) {
	var out bytes.Buffer
	l := audit.NewLog(func(context.Context) (audit.Store, error) { return nil, errors.New("disk full") }, slog.New(slog.NewTextHandler(&out, nil)))
	l.Add(audit.Entry{Tenant: "acme", Action: "deleteSession", Status: 204})
	l.Close()
	l.Add(audit.Entry{Tenant: "acme", Action: "tooLate", Status: 204})
	for _, want := range []string{"disk full", "deleteSession", "tooLate"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	if err := l.Now(t.Context(), audit.Entry{}); err == nil {
		t.Error("Now says nothing")
	}
}
