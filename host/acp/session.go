package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// conversation is a session that the client has open.
type conversation struct {
	id   sdk.SessionId
	show *shower

	mu      sync.Mutex
	key     session.Key // of the session, or of the one in which it goes on
	profile string      // that the next prompt is for
	mode    string      // the permission mode; empty: as the profile says
	fresh   bool        // nothing is stored of it
	turn    *turn       // the prompt that is being answered; nil: none
	watched func()      // ends the watch of a run that no prompt of this client waits for
	asks    string      // the question that the next prompt answers
}

func (c *call) initialize(p *sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	c.mu.Lock()
	c.greeted = true
	if p.ClientInfo != nil {
		c.client = p.ClientInfo.Name
	}
	c.mu.Unlock()
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "roster", Title: sdk.Ptr("Roster"), Version: c.opts.Version},
		AuthMethods:     []sdk.AuthMethod{},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: sdk.SessionCapabilities{
				List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{},
			},
		},
	}, nil
}

func (c *call) authenticate(*sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	return sdk.AuthenticateResponse{}, invalidParams("there is nothing to authenticate with: keys of models are the workspace's matter (roster doctor)")
}

func (c *call) newSession(p *sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	var none sdk.NewSessionResponse
	if err := c.place(p.Cwd, p.AdditionalDirectories); err != nil {
		return none, err
	}
	all, err := c.profiles(c.ctx)
	if err != nil {
		return none, err
	}
	name := c.opts.Profile
	if name == "" {
		if len(all) == 0 {
			return none, errors.New("the workspace has no profile: roster init makes some, and roster list shows those that there are")
		}
		name = all[0].Name
	}
	id := clock.From(c.ctx).ID()
	s := &conversation{
		id: sdk.SessionId(id), key: session.Key{Tenant: tenant, Stream: id}, profile: name,
		mode: c.opts.Flags["permission-mode"], fresh: true,
	}
	s.show = newShower(c.connection, s)
	if err := c.open(s); err != nil {
		return none, err
	}
	c.mu.Lock()
	c.unsaid[s.id] = true
	c.mu.Unlock()
	return sdk.NewSessionResponse{
		SessionId: s.id, Modes: modes(all, name), ConfigOptions: c.options(s.mode), Meta: c.refused(p.McpServers),
	}, nil
}

// open keeps a session for the client.
func (c *connection) open(s *conversation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sessions) >= maxSessions {
		return invalidRequest(fmt.Sprintf("%d sessions are open, and no more are: close one (session/close)", maxSessions))
	}
	c.sessions[s.id] = s
	return nil
}

// place refuses a working directory that is not in the workspace: its files would
// have none of the workspace's rules.
func (c *connection) place(cwd string, further []string) error {
	if len(further) > 0 {
		return invalidParams("additional directories are not taken: the profile says what it may reach outside of its workspace (external_directory)")
	}
	if !filepath.IsAbs(cwd) {
		return invalidParams("cwd is not an absolute path")
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err == nil {
		var rel string
		if rel, err = filepath.Rel(c.dir, real); err == nil && filepath.IsLocal(rel) {
			return nil
		}
	}
	return invalidParams(fmt.Sprintf("cwd %q is not in the workspace %q that this program serves: start it in the other workspace, or with --dir", cwd, c.opts.Dir))
}

// refused says which MCP servers of the client's are not used: they start programs,
// which only the workspace's user may say, in its configuration.
func (c *connection) refused(servers []sdk.McpServer) map[string]any {
	var names []string
	for _, s := range servers {
		switch {
		case s.Stdio != nil:
			names = append(names, s.Stdio.Name)
		case s.Http != nil:
			names = append(names, s.Http.Name)
		case s.Sse != nil:
			names = append(names, s.Sse.Name)
		}
	}
	if names == nil {
		return nil
	}
	c.log.Warn("MCP servers of the editor are not used: add those that agents are to have with roster mcp add", "servers", render.Visible(strings.Join(names, ", ")))
	return map[string]any{"io.github.rosterrun/mcp-servers-not-used": names}
}

// profiles are those that a session can begin with or be switched to, by name.
func (c *connection) profiles(ctx context.Context) ([]*profile.Profile, error) {
	all, _, err := c.opts.Host.Profiles(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p *profile.Profile) bool {
		return p.Name != c.opts.Profile && (p.Hidden.V || p.Mode.V == "subagent")
	}), nil
}

// modes are the profiles, as what an agent can be switched between.
func modes(all []*profile.Profile, current string) *sdk.SessionModeState {
	state := &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(current), AvailableModes: []sdk.SessionMode{}}
	known := false
	for _, p := range all {
		known = known || p.Name == current
		m := sdk.SessionMode{Id: sdk.SessionModeId(p.Name), Name: p.Name}
		if p.Title.V != "" {
			m.Name = p.Title.V
		}
		if p.Description.V != "" {
			m.Description = sdk.Ptr(p.Description.V)
		}
		state.AvailableModes = append(state.AvailableModes, m)
	}
	if !known { // that of a session that is loaded
		state.AvailableModes = append(state.AvailableModes, sdk.SessionMode{Id: state.CurrentModeId, Name: current})
	}
	return state
}

func (c *call) setMode(p *sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	var none sdk.SetSessionModeResponse
	s, err := c.session(p.SessionId)
	if err != nil {
		return none, err
	}
	all, err := c.profiles(c.ctx)
	if err != nil {
		return none, err
	}
	name := string(p.ModeId)
	if !slices.ContainsFunc(all, func(p *profile.Profile) bool { return p.Name == name }) {
		return none, invalidParams(fmt.Sprintf("there is no mode %q: the modes are the profiles of the workspace", name))
	}
	s.mu.Lock()
	s.profile = name
	s.mu.Unlock()
	return none, nil
}

// asProfile is the permission mode that the profile has.
const asProfile = "as-profile"

const permissionMode = "permission-mode"

// options are what the user can set of a session besides the profile.
func (c *connection) options(mode string) []sdk.SessionConfigOption {
	list := []struct{ value, name, text string }{
		{asProfile, "As the profile says", ""},
		{"default", "Ask", "What the rules say to ask is asked"},
		{"plan", "Plan", "Whatever does not only read is denied"},
		{"accept-edits", "Accept edits", "Writing and editing in the workspace is allowed"},
		{"dont-ask", "Do not ask", "What would be asked is denied"},
	}
	if c.opts.AllowAll {
		list = append(list, struct{ value, name, text string }{"bypass", "Bypass", "What would be asked is allowed"})
	}
	if mode == "" {
		mode = asProfile
	}
	values := sdk.SessionConfigSelectOptionsUngrouped{}
	for _, o := range list {
		v := sdk.SessionConfigSelectOption{Value: sdk.SessionConfigValueId(o.value), Name: o.name}
		if o.text != "" {
			v.Description = sdk.Ptr(o.text)
		}
		values = append(values, v)
	}
	return []sdk.SessionConfigOption{{Select: &sdk.SessionConfigOptionSelect{
		Id: permissionMode, Name: "Permissions", Type: "select", CurrentValue: sdk.SessionConfigValueId(mode),
		Options: sdk.SessionConfigSelectOptions{Ungrouped: &values},
	}}}
}

func (c *call) setOption(p *sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	var none sdk.SetSessionConfigOptionResponse
	if p.ValueId == nil || p.ValueId.ConfigId != permissionMode {
		return none, invalidParams("the only option is " + permissionMode)
	}
	s, err := c.session(p.ValueId.SessionId)
	if err != nil {
		return none, err
	}
	value := string(p.ValueId.Value)
	known := *c.options("")[0].Select.Options.Ungrouped
	if !slices.ContainsFunc(known, func(o sdk.SessionConfigSelectOption) bool { return string(o.Value) == value }) {
		return none, invalidParams(fmt.Sprintf("%s has no value %q", permissionMode, value))
	}
	if value == asProfile {
		value = ""
	}
	s.mu.Lock()
	s.mode = value
	s.mu.Unlock()
	return sdk.SetSessionConfigOptionResponse{ConfigOptions: c.options(value)}, nil
}

// session finds a session that the client has open.
func (c *connection) session(id sdk.SessionId) (*conversation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		return s, nil
	}
	return nil, invalidParams(fmt.Sprintf("session not found: %.100q; session/new begins one, and session/load opens one again", string(id)))
}

func (c *call) list(p *sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	const page = 50
	res := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	if p.Cwd != nil {
		if err := c.place(*p.Cwd, nil); err != nil {
			return res, nil // there are none of another workspace
		}
	}
	query := session.Query{Limit: page + 1} // one more tells whether there are more
	if p.Cursor != nil {
		if query.Before = *p.Cursor; !isID(query.Before) {
			return res, invalidParams("the cursor is none that was given here")
		}
	}
	store, err := c.opts.Host.Backend(c.ctx)
	if err != nil {
		return res, err
	}
	last := ""
	for sum, err := range store.List(c.ctx, tenant, query) {
		if err != nil {
			return res, err
		}
		if len(res.Sessions) == page {
			res.NextCursor = &last
			break
		}
		last = sum.Key.Stream
		info := sdk.SessionInfo{SessionId: sdk.SessionId(last), Cwd: c.opts.Dir, UpdatedAt: sdk.Ptr(sum.Updated.UTC().Format(time.RFC3339))}
		if sum.Title != "" {
			info.Title = sdk.Ptr(sum.Title)
		}
		res.Sessions = append(res.Sessions, info)
	}
	return res, nil
}

func isID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

// closeSession ends what the client has of a session, and the run of its prompt.
func (c *call) closeSession(p *sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	var none sdk.CloseSessionResponse
	s, err := c.session(p.SessionId)
	if err != nil {
		return none, err
	}
	if err := c.stop(s); err != nil {
		return none, err
	}
	s.unwatch()
	c.mu.Lock()
	delete(c.sessions, s.id)
	c.mu.Unlock()
	return none, nil
}

// sayCommands tells the client what can be called by a name.
func (c *connection) sayCommands(id sdk.SessionId) {
	all, err := c.opts.Host.Commands(c.ctx)
	if err != nil {
		c.log.Warn("the commands cannot be listed", "error", err)
		return
	}
	list := []sdk.AvailableCommand{}
	for _, v := range all.Commands {
		cmd := sdk.AvailableCommand{Name: v.Name, Description: v.Description}
		if v.Arguments {
			hint := v.Hint
			if hint == "" {
				hint = "arguments"
			}
			cmd.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: hint}}
		}
		list = append(list, cmd)
	}
	c.tell(id, sdk.SessionUpdate{AvailableCommandsUpdate: &sdk.SessionAvailableCommandsUpdate{AvailableCommands: list}})
}

// goOn has a run go on that nobody is at.
func (c *connection) goOn(ctx context.Context, k session.Key) {
	host.Resume(ctx, c.opts.Host, c.opts.Resume, k)
}
