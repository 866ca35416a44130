package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

func TestReadArtifact(t *testing.T) {
	blobs := memory.New(memory.Options{})
	k := session.Key{Tenant: "t", Stream: "s"}
	text := "one\ntwo\n" + strings.Repeat("ä", 3000) + "\nlast"
	id, err := blobs.PutBlob(t.Context(), k.Tenant, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in      object
		tenant  string
		most    int
		want    string // its beginning
		end     string
		refused string
		fails   string
	}{
		"whole":                {in: object{"path": "artifact:" + id}, tenant: "t", want: "     1\tone\n     2\ttwo\n     3\tää", end: "\tlast\n"},
		"a piece":              {in: object{"path": "artifact:" + id, "offset": 2, "limit": 1}, tenant: "t", want: "     2\ttwo\n[more lines follow: go on with offset 3]\n"},
		"no more than is sent": {in: object{"path": "artifact:" + id}, tenant: "t", most: 1000, want: "     1\tone\n", end: "[more lines follow: go on with offset 4]\n"},
		"past its end":         {in: object{"path": "artifact:" + id, "offset": 99}, tenant: "t", fails: "offset 99 exceeds"},
		"of another tenant":    {in: object{"path": "artifact:" + id}, tenant: "u", fails: "there is no artifact:"},
		"no name":              {in: object{"path": "artifact:../x"}, tenant: "t", refused: "is no artifact"},
		"capitals":             {in: object{"path": "artifact:" + strings.ToUpper(id)}, tenant: "t", refused: "is no artifact"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			input, err := json.Marshal(c.in)
			if err != nil {
				t.Fatal(err)
			}
			call := Call{ID: "c", Key: session.Key{Tenant: c.tenant, Stream: "s"}, Session: "s", Input: input, Permit: f.permit, Blobs: blobs, MaxText: c.most}
			plan, err := f.tools["read"].Prepare(t.Context(), call)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer plan.Close()
			if n := plan.Needs(); len(n) != 1 || n[0] != (permission.Query{Tool: "read", Subject: "artifact:" + id}) {
				t.Errorf("it needs %v", n)
			}
			r, err := plan.Run(t.Context(), nil)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v", err)
				}
				return
			}
			got := message.PartsText(r.Parts)
			if err != nil || !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, c.end) {
				t.Errorf("%v\n%.200s … %s", err, got, got[max(0, len(got)-100):])
			}
			if c.most > 0 && len(got) > c.most {
				t.Errorf("%d bytes are given", len(got))
			}
			if strings.ContainsRune(got, '\uFFFD') || !strings.Contains(strings.ToValidUTF8(got, "\uFFFD"), got) {
				t.Error("a character is cut")
			}
		})
	}
}
