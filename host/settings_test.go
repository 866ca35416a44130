package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// TestPatchSession: what a session sets holds from its next loop on, between the
// profile and the request; null takes it back.
func TestPatchSession(t *testing.T) {
	seen := make(chan *model.Request, 1)
	replies := script.New(script.Reply{Text: "ok"})
	replies.Loop = true
	s := openSite(t, siteOptions{model: spy{replies.Model("fake/text"), seen}})
	id := s.chat(hello).SessionID
	<-seen
	patch := func(body string) answer { return s.do(http.MethodPatch, "/sessions/"+id, body) }
	next := func(overrides string) float64 {
		s.chat(fmt.Sprintf(`{"message":"x","sessionId":%q%s}`, id, overrides))
		return *(<-seen).Params.Temperature
	}
	for _, step := range []struct {
		body, settings string
		overrides      string
		want           float64
	}{
		{`{"temperature":0.25}`, `{"temperature":0.25}`, "", 0.25},
		{`{"model":"fake/text","thinking":"low"}`, `{"model":"fake/text","thinking":"low","temperature":0.25}`, `,"overrides":{"temperature":0.75}`, 0.75},
		{`{"thinking":null}`, `{"model":"fake/text","temperature":0.25}`, "", 0.25},
		{`{"temperature":null,"model":null}`, `null`, "", 0.5},
		{`{"temperature":0}`, `{"temperature":0}`, "", 0},
	} {
		a := patch(step.body)
		if want := fmt.Sprintf(`{"sessionId":%q,"settings":%s}`, id, step.settings); a.status != http.StatusOK || a.body != want {
			t.Fatalf("%s: %d %s, want %s", step.body, a.status, a.body, want)
		}
		if got := next(step.overrides); got != step.want {
			t.Errorf("after %s: temperature %v, want %v", step.body, got, step.want)
		}
	}
	if a := s.get("/sessions/" + id); !strings.Contains(a.body, `"settings":{"temperature":0}`) {
		t.Errorf("the session is %s", a.body)
	}

	// What is wrong is said by name, and changes nothing.
	for body, want := range map[string]string{
		`{}`: "MissingField", `{"temperature":"0.3"}`: "InvalidField", `{"temperature":9}`: "SchemaValidation", `{"temperature":[]}`: "InvalidField",
		`{"model":""}`: "InvalidField", `{"model":7}`: "InvalidField", `{"model":"anthropic/nothing"}`: "UnknownModel", `{"model":"nobody/x"}`: "UnknownProvider",
		`{"model":"what is this"}`: "MalformedModelIdentifier", `{"thinking":"hard"}`: "SchemaValidation", `{"tools":[]}`: "InvalidField",
		`{"model":"fake/text","model":"x"}`: "InvalidField", ``: "MalformedBody", `[]`: "MalformedBody", `{"temperature":0.1,"thinking":"x"}`: "SchemaValidation",
	} {
		patch(body).wantError(t, http.StatusBadRequest, want)
	}
	if got := next(""); got != 0 {
		t.Errorf("after refusals: temperature %v", got)
	}
	s.do(http.MethodPatch, "/sessions/00000000-0000-7000-8000-000000000000", `{"temperature":1}`).wantError(t, http.StatusNotFound, "SessionNotFound")
	s.do(http.MethodPatch, "/sessions/"+id, `{"temperature":1,"tenantId":"other"}`).wantError(t, http.StatusNotFound, "SessionNotFound")
}
