package host_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/script"
)

func TestUsage(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	s.post("/chat", `{"agentId":"echo","message":"hi","tenantId":"acme","userId":"ann"}`)
	s.post("/chat", `{"agentId":"echo","message":"hi","tenantId":"other"}`)
	for _, c := range []struct {
		path, want string
	}{
		{"/usage?tenantId=acme", `{"by":["profile","model"],"rows":[{"profile":"echo","model":"fake/text","loops":1,"turns":1,"errors":0,"usage":{`},
		{"/usage?tenantId=acme&by=user", `"rows":[{"user":"ann","loops":1`},
		{"/usage?tenantId=acme&by=tenant", `"rows":[{"tenant":"acme","loops":1,`},
		{"/usage?tenantId=acme&by=day&since=1d&until=today&limit=1", `"rows":[{"day":"2`},
		{"/usage?tenantId=acme&profile=none", `"rows":[],`},
		{"/usage?tenantId=nobody", `"rows":[],"total":{"loops":0`},
	} {
		if a := s.get(c.path); a.status != http.StatusOK || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s, want %s", c.path, a.status, a.body, c.want)
		}
	}
	for path, field := range map[string]string{
		"/usage?since=yesterday": "since", "/usage?until=2026-13-01": "until", "/usage?by=colour": "by",
		"/usage?by=day,day": "by", "/usage?limit=0": "limit", "/usage?limit=1001": "limit", "/usage?since=99999999999999d": "since",
	} {
		if a := s.get(path); a.status != http.StatusBadRequest || !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}
