package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rosterrun/roster/internal/view"
)

// What the server says of its workspace.
type (
	// Commands are the prompts that are called by a name, and what is wrong with
	// files of such.
	Commands = view.Commands
	// Command is one of them.
	Command = view.Command
	// Skill is a skill; of a list without its text.
	Skill = view.Skill
)

// Commands lists the prompts that are called by a name (Prompt.Command).
func (c *Client) Commands(ctx context.Context) (Commands, error) {
	return get[Commands](ctx, c, "/commands", nil)
}

// Skills lists the skills, or those that a profile may use; empty: all.
func (c *Client) Skills(ctx context.Context, profile string) ([]Skill, error) {
	var q url.Values
	if profile != "" {
		q = url.Values{"profile": {profile}}
	}
	return get[[]Skill](ctx, c, "/skills", q)
}

// Skill returns a skill with its text.
func (c *Client) Skill(ctx context.Context, name string) (*Skill, error) {
	return get[*Skill](ctx, c, escaped("/skills/%s", name), nil)
}

// SaveSkill writes a SKILL.md: a new one, or with the Revision of a skill that was
// read, over that.
func (c *Client) SaveSkill(ctx context.Context, name, text, revision string) (*Skill, error) {
	out := new(Skill)
	r := request{method: http.MethodPut, path: escaped("/skills/%s", name), body: map[string]string{"text": text}, head: ifMatch(revision)}
	_, err := c.call(ctx, r, out)
	return out, err
}

// Health says whether the server answers; nil: it does.
func (c *Client) Health(ctx context.Context) error {
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/health"}, nil)
	return err
}

// Ready says whether the server can take prompts; an *Error names the Part that fails.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/ready"}, nil)
	return err
}

// What the server says of models, tools, MCP servers and itself.
type (
	// ModelItem is a model in a list; prices are in US dollars per million tokens.
	ModelItem = view.ModelItem
	// Model is what a reference to a model stands for.
	Model = view.ModelView
	// Capability is a set of tools that come together.
	Capability = view.Capability
	// Server is an MCP server, and what is known of it.
	Server = view.Server
	// Finding is one thing that the doctor has looked at.
	Finding = view.Finding
	// Usage is what was used, told apart by some things.
	Usage = view.Usage
)

// Models lists the models that the server's catalog knows.
func (c *Client) Models(ctx context.Context) ([]ModelItem, error) {
	return get[[]ModelItem](ctx, c, "/models", nil)
}

// Model says what a reference stands for, such as openai/gpt-5 or an alias.
func (c *Client) Model(ctx context.Context, ref string) (*Model, error) {
	return get[*Model](ctx, c, escaped("/models/%s", ref), nil)
}

// Capabilities lists the tools that agents can have at most.
func (c *Client) Capabilities(ctx context.Context) ([]Capability, error) {
	return get[[]Capability](ctx, c, "/tools", nil)
}

// Servers lists the MCP servers of the workspace, or those that a profile has; empty:
// the workspace's. Nothing is started or reached.
func (c *Client) Servers(ctx context.Context, profile string) ([]Server, error) {
	var q url.Values
	if profile != "" {
		q = url.Values{"profile": {profile}}
	}
	return get[[]Server](ctx, c, "/mcp-servers", q)
}

// Server returns one MCP server of the workspace.
func (c *Client) Server(ctx context.Context, name string) (*Server, error) {
	return get[*Server](ctx, c, escaped("/mcp-servers/%s", name), nil)
}

// ServerConfig describes an MCP server: a Command that is started on the server's
// machine, or the URL of one that is there. Secrets are written as ${VARIABLE}.
type ServerConfig struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // that the command gets
	Dir     string            `json:"dir,omitempty"` // in which it is started; empty: the workspace
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"` // that the URL is sent
	Timeout string            `json:"timeout,omitempty"` // of one call, as 30s; empty: the usual one
}

// CreateServer adds an MCP server. It is written, and not started.
func (c *Client) CreateServer(ctx context.Context, name string, s ServerConfig) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: escaped("/mcp-servers/%s", name), body: s}, nil)
	return err
}

// SaveServer changes an MCP server, or adds it: what is not said is not kept.
func (c *Client) SaveServer(ctx context.Context, name string, s ServerConfig) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: escaped("/mcp-servers/%s", name), body: s, idem: true}, nil)
	return err
}

// DeleteServer takes an MCP server away.
func (c *Client) DeleteServer(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: escaped("/mcp-servers/%s", name)}, nil)
	return err
}

// RestartServer starts an MCP server anew, and waits until it is up.
func (c *Client) RestartServer(ctx context.Context, name string) error {
	_, err := c.call(ctx, request{method: http.MethodPost, path: escaped("/mcp-servers/%s/restart", name), long: true}, nil)
	return err
}

// UsageQuery says what use is summed up. The zero value sums up all of it, by profile
// and model.
type UsageQuery struct {
	// Since and Until are the first and the last day, in UTC: 2026-01-31, today, or
	// as 30d that many days up to now; empty: no bound.
	Since, Until string
	// Profile, Model, User and Key (its id) choose; empty: whichever.
	Profile, Model, User, Key string
	// By are the things that rows are told apart by, with commas: day, profile,
	// model, user, key; empty: profile,model.
	By string
	// Limit is how many rows are wanted at most; 0: 1000, which is the most.
	Limit int
}

// Usage says what was used, and what it has cost.
func (c *Client) Usage(ctx context.Context, q UsageQuery) (Usage, error) {
	v := url.Values{}
	for name, value := range map[string]string{
		"since": q.Since, "until": q.Until, "profile": q.Profile, "model": q.Model, "user": q.User, "key": q.Key, "by": q.By,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[Usage](ctx, c, "/usage", v)
}

// Doctor says how what a run would need stands on the server.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	return get[[]Finding](ctx, c, "/doctor", nil)
}

// Caller is who the server takes the client for, and which server it is.
type Caller struct {
	TenantID  string   `json:"tenantId"`
	UserID    string   `json:"userId,omitempty"` // empty: the one user of the machine
	Roles     []string `json:"roles"`            // viewer, runner, approver, editor, admin
	Auth      bool     `json:"auth"`             // callers have to show who they are
	Version   string   `json:"version"`
	Workspace string   `json:"workspace"` // the name of its folder
	Budgets   []Budget `json:"budgets"`   // empty: no bound is set
}

// Budget is what may be spent in a time, and what of it is spent.
type Budget struct {
	Of   string  `json:"of"`   // tenant (all of its callers together) or caller
	What string  `json:"what"` // cost, in US dollars, or tokens, in and out
	Per  string  `json:"per"`  // day or month, of UTC
	Most float64 `json:"most"`
	Used float64 `json:"used"`
}

// WhoAmI says who the server takes the client for.
func (c *Client) WhoAmI(ctx context.Context) (Caller, error) {
	return get[Caller](ctx, c, "/whoami", nil)
}

// Schema is the JSON Schema of native profiles.
func (c *Client) Schema(ctx context.Context) (json.RawMessage, error) {
	return get[json.RawMessage](ctx, c, "/schema", nil)
}

// Files are files of the workspace by a part of their paths, those first that fit best.
type Files struct {
	Files []string `json:"files"` // paths below the workspace, with slashes
	More  bool     `json:"more"`  // there are others, or not all could be looked at in time
}

// Files lists files whose paths have the characters of part in them, in its order; at most
// limit, which is 50 at most; 0: 20.
func (c *Client) Files(ctx context.Context, part string, limit int) (Files, error) {
	q := url.Values{"q": {part}}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return get[Files](ctx, c, "/files", q)
}
