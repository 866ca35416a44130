package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/apitest"
	"github.com/rosterrun/roster/internal/sse"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) {
	if what := os.Getenv(readEnv); what != "" {
		fmt.Fprintln(os.Stderr, readStreams(what))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

const config = `
providers:
  fake:
    api: script
    base-url: replies.yaml
    models: {text: {context-window: 1000}}
`

const echo = `---
name: echo
model: fake/text
temperature: 0.5
tools: [read]
---
Be brief.
`

const knot = `---
name: fast
provider: fake
model: text
tools:
- fs
system-prompt: |
  Be fast.
---
`

// site is a host over a real workspace, with an in-memory store and a script
// for a model.
type site struct {
	t    testing.TB
	app  *roster.App
	host *host.Host
	srv  *http.Server
	url  string
	http *http.Client
	stop func() // is also called at the end of the test
}

type siteOptions struct {
	replies []script.Reply
	model   model.Model // instead of replies
	change  func(*host.Deps)
	small   bool            // the kernel's buffers of connections
	store   session.Backend // not closed; nil: one in memory
}

func newSite(t testing.TB, replies ...script.Reply) *site {
	return openSite(t, siteOptions{replies: replies})
}

func openSite(t testing.TB, o siteOptions) *site {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"roster.yaml": config, "profiles/echo.md": echo, "profiles/team/echo.md": strings.Replace(echo, "name: echo\n", "", 1),
		"rig/profiles/fast.md": knot, "profiles/broken.md": "---\nname: [\n---\n",
		"profiles/orphan.md":  "---\nname: orphan\ndescription: d\nextends: nobody\n---\nx\n",
		"profiles/nomodel.md": "---\nname: nomodel\nmodel: openai/nothing\n---\nx\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if o.model == nil {
		o.model = script.New(o.replies...).Model("fake/text")
	}
	store := o.store
	if store == nil {
		store = memory.New(memory.Options{})
		t.Cleanup(func() { store.Close() })
	}
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Backend: store, Models: map[string]model.Model{"fake/text": o.model}, Claim: true,
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(dir, "home")}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, app: app}
	s.serve(o)
	s.stop = sync.OnceFunc(func() {
		s.http.CloseIdleConnections()
		if err := s.srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

func (s *site) serve(o siteOptions) {
	s.t.Helper()
	deps := wire(s.app)
	if o.change != nil {
		o.change(&deps)
	}
	l, err := host.Listen(s.t.Context(), "127.0.0.1:0", host.Access{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.host = host.New(deps)
	s.srv = host.Server(l.Addr().String(), s.host)
	transport := &http.Transport{}
	if o.small {
		s.srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			_ = c.(*net.TCPConn).SetWriteBuffer(64 << 10)
			return ctx
		}
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err == nil {
				err = c.(*net.TCPConn).SetReadBuffer(64 << 10)
			}
			return c, err
		}
	}
	s.url, s.http = "http://"+l.Addr().String(), &http.Client{Transport: transport}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.srv.Serve(l) // ends with ErrServerClosed
	}()
	s.t.Cleanup(func() { <-served })
}

// wire is how a program wires the host to an App.
func wire(app *roster.App) host.Deps {
	return host.Deps{
		Profiles: func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error) {
			all := app.Catalog().Snapshot()
			var list []*profile.Profile
			for p := range all.List() {
				list = append(list, p)
			}
			return list, all.Diagnostics(), nil
		},
		Profile: func(_ context.Context, name string) (*profile.Profile, error) { return app.Catalog().Get(name) },
		Edit:    app.EditProfile, Delete: app.Catalog().Delete, History: app.ProfileHistory, Diff: app.ProfileDiff, Rollback: app.Catalog().Rollback, Check: app.CheckText,
		Prompt: func(ctx context.Context, name string) (view.Prompt, error) {
			return app.Prompt(ctx, name, session.Overrides{})
		},
		Tools: func(ctx context.Context, name string) (view.Tools, error) {
			t, _, err := app.Tools(ctx, name, session.Overrides{})
			return t, err
		},
		Permit: func(ctx context.Context, name, tool, subject string) (view.Permit, error) {
			p, _, err := app.Permit(ctx, name, session.Overrides{}, tool, subject)
			return p, err
		},
		Submit: func(ctx context.Context, a host.Ask) (host.Submitted, error) {
			sub, err := app.Submit(ctx, roster.Ask(a))
			return host.Submitted(sub), err
		},
		Explain: func(ctx context.Context, name string) (view.Explanation, error) {
			sp, ds, err := app.Resolve(ctx, name, session.Overrides{})
			if err != nil {
				return view.Explanation{}, err
			}
			return resolve.Explain(sp, ds...), nil
		},
		Models: func(context.Context) ([]view.ModelItem, error) { return app.Models().List(), nil },
		Model: func(_ context.Context, ref string) (view.ModelView, error) {
			r, err := app.Models().Lookup(modelcatalog.Ref{Text: ref})
			if err != nil {
				return view.ModelView{}, err
			}
			return view.NewModelView(r, app.Models().KeySource(r.Endpoint)), nil
		},
		Capabilities: func(context.Context) ([]view.Capability, error) { return app.Capabilities(), nil },
		Doctor:       func(ctx context.Context) ([]view.Finding, error) { return app.Doctor(ctx), nil },
		Export:       app.Export, Import: app.Import,
		Commands:  func(context.Context) (view.Commands, error) { return app.CommandList(), nil },
		Call:      app.Call,
		Configure: app.Configure,
		Steer:     app.Steer, Followup: app.Followup, Cancel: app.Cancel,
		Approvals: app.Approvals, Answer: app.Answer, Fork: app.Fork, Rerun: app.Rerun, Revert: app.Revert, Undo: app.Undo, Tree: app.Tree, Prune: app.Prune, Request: app.Request,
		Compare: func(ctx context.Context, c host.Comparison) (host.Compared, error) {
			got, err := app.Compare(ctx, c)
			return got.View(), err
		},
		Follow: app.Follow, FollowFeed: app.FollowFeed, Backend: app.Backend, Code: roster.Code,
		Log: slog.New(slog.DiscardHandler),
	}
}

// answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

func (s *site) do(method, path, body string, header ...string) answer {
	s.t.Helper()
	a := read(s.t, s.open(s.t.Context(), method, path, body, header...))
	if err := apitest.Open().Check(method, path, apitest.Answer{Status: a.status, Header: a.header, Body: a.body}); err != nil {
		s.t.Error(err)
	}
	return a
}

// read reads a response to its end.
func read(t testing.TB, res *http.Response) answer {
	t.Helper()
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(data)}
}

// open sends a request; header holds names and values in turn.
func (s *site) open(ctx context.Context, method, path, body string, header ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *site) get(path string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", header...)
}

func (s *site) post(path, body string, header ...string) answer {
	s.t.Helper()
	return s.do(http.MethodPost, path, body, header...)
}

// into decodes the body.
func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
}

// refused is the body of an error.
type refused struct {
	Error, Code, Field, Part, SessionID, StopReason, RequestID string
	Diagnostics                                                []profile.Diagnostic
}

func (a answer) wantError(t testing.TB, status int, code string) refused {
	t.Helper()
	var e refused
	a.into(t, &e)
	if a.status != status || e.Code != code || e.Error == "" {
		t.Fatalf("got %d %s, want %d with the code %s", a.status, a.body, status, code)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type of an error is %q", got)
	}
	return e
}

// answered is the body of /chat.
type answered struct {
	SessionID, Text, StopReason string
	Usage                       struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func (s *site) chat(body string, header ...string) answered {
	s.t.Helper()
	a := s.post("/chat", body, header...)
	if a.status != http.StatusOK {
		s.t.Fatalf("/chat: %d %s", a.status, a.body)
	}
	var got answered
	a.into(s.t, &got)
	return got
}

// frame is one event of a stream.
type frame struct {
	name, id string
	data     map[string]any
	raw      string
}

// reader reads frames from a stream.
type reader struct {
	t   testing.TB
	res *http.Response
	sse *sse.Reader
}

func (s *site) stream(ctx context.Context, method, path, body string, header ...string) *reader {
	s.t.Helper()
	res := s.open(ctx, method, path, body, header...)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		data, _ := io.ReadAll(res.Body)
		s.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, data)
	}
	return &reader{s.t, res, sse.NewReader(res.Body, 16<<20)}
}

func (r *reader) next() (frame, bool) {
	r.t.Helper()
	e, err := r.sse.Next()
	if err != nil {
		if err != io.EOF {
			r.t.Fatal(err)
		}
		return frame{}, false
	}
	f := frame{name: string(e.Name), id: string(e.ID), raw: string(e.Data)}
	if err := json.Unmarshal(e.Data, &f.data); err != nil {
		r.t.Fatalf("%v in %s", err, e.Data)
	}
	return f, true
}

// until reads up to an event of this name.
func (r *reader) until(name string) {
	r.t.Helper()
	for f, ok := r.next(); f.name != name; f, ok = r.next() {
		if !ok {
			r.t.Fatalf("the stream ended without %s", name)
		}
	}
}

// rest reads to the end and closes.
func (r *reader) rest() []frame {
	r.t.Helper()
	defer r.res.Body.Close()
	var all []frame
	for f, ok := r.next(); ok; f, ok = r.next() {
		all = append(all, f)
	}
	return all
}

func names(frames []frame) []string {
	var list []string
	for _, f := range frames {
		list = append(list, f.name)
	}
	return list
}

// idsOf lists the numbers of the stored events.
func idsOf(frames []frame) []string {
	var list []string
	for _, f := range frames {
		if f.id != "" {
			list = append(list, f.id)
		}
	}
	return list
}

// stored reads the log as a stream would show it: id → data.
func (s *site) stored(id string) map[string]string {
	s.t.Helper()
	store, err := s.app.Backend(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for e, err := range store.Read(s.t.Context(), session.Key{Tenant: "local", Stream: id}, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		all[fmt.Sprint(e.Seq)] = string(e.AppendJSON(nil))
	}
	return all
}

func slow(words int, gap time.Duration) script.Reply {
	return script.Reply{Text: strings.TrimSpace(strings.Repeat("word ", words)), Gap: gap}
}

// syncBuffer is a buffer for logs.
type syncBuffer struct {
	ch  chan struct{}
	buf bytes.Buffer
}

func newSyncBuffer() *syncBuffer { return &syncBuffer{ch: make(chan struct{}, 1)} }

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.ch <- struct{}{}
	defer func() { <-b.ch }()
	return b.buf.String()
}
