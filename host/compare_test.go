package host_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// patience is how long what must come is waited for.
const patience = 30 * time.Second

// byTemperature answers the longer the hotter it is asked, and not before it may;
// at 2 it fails.
type byTemperature struct {
	asked chan struct{} // gets one for each call
	may   chan struct{} // closed: they answer
}

func newByTemperature() *byTemperature {
	return &byTemperature{make(chan struct{}, 100), make(chan struct{})}
}

func (*byTemperature) Name() string { return "fake/text" }

func (m *byTemperature) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.asked <- struct{}{}
		select {
		case <-m.may:
		case <-ctx.Done():
			yield(model.Chunk{}, ctx.Err())
			return
		}
		if *r.Params.Temperature == 2 {
			yield(model.Chunk{}, errors.New("too hot"))
			return
		}
		said := &message.Message{Role: message.Assistant, Parts: []message.Part{message.Text{Text: strings.Repeat("word ", int(10**r.Params.Temperature))}}}
		yield(model.Chunk{Done: said, Stop: "stop", Usage: &message.Usage{Input: 1, Output: int64(10 * *r.Params.Temperature)}}, nil)
	}
}

const twoHeats = `"candidates":[{"agentId":"echo"},{"agentId":"echo","overrides":{"temperature":0.9}}]`

func TestCompare(t *testing.T) {
	m := newByTemperature()
	close(m.may)
	s := openSite(t, siteOptions{model: m})
	var got host.Compared
	a := s.post("/compare", `{"message":"which?",`+twoHeats+`,"pick":"most"}`)
	a.into(t, &got)
	if a.status != 200 || got.Winner != 1 || got.Pick != "most" || len(got.Answers) != 2 || len(got.Answers[1].Text) != 9*len("word ") || a.header.Get("X-Session-Id") != got.ID {
		t.Fatalf("%d %s %v", a.status, a.body, a.header)
	}
	if said := s.get("/sessions/" + got.ID + "/messages").body; !strings.Contains(said, "which?") || !strings.Contains(said, got.Answers[1].Text) {
		t.Errorf("the session goes on with %s", said)
	}
	for _, b := range got.Answers {
		var v struct{ Origin, Why string }
		s.get("/sessions/"+b.ID).into(t, &v)
		if v.Origin != got.ID || v.Why != "compare" {
			t.Errorf("an answer is kept as %+v", v)
		}
	}
	more := s.post("/compare", `{"message":"and now?","sessionId":"`+got.ID+`","candidates":[{},{"model":"fake/text","overrides":{"temperature":0.1}}],"pick":"fewest"}`)
	more.into(t, &got)
	if more.status != 200 || got.Winner != 1 || got.Answers[0].Profile != "echo" {
		t.Errorf("in the session: %d %s", more.status, more.body)
	}
	s.post("/compare", `{"message":"x","candidates":[{"agentId":"echo","overrides":{"temperature":2,"retry":{"max":0}}},{"agentId":"echo","overrides":{"temperature":2,"retry":{"max":0}}}]}`).wantError(t, 502, "NoAnswer")
}

// TestComparisonsThatAreRefused: nothing of them is begun.
func TestComparisonsThatAreRefused(t *testing.T) {
	m := newByTemperature()
	s := openSite(t, siteOptions{model: m, change: func(d *host.Deps) { d.Identify = byParameter }})
	nine := strings.TrimSuffix(strings.Repeat(`{"agentId":"echo"},`, 9), ",")
	for _, c := range []struct {
		name, body, code, field string
		status                  int
	}{
		{"no message", `{` + twoHeats + `}`, "MissingField", "message", 400},
		{"no candidates", `{"message":"x"}`, "InvalidField", "candidates", 400},
		{"one", `{"message":"x","candidates":[{"agentId":"echo"}]}`, "InvalidField", "candidates", 400},
		{"nine", `{"message":"x","candidates":[` + nine + `]}`, "InvalidField", "candidates", 400},
		{"nobody", `{"message":"x","candidates":[{"agentId":"echo"},{}]}`, "MissingField", "candidates.agentId", 400},
		{"no name", `{"message":"x","candidates":[{"agentId":"../echo"},{"agentId":"echo"}]}`, "InvalidField", "candidates.agentId", 400},
		{"no profile", `{"message":"x","candidates":[{"agentId":"echo"},{"agentId":"none"}]}`, "ProfileNotFound", "", 404},
		{"no model", `{"message":"x","candidates":[{"agentId":"echo"},{"agentId":"nomodel"}]}`, "UnknownModel", "", 400},
		{"no way", `{"message":"x",` + twoHeats + `,"pick":"best"}`, "InvalidField", "pick", 400},
		{"no judge", `{"message":"x",` + twoHeats + `,"pick":"judge"}`, "InvalidComparison", "", 400},
		{"a judge for nothing", `{"message":"x",` + twoHeats + `,"pick":"most","judge":"echo"}`, "InvalidComparison", "", 400},
		{"a judge's name", `{"message":"x",` + twoHeats + `,"judge":"a\u0000"}`, "InvalidField", "judge", 400},
		{"no judge there", `{"message":"x",` + twoHeats + `,"judge":"none"}`, "ProfileNotFound", "", 404},
		{"no session", `{"message":"x",` + twoHeats + `,"sessionId":"0197a1f4-0000-7000-8000-000000000000"}`, "SessionNotFound", "", 404},
		{"no id", `{"message":"x",` + twoHeats + `,"sessionId":"../x"}`, "InvalidField", "sessionId", 400},
		{"what executes", `{"message":"x","candidates":[{"agentId":"echo"},{"agentId":"echo","overrides":{"sandbox":"none"}}]}`, "ExecutingKey", "sandbox", 403},
		{"no object", `[]`, "MalformedBody", "", 400},
		{"twice", `{"message":"x","mode":"plan","candidates":[{"agentId":"echo","overrides":{"permission-mode":"plan"}},{"agentId":"echo"}]}`, "InvalidField", "mode", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := s.post("/compare", c.body).wantError(t, c.status, c.code); e.Field != c.field {
				t.Errorf("field %q, want %q: %s", e.Field, c.field, e.Error)
			}
		})
	}
	if len(m.asked) > 0 {
		t.Error("a model was asked")
	}
	if list := s.get("/sessions").body; list != "[]" && list != "[]\n" {
		t.Errorf("sessions were begun: %s", list)
	}
}

// TestACompareGoesOn: a client that leaves ends nothing; the session gets its answer.
func TestACompareGoesOn(t *testing.T) {
	m := newByTemperature()
	s := openSite(t, siteOptions{model: m})
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/compare", strings.NewReader(`{"message":"which?",`+twoHeats+`,"pick":"fewest"}`))
		if err != nil {
			t.Error(err)
			return
		}
		if res, err := s.http.Do(req); err == nil {
			res.Body.Close()
			t.Error("it was answered")
		}
	}()
	for range 2 {
		select {
		case <-m.asked:
		case <-time.After(patience):
			t.Fatal("the candidates are not asked")
		}
	}
	leave()
	<-left
	close(m.may)
	deadline, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for batch, err := range s.app.FollowFeed(deadline, "local", session.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, fed := range batch {
			body, err := fed.Event.Decode()
			if b, ok := body.(*session.Branch); err == nil && ok && b.Why == session.BranchPicked {
				return
			}
		}
	}
}

// TestAServerThatStopsEndsAComparison: its candidates are cancelled, and nothing is
// picked.
func TestAServerThatStopsEndsAComparison(t *testing.T) {
	m := newByTemperature()
	s := openSite(t, siteOptions{model: m})
	said := make(chan *http.Response, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/compare", strings.NewReader(`{"message":"which?",`+twoHeats+`}`))
		if err != nil {
			t.Error(err)
			return
		}
		res, err := s.http.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		said <- res
	}()
	for range 2 {
		select {
		case <-m.asked:
		case <-time.After(patience):
			t.Fatal("the candidates are not asked")
		}
	}
	s.host.Shutdown()
	select {
	case res := <-said:
		if e := read(t, res).wantError(t, http.StatusServiceUnavailable, "ShuttingDown"); !strings.HasPrefix(e.Error, "the server shuts down") {
			t.Errorf("it is told %q", e.Error)
		}
	case <-time.After(patience):
		t.Fatal("it is not ended")
	}
}
