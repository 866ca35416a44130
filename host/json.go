package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// bodyTime bounds how long a client may take to send a body.
const bodyTime = time.Minute

// writeJSON answers with compact JSON.
func writeJSON(w *response, status int, v any) error {
	data, err := marshal(v)
	if err != nil {
		return err
	}
	return writeBytes(w, status, data)
}

// marshal writes a list that is nil as []. Bytes that are not UTF-8, which a path
// or a file may hold, are replaced: they must not cost the rest of an answer.
func marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.FormatNilSliceAsNull(false), jsonv1.OmitEmptyWithLegacySemantics(true), jsontext.AllowInvalidUTF8(true))
}

func writeBytes(w *response, status int, data []byte) error {
	return writeTyped(w, status, "application/json", data)
}

func writeTyped(w *response, status int, kind string, data []byte) error {
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Content-Length", strconv.Itoa(len(data)))
	w.extend()
	w.WriteHeader(status)
	_, err := w.Write(data)
	return err
}

// readJSON decodes the body of a request. Fields that are not known, given
// twice or of the wrong type are refused by name.
func (h *Host) readJSON(w *response, r *http.Request, into any) error {
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	return decode(data, into)
}

// timed bounds the time that a client has to send its body, also where nobody reads
// that: the connection waits for the rest of it before it takes the next request. The
// time ends with the body, for an answer has none. The request itself is left as it
// is: net/http looks at its body. The reader in a test has no deadlines.
func timed(w *response, r *http.Request) *http.Request {
	if r.Body == nil || r.Body == http.NoBody || w.control.SetReadDeadline(time.Now().Add(bodyTime)) != nil {
		return r
	}
	r = r.WithContext(r.Context())
	r.Body = &timedBody{r.Body, w.control}
	return r
}

type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.control.SetReadDeadline(time.Time{}) // it could be set
	}
	return n, err
}

// body is what a request sends, as far as it may.
func (h *Host) body(w *response, r *http.Request) io.ReadCloser {
	return http.MaxBytesReader(w, r.Body, h.deps.MaxBody)
}

func (h *Host) readBody(w *response, r *http.Request) ([]byte, error) {
	body := h.body(w, r)
	if r.ContentLength > h.deps.MaxBody {
		return nil, &http.MaxBytesError{Limit: h.deps.MaxBody}
	}
	buf := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	if _, err := buf.ReadFrom(body); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, err
		}
		return nil, &Error{Status: http.StatusBadRequest, Code: "BrokenBody", Message: fmt.Sprintf("the body could not be read: %v", err)}
	}
	return buf.Bytes(), nil
}

func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && len(bytes.TrimSpace(data)) == 0:
		return malformed("the body is empty: send a JSON object")
	case errors.As(err, &semantic):
		return wrongField(semantic)
	case errors.As(err, &syntax):
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return invalid(field(syntax.JSONPointer), "is given twice")
		}
		return malformed(fmt.Sprintf("the body is not valid JSON: byte %d: %v", syntax.ByteOffset, syntax.Err))
	}
	return malformed(err.Error())
}

func wrongField(e *json.SemanticError) error {
	name := field(e.JSONPointer)
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return invalid(name, "is not a field of this request")
	case name == "":
		return malformed(fmt.Sprintf("the body is a JSON %s: send an object", kindName(e.JSONKind)))
	case e.Err != nil:
		return invalid(name, "is not valid: "+e.Err.Error())
	}
	return invalid(name, fmt.Sprintf("must not be a JSON %s", kindName(e.JSONKind)))
}

func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "object"
	case jsontext.KindBeginArray:
		return "array"
	}
	return k.String()
}

// field shows a place in a body: a.b for /a/b.
func field(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

func malformed(why string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "MalformedBody", Message: why}
}
