package roster_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// who sends a caller's name along, and notes the id of his connection.
type who struct {
	name string
	id   string
}

func (w *who) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Who", w.name)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && resp.Header.Get("Mcp-Session-Id") != "" {
		w.id = resp.Header.Get("Mcp-Session-Id")
	}
	return resp, err
}

// TestMCPServesEachCallerHisOwn: over HTTP nobody reaches the sessions of another
// tenant, nor a connection that another has made.
func TestMCPServesEachCallerHisOwn(t *testing.T) {
	app, _ := estate(t, func(string) []script.Reply { return []script.Reply{{Text: "done"}, {Text: "done"}} })
	d := app.HostDeps()
	d.Identify = func(r *http.Request) (identity.Caller, error) {
		tenant, user, _ := strings.Cut(r.Header.Get("X-Who"), "/")
		return identity.Caller{Tenant: tenant, User: user, Key: "k-" + user, Roles: identity.Runner}, nil
	}
	h := host.New(d)
	server := httptest.NewServer(h)
	t.Cleanup(func() { h.Shutdown(); http.DefaultTransport.(*http.Transport).CloseIdleConnections(); server.Close() })
	connect := func(name string) (*sdk.ClientSession, *who) {
		t.Helper()
		as := &who{name: name}
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: as}, DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c, as
	}
	call := func(c *sdk.ClientSession, in map[string]any) (*sdk.CallToolResult, string) {
		t.Helper()
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "worker", Arguments: in})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		return res, string(data)
	}
	ann, annConnection := connect("acme/ann")
	res, text := call(ann, map[string]any{"prompt": "x"})
	if res.IsError {
		t.Fatal(text)
	}
	var out struct{ Session string }
	data, _ := json.Marshal(res.StructuredContent)
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	log := events(t, app, session.Key{Tenant: "acme", Stream: out.Session})
	if !strings.Contains(log, `"user":"ann"`) || !strings.Contains(log, `"key":"k-ann"`) {
		t.Errorf("whose prompt it is does not stand in the log: %s", log)
	}
	bob, _ := connect("globex/bob")
	if res, text := call(bob, map[string]any{"prompt": "x", "session": out.Session}); !res.IsError || strings.Contains(text, "done") {
		t.Errorf("another tenant goes on with the session: %s", text)
	}
	if list, err := bob.ListResources(t.Context(), nil); err != nil || len(list.Resources) > 0 {
		t.Errorf("another tenant's resources: %+v, %v", list, err)
	}
	for _, uri := range []string{"roster://sessions/" + out.Session, "roster://sessions/" + out.Session + "/messages"} {
		mine, err := ann.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(mine.Contents) == 0 {
			t.Errorf("%s: %v", uri, err)
		}
		if got, err := bob.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("another tenant reads %s: %+v", uri, got)
		}
	}
	for _, name := range []string{"globex/bob", "acme/amy"} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL+"/mcp",
			strings.NewReader(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Mcp-Session-Id", annConnection.id)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := (&who{name: name}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound || annConnection.id == "" {
			t.Errorf("%s uses the connection %q of another: %s", name, annConnection.id, resp.Status)
		}
	}
}
