package browser

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	conversation "github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if at := os.Getenv(childEnv); at != "" {
		child(at)
	}
	goleak.VerifyTestMain(m)
}

// chromium is the browser of this machine.
func chromium(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("there is no chromium: make need installs it")
	}
	return path
}

// serve starts a server on loopback.
func serve(t testing.TB, h http.HandlerFunc) (at string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.Listener.Addr().String()
}

// pages serves HTML by path.
func pages(t testing.TB, by map[string]string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, ok := by[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, text)
	})
}

// canary is a server on loopback that must hear nothing, of TCP or UDP.
func canary(t testing.TB) (port string, heard *atomic.Int32) {
	t.Helper()
	heard = new(atomic.Int32)
	at := serve(t, func(w http.ResponseWriter, _ *http.Request) { heard.Add(1); io.WriteString(w, "secret") })
	_, port, _ = net.SplitHostPort(at)
	udp, err := net.ListenPacket("udp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			heard.Add(1)
		}
	}()
	t.Cleanup(func() { udp.Close(); <-done })
	return port, heard
}

// user calls the tools as the engine does, in one run.
type user struct {
	t      testing.TB
	kit    *Kit
	permit *permission.Engine
	opened io.Closer
}

var testRun = Run{session.Key{Tenant: "local", Stream: "s"}, "s"}

func allowAll() []permission.Rule {
	return []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Allow}}
}

// newUser has a browser that reaches the hosts besides public ones.
func newUser(t testing.TB, settings string, rules []permission.Rule, allow ...string) *user {
	t.Helper()
	set := new(Set)
	k, err := New(Options{Set: set, Program: chromium(t), Allow: allow, Exec: sandbox.Self(), Settings: json.RawMessage(settings)})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := permission.Compile(permission.Layers{Rules: append(permission.Builtin(), rules...)})
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t: t, kit: k, permit: permit}
	t.Cleanup(func() { u.leave(); set.Close() })
	return u
}

// leave ends the run.
func (u *user) leave() {
	if u.opened != nil {
		u.opened.Close()
		u.opened = nil
	}
}

func (u *user) open(ctx context.Context) (io.Closer, error) {
	if u.opened != nil {
		return u.opened, nil
	}
	c, err := u.kit.Open(ctx, testRun)
	if err == nil {
		u.opened = c
	}
	return c, err
}

// call gives the result as text, an error too.
func (u *user) call(name string, in map[string]any) string {
	r, err := u.do(name, in)
	if err != nil {
		return "error: " + err.Error()
	}
	return conversation.PartsText(r.Parts)
}

func (u *user) do(name string, in map[string]any) (tool.Result, error) {
	u.t.Helper()
	var made tool.Tool
	for _, x := range u.kit.Tools() {
		if x.Def().Name == name {
			made = x
		}
	}
	if in == nil {
		in = map[string]any{}
	}
	input, err := json.Marshal(in)
	if err != nil {
		u.t.Fatal(err)
	}
	v, err := tool.NewValidator(made.Def())
	if err != nil {
		u.t.Fatal(err)
	}
	if err := v.Validate(input); err != nil {
		return tool.Result{}, err
	}
	plan, err := made.Prepare(u.t.Context(), tool.Call{ID: "c", Key: testRun.Key, Session: testRun.Session, Input: input, Permit: u.permit, Opened: u.open})
	if err != nil {
		return tool.Result{}, err
	}
	defer plan.Close()
	if d := u.permit.Decide(plan.Needs()...); d.Effect != permission.Allow {
		return tool.Text(d.Effect.String() + ": " + d.Reason), nil
	}
	return plan.Run(u.t.Context(), func(string) {})
}

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if text, not := strings.CutPrefix(w, "!"); not == strings.Contains(got, text) {
			t.Errorf("%q in\n%.3000s", w, got)
		}
	}
}
