package host_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

func TestCommands(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Done."}, script.Reply{Text: "Again."}, script.Reply{Text: "More."})
	s.write("commands/fix.md", "---\ndescription: Fixes.\nargument-hint: [what]\n---\nFix $1 now.\n")
	s.write("commands/ls.md", "---\nagent: echo\n---\nSee !`ls`.\n")
	s.write("commands/own.md", "---\nagent: echo\n---\nDo $ARGUMENTS.\n")
	var all view.Commands
	s.get("/commands").into(t, &all)
	if len(all.Commands) != 3 || all.Commands[0].Name != "fix" || all.Commands[0].Hint != "[what]" || all.Commands[1].Lines[0].Text != "ls" || !all.Commands[1].Lines[0].Inert {
		t.Fatalf("the commands are %+v", all)
	}

	a := s.post("/chat", `{"agentId":"echo","command":{"name":"/fix","arguments":"it all"}}`, "Idempotency-Key", "k1")
	if a.status != 200 || !strings.Contains(a.body, `"text":"Done."`) {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var first struct{ SessionID string }
	a.into(t, &first)
	p := s.prompts(first.SessionID)[0]
	if text := message.PartsText(p.Parts); text != "Fix it now." || p.Command == nil || p.Command.Typed() != "/fix it all" || p.Command.File != "commands/fix.md" {
		t.Errorf("the prompt is %q, %+v", text, p.Command)
	}
	s.write("commands/fix.md", "Mend $1.\n") // what it comes to is another text, and the call the same
	if again := s.post("/chat", `{"agentId":"echo","command":{"name":"fix","arguments":"it all"}}`, "Idempotency-Key", "k1"); again.status != 200 || again.body != a.body {
		t.Errorf("the same call again: %d %s", again.status, again.body)
	}
	if other := s.post("/chat", `{"agentId":"echo","command":{"name":"fix","arguments":"other"}}`, "Idempotency-Key", "k1"); other.status != 422 {
		t.Errorf("another call: %d %s", other.status, other.body)
	}
	if a := s.post("/sessions/"+first.SessionID+"/prompt", `{"command":{"name":"own","arguments":"x"}}`); a.status != 202 && a.status != 200 {
		t.Errorf("in a session: %d %s", a.status, a.body)
	}
	if a := s.post("/chat", `{"command":{"name":"own","arguments":"y"}}`); a.status != 200 {
		t.Errorf("for its own agent: %d %s", a.status, a.body)
	}

	for _, c := range []struct {
		name, body, code, field string
		status                  int
	}{
		{"no such command", `{"agentId":"echo","command":{"name":"fxi"}}`, "CommandNotFound", "", 404},
		{"without a name", `{"agentId":"echo","command":{}}`, "MissingField", "command.name", 400},
		{"with a message", `{"agentId":"echo","message":"x","command":{"name":"fix"}}`, "InvalidField", "message", 400},
		{"without an agent", `{"command":{"name":"fix"}}`, "InvalidCommand", "", 400},
		{"a line that nobody trusts", `{"agentId":"echo","command":{"name":"ls"}}`, "ExecutingKey", "", 403},
		{"a path", `{"agentId":"echo","command":{"name":"../../etc/passwd"}}`, "CommandNotFound", "", 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := s.post("/chat", c.body).wantError(t, c.status, c.code); e.Field != c.field {
				t.Errorf("the field is %q", e.Field)
			}
		})
	}
}

func (s *site) prompts(id string) (list []*session.Prompt) {
	s.t.Helper()
	b, err := s.app.Backend(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for e, err := range b.Read(s.t.Context(), session.Key{Tenant: "local", Stream: id}, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if body, err := e.Decode(); err == nil {
			if p, ok := body.(*session.Prompt); ok {
				list = append(list, p)
			}
		}
	}
	return list
}
