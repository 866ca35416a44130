package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
)

// What the server says of profiles. Lists are sorted by name.
type (
	// Profile is all that a profile's file says.
	Profile = view.Profile
	// ProfilePrompt is the head of the requests of a profile's runs.
	ProfilePrompt = view.Prompt
	// Explanation is what a profile resolves to.
	Explanation = view.Explanation
	// Permit is a decision on a call of a tool.
	Permit = view.Permit
	// Tools says which tools and profiles the model of a profile is told of.
	Tools = view.Tools
	// Target is a profile that another one may give tasks to.
	Target = view.Target
	// Version is an earlier text of a profile's file, or the one that it has.
	Version = view.Version
	// Checked is what the server would make of a file.
	Checked = view.Checked
	// Diagnostic is something that is wrong with a file, and where.
	Diagnostic = profile.Diagnostic
)

// Profiles lists the profiles.
func (c *Client) Profiles(ctx context.Context) ([]Profile, error) {
	var out []Profile
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/profiles", query: url.Values{"verbose": {"file"}}}, &out)
	return out, err
}

// Profile returns one profile; profile.ProfileNotFound: there is none.
func (c *Client) Profile(ctx context.Context, name string) (*Profile, error) {
	out := new(Profile)
	_, err := c.call(ctx, request{method: http.MethodGet, path: escaped("/profiles/%s", name), query: url.Values{"verbose": {"file"}}}, out)
	return out, err
}

// CreateProfile makes a profile of a JSON object of its keys, such as
// {"model": "openai/gpt-5", "system_prompt": "Be brief."}, in a file of a dialect;
// empty: the server's. profile.ProfileExists: it is there. It returns the revision.
func (c *Client) CreateProfile(ctx context.Context, name string, keys map[string]any, dialect string) (revision string, err error) {
	r := request{method: http.MethodPost, path: escaped("/profiles/%s", name), body: keys}
	if dialect != "" {
		r.query = url.Values{"dialect": {dialect}}
	}
	head, err := c.call(ctx, r, nil)
	return head.Get(headerRevision), err
}

// UpdateProfile sets keys of a profile; a null takes one out. The profile must still
// have the revision, which Profile gives: else it is profile.RevisionMismatch. The
// answer is the profile as it is now.
func (c *Client) UpdateProfile(ctx context.Context, name, revision string, keys map[string]any) (*Profile, error) {
	out := new(Profile)
	r := request{method: http.MethodPut, path: escaped("/profiles/%s", name), body: keys, head: ifMatch(revision)}
	head, err := c.call(ctx, r, out)
	out.Revision = head.Get(headerRevision)
	return out, err
}

// DeleteProfile removes a profile that has the revision; empty: any.
func (c *Client) DeleteProfile(ctx context.Context, name, revision string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: escaped("/profiles/%s", name), head: ifMatch(revision)}, nil)
	return err
}

// RollbackProfile makes an earlier version of a profile, which ProfileHistory lists,
// the current one, if the profile has the revision; empty: any.
func (c *Client) RollbackProfile(ctx context.Context, name, version, revision string) (*Profile, error) {
	out := new(Profile)
	r := request{method: http.MethodPost, path: escaped("/profiles/%s/rollback", name), body: map[string]string{"revision": version}, head: ifMatch(revision)}
	head, err := c.call(ctx, r, out)
	out.Revision = head.Get(headerRevision)
	return out, err
}

// ProfileHistory lists the versions of a profile, the newest first.
func (c *Client) ProfileHistory(ctx context.Context, name string) ([]Version, error) {
	return get[[]Version](ctx, c, escaped("/profiles/%s/history", name), nil)
}

// ProfileDiff says what changed from one version of a profile to another, as a unified
// diff: an empty to is what the file holds, an empty from the version before to.
func (c *Client) ProfileDiff(ctx context.Context, name, from, to string) (string, error) {
	out, err := get[struct{ Diff string }](ctx, c, escaped("/profiles/%s/diff", name), url.Values{"from": {from}, "to": {to}})
	return out.Diff, err
}

// ProfilePrompt shows what a run of a profile sends ahead of the conversation.
func (c *Client) ProfilePrompt(ctx context.Context, name string) (ProfilePrompt, error) {
	return get[ProfilePrompt](ctx, c, escaped("/profiles/%s/prompt", name), nil)
}

// ProfileSpec says what a profile resolves to, and where each value was written. The
// values are JSON.
func (c *Client) ProfileSpec(ctx context.Context, name string) (Explanation, error) {
	return get[Explanation](ctx, c, escaped("/profiles/%s/spec", name), nil)
}

// ProfilePermit judges a call of a tool on a subject. Nothing is run.
func (c *Client) ProfilePermit(ctx context.Context, name, tool, subject string) (Permit, error) {
	return get[Permit](ctx, c, escaped("/profiles/%s/permit", name), url.Values{"tool": {tool}, "subject": {subject}})
}

// ProfileTools says which tools the model of a profile is told of, and why not others.
func (c *Client) ProfileTools(ctx context.Context, name string) (Tools, error) {
	return get[Tools](ctx, c, escaped("/profiles/%s/tools", name), nil)
}

// ProfileTargets lists the profiles that a profile may give tasks to.
func (c *Client) ProfileTargets(ctx context.Context, name string) ([]Target, error) {
	return get[[]Target](ctx, c, escaped("/profiles/%s/targets", name), nil)
}

// Diagnostics lists what is wrong with the profiles' files, also with those that do
// not load.
func (c *Client) Diagnostics(ctx context.Context) ([]Diagnostic, error) {
	return get[[]Diagnostic](ctx, c, "/profiles/-/diagnostics", nil)
}

// CheckProfile says what the server would make of a file with this text at a path
// below its workspace, such as profiles/reviewer.md. Nothing is saved or run.
func (c *Client) CheckProfile(ctx context.Context, path, text string) (Checked, error) {
	var out Checked
	r := request{method: http.MethodPost, path: "/profiles/-/check", body: map[string]string{"path": path, "text": text}, idem: true}
	_, err := c.call(ctx, r, &out)
	return out, err
}

// headerRevision is the revision of the profile or skill in an answer.
const headerRevision = "X-Roster-Revision"

func ifMatch(revision string) map[string]string {
	if revision == "" {
		return nil
	}
	return map[string]string{"If-Match": `"` + revision + `"`}
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	var out T
	_, err := c.call(ctx, request{method: http.MethodGet, path: path, query: query}, &out)
	return out, err
}
