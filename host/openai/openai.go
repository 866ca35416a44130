// Package openai speaks the Chat Completions protocol of OpenAI with clients, for
// whom a profile is a model: it reads their requests and writes the answers, chunks
// and errors that their libraries expect. It serves nothing itself.
package openai

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Error is an answer that is an error. Param is the member of the request that is
// wrong, and Session the one whose run failed; either may be empty.
type Error struct {
	Status  int
	Code    string
	Message string
	Param   string
	Session string
}

func (e *Error) Error() string { return e.Message }

func invalid(param, why string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "InvalidField", Param: param, Message: param + " " + why}
}

// The codes that programs know, by those of ours.
var codes = map[string]string{
	"ProfileNotFound":        "model_not_found",
	"model.context-overflow": "context_length_exceeded",
}

// JSON is the body of the answer, and what a stream that breaks off ends with.
func (e *Error) JSON() []byte {
	type inner struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
		Session string  `json:"session_id,omitzero"`
	}
	out := inner{Message: e.Message, Type: "server_error", Code: e.Code, Session: e.Session}
	if e.Param != "" {
		out.Param = &e.Param
	}
	if known := codes[e.Code]; known != "" {
		out.Code = known
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		out.Type, out.Code = "authentication_error", "invalid_api_key"
	case e.Status == http.StatusForbidden:
		out.Type = "permission_error"
	case e.Code == "BudgetSpent":
		out.Type, out.Code = "insufficient_quota", "insufficient_quota"
	case e.Status == http.StatusTooManyRequests:
		out.Type, out.Code = "rate_limit_error", "rate_limit_exceeded"
	case e.Status < http.StatusInternalServerError:
		out.Type = "invalid_request_error"
	}
	return encode(struct {
		Error inner `json:"error"`
	}{out})
}

// encode writes plain structs of ours. Bytes that are not UTF-8, as a path in an error
// may have, are replaced.
func encode(v any) []byte {
	data, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("openai: " + err.Error()) // they have nothing that JSON has not
	}
	return data
}
