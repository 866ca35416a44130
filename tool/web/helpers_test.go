package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on loopback.
func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// canary is a server that must hear nothing.
func canary(t *testing.T) (port string, heard *atomic.Int32) {
	t.Helper()
	heard = new(atomic.Int32)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { heard.Add(1); w.Write([]byte("secret")) })
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	return port, heard
}

type setup struct {
	settings string
	reach    Reach
	rules    []permission.Rule
	names    map[string][]string // what the resolver answers
}

func allow(subject string) permission.Rule {
	return permission.Rule{Tool: "*", Subject: subject, Effect: permission.Allow}
}

// fetch calls the tool as the engine does.
func fetch(t *testing.T, s setup, url string) (tool.Result, error) {
	t.Helper()
	if s.names != nil {
		s.reach.names = resolver(t, s.names)
	}
	made, err := NewFetch(json.RawMessage(s.settings), s.reach)
	if err != nil {
		t.Fatal(err)
	}
	if s.rules == nil {
		s.rules = []permission.Rule{allow("*")}
	}
	return call(t, made, s.rules, map[string]any{"url": url})
}

func call(t *testing.T, made tool.Tool, rules []permission.Rule, in map[string]any) (tool.Result, error) {
	t.Helper()
	input, _ := json.Marshal(in)
	v, err := tool.NewValidator(made.Def())
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Validate(input); err != nil {
		return tool.Result{}, err
	}
	permit, err := permission.Compile(permission.Layers{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := made.Prepare(t.Context(), tool.Call{ID: "c", Session: "s", Input: input, Permit: permit})
	if err != nil {
		return tool.Result{}, err
	}
	defer plan.Close()
	if d := permit.Decide(plan.Needs()...); d.Effect != permission.Allow {
		t.Fatalf("%s: %s", d.Effect, d.Reason)
	}
	return plan.Run(t.Context(), func(string) {})
}

func textOf(r tool.Result) string { return message.PartsText(r.Parts) }

// resolver asks a name server of this test.
func resolver(t *testing.T, names map[string][]string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			conn.WriteTo(dnsAnswer(buf[:n], names), from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func dnsAnswer(query []byte, names map[string][]string) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(query)
	q, err2 := p.Question()
	if err != nil || err2 != nil {
		return nil
	}
	list, known := names[strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")]
	h.Response, h.RecursionAvailable = true, true
	if !known {
		h.RCode = dnsmessage.RCodeNameError
	}
	b := dnsmessage.NewBuilder(nil, h)
	b.StartQuestions()
	b.Question(q)
	b.StartAnswers()
	for _, text := range list {
		a := netip.MustParseAddr(text)
		rh := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
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
