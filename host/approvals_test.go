package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster/model/script"
)

// waitingSite is a site whose profile reads two files that are asked for, and
// the answer to the prompt that says so.
func waitingSite(t *testing.T) (*site, waiting) {
	s := newSite(t,
		script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}, {Name: "read", Input: `{"path":"b.env"}`}}},
		script.Reply{Text: "done"})
	s.write("a.env", "A=1\n")
	s.write("b.env", "B=2\n")
	a := s.post("/chat", `{"message":"look","agentId":"echo","approvals":"wait"}`)
	if a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var w waiting
	a.into(t, &w)
	if w.Status != "waiting" || w.SessionID == "" || len(w.Approvals) != 2 {
		t.Fatalf("%s", a.body)
	}
	return s, w
}

type waiting struct {
	SessionID string
	Status    string
	Approvals []approvalView
}

type approvalView struct {
	ID, SessionID, AgentID, Tool, Call, Reason, Asked, Expires string
	Arguments                                                  struct{ Path string }
	Shown, Answers                                             []string
	Needs                                                      []struct{ Tool, Subject string }
	Rule                                                       struct{ Tool, Subject, Effect, Layer string }
}

func (s *site) answer(id, body string) answer { return s.post("/approvals/"+id, body) }

func (s *site) status(id string) string {
	s.t.Helper()
	var v struct{ Status string }
	s.get("/sessions/"+id).into(s.t, &v)
	return v.Status
}

// untilIdle reads a session's events until it has nothing left to do.
func (s *site) untilIdle(id string) string {
	s.t.Helper()
	return s.get("/sessions/" + id + "/events?until=idle").body
}

func TestARunWaitsForApprovals(t *testing.T) {
	s, w := waitingSite(t)
	first := w.Approvals[0]
	if first.SessionID != w.SessionID || first.AgentID != "echo" || first.Tool != "read" || first.Arguments.Path != "a.env" ||
		strings.Join(first.Shown, ";") != "read a.env" || first.Rule.Subject != "*.env" || first.Rule.Layer != "builtin" ||
		strings.Join(first.Answers, " ") != "once session always no" || first.Reason == "" || first.Asked == "" || first.Expires == "" {
		t.Errorf("the approval is %+v", first)
	}
	if got := s.status(w.SessionID); got != "waiting" {
		t.Errorf("the session is %s", got)
	}
	var all, own []approvalView
	s.get("/approvals").into(t, &all)
	s.get("/sessions/"+w.SessionID+"/approvals").into(t, &own)
	if len(all) != 2 || len(own) != 2 || all[0].ID != first.ID || own[1].ID != w.Approvals[1].ID {
		t.Errorf("listed %+v, of the session %+v", all, own)
	}
	s.post("/chat", `{"message":"more","sessionId":"`+w.SessionID+`"}`).wantError(t, 409, "Busy")

	a := s.answer(first.ID, `{"answer":"once","userId":"ann"}`)
	if want := fmt.Sprintf(`{"id":%q,"sessionId":%q,"answer":"once"}`, first.ID, w.SessionID); a.status != 200 || a.body != want {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
	for _, again := range []string{"once", "no"} {
		e := s.answer(first.ID, `{"answer":"`+again+`"}`).wantError(t, 409, "AlreadyAnswered")
		if !strings.Contains(e.Error, "once, by ann") {
			t.Errorf("a later answer is told %q", e.Error)
		}
	}
	if a := s.answer(w.Approvals[1].ID, `{"answer":"no","message":"that one is secret"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	events := s.untilIdle(w.SessionID)
	for _, want := range []string{
		"event: permission.asked\n", "event: permission.resolved\n", "event: loop.waiting\n", `"reason":"done"`,
		`A=1`, `that one is secret`,
	} {
		if !strings.Contains(events, want) {
			t.Errorf("the events lack %q:\n%s", want, events)
		}
	}
	if strings.Contains(events, "B=2") || strings.Count(events, "event: loop.end\n") != 1 {
		t.Errorf("the events are:\n%s", events)
	}
	s.get("/approvals").into(t, &all)
	if len(all) != 0 {
		t.Errorf("still listed: %+v", all)
	}
}

func TestAnswersThatAreRefused(t *testing.T) {
	s, w := waitingSite(t)
	id := w.Approvals[0].ID
	for _, c := range []struct {
		name, id, body, code string
		status               int
	}{
		{"no answer", id, `{}`, "MissingField", 400},
		{"another word", id, `{"answer":"perhaps"}`, "InvalidField", 400},
		{"a word that only a clock says", id, `{"answer":"timeout"}`, "InvalidField", 400},
		{"a message with a yes", id, `{"answer":"once","message":"go"}`, "InvalidAnswer", 400},
		{"a yes for the session beside it", id, `{"answer":"once","forSession":true}`, "InvalidAnswer", 400},
		{"too long a message", id, `{"answer":"no","message":"` + strings.Repeat("x", 17<<10) + `"}`, "InvalidAnswer", 400},
		{"no such question", w.SessionID + ".9", `{"answer":"once"}`, "ApprovalNotFound", 404},
		{"no such session", "0197a1f4-0000-7000-8000-000000000000.1", `{"answer":"once"}`, "ApprovalNotFound", 404},
		{"no id", "nonsense", `{"answer":"once"}`, "ApprovalNotFound", 404},
		{"another tenant's", id, `{"answer":"once","tenantId":"other"}`, "ApprovalNotFound", 404},
		{"a field that is none", id, `{"answer":"once","always":true}`, "InvalidField", 400},
	} {
		t.Run(c.name, func(t *testing.T) { s.answer(c.id, c.body).wantError(t, c.status, c.code) })
	}
	s.get("/sessions/0197a1f4-0000-7000-8000-000000000000/approvals").wantError(t, 404, "SessionNotFound")
	var list []approvalView
	s.get("/approvals?tenantId=other").into(t, &list)
	if len(list) != 0 {
		t.Errorf("another tenant sees %+v", list)
	}
	if got := s.status(w.SessionID); got != "waiting" {
		t.Errorf("the session is %s", got)
	}
	s.post("/sessions/"+w.SessionID+"/cancel", "")
	if events := s.untilIdle(w.SessionID); !strings.Contains(events, `"reason":"cancelled"`) || strings.Count(events, `"outcome":"skipped"`) != 2 {
		t.Errorf("after a cancel:\n%s", events)
	}
	s.answer(id, `{"answer":"once"}`).wantError(t, 409, "AlreadyAnswered")
}

// TestOneOfManyAnswersCounts races answers; exactly one is taken.
func TestOneOfManyAnswersCounts(t *testing.T) {
	s, w := waitingSite(t)
	for _, a := range w.Approvals {
		var taken atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				answer := s.answer(a.ID, fmt.Sprintf(`{"answer":%q}`, []string{"once", "session", "always", "no"}[i%4]))
				switch answer.status {
				case 200:
					taken.Add(1)
				case 409:
				default:
					t.Errorf("%d %s", answer.status, answer.body)
				}
			})
		}
		all.Wait()
		if taken.Load() != 1 {
			t.Errorf("%d answers were taken", taken.Load())
		}
	}
	events := s.untilIdle(w.SessionID)
	if n := strings.Count(events, "event: permission.resolved\n"); n != 2 {
		t.Errorf("%d answers are in the log", n)
	}
}

// TestNobodyToAnswer: without approvals the denial comes at once.
func TestNobodyToAnswer(t *testing.T) {
	for _, approvals := range []string{``, `,"approvals":"deny"`} {
		s := newSite(t, script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}}, script.Reply{Text: "done"})
		s.write("a.env", "A=1\n")
		a := s.post("/chat", `{"message":"look","agentId":"echo"`+approvals+`}`)
		if a.status != 200 || !strings.Contains(a.body, `"stopReason":"done","denied":1`) {
			t.Errorf("%s: %d %s", approvals, a.status, a.body)
		}
	}
}
