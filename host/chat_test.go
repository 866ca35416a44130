package host_test

import (
	"context"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

func TestChat(t *testing.T) {
	s := newSite(t,
		script.Reply{Text: "first", Usage: &script.Usage{Input: 11, Output: 3}},
		script.Reply{When: script.When{Contains: "again"}, Text: "second"})
	first := s.chat(hello)
	if first.Text != "first" || first.StopReason != "done" || first.Usage.Input != 11 || first.Usage.Output != 3 {
		t.Errorf("first answer %+v", first)
	}
	second := s.chat(`{"message":"again","sessionId":"` + first.SessionID + `"}`)
	if second.Text != "second" || second.SessionID != first.SessionID {
		t.Errorf("second answer %+v", second)
	}
	var messages []struct {
		Role  string
		Parts []struct{ Type, Text string }
	}
	s.get("/sessions/"+first.SessionID+"/messages").into(t, &messages)
	var talk []string
	for _, m := range messages {
		talk = append(talk, m.Role+":"+m.Parts[0].Text)
	}
	if got := strings.Join(talk, " "); got != "user:hello assistant:first user:again assistant:second" {
		t.Errorf("messages %s", got)
	}
}

func TestChatAnswerIsCompact(t *testing.T) {
	s := newSite(t, script.Reply{Text: "a <b> & c", Usage: &script.Usage{Input: 1, Output: 2}})
	a := s.post("/chat", hello)
	want := `","text":"a <b> & c","usage":{"input_tokens":1,"output_tokens":2,"cache_read_tokens":0,"cache_write_tokens":0,"cost":0},"stopReason":"done"}`
	if !strings.HasPrefix(a.body, `{"sessionId":"`) || !strings.HasSuffix(a.body, want) {
		t.Errorf("body %s", a.body)
	}
	if a.header.Get("X-Session-Id") == "" || a.header.Get("X-Request-Id") == "" {
		t.Errorf("header %v", a.header)
	}
}

func TestChatOverrides(t *testing.T) {
	seen := make(chan *model.Request, 2)
	s := openSite(t, siteOptions{model: spy{script.New(script.Reply{Text: "ok"}, script.Reply{Text: "ok"}).Model("fake/text"), seen}})
	s.chat(`{"message":"x","agentId":"echo","overrides":{"temperature":0.25,"limits":{"turns":3},"system-prompt":"Be long."}}`)
	r := <-seen
	if r.Params.Temperature == nil || *r.Params.Temperature != 0.25 {
		t.Errorf("temperature %v", r.Params.Temperature)
	}
	if got := strings.Join(r.Prefix.System, "|"); !strings.Contains(got, "Be long.") || strings.Contains(got, "Be brief.") {
		t.Errorf("system prompt %q", got)
	}
	s.chat(`{"message":"see","agentId":"echo","attachments":[{"mediaType":"image/png","data":"iVBORw=="}]}`)
	r = <-seen
	if n := len(r.Messages[len(r.Messages)-1].Parts); n != 2 {
		t.Errorf("%d parts with an attachment, want 2", n)
	}
}

func TestLargePrompt(t *testing.T) {
	s := newSite(t, script.Reply{Text: "long"})
	if got := s.chat(`{"agentId":"echo","message":"` + strings.Repeat("x", 5<<20) + `"}`); got.Text != "long" {
		t.Errorf("answer %+v", got)
	}
	e := s.post("/chat", `{"agentId":"echo","message":"`+strings.Repeat("x", 8<<20)+`"}`).wantError(t, 413, "BodyTooLarge")
	if !strings.Contains(e.Error, "8388608 bytes") {
		t.Errorf("error %q", e.Error)
	}
}

func TestFailedLoops(t *testing.T) {
	for _, c := range []struct {
		name   string
		fail   script.Failure
		status int
		code   string
	}{
		{"key refused", script.Failure{Status: 401}, 502, "model.auth"},
		{"bad request", script.Failure{Status: 400}, 502, "model.bad-request"},
		{"rate limit", script.Failure{Status: 429, RetryAfter: time.Hour}, 503, "model.rate-limit"},
		{"overloaded", script.Failure{Status: 529, RetryAfter: time.Hour}, 503, "model.overloaded"},
		{"no answer", script.Failure{Kind: model.Timeout}, 504, "model.timeout"},
		{"server", script.Failure{Status: 500}, 502, "model.server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, script.Reply{Error: &c.fail})
			e := s.post("/chat", `{"message":"x","agentId":"echo","overrides":{"retry.max":0}}`).wantError(t, c.status, c.code)
			if e.SessionID == "" || e.StopReason != "error" {
				t.Errorf("error %+v", e)
			}
			if len(s.stored(e.SessionID)) == 0 {
				t.Error("the session named is not stored")
			}
		})
	}
}

func TestLimitIsAnAnswer(t *testing.T) {
	s := newSite(t, script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"roster.yaml"}`}}}, script.Reply{Text: "never"})
	var got struct{ StopReason, Limit string }
	a := s.post("/chat", `{"message":"x","agentId":"echo","overrides":{"limits.turns":1}}`)
	a.into(t, &got)
	if a.status != 200 || got.StopReason != "limit" || got.Limit != "turns" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestBusy(t *testing.T) {
	s := newSite(t,
		script.Reply{When: script.When{Contains: "next"}, Text: "next"},
		script.Reply{Text: "late", Delay: time.Hour})
	r := s.stream(t.Context(), http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	r.until("message") // of the user: the loop has taken the prompt
	e := s.post("/chat", `{"message":"x","sessionId":"`+id+`"}`).wantError(t, 409, "Busy")
	if e.SessionID != id {
		t.Errorf("error %+v", e)
	}
	queued := make(chan answer)
	go func() { queued <- s.post("/chat", `{"message":"next","sessionId":"`+id+`","onBusy":"queue"}`) }()
	for !strings.Contains(s.get("/sessions/"+id).body, `"waiting":1`) {
	}
	if a := s.post("/sessions/"+id+"/cancel", `{"reason":"too slow"}`); a.status != 202 || a.body != `{"sessionId":"`+id+`"}` {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	r.rest()
	if a := <-queued; a.status != 200 || !strings.Contains(a.body, `"text":"next"`) {
		t.Errorf("queued: %d %s", a.status, a.body)
	}
}

// TestSteerThatComesTooLate answers with the end of the loop that did not take
// the message.
func TestSteerThatComesTooLate(t *testing.T) {
	s := newSite(t, script.Reply{Text: "late", Delay: time.Hour})
	r := s.stream(t.Context(), http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	r.until("message") // of the user: the loop has taken the prompt
	steered := make(chan answer)
	go func() { steered <- s.post("/chat", `{"message":"x","sessionId":"`+id+`","onBusy":"steer"}`) }()
	for !strings.Contains(s.get("/sessions/"+id).body, `"waiting":1`) {
	}
	s.post("/sessions/"+id+"/cancel", "")
	r.rest()
	if a := <-steered; a.status != 200 || !strings.Contains(a.body, `"stopReason":"cancelled"`) {
		t.Errorf("steered: %d %s", a.status, a.body)
	}
}

func TestIdempotency(t *testing.T) {
	s := newSite(t, slow(20, time.Millisecond), script.Reply{Text: "other"})
	const key, value = "Idempotency-Key", "k-1"
	answers := make([]answer, 4)
	var wg sync.WaitGroup
	for i := range answers { // one in flight is waited for
		wg.Go(func() { answers[i] = s.post("/chat", hello, key, value) })
	}
	wg.Wait()
	for _, a := range answers {
		if a.status != 200 || a.body != answers[0].body || a.header.Get("X-Chain-Id") != answers[0].header.Get("X-Chain-Id") {
			t.Errorf("%d %s, want the same as %s", a.status, a.body, answers[0].body)
		}
	}
	var first answered
	answers[0].into(t, &first)
	s.post("/chat", `{"message":"bye","agentId":"echo"}`, key, value).wantError(t, 422, "IdempotencyConflict")
	s.post("/chat", `{"message":"hello","agentId":"echo","sessionId":"`+first.SessionID+`"}`, key, value).wantError(t, 422, "IdempotencyConflict")

	again := s.stream(t.Context(), http.MethodPost, "/stream", hello, key, value) // another route
	if id := again.res.Header.Get("X-Session-Id"); id == first.SessionID {
		t.Errorf("the key of another route gave session %s", id)
	}
	ids := idsOf(again.rest())
	for seen, id := range ids {
		later := s.stream(t.Context(), http.MethodPost, "/stream", hello, key, value, "Last-Event-ID", id).rest()
		if got, want := idsOf(later), ids[seen+1:]; !slices.Equal(got, want) {
			t.Errorf("after event %s came %v, want %v", id, got, want)
		}
	}
}

// spy shows the requests that a model gets.
type spy struct {
	model.Model
	seen chan *model.Request
}

func (s spy) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	s.seen <- r
	return s.Model.Stream(ctx, r)
}

func TestChatBySchema(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: `{"n":1}`}, script.Reply{Text: "a"}, script.Reply{Text: "b"}, script.Reply{Text: "c"})
	ask := `{"message":"count","agentId":"echo","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`
	if a := s.chat(ask); a.Text != `{"n":1}` || a.StopReason != "done" {
		t.Errorf("answer %+v", a)
	}
	s = newSite(t, script.Reply{Text: "a"}, script.Reply{Text: "b"}, script.Reply{Text: "c"})
	s.post("/chat", ask).wantError(t, http.StatusBadGateway, "SchemaMismatch")
	s.post("/chat", `{"message":"count","agentId":"echo","schema":"text"}`).wantError(t, http.StatusBadRequest, "InvalidSchema")
	s.post("/chat", `{"message":"count","agentId":"echo","schema":{"type":"thing"}}`).wantError(t, http.StatusBadRequest, "InvalidSchema")
	s.post("/chat", `{"message":"count","agentId":"echo","schema":{"$ref":"file:///etc/passwd"}}`).wantError(t, http.StatusBadRequest, "InvalidSchema")
}
