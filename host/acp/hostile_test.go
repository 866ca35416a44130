package acp_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

const hello = `{"jsonrpc":"2.0","id":"hi","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`

func (s *site) newLine(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, id, s.dir)
}

// begin opens a session by hand.
func (r *raw) begin(s *site) (id string) {
	r.t.Helper()
	r.send(hello)
	r.until(`"id":"hi"`)
	r.send(s.newLine("new"))
	_, id, _ = strings.Cut(r.until(`"id":"new"`), `"sessionId":"`)
	return id[:36]
}

func promptLine(id, stream string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, id, stream)
}

// TestHostileLines: whatever comes is answered with an error, and what follows is
// served.
func TestHostileLines(t *testing.T) {
	s := newSite(t)
	r, _ := s.raw()
	r.send(s.newLine("early"))
	if line := r.until(`"id":"early"`); !strings.Contains(line, "-32600") {
		t.Errorf("before initialize: %s", line)
	}
	r.begin(s)
	for name, x := range map[string]struct{ line, code string }{
		"garbage":              {"garbage", "-32700"},
		"half a message":       {hello[:40], "-32700"},
		"two in a line":        {hello + hello, "-32700"},
		"binary":               {"\x00\xff\xfe", "-32700"},
		"deep":                 {strings.Repeat("[", 1<<20), "-32700"},
		"a batch":              {"[" + hello + "]", "-32600"},
		"no version":           {`{"id":1,"method":"initialize"}`, "-32600"},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, "-32600"},
		"an id that is none":   {`{"jsonrpc":"2.0","id":{},"method":"initialize"}`, "-32600"},
		"a long id":            {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"initialize"}`, "-32600"},
		"too long":             {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 9<<20) + `"}`, "-32600"},
		"an unknown method":    {`{"jsonrpc":"2.0","id":1,"method":"session/steal"}`, "-32601"},
		"an unknown extension": {`{"jsonrpc":"2.0","id":1,"method":"_x/y"}`, "-32601"},
		"no parameters":        {`{"jsonrpc":"2.0","id":1,"method":"session/new"}`, "-32602"},
		"other types":          {`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7}}`, "-32602"},
		"an unknown session":   {promptLine("1", "00000000-0000-7000-8000-000000000000"), "-32602"},
		"no session":           {promptLine("1", "../../x"), "-32602"},
	} {
		r.send(x.line)
		if line := r.until(`"error"`); !strings.Contains(line, x.code) {
			t.Errorf("%s: %s", name, line)
		}
	}
	// What nobody waits for is not answered.
	r.send(`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`, `{"jsonrpc":"2.0","method":"none"}`, "", " \r")
	r.send(s.newLine("last"))
	if line := r.until(`"id":`); !strings.Contains(line, `"id":"last"`) {
		t.Errorf("afterwards: %s", line)
	}
}

// TestTwoPrompts: one is answered at a time, and the first goes on.
func TestTwoPrompts(t *testing.T) {
	gate := make(chan struct{})
	s := openSite(t, gated{script.New(script.Reply{Text: "The answer."}).Model("fake/text"), gate})
	r, _ := s.raw()
	id := r.begin(s)
	r.send(promptLine("one", id), promptLine("two", id))
	if line := r.until(`"id":"two"`); !strings.Contains(line, "-32600") {
		t.Errorf("the second: %s", line)
	}
	close(gate)
	if line := r.until(`"id":"one"`); !strings.Contains(line, `"stopReason":"end_turn"`) {
		t.Errorf("the first: %s", line)
	}
}

// TestCancelAtOnce: a cancel that comes behind its prompt is not lost, however fast.
func TestCancelAtOnce(t *testing.T) {
	s := openSite(t, gated{script.New().Model("fake/text"), make(chan struct{})})
	r, _ := s.raw()
	id := r.begin(s)
	for i := range 20 {
		n := fmt.Sprint("p", i)
		r.send(promptLine(n, id), `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"`+id+`"}}`)
		if line := r.until(`"id":"` + n + `"`); !strings.Contains(line, `"stopReason":"cancelled"`) {
			t.Fatalf("prompt %d: %s", i, line)
		}
	}
}

// TestFlood: more requests than are answered are refused, one by one.
func TestFlood(t *testing.T) {
	gate := make(chan struct{})
	s := openSite(t, gated{script.New(script.Reply{Text: "ok"}).Model("fake/text"), gate})
	r, _ := s.raw()
	r.send(hello)
	r.until(`"id":"hi"`)
	const most, more = 64, 20
	var ids []string
	for i := range most + more {
		n := fmt.Sprint("new", i)
		r.send(s.newLine(n))
		_, id, _ := strings.Cut(r.until(`"id":"`+n+`"`), `"sessionId":"`)
		ids = append(ids, id[:36])
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i, id := range ids {
			r.send(promptLine(fmt.Sprint("p", i), id))
		}
		for range 5000 {
			r.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`)
		}
	}()
	for range more {
		r.until("wait for their answers")
	}
	<-sent
	close(gate)
	for range most {
		r.until(`"stopReason"`)
	}
}

// TestEndMidRun: the end of the input ends the connection and no run.
func TestEndMidRun(t *testing.T) {
	gate := make(chan struct{})
	s := openSite(t, gated{script.New(script.Reply{Text: "The answer."}).Model("fake/text"), gate})
	r, hangUp := s.raw()
	id := r.begin(s)
	r.send(promptLine("one", id))
	for range s.app.Follow(t.Context(), session.Key{Stream: id}, 0) {
		break // it is stored
	}
	hangUp()
	close(gate)
	if got := s.reason(sdk.SessionId(id)); got != session.ReasonDone {
		t.Errorf("it ended: %s", got)
	}
}
