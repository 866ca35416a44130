package mcp_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/mcp"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if mode := os.Getenv("SERVER_OF_TEST"); mode != "" {
		os.Exit(serveTest(mode))
	}
	goleak.VerifyTestMain(m)
}

// fixture has a pool, and what its servers say.
type fixture struct {
	t    *testing.T
	pool *mcp.Pool

	mu  sync.Mutex
	log []string
}

func newFixture(t *testing.T, set ...func(*mcp.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t}
	o := mcp.Options{Version: "test", Log: func(server, line string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.log = append(f.log, server+": "+line)
	}}
	for _, s := range set {
		s(&o)
	}
	f.pool = mcp.NewPool(o)
	t.Cleanup(func() { _ = f.pool.Close() })
	return f
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

// server is this test's program as a server.
func server(t *testing.T, name, mode string, set ...func(*mcp.Server)) mcp.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := mcp.Server{
		Name: name, Command: self, Exec: sandbox.Self(), Dir: t.TempDir(),
		Env: append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GO") }), "SERVER_OF_TEST="+mode),
	}
	for _, f := range set {
		f(&s)
	}
	return s
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// connect gets a client that is connected.
func (f *fixture) connect(s mcp.Server) *mcp.Client {
	f.t.Helper()
	c := f.pool.Get(s)
	if err := c.Connect(within(f.t, 20*time.Second)); err != nil {
		f.t.Fatalf("connect: %v\n%s", err, strings.Join(c.Log(), "\n"))
	}
	return c
}

func find(t testing.TB, c *mcp.Client, name string) *mcp.Tool {
	t.Helper()
	for _, x := range c.Tools() {
		if x.Tool == name {
			return x
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call calls a tool; the text is of the result or of the error.
func call(t *testing.T, x tool.Tool, input string) (text string, r tool.Result, err error) {
	t.Helper()
	return callIn(t, within(t, 60*time.Second), x, input, nil)
}

func callIn(t *testing.T, ctx context.Context, x tool.Tool, input string, progress func(string)) (string, tool.Result, error) {
	t.Helper()
	p, err := x.Prepare(ctx, tool.Call{ID: "call-1", Input: []byte(input)})
	if err != nil {
		return err.Error(), tool.Result{}, err
	}
	defer p.Close()
	r, err := p.Run(ctx, progress)
	if err != nil {
		return err.Error(), r, err
	}
	return textOf(r), r, nil
}

func textOf(r tool.Result) string {
	var all []string
	for _, p := range r.Parts {
		switch p := p.(type) {
		case message.Text:
			all = append(all, p.Text)
		case message.Image:
			all = append(all, fmt.Sprintf("<%s %d bytes>", p.MediaType, len(p.Data)))
		}
	}
	return strings.Join(all, "\n")
}

// eventually waits for a state that comes without a word.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened: %s", what)
		}
	}
}

var toolCall = tool.Call{ID: "call-1", Input: []byte("{}")}
