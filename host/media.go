package host

import (
	"mime"
	"net/http"
	"slices"
	"strings"
)

// jsonTypes are the media types of bodies that are read as JSON. The last is what curl
// says of -d when it is not told otherwise.
var jsonTypes = []string{"application/json", "text/json", ndjson, "application/jsonl", "application/x-www-form-urlencoded"}

// media refuses a body that says of itself that it is not what this server reads. A
// browser has to say that it is JSON: other types a page may send to another origin
// without being asked for leave.
func media(r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	for _, coding := range r.Header["Content-Encoding"] {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return unsupported("Content-Encoding", "the body is encoded as "+quote(coding)+": send it as it is")
		}
	}
	said := r.Header["Content-Type"]
	if len(said) > 1 {
		return unsupported("Content-Type", "the Content-Type is given more than once: send application/json")
	}
	page := r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	if len(said) == 0 || said[0] == "" {
		if page {
			return unsupported("Content-Type", "a page has to send its body as application/json")
		}
		return nil
	}
	kind, params, err := mime.ParseMediaType(said[0])
	fits := slices.Contains(jsonTypes, kind) || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	switch charset := strings.ToLower(params["charset"]); {
	case err != nil, !fits, page && kind == "application/x-www-form-urlencoded":
		return unsupported("Content-Type", "the body is "+quote(said[0])+": send JSON as application/json")
	case charset != "" && charset != "utf-8" && charset != "utf8" && charset != "us-ascii":
		return unsupported("Content-Type", "the body is in "+quote(charset)+": send UTF-8")
	}
	return nil
}

func unsupported(field, why string) *Error {
	return &Error{Status: http.StatusUnsupportedMediaType, Code: "UnsupportedMediaType", Field: field, Message: why}
}
