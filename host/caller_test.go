package host

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/rosterrun/roster/identity"
)

// TestOperationsNeedTheirRole: whoever has none of the roles of an operation is
// told so before anything is looked at, and whoever is not known likewise.
func TestOperationsNeedTheirRole(t *testing.T) {
	c := identity.Caller{Tenant: "acme", User: "ann"}
	var unknown *Error
	h := New(Deps{Identify: func(*http.Request) (identity.Caller, error) {
		if unknown != nil {
			return c, unknown
		}
		return c, nil
	}})
	defer h.Shutdown()
	ask := func(o operation) (int, Error) {
		method := o.method
		if method == "" {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, "http://localhost"+strings.NewReplacer("{", "", "}", "").Replace(o.path), nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var e Error
		var err error
		if strings.HasPrefix(o.path, "/v1/") {
			var other struct {
				Error struct {
					Code string `json:"code"`
				} `json:"error"`
			}
			err = json.Unmarshal(w.Body.Bytes(), &other)
			e.Code = strings.Replace(other.Error.Code, "invalid_api_key", "Unauthorized", 1)
		} else {
			err = json.Unmarshal(w.Body.Bytes(), &e)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", o.id, err, w.Body)
		}
		return w.Code, e
	}
	ids := map[string]bool{}
	for _, o := range h.operations() {
		if ids[o.id] {
			t.Errorf("%s is there twice", o.id)
		}
		ids[o.id] = true
		if o.role == anybody {
			continue
		}
		c.Roles = (identity.Viewer | identity.Runner | identity.Approver | identity.Editor) &^ o.role
		if o.role == reads {
			c.Roles = 0
		}
		if code, e := ask(o); code != http.StatusForbidden || e.Code != "MissingRole" {
			t.Errorf("%s of one who is %q: %d %s", o.id, c.Roles, code, e.Code)
		}
		unknown = &Error{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: "who are you?"}
		if code, e := ask(o); code != http.StatusUnauthorized || e.Code != "Unauthorized" {
			t.Errorf("%s of one who is not known: %d %s", o.id, code, e.Code)
		}
		unknown = nil
	}
}

// TestNamed: one who is asked who he is may name but himself.
func TestNamed(t *testing.T) {
	ann := identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Runner}
	for _, c := range []struct {
		who                identity.Caller
		tenant, user       string
		wantTenant, wantBy string
		code               string
	}{
		{ann, "", "", "acme", "ann", ""},
		{ann, "acme", "ann", "acme", "ann", ""},
		{ann, "other", "", "", "", "ForeignIdentity"},
		{ann, "acme", "bob", "", "", "ForeignIdentity"},
		{ann, "../x", "", "", "", "InvalidField"},
		{identity.Local(), "", "", "local", "", ""},
		{identity.Local(), "other", "bob", "other", "bob", ""},
		{identity.Local(), "other", "b/ob", "", "", "InvalidField"},
	} {
		got, err := named(c.who, c.tenant, c.user)
		code := ""
		if e, ok := err.(*Error); ok {
			code = e.Code
		}
		if code != c.code || err == nil && (got.Tenant != c.wantTenant || got.User != c.wantBy || got.Roles != c.who.Roles) {
			t.Errorf("%+v named %q, %q: %+v, %v", c.who, c.tenant, c.user, got, err)
		}
	}
}
