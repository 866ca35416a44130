package host

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

const (
	localTenant = "local" // and user
	maxID       = 128     // bytes of a tenant's or user's name
	maxIdem     = 255     // bytes of an Idempotency-Key
	maxDepth    = 8       // of the objects in overrides
)

// askBody is the body of /chat, /stream and /sessions/{id}/prompt.
type askBody struct {
	Message     string                    `json:"message"`
	Attachments []attachment              `json:"attachments"`
	AgentID     string                    `json:"agentId" schema:"max=200;pattern=^([A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?(/[A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?)*)?$"` // the profile's name
	TenantID    string                    `json:"tenantId"`
	UserID      string                    `json:"userId"`
	SessionID   string                    `json:"sessionId" schema:"pattern=^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"`
	Mode        string                    `json:"mode"`
	Model       string                    `json:"model"`
	Overrides   map[string]jsontext.Value `json:"overrides"`
	OnBusy      string                    `json:"onBusy" schema:"enum=reject|steer|queue"`
	OnDeny      string                    `json:"onDeny" schema:"enum=stop"`
	Approvals   string                    `json:"approvals" schema:"enum=deny|wait"`
	Schema      jsontext.Value            `json:"schema"`
	Command     *callBody                 `json:"command"`
}

// attachment is an image that goes with the message.
type attachment struct {
	MediaType string `json:"mediaType" schema:"required;enum=image/png|image/jpeg|image/gif|image/webp"`
	Data      []byte `json:"data" schema:"required;min=1"` // base64
}

// newSession stands for the session of a prompt that begins one.
const newSession = "-"

// readAsk reads and checks a prompt. session is that of the path, if any.
func (h *Host) readAsk(w *response, r *http.Request, session string) (Ask, error) {
	var body askBody
	if err := h.readJSON(w, r, &body); err != nil {
		return Ask{}, err
	}
	switch {
	case session == newSession && body.SessionID != "":
		return Ask{}, invalid("sessionId", "cannot be given: the session is a new one")
	case session == newSession, session == "":
	case body.SessionID != "" && body.SessionID != session:
		return Ask{}, invalid("sessionId", "names another session than the path")
	default:
		body.SessionID = session
	}
	ask, err := body.ask(r)
	if err != nil {
		return Ask{}, err
	}
	if err := h.complete(w, r, &body, &ask); err != nil || body.Command == nil {
		return ask, err
	}
	return h.call(r.Context(), &body, ask)
}

// complete takes into a prompt what its request says besides the body.
func (h *Host) complete(w *response, r *http.Request, body *askBody, ask *Ask) error {
	if err := h.mayOverride(r, body.Overrides); err != nil {
		return err
	}
	ask.Chain, ask.Request = w.chain, w.id
	key, err := idempotency(r)
	if key != "" {
		ask.Idem = route(r) + " " + key
	}
	return err
}

// idempotency is the key of a request that does something once, however often it is
// sent; empty: it has none.
func idempotency(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if !printable(key) || len(key) > maxIdem {
		return "", invalid("Idempotency-Key", "must be printable ASCII of at most 255 characters")
	}
	if len(r.Header["Idempotency-Key"]) > 1 {
		return "", invalid("Idempotency-Key", "is given more than once")
	}
	return key, nil
}

// mayOverride refuses overrides that execute, where the caller may not have them.
func (h *Host) mayOverride(r *http.Request, overrides map[string]jsontext.Value) error {
	if len(overrides) == 0 {
		return nil
	}
	object, err := json.Marshal(overrides)
	if err != nil {
		return err
	}
	return h.mayExecute(r, object, false)
}

func (b *askBody) ask(r *http.Request) (Ask, error) {
	ask, err := b.frame(r)
	if err == nil {
		ask.Parts, err = b.parts()
	}
	return ask, err
}

// frame is the prompt without its message.
func (b *askBody) frame(r *http.Request) (Ask, error) {
	c, err := callerOf(r, b.TenantID, b.UserID)
	if err != nil {
		return Ask{}, err
	}
	if b.SessionID != "" && !sessionID(b.SessionID) {
		return Ask{}, invalid("sessionId", badSession)
	}
	ask := Ask{Key: session.Key{Tenant: c.Tenant, Stream: b.SessionID}, User: c.User, KeyID: c.Key, Profile: b.AgentID, Shared: true, Headless: b.Approvals != "wait", OnBusy: b.OnBusy, OnDeny: b.OnDeny}
	if b.AgentID == "" && b.SessionID == "" && b.Command == nil {
		return Ask{}, missing("agentId", "name a profile (GET /profiles lists them), or a session with sessionId")
	}
	if b.AgentID != "" && profile.CheckName(b.AgentID) != nil {
		return Ask{}, invalid("agentId", quote(b.AgentID)+notProfile)
	}
	if err := oneOf("onBusy", b.OnBusy, "reject", "steer", "queue"); err != nil {
		return Ask{}, err
	}
	if err := oneOf("onDeny", b.OnDeny, "stop"); err != nil {
		return Ask{}, err
	}
	if err := oneOf("approvals", b.Approvals, "deny", "wait"); err != nil {
		return Ask{}, err
	}
	if b.Schema.Kind() != jsontext.KindNull { // as when it is missing
		ask.Schema = b.Schema
	}
	ask.Set, err = b.set()
	return ask, err
}

func (b *askBody) parts() ([]message.Part, error) {
	var parts []message.Part
	for _, a := range b.Attachments {
		switch a.MediaType {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
		default:
			return nil, invalid("attachments", "takes images (image/png, image/jpeg, image/gif, image/webp), not "+quote(a.MediaType))
		}
		if len(a.Data) == 0 {
			return nil, missing("attachments.data", "give the image as base64")
		}
		parts = append(parts, message.Image{MediaType: a.MediaType, Data: a.Data})
	}
	if b.Command != nil {
		switch {
		case b.Message != "":
			return nil, invalid("message", "cannot be given with a command: that is the message")
		case b.Command.Name == "":
			return nil, missing("command.name", "name a command (GET /commands lists them)")
		}
		return parts, nil
	}
	if strings.TrimSpace(b.Message) == "" {
		if len(parts) == 0 {
			return nil, missing("message", "say what the agent is to do")
		}
		return parts, nil
	}
	return append([]message.Part{message.Text{Text: b.Message}}, parts...), nil
}

// set gathers the overrides as profile keys with their values as text. Objects
// are taken apart: {"limits": {"turns": 5}} sets limits.turns.
func (b *askBody) set() (map[string]string, error) {
	set := map[string]string{}
	for key, value := range b.Overrides {
		if err := flatten(set, key, value, maxDepth); err != nil {
			return nil, err
		}
	}
	for _, own := range []struct{ field, key, value string }{
		{"model", "model", b.Model}, {"mode", "permission-mode", b.Mode},
	} {
		if own.value == "" {
			continue
		}
		if _, twice := set[own.key]; twice {
			return nil, invalid(own.field, "is given twice: also in overrides")
		}
		set[own.key] = own.value
	}
	if len(set) == 0 {
		return nil, nil
	}
	return set, nil
}

func flatten(set map[string]string, key string, value jsontext.Value, depth int) error {
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		set[key] = string(text)
		return err
	case '{':
		if depth == 0 {
			return invalid("overrides", "has objects that are nested too deep")
		}
		var object map[string]jsontext.Value
		if err := decode(value, &object); err != nil {
			return err
		}
		for k, v := range object {
			if err := flatten(set, key+"."+k, v, depth-1); err != nil {
				return err
			}
		}
	default:
		set[key] = string(bytes.TrimSpace(value))
	}
	return nil
}

const (
	badName    = "must be letters, digits and any of . _ - @ + : of at most 128 characters, and begin with a letter or digit"
	notProfile = " is not the name of a profile: letters, digits, '.', '_' and '-', in segments joined by '/'"
	badSession = "is not the id of a session (a UUID)"
)

// sessionID says whether s is a UUID in its plain form.
func sessionID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func oneOf(field, value string, known ...string) error {
	if value == "" {
		return nil
	}
	for _, k := range known {
		if value == k {
			return nil
		}
	}
	return invalid(field, "must be "+strings.Join(known, " or ")+", not "+quote(value))
}
