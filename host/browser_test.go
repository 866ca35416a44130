package host_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/identity/key"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

//go:embed testdata/attack.html
var attackPage string

// attacked is a server that web pages try to use, and what they report.
type attacked struct {
	*site
	store   *memory.Store
	own     *httptest.Server // the server, and a page of its own
	foreign *httptest.Server // the same page alone
	reports chan map[string]string

	mu   sync.Mutex
	seen map[string]int // requests, by method and path
}

func newAttacked(t *testing.T) *attacked {
	a := &attacked{store: memory.New(memory.Options{}), reports: make(chan map[string]string, 1), seen: map[string]int{}}
	t.Cleanup(func() { a.store.Close() })
	log := audit.NewLog(func(context.Context) (audit.Store, error) { return a.store, nil }, slog.New(slog.DiscardHandler))
	t.Cleanup(log.Close)
	replies := &script.Script{Loop: true, Replies: []script.Reply{{Text: "SECRET-ANSWER"}}}
	a.site = openSite(t, siteOptions{store: a.store, model: replies.Model("fake/text"), change: func(d *host.Deps) {
		d.Keys = func(context.Context) (key.Store, error) { return a.store, nil }
		d.Audit, d.MCP = log, lengthMCP{}
	}})
	pages := http.NewServeMux()
	pages.HandleFunc("GET /attack", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, attackPage)
	})
	pages.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		var report map[string]string
		if err := json.NewDecoder(r.Body).Decode(&report); err != nil {
			t.Errorf("the report: %v", err)
		}
		a.reports <- report
	})
	a.foreign = httptest.NewServer(pages)
	both := http.NewServeMux()
	both.Handle("GET /attack", pages)
	both.Handle("POST /report", pages)
	both.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.host.ServeHTTP(w, r)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen[r.Method+" "+r.URL.Path]++
	})
	a.own = httptest.NewServer(both)
	for _, s := range []*httptest.Server{a.own, a.foreign} {
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	}
	return a
}

// visit has the browser open the page at a place, which tries the server by a name,
// and returns what the page reports.
func (a *attacked) visit(t *testing.T, page, target string) map[string]string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: make need installs it")
	}
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-popup-blocking",
		"--disable-background-networking", "--host-resolver-rules=MAP evil.example 127.0.0.1", "--user-data-dir="+t.TempDir(),
		"--remote-debugging-port=0", page+"/attack?target="+url.QueryEscape(target))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()                                      // killed
	}()
	select {
	case report := <-a.reports:
		return report
	case <-time.After(2 * time.Minute):
		t.Fatalf("the page at %s reports nothing", page)
		return nil
	}
}

// made counts what was made: sessions, profiles and keys.
func (a *attacked) made(t *testing.T) [3]int {
	t.Helper()
	n := [3]int{}
	for _, err := range a.store.List(t.Context(), "local", session.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n[0]++
	}
	keys, err := a.store.Keys(t.Context(), key.AllTenants)
	if err != nil {
		t.Fatal(err)
	}
	n[1], n[2] = a.app.Catalog().Snapshot().Len(), len(keys)
	return n
}

func (a *attacked) saw(request string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen[request]
}

// TestPagesInTheBrowser: what a page of another origin sends to a server of this
// machine does nothing, and the page reads nothing, by whatever name it calls the
// server. A page of the server's own origin can do all that, so that the test would
// see it.
func TestPagesInTheBrowser(t *testing.T) {
	a := newAttacked(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(a.own.URL, "http://"), ":")
	_, foreign, _ := strings.Cut(strings.TrimPrefix(a.foreign.URL, "http://"), ":")
	for _, c := range []struct{ name, page, target string }{
		{"another port", "http://127.0.0.1:" + foreign, "http://127.0.0.1:" + port},
		{"localhost", "http://localhost:" + foreign, "http://localhost:" + port},
		{"another site", "http://evil.example:" + foreign, "http://127.0.0.1:" + port},
		{"another name of the same server", "http://localhost:" + port, "http://127.0.0.1:" + port},
		{"a name that leads here", "http://evil.example:" + port, "http://evil.example:" + port},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := a.made(t)
			report := a.visit(t, c.page, c.target)
			if report["link"] != "kept out" && c.page != c.target {
				t.Errorf("a window with a page of the server: %q", report["link"])
			}
			for name, got := range report {
				for _, secret := range []string{"Be brief", "SECRET-ANSWER", "sessionId", "rk_", "200 "} {
					if strings.Contains(got, secret) {
						t.Errorf("%s: the page reads %.200s", name, got)
					}
				}
				if got == "open" || got == "loaded" && (name == "events" || name == "socket") {
					t.Errorf("%s: %s", name, got)
				}
			}
			if len(report) < 20 {
				t.Errorf("the page tried %d ways: %v", len(report), report)
			}
			if after := a.made(t); after != before {
				t.Errorf("sessions, profiles and keys were %v and are %v", before, after)
			}
		})
	}
	if n := a.saw("POST /chat"); n < 5 {
		t.Errorf("the pages sent %d prompts that reached the server: they tried too little", n)
	}
	t.Run("its own page", func(t *testing.T) {
		report := a.visit(t, a.own.URL, a.own.URL)
		if !strings.Contains(report["read"], "Be brief") || !strings.Contains(report["chat"], "SECRET-ANSWER") || !strings.Contains(report["key"], "rk_") || report["events"] != "open" {
			t.Errorf("%v", report)
		}
		if n := a.made(t); n[0] == 0 || n[2] != 1 {
			t.Errorf("sessions, profiles and keys: %v", n)
		}
	})
}
