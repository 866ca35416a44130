package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on loopback, and gives its address and host.
func serve(t *testing.T, h http.HandlerFunc) (url, host string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

// canary is a server that must hear nothing.
func canary(t *testing.T) (port string, heard *atomic.Int32) {
	t.Helper()
	heard = new(atomic.Int32)
	_, host := serve(t, func(w http.ResponseWriter, _ *http.Request) { heard.Add(1); w.Write([]byte("heard")) })
	_, port, _ = net.SplitHostPort(host)
	return port, heard
}

// world is a service in a test.
type world struct {
	entry     string // YAML
	document  string // YAML
	variables map[string]string
	names     map[string]string // what the resolver answers
	rules     []permission.Rule
	files     *tool.Files
	gate      func() error
}

func (w world) service(t testing.TB) (Service, error) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(w.entry), &doc); err != nil {
		t.Fatal(err)
	}
	e, err := service.Parse("svc", doc.Content[0])
	if err != nil {
		return Service{}, err
	}
	d, err := Load(t.Context(), Source{Name: "api.yaml", Data: []byte(w.document)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := Service{Entry: e, Document: d, Files: w.files, Gate: w.gate, Lookup: func(name string) (string, bool) {
		v, ok := w.variables[name]
		return v, ok
	}}
	if w.names != nil {
		names := nameServer(t, w.names)
		s.adjust = func(g *reach.Guard) { g.Names = names }
	}
	return s, nil
}

// call calls an operation as the engine does.
func (w world) call(t testing.TB, id string, input any) (tool.Result, error) {
	t.Helper()
	s, err := w.service(t)
	if err != nil {
		return tool.Result{}, err
	}
	for _, o := range s.Document.Operations {
		if o.ID == id {
			made, err := s.Tool(o)
			if err != nil {
				return tool.Result{}, err
			}
			return w.run(t, made, input)
		}
	}
	t.Fatalf("there is no operation %s: %v", id, s.Document.Problems)
	return tool.Result{}, nil
}

func (w world) run(t testing.TB, made tool.Tool, input any) (tool.Result, error) {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tool.NewValidator(made.Def())
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Validate(in); err != nil {
		return tool.Result{}, err
	}
	rules := w.rules
	if rules == nil {
		rules = []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Allow}}
	}
	permit, err := permission.Compile(permission.Layers{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := made.Prepare(context.Background(), tool.Call{ID: "call-7", Session: "s", Input: in, Permit: permit})
	if err != nil {
		return tool.Result{}, err
	}
	defer plan.Close()
	if d := permit.Decide(plan.Needs()...); d.Effect != permission.Allow {
		return tool.Result{}, fmt.Errorf("%s: %s", d.Effect, d.Reason)
	}
	return plan.Run(t.Context(), func(string) {})
}

func text(r tool.Result) string { return message.PartsText(r.Parts) }

// get is a document with one operation at a server.
func get(server string) string {
	return fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":%q}],"paths":{"/x":{"get":{"operationId":"get","responses":{}},"post":{"operationId":"post","responses":{}}}}}`, server)
}

// nameServer is a resolver that asks a name server of this test.
func nameServer(t testing.TB, names map[string]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	asked := map[string]int{}
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			conn.WriteTo(dnsAnswer(buf[:n], names, asked), from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsAnswer gives a name's address, or of several the next each time it is asked.
func dnsAnswer(query []byte, names map[string]string, asked map[string]int) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	q, err2 := p.Question()
	if err != nil || err2 != nil {
		return nil
	}
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	list, known := names[name]
	h.Response, h.RecursionAvailable = true, true
	if !known {
		h.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, h)
	b.StartQuestions()
	b.Question(q)
	b.StartAnswers()
	if known {
		all := strings.Fields(list)
		a := netip.MustParseAddr(all[min(asked[name], len(all)-1)])
		rh := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			asked[name]++
			b.AResource(rh, dnsmessage.AResource{A: a.As4()})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			b.AAAAResource(rh, dnsmessage.AAAAResource{AAAA: a.As16()})
		}
	}
	out, err := b.Finish()
	if err != nil {
		panic(err)
	}
	return out
}
