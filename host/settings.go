package host

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/view"
)

// settingsBody changes what a session sets over its profile. A field that is not
// there stays as it is; null takes it back.
type settingsBody struct {
	Model       jsontext.Value `json:"model" schema:"type=string|null"`
	Thinking    jsontext.Value `json:"thinking" schema:"type=string|null"`
	Temperature jsontext.Value `json:"temperature" schema:"type=number|null"`
	TenantID    string         `json:"tenantId"`
	UserID      string         `json:"userId"`
}

// set reads a field: text, or for a number its digits. null is empty.
func set(into map[string]string, key string, v jsontext.Value, kind jsontext.Kind) error {
	switch {
	case v == nil:
		return nil
	case v.Kind() == jsontext.KindNull:
		into[key] = ""
		return nil
	case v.Kind() != kind:
		return invalid(key, "must be a JSON "+kindName(kind)+" or null")
	}
	text := []byte(v)
	if kind == jsontext.KindString {
		var err error
		if text, err = jsontext.AppendUnquote(nil, v); err != nil {
			return invalid(key, "is not a valid JSON string")
		}
		if len(text) == 0 {
			return invalid(key, "is empty: null takes it back")
		}
	}
	into[key] = string(text)
	return nil
}

// patchSession sets the model, the thinking or the temperature of a session, from
// its next loop on.
func (h *Host) patchSession(w *response, r *http.Request) error {
	var body settingsBody
	if err := h.readJSON(w, r, &body); err != nil {
		return err
	}
	k, _, err := bodyKey(r, body.TenantID, body.UserID)
	if err != nil {
		return err
	}
	keys := map[string]string{}
	for _, f := range []struct {
		key  string
		v    jsontext.Value
		kind jsontext.Kind
	}{{"model", body.Model, jsontext.KindString}, {"thinking", body.Thinking, jsontext.KindString}, {"temperature", body.Temperature, jsontext.KindNumber}} {
		if err := set(keys, f.key, f.v, f.kind); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		return missing("model", "name one of model, thinking and temperature; null takes it back")
	}
	if err := h.exists(r.Context(), k); err != nil {
		return err
	}
	settings, err := h.deps.Configure(r.Context(), k, keys)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, settingsAnswer{k.Stream, view.NewSettings(settings)})
}

// settingsAnswer is what a session has over its profile now.
type settingsAnswer struct {
	SessionID string         `json:"sessionId"`
	Settings  *view.Settings `json:"settings"`
}
