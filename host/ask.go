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
	AgentID     string                    `json:"agentId"` // the profile's name
	TenantID    string                    `json:"tenantId"`
	UserID      string                    `json:"userId"`
	SessionID   string                    `json:"sessionId"`
	Mode        string                    `json:"mode"`
	Model       string                    `json:"model"`
	Overrides   map[string]jsontext.Value `json:"overrides"`
	OnBusy      string                    `json:"onBusy"`
	OnDeny      string                    `json:"onDeny"`
	Approvals   string                    `json:"approvals"`
	Schema      jsontext.Value            `json:"schema"`
	Command     *callBody                 `json:"command"`
}

// attachment is an image that goes with the message.
type attachment struct {
	MediaType string `json:"mediaType"`
	Data      []byte `json:"data"` // base64
}

// readAsk reads and checks a prompt. session is that of the path, if any.
func (h *Host) readAsk(w *response, r *http.Request, session string) (Ask, error) {
	var body askBody
	if err := h.readJSON(w, r, &body); err != nil {
		return Ask{}, err
	}
	if session != "" {
		if body.SessionID != "" && body.SessionID != session {
			return Ask{}, invalid("sessionId", "names another session than the path")
		}
		body.SessionID = session
	}
	ask, err := body.ask()
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
	if len(body.Overrides) > 0 {
		object, err := json.Marshal(body.Overrides)
		if err == nil {
			err = h.mayExecute(r, object, false)
		}
		if err != nil {
			return err
		}
	}
	ask.Chain = w.chain
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if !printable(key) || len(key) > maxIdem {
			return invalid("Idempotency-Key", "must be printable ASCII of at most 255 characters")
		}
		ask.Idem = route(r) + " " + key
	}
	return nil
}

func (b *askBody) ask() (Ask, error) {
	ask, err := b.frame()
	if err == nil {
		ask.Parts, err = b.parts()
	}
	return ask, err
}

// frame is the prompt without its message.
func (b *askBody) frame() (Ask, error) {
	key, err := b.key()
	if err != nil {
		return Ask{}, err
	}
	ask := Ask{Key: key, User: b.UserID, Profile: b.AgentID, Shared: true, Headless: b.Approvals != "wait", OnBusy: b.OnBusy, OnDeny: b.OnDeny}
	if b.AgentID == "" && b.SessionID == "" && b.Command == nil {
		return Ask{}, missing("agentId", "name a profile (GET /profiles lists them), or a session with sessionId")
	}
	if b.AgentID != "" && profile.CheckName(b.AgentID) != nil {
		return Ask{}, invalid("agentId", quote(b.AgentID)+" is not the name of a profile: letters, digits, '.', '_' and '-', in segments joined by '/'")
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

func (b *askBody) key() (session.Key, error) {
	tenant, err := tenantName(b.TenantID)
	if err != nil {
		return session.Key{}, err
	}
	if b.UserID != "" && !plainName(b.UserID) {
		return session.Key{}, invalid("userId", badName)
	}
	if b.SessionID != "" && !sessionID(b.SessionID) {
		return session.Key{}, invalid("sessionId", badSession)
	}
	return session.Key{Tenant: tenant, Stream: b.SessionID}, nil
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
	badSession = "is not the id of a session (a UUID)"
)

// tenantName checks the name of a tenant and gives the default for none.
func tenantName(name string) (string, error) {
	if name == "" {
		return localTenant, nil
	}
	if !plainName(name) {
		return "", invalid("tenantId", badName)
	}
	return name, nil
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-@+:", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= maxID
}

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
