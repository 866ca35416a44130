package client

import (
	"context"
	"net/http"
	"net/url"
)

// ProfileSource is a file of profiles as it is written.
type ProfileSource struct {
	Path        string       `json:"path"` // below the workspace, with slashes
	Text        string       `json:"text"`
	Revision    string       `json:"revision"` // names the text
	Dialect     string       `json:"dialect"`
	Status      string       `json:"status"` // loaded, or refused
	Names       []string     `json:"names"`  // of its profiles
	Diagnostics []Diagnostic `json:"diagnostics"`
	Writable    bool         `json:"writable"`
}

// ProfileSource reads the text of a file of profiles, also of one that does not load.
func (c *Client) ProfileSource(ctx context.Context, path string) (ProfileSource, error) {
	return get[ProfileSource](ctx, c, "/profiles/-/source", url.Values{"path": {path}})
}

// SaveProfileSource writes the whole text of a file of profiles that is there. It must
// still have the revision, which ProfileSource gives: else it is
// profile.RevisionMismatch; "*": any. With force a text is written too that does not
// load.
func (c *Client) SaveProfileSource(ctx context.Context, path, text, revision string, force bool) (ProfileSource, error) {
	r := request{
		method: http.MethodPut, path: "/profiles/-/source", query: url.Values{"path": {path}}, body: map[string]string{"text": text}, head: ifMatch(revision),
	}
	if revision == "*" {
		r.head = map[string]string{"If-Match": "*"}
	}
	if force {
		r.query.Set("force", "true")
	}
	var out ProfileSource
	_, err := c.call(ctx, r, &out)
	return out, err
}
