package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/tool/mcp"
)

// library is a server of the library, which others are likely to be made with too.
func library(t testing.TB) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, nil)
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	type in struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again."}, func(_ context.Context, _ *sdk.CallToolRequest, i in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: i.Text}}}, nil, nil
	})
	s.AddResource(&sdk.Resource{URI: "demo://one", Name: "one", MIMEType: "text/plain"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "demo://one", MIMEType: "text/plain", Text: "the first"}}}, nil
	})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "demo://{x}", Name: "any"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return nil, errors.New("no")
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet", Description: "A greeting.", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Hello " + r.Params.Arguments["who"]}}}}, nil
	})
	return s
}

// listen serves a handler at an address, which may be one that was served before.
func listen(t testing.TB, addr string, h http.Handler) *httptest.Server {
	t.Helper()
	var l net.Listener
	eventually(t, "the address is free", func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", addr)
		return err == nil
	})
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(func() { kill(s) })
	return s
}

func kill(s *httptest.Server) {
	s.CloseClientConnections()
	s.Close()
}

func over(s *sdk.Server, o *sdk.StreamableHTTPOptions) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)
}

func TestHTTP(t *testing.T) {
	for name, o := range map[string]*sdk.StreamableHTTPOptions{"sessions": {}, "stateless": {Stateless: true}, "json": {JSONResponse: true}} {
		t.Run(name, func(t *testing.T) {
			var headers sync.Map
			inner := over(library(t), o)
			s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				headers.Store(r.Header.Get("X-Key"), true)
				inner.ServeHTTP(w, r)
			}))
			f := newFixture(t)
			c := f.connect(mcp.Server{Name: "web", URL: s.URL + "/mcp", Headers: map[string]string{"X-Key": "secret-of-ours"}})
			if text, _, err := call(t, find(t, c, "echo"), `{"text":"hello"}`); err != nil || text != "hello" {
				t.Errorf("%q, %v", text, err)
			}
			if _, ok := headers.Load(""); ok {
				t.Error("a request came without the header")
			}
			resources, more, err := c.Resources(t.Context())
			if err != nil || more || len(resources) != 1 || resources[0] != (mcp.Resource{URI: "demo://one", Name: "one", MediaType: "text/plain"}) {
				t.Errorf("%v %v %v", resources, more, err)
			}
			if parts, err := c.ReadResource(t.Context(), "demo://one"); err != nil || fmt.Sprint(parts) != "[{[resource demo://one (text/plain)]\nthe first }]" {
				t.Errorf("%v %v", parts, err)
			}
			if _, err := c.ReadResource(t.Context(), "demo://two"); err == nil || !strings.HasPrefix(err.Error(), "the MCP server web: it answered with error ") {
				t.Errorf("%v", err)
			}
			if list, more, err := c.Templates(t.Context()); err != nil || more || len(list) != 1 || list[0].URI != "demo://{x}" {
				t.Errorf("%v %v %v", list, more, err)
			}
			prompts, _, err := c.Prompts(t.Context())
			if err != nil || len(prompts) != 1 || prompts[0].Name != "greet" || len(prompts[0].Arguments) != 1 || !prompts[0].Arguments[0].Required {
				t.Errorf("%v %v", prompts, err)
			}
			if list, err := c.Prompt(t.Context(), "greet", map[string]string{"who": "you"}); err != nil || fmt.Sprint(list) != "[{user [{Hello you }]}]" {
				t.Errorf("%v %v", list, err)
			}
		})
	}
}

// What was started again knows no session of before: the call is made again in a new
// one, for it was refused.
func TestServerStartedAgain(t *testing.T) {
	forgets := func(status int, body string) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w2 := httptest.NewRecorder()
				if r.Method == http.MethodGet {
					h.ServeHTTP(w, r)
					return
				}
				h.ServeHTTP(w2, r)
				if w2.Code == http.StatusNotFound {
					w2.Body.Reset()
					w2.Body.WriteString(body)
					w2.Code = status
				}
				for k, v := range w2.Header() {
					w.Header()[k] = v
				}
				w.WriteHeader(w2.Code)
				_, _ = w.Write(w2.Body.Bytes())
			})
		}
	}
	for name, wrap := range map[string]func(http.Handler) http.Handler{
		"as the protocol says": func(h http.Handler) http.Handler { return h },
		"as TypeScript does":   forgets(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`),
		"with words":           forgets(404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			s := listen(t, "127.0.0.1:0", wrap(over(library(t), nil)))
			addr := s.Listener.Addr().String()
			c := f.connect(mcp.Server{Name: "web", URL: s.URL})
			echo := find(t, c, "echo")
			kill(s)
			text, _, err := call(t, echo, `{"text":"hello"}`)
			if err == nil || !strings.Contains(text, "connection refused") {
				t.Errorf("%q, %v", text, err)
			}
			eventually(t, "it is down", func() bool { return !c.State().Up })
			t.Log(c.State().Err)
			listen(t, addr, wrap(over(library(t), nil)))
			eventually(t, "it is there again", func() bool { text, _, err = call(t, echo, `{"text":"hello"}`); return err == nil && text == "hello" })
		})
	}
	t.Run("unseen", func(t *testing.T) {
		f := newFixture(t)
		again := forgets(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
		now, s := restartable(t, again(over(library(t), nil)))
		c := f.connect(mcp.Server{Name: "web", URL: s.URL})
		now.Store(again(over(library(t), nil)))
		if text, _, err := call(t, find(t, c, "echo"), `{"text":"hello"}`); err != nil || text != "hello" {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("unseen by many at once", func(t *testing.T) {
		f := newFixture(t)
		now, s := restartable(t, over(library(t), nil))
		c := f.connect(mcp.Server{Name: "web", URL: s.URL})
		for range 20 {
			now.Store(over(library(t), nil))
			var calls sync.WaitGroup
			for range 8 {
				calls.Go(func() {
					if text, _, err := call(t, find(t, c, "echo"), `{"text":"hello"}`); err != nil || text != "hello" {
						t.Errorf("%q, %v", text, err)
					}
				})
			}
			calls.Wait()
		}
	})
}

// restartable is a server that is another one as soon as another handler is stored,
// while its port stays open.
func restartable(t *testing.T, h http.Handler) (*atomic.Value, *httptest.Server) {
	now := &atomic.Value{}
	now.Store(h)
	return now, listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now.Load().(http.Handler).ServeHTTP(w, r)
	}))
}

func TestHTTPListChanged(t *testing.T) {
	f := newFixture(t)
	lib := library(t)
	s := listen(t, "127.0.0.1:0", over(lib, nil))
	c := f.connect(mcp.Server{Name: "web", URL: s.URL})
	changed := c.Changed()
	lib.RemoveTools("echo")
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing changed")
	}
	if len(c.Tools()) != 0 || c.Tools() == nil {
		t.Error(c.Tools())
	}
}

// The headers are for the server that the user has named: no other gets them, or
// anything else of a request.
func TestRedirects(t *testing.T) {
	var heard atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { heard.Add(1) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		f := newFixture(t)
		s := httptest.NewServer(http.RedirectHandler(other.URL+"/mcp", code))
		c := f.pool.Get(mcp.Server{Name: "web", URL: s.URL, Headers: map[string]string{"X-Key": "secret-of-ours", "Authorization": "Bearer secret-of-ours"}})
		err := c.Connect(within(t, 20*time.Second))
		if err == nil || !strings.Contains(err.Error(), "which is another host: if that is the server, give its url") || strings.Contains(err.Error(), "secret-of-ours") {
			t.Errorf("%d: %v", code, err)
		}
		_ = f.pool.Close()
		s.Close()
	}
	if heard.Load() != 0 {
		t.Error("the other host was asked")
	}
	f := newFixture(t)
	inner := over(library(t), nil)
	s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusPermanentRedirect)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	f.connect(mcp.Server{Name: "web", URL: s.URL + "/old"})
}

func TestRefusals(t *testing.T) {
	for name, x := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"unauthorized": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "who are you? "+r.Header.Get("X-Key"), http.StatusUnauthorized)
		}, `it answered with 401 Unauthorized: who are you? [secret] (what it wants to know of you goes into headers, such as Authorization: "Bearer ${TOKEN}")`},
		"html": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		}, `is down: unsupported content type "text/html"`},
		"not found": {http.NotFound, "it answered with 404 Not Found: 404 page not found"},
		"overloaded": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "later", http.StatusServiceUnavailable)
		}, "it answered with 503 Service Unavailable: later"},
		"endless": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			block := strings.Repeat(" ", 1<<20)
			for {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}, `a message of more than 16777216 bytes`},
		"many values": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"capabilities":[`+strings.Repeat("{},\n\n", 2_000_000)+"1]}}")
		}, "a message of more than 100000 objects and lists"},
		"many values in an event": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":1,"result":{"capabilities":[`+strings.Repeat("{},\ndata:\ndata: ", 500_000)+"1]}}\n\n")
		}, "a message of more than 100000 objects and lists"},
		"endless event": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			block := strings.Repeat("x", 1<<20)
			_, _ = io.WriteString(w, "data: ")
			for {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}, `SSE event exceeded 16777216 bytes`},
		"endless refusal": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			block := strings.Repeat("x", 1<<20)
			for {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}, `it answered with 500 Internal Server Error: xxx`},
		"silent": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or it is not seen that the client goes away
			<-r.Context().Done()
		}, "it was not ready after 2s"},
		"garbage": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{]")
		}, "failed to decode response"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(o *mcp.Options) {
				if name == "silent" {
					o.Start = 2 * time.Second
				}
			})
			s := httptest.NewServer(x.handler)
			defer kill(s)
			err := f.pool.Get(mcp.Server{Name: "web", URL: s.URL, Headers: map[string]string{"X-Key": "secret-of-ours"}}).Connect(within(t, time.Minute))
			if err == nil || !strings.Contains(err.Error(), x.want) || len(err.Error()) > 1000 {
				t.Errorf("%.600v\nwant %s", err, x.want)
			}
		})
	}
	for name, s := range map[string]mcp.Server{
		"is down: its url is no http or https URL":                     {URL: "ftp://x"},
		"is down: its url holds a user or a password":                  {URL: "http://a:b@localhost/"},
		"is down: its header X holds a line break":                     {URL: "http://localhost/", Headers: map[string]string{"X": "a\r\nb"}},
		"is down: 127.0.0.1:1 cannot be reached: dial tcp 127.0.0.1:1": {URL: "http://127.0.0.1:1/"},
		"is down: its oauth has no token URL":                          {URL: "http://127.0.0.1:1/", OAuth: &mcp.OAuth{TokenURL: "http://example.com", ClientID: "a", ClientSecret: "b"}},
	} {
		f := newFixture(t)
		s.Name = "web"
		if err := f.pool.Get(s).Connect(within(t, 20*time.Second)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v\nwant %s", err, name)
		}
	}
}

// A stream of events that never ends, and that nobody waits for, is read slowly.
func TestFloodOfEvents(t *testing.T) {
	f := newFixture(t)
	inner := over(library(t), nil)
	var sent atomic.Int64
	s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		block := strings.Repeat(`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n\n", 1000)
		for {
			n, err := io.WriteString(w, block)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	c := f.connect(mcp.Server{Name: "web", URL: s.URL})
	eventually(t, "the flood begins", func() bool { return sent.Load() > 0 })
	for range 10 {
		if text, _, err := call(t, find(t, c, "echo"), `{"text":"hello"}`); err != nil || text != "hello" {
			t.Fatalf("%q, %v", text, err)
		}
	}
	if mb := sent.Load() >> 20; mb > 60 {
		t.Errorf("%d MiB were read", mb)
	}
}

func TestOAuth(t *testing.T) {
	var given atomic.Int32
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if id != "me" || secret != "my-secret" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "tools" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprint("token-", given.Add(1)), "token_type": "Bearer", "expires_in": 3600})
	}))
	defer tokens.Close()
	inner := over(library(t), nil)
	var good atomic.Value
	good.Store("Bearer token-1")
	s := listen(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != good.Load() {
			w.WriteHeader(401)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	f := newFixture(t)
	server := mcp.Server{Name: "web", URL: s.URL, OAuth: &mcp.OAuth{TokenURL: tokens.URL, ClientID: "me", ClientSecret: "my-secret", Scopes: []string{"tools"}}}
	c := f.connect(server)
	good.Store("Bearer token-2")
	if text, _, err := call(t, find(t, c, "echo"), `{"text":"hello"}`); err != nil || text != "hello" || given.Load() != 2 {
		t.Errorf("%q, %v", text, err)
	}
	server.OAuth = &mcp.OAuth{TokenURL: tokens.URL, ClientID: "me", ClientSecret: "not-my-secret"}
	err := f.pool.Get(server).Connect(within(t, 20*time.Second))
	if err == nil || !strings.Contains(err.Error(), "is down: no token was given by its oauth token URL: 401 Unauthorized invalid_client") || strings.Contains(err.Error(), "not-my-secret") {
		t.Errorf("%v", err)
	}
}
