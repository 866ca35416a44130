package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/script"
)

// questionSite is a site whose profile asks n questions at once.
func questionSite(t *testing.T, n int) (*site, string, []questionView) {
	var calls []script.Call
	for i := range n {
		calls = append(calls, script.Call{Name: "ask_user", Input: fmt.Sprintf(`{"question":"Which \u202e%d?","options":["a","b"]}`, i+1)})
	}
	s := newSite(t, script.Reply{Tools: calls}, script.Reply{Text: "done"})
	s.write("profiles/asker.md", "---\ndescription: Asks.\nmodel: fake/text\ntools: [ask_user]\n---\nAsk.\n")
	a := s.post("/chat", `{"message":"go","agentId":"asker","approvals":"wait"}`)
	if a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var w struct {
		SessionID string
		Approvals []questionView
	}
	a.into(t, &w)
	if len(w.Approvals) != n {
		t.Fatalf("%s", a.body)
	}
	return s, w.SessionID, w.Approvals
}

type questionView struct {
	ID, Tool, Question      string
	Options, Answers, Shown []string
	Needs, Parts            []any
}

func TestAQuestionIsAnswered(t *testing.T) {
	s, id, list := questionSite(t, 1)
	q := list[0]
	if q.Tool != "ask_user" || q.Question != "Which \u202e1?" || strings.Join(q.Options, " ") != "a b" || strings.Join(q.Answers, " ") != "text no" ||
		q.Shown[0] != `ask_user Which \u202e1?` || q.Needs == nil || q.Parts == nil {
		t.Errorf("%+v", q)
	}
	path := "/sessions/" + id + "/answers"
	for _, c := range []struct {
		name, path, body, code string
		status                 int
	}{
		{"nothing", path, `{}`, "MissingField", 400},
		{"blank", path, `{"text":" "}`, "MissingField", 400},
		{"another word", path, `{"answer":"once"}`, "InvalidField", 400},
		{"no and a text", path, `{"answer":"no","text":"x"}`, "InvalidAnswer", 400},
		{"too long", path, `{"text":"` + strings.Repeat("x", 17<<10) + `"}`, "InvalidAnswer", 400},
		{"another session's question", path, `{"id":"0197a1f4-0000-7000-8000-000000000000.1","text":"x"}`, "InvalidField", 400},
		{"a question that was not asked", path, `{"id":"` + id + `.7","text":"x"}`, "ApprovalNotFound", 404},
		{"another tenant's", path, `{"text":"x","tenantId":"other"}`, "SessionNotFound", 404},
		{"no such session", "/sessions/0197a1f4-0000-7000-8000-000000000000/answers", `{"text":"x"}`, "SessionNotFound", 404},
		{"a permission", "/approvals/" + q.ID, `{"answer":"once"}`, "InvalidAnswer", 400},
	} {
		t.Run(c.name, func(t *testing.T) { s.post(c.path, c.body).wantError(t, c.status, c.code) })
	}
	a := s.post(path, `{"text":"the second","userId":"ann"}`)
	if want := fmt.Sprintf(`{"id":%q,"sessionId":%q,"answer":"text"}`, q.ID, id); a.status != 200 || a.body != want {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
	s.post(path, `{"id":"`+q.ID+`","text":"the first"}`).wantError(t, 409, "AlreadyAnswered")
	events := s.untilIdle(id)
	for _, want := range []string{"event: input.asked\n", "event: input.answered\n", `"text":"the second"`, `"reason":"done"`} {
		if !strings.Contains(events, want) {
			t.Errorf("the events lack %q:\n%s", want, events)
		}
	}
	s.post(path, `{"text":"late"}`).wantError(t, 404, "ApprovalNotFound")
}

func TestWhichQuestionIsMeant(t *testing.T) {
	s, id, list := questionSite(t, 2)
	path := "/sessions/" + id + "/answers"
	s.post(path, `{"text":"x"}`).wantError(t, 400, "InvalidField")
	if a := s.post(path, `{"id":"`+list[1].ID+`","text":"x"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := s.post("/approvals/"+list[0].ID, `{"answer":"no","message":"ask Ann"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if events := s.untilIdle(id); !strings.Contains(events, "They say: ask Ann") {
		t.Errorf("the events are:\n%s", events)
	}
}

// TestNobodyToAsk: a run that nobody answers for goes on at once.
func TestNobodyToAsk(t *testing.T) {
	s := newSite(t, script.Reply{Tools: []script.Call{{Name: "ask_user", Input: `{"question":"Which?"}`}}}, script.Reply{Text: "done"})
	s.write("profiles/asker.md", "---\ndescription: Asks.\nmodel: fake/text\ntools: [ask_user]\n---\nAsk.\n")
	if a := s.post("/chat", `{"message":"go","agentId":"asker"}`); a.status != 200 || !strings.Contains(a.body, `"text":"done"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
