package roster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/identity"
)

// TestAProfileIsMendedOverHTTP: a client finds a file that does not load, reads it, and
// writes it again.
func TestAProfileIsMendedOverHTTP(t *testing.T) {
	w := openWorld(t)
	const path = "/profiles/-/source?path=profiles/lame.md"
	write(t, filepath.Join(w.dir, "main"), "profiles/lame.md", "---\nname: lame\ntools: [read\n---\nWalk.\n")
	var found struct {
		Text, Revision, Status string
		Names                  []string
		Diagnostics            []struct{ Name, File string }
		Writable               bool
	}
	got := w.made("get", path, "")
	if err := json.Unmarshal([]byte(got.Body), &found); err != nil || found.Status != "refused" || !found.Writable || len(found.Diagnostics) == 0 || !strings.Contains(found.Text, "[read\n") {
		t.Fatalf("%s: %v", got.Body, err)
	}
	tag, broken, whole := got.Header.Get("ETag"), `{"text":"---\nname: lame\ntools: [\n---\n"}`, `{"text":"---\nname: lame\ndescription: Walks.\nmodel: fake/text\n---\nWalk.\n"}`
	hook := `{"text":"---\nname: lame\ndescription: d\nhooks: {before-tool: [{command: id}]}\n---\nWalk.\n"}`
	editor := caller{owner.tenant, identity.Editor}
	for _, tt := range []struct {
		name, path, tag, body string
		who                   caller
		status                int
		says                  string
	}{
		{"a viewer", path, tag, whole, caller{owner.tenant, identity.Viewer}, 403, "MissingRole"},
		{"without If-Match", path, "", whole, owner, 428, "MissingIfMatch"},
		{"an old one", path, `"0a1b"`, whole, owner, 412, "RevisionMismatch"},
		{"what does not load", path, tag, broken, owner, 400, `"diagnostics":[{`},
		{"without a text", path, tag, `{}`, owner, 400, "text"},
		{"what executes", path, tag, hook, editor, 403, "ExecutingKey"},
		{"a new file", "/profiles/-/source?path=profiles/new.md", "*", whole, owner, 404, "ProfileNotFound"},
		{"no profile", "/profiles/-/source?path=roster.yaml", "*", whole, owner, 404, "ProfileNotFound"},
		{"without a path", "/profiles/-/source", "*", whole, owner, 400, "path"},
		{"by force", path + "&force=true", tag, broken, editor, 200, `"status":"refused"`},
		{"after that", path, tag, whole, owner, 412, "RevisionMismatch"},
		{"anything", path, "*", whole, editor, 200, `"names":["lame"]`},
	} {
		c := call{method: "put", path: tt.path, body: tt.body, header: map[string]string{}}
		if tt.tag != "" {
			c.header["If-Match"] = tt.tag
		}
		if a := w.send(tt.who, c); a.Status != tt.status || !strings.Contains(a.Body, tt.says) {
			t.Errorf("%s: %d %s", tt.name, a.Status, a.Body)
		}
	}
	w.made("post", "/chat", `{"agentId":"lame","message":"hello"}`)
	if _, err := os.Stat(filepath.Join(w.dir, "main/profiles/new.md")); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
}
