package host

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// The ways to pick one of several answers.
const (
	PickFirst  = "first"  // the first that is there; the others are cancelled
	PickFewest = "fewest" // the one that took the fewest tokens
	PickMost   = "most"   // the one that took the most tokens
	PickJudge  = "judge"  // the one that another profile says
)

// MaxCandidates bounds how many are asked at once.
const MaxCandidates = 8

// Comparison is one prompt for several candidates at once, each on a copy of the
// session.
type Comparison struct {
	Key        session.Key // of the session that goes on with the winner; an empty Stream: a new one
	Parts      []message.Part
	Candidates []Candidate // 2 to MaxCandidates
	Pick       string      // see the constants
	Judge      string      // the profile that picks, with PickJudge
	// Flags and the others are as in Ask, for all candidates. Nobody can answer
	// their questions.
	Flags          map[string]string
	AllowAll       bool
	Shared         bool
	User           string
	KeyID, Request string
	Chain          string
}

// Candidate is who is asked. Set and Flags override profile keys, as in Ask.
type Candidate struct {
	Profile    string // empty: that of the session
	Set, Flags map[string]string
}

// Compared is what came of a Comparison.
type Compared = view.Compared

// compareBody is the body of /compare. Without pick it is judge where a judge is
// named, else first.
type compareBody struct {
	Message     string          `json:"message"`
	Attachments []attachment    `json:"attachments"`
	SessionID   string          `json:"sessionId" schema:"pattern=^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"` // empty: a new one
	Candidates  []candidateBody `json:"candidates" schema:"required;min=2;max=8"`
	Pick        string          `json:"pick" schema:"enum=first|fewest|most|judge"`
	Judge       string          `json:"judge" schema:"max=200;pattern=^([A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?(/[A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?)*)?$"` // the name of the profile that picks
	Mode        string          `json:"mode"`                                                                                                           // the permission mode of all candidates
	TenantID    string          `json:"tenantId"`
	UserID      string          `json:"userId"`
}

// candidateBody is one of them. agentId is the name of a profile; without it, it is
// that of the session.
type candidateBody struct {
	AgentID   string                    `json:"agentId" schema:"max=200;pattern=^([A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?(/[A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?)*)?$"`
	Model     string                    `json:"model"`
	Overrides map[string]jsontext.Value `json:"overrides"`
}

// compare asks several candidates and answers when one was picked. It goes on when
// the client has left, as any run; when the server stops, the candidates are
// cancelled and nothing is picked.
func (h *Host) compare(w *response, r *http.Request) error {
	c, err := h.readComparison(w, r)
	if err != nil {
		return err
	}
	if c.Key.Stream != "" {
		if err := h.exists(r.Context(), c.Key); err != nil {
			return err
		}
	}
	ctx, stop := whichever(context.WithoutCancel(r.Context()), h.chats)
	defer stop()
	got, err := h.deps.Compare(ctx, c)
	if err != nil {
		return notFound(err, c.Key)
	}
	w.Header().Set("X-Session-Id", got.ID)
	return writeJSON(w, http.StatusOK, got)
}

func (h *Host) readComparison(w *response, r *http.Request) (Comparison, error) {
	var body compareBody
	if err := h.readJSON(w, r, &body); err != nil {
		return Comparison{}, err
	}
	caller, err := callerOf(r, body.TenantID, body.UserID)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{
		Key: session.Key{Tenant: caller.Tenant, Stream: body.SessionID}, Pick: body.Pick, Judge: body.Judge, Shared: true,
		User: caller.User, KeyID: caller.Key, Request: w.id, Chain: w.chain,
	}
	if body.SessionID != "" && !sessionID(body.SessionID) {
		return c, invalid("sessionId", badSession)
	}
	if err := oneOf("pick", body.Pick, PickFirst, PickFewest, PickMost, PickJudge); err != nil {
		return c, err
	}
	if c.Pick == "" {
		c.Pick = PickFirst
		if c.Judge != "" {
			c.Pick = PickJudge
		}
	}
	if c.Judge != "" && profile.CheckName(c.Judge) != nil {
		return c, invalid("judge", quote(c.Judge)+notProfile)
	}
	if c.Parts, err = (&askBody{Message: body.Message, Attachments: body.Attachments}).parts(); err != nil {
		return c, err
	}
	c.Candidates, err = h.readCandidates(r, &body)
	return c, err
}

func (h *Host) readCandidates(r *http.Request, body *compareBody) ([]Candidate, error) {
	if n := len(body.Candidates); n < 2 || n > MaxCandidates {
		return nil, invalid("candidates", "takes 2 to 8 of {agentId, model, overrides}")
	}
	var list []Candidate
	for _, one := range body.Candidates {
		switch {
		case one.AgentID == "" && body.SessionID == "":
			return nil, missing("candidates.agentId", "a new session has no profile: name that of each candidate (GET /profiles lists them)")
		case one.AgentID != "" && profile.CheckName(one.AgentID) != nil:
			return nil, invalid("candidates.agentId", quote(one.AgentID)+notProfile)
		}
		if err := h.mayOverride(r, one.Overrides); err != nil {
			return nil, err
		}
		set, err := (&askBody{Model: one.Model, Mode: body.Mode, Overrides: one.Overrides}).set()
		if err != nil {
			return nil, err
		}
		list = append(list, Candidate{Profile: one.AgentID, Set: set})
	}
	return list, nil
}
