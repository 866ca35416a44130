package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
)

// atServers are the commands that work with a server as well.
var atServers = []string{
	"run", "chat", "compare", "list", "show", "explain", "permit", "tools", "new", "check", "rm", "profile history", "profile diff", "profile rollback", "usage", "audit",
	"keys add", "keys list", "keys revoke", "keys rotate",
	"skills list", "skills show", "commands list", "models list", "mcp list", "doctor",
	"sessions list", "sessions show", "sessions events", "sessions search", "sessions request", "sessions tree",
	"sessions fork", "sessions revert", "sessions rerun", "sessions undo", "sessions cancel", "sessions steer", "sessions followup",
	"sessions export", "sessions import", "sessions prune",
	"approvals list", "approvals answer",
	"rig check", "rig list", "rig graph", "rig status", "rig run", "rig log", "rig dead", "rig replay", "rig drop", "tieoffs",
}

// mayReach settles whether a command works here or with a server, and refuses what
// only works here.
func (c *cli) mayReach(cmd *cobra.Command) error {
	how := "leave --server out"
	if c.server == "" {
		c.server, how = c.getenv("ROSTER_SERVER"), "unset ROSTER_SERVER"
	}
	if c.server == "" {
		if c.keyFile != "" {
			return usagef("--key-file goes with --server")
		}
		return nil
	}
	if !slices.Contains(atServers, strings.TrimPrefix(cmd.CommandPath(), "roster ")) {
		if how == "unset ROSTER_SERVER" && needsNothing(cmd) {
			c.server = ""
			return nil
		}
		return usagef("%s works on this machine only: %s", cmd.CommandPath(), how)
	}
	for _, name := range []string{"dir", "state", "profiles", "trust"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usagef("--%s is about this machine, and %s is a server: take one of the two", name, c.server)
		}
	}
	return nil
}

// needsNothing says whether a command looks at no workspace.
func needsNothing(cmd *cobra.Command) bool {
	path := strings.Fields(cmd.CommandPath())
	return len(path) < 2 || strings.HasPrefix(path[1], "__") ||
		slices.Contains([]string{"help", "completion", "version", "explain-code", "schema"}, path[1])
}

// reach opens the workspace or, with --server, reaches that.
func (c *cli) reach() (place, error) { return c.reachWith(roster.Options{}) }

// reachWith is reach; the options are those of the workspace.
func (c *cli) reachWith(o roster.Options) (place, error) {
	if c.server == "" {
		app, err := c.open(o)
		if err != nil {
			return nil, err
		}
		return here{app}, nil
	}
	key, err := c.serverKey()
	if err != nil {
		return nil, err
	}
	to, err := client.New(c.server, client.Options{Key: key, Waits: c.waits})
	if err != nil {
		return nil, usagef("--server: %v", err)
	}
	return server{to}, nil
}

// waits says that a command goes on later, and why.
func (c *cli) waits(why error, pause time.Duration) {
	if c.onWait != nil {
		c.onWait(why)
		return
	}
	if !c.quiet {
		fmt.Fprintf(c.stderr, "roster: asking again in %v: %v\n", pause.Round(time.Second), why)
	}
}

// maxKey bounds the file with a key, in bytes.
const maxKey = 64 << 10

func (c *cli) serverKey() (string, error) {
	if c.keyFile == "" {
		return c.getenv("ROSTER_KEY"), nil
	}
	f, err := os.Open(c.keyFile)
	if err != nil {
		return "", usagef("--key-file: %v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return "", usagef("--key-file: %v", err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", usagef("--key-file: %s is empty", c.keyFile)
	}
	return key, nil
}

// server is a place behind HTTP.
type server struct{ c *client.Client }

func (s server) Dir() string      { return s.c.URL() }
func (s server) StateDir() string { return s.c.URL() }
func (server) GoesOn() bool       { return true }

func (s server) Close(context.Context) error {
	s.c.Close()
	return nil
}

// onlyHere refuses what overrides the keys of a profile that is looked at.
func onlyHere(over session.Overrides) error {
	if len(over.Flags) > 0 || over.AllowAll {
		return usagef("--set and --mode are for profiles of this machine: a server shows its own as they are")
	}
	return nil
}

func (s server) Profiles(ctx context.Context) ([]view.Item, []profile.Diagnostic, error) {
	list, err := s.c.Profiles(ctx)
	if err != nil {
		return nil, nil, err
	}
	ds, err := s.c.Diagnostics(ctx)
	items := make([]view.Item, len(list))
	for i := range list {
		items[i] = list[i].Item()
	}
	return items, ds, err
}

func (s server) Profile(ctx context.Context, name string) (view.Profile, error) {
	p, err := s.c.Profile(ctx, name)
	return *p, err
}

func (s server) Prompt(ctx context.Context, name string, over session.Overrides) (view.Prompt, error) {
	if err := onlyHere(over); err != nil {
		return view.Prompt{}, err
	}
	return s.c.ProfilePrompt(ctx, name)
}

func (s server) Explain(ctx context.Context, name string, over session.Overrides) (resolve.Explanation, []profile.Diagnostic, error) {
	if err := onlyHere(over); err != nil {
		return resolve.Explanation{}, nil, err
	}
	if strings.Contains(name, "@") {
		return resolve.Explanation{}, nil, usagef("%s: versions can be explained on this machine only", name)
	}
	e, err := s.c.ProfileSpec(ctx, name)
	return e, e.Diagnostics, err
}

func (s server) Permit(ctx context.Context, name string, over session.Overrides, tool, subject string) (view.Permit, []profile.Diagnostic, error) {
	if err := onlyHere(over); err != nil {
		return view.Permit{}, nil, err
	}
	p, err := s.c.ProfilePermit(ctx, name, tool, subject)
	return p, nil, err
}

func (s server) Tools(ctx context.Context, name string, over session.Overrides) (view.Tools, []profile.Diagnostic, error) {
	if err := onlyHere(over); err != nil {
		return view.Tools{}, nil, err
	}
	t, err := s.c.ProfileTools(ctx, name)
	return t, nil, err
}

func (s server) ProfileHistory(ctx context.Context, name string) ([]view.Version, []profile.Diagnostic, error) {
	all, err := s.c.ProfileHistory(ctx, name)
	return all, nil, err
}

func (s server) ProfileDiff(ctx context.Context, name, from, to string) (string, error) {
	return s.c.ProfileDiff(ctx, name, from, to)
}

func (s server) Create(ctx context.Context, name string, f newFlags) (view.Profile, error) {
	keys, err := f.keys()
	if err != nil {
		return view.Profile{}, err
	}
	object, err := resolve.Object(source.Flag, keys)
	if err != nil {
		return view.Profile{}, usagef("%v", err)
	}
	if prompt := strings.TrimRight(f.prompt, "\n"); prompt != "" {
		object["system_prompt"] = prompt + "\n"
	}
	if _, err := s.c.CreateProfile(ctx, name, object, f.dialect); err != nil {
		return view.Profile{}, err
	}
	return s.Profile(ctx, name)
}

func (s server) Rollback(ctx context.Context, name, version string) (view.Profile, error) {
	if _, err := s.c.RollbackProfile(ctx, name, version, ""); err != nil {
		return view.Profile{}, err
	}
	return s.Profile(ctx, name)
}

func (s server) Delete(ctx context.Context, name string) (file string, err error) {
	if p, err := s.c.Profile(ctx, name); err == nil {
		file = p.Source.File
	}
	return file, s.c.DeleteProfile(ctx, name, "")
}

func (s server) CheckText(ctx context.Context, path, text string) (view.Checked, error) {
	return s.c.CheckProfile(ctx, path, text)
}

func (s server) SkillList(ctx context.Context, name string) ([]view.Skill, []profile.Diagnostic, error) {
	list, err := s.c.Skills(ctx, name)
	return list, nil, err
}

func (s server) SkillNamed(ctx context.Context, name string) (view.Skill, error) {
	v, err := s.c.Skill(ctx, name)
	if err != nil {
		return view.Skill{}, err
	}
	return *v, nil
}

func (s server) AllCommands(ctx context.Context) (view.Commands, error) { return s.c.Commands(ctx) }

func (s server) AllTools(ctx context.Context) ([]view.Capability, error) {
	return s.c.Capabilities(ctx)
}

func (s server) Files(ctx context.Context, part string, limit int) (host.Files, error) {
	found, err := s.c.Files(ctx, part, limit)
	return host.Files(found), err
}

func (s server) AllModels(ctx context.Context) ([]modelcatalog.Info, error) { return s.c.Models(ctx) }

func (s server) Servers(ctx context.Context, name string) ([]view.Server, []profile.Diagnostic, error) {
	list, err := s.c.Servers(ctx, name)
	return list, nil, err
}

func (s server) Findings(ctx context.Context) ([]view.Finding, error) { return s.c.Doctor(ctx) }

// prompt is what a server is sent of an Ask.
func (server) prompt(ask *roster.Ask) (client.Prompt, error) {
	p := client.Prompt{
		Profile: ask.Profile, OnBusy: ask.OnBusy, OnDeny: ask.OnDeny, Schema: ask.Schema, Approvals: "wait",
	}
	if ask.AllowAll {
		return p, usagef("--dangerously-allow-all is for this machine")
	}
	if ask.Headless {
		p.Approvals = "deny"
	}
	for key, value := range ask.Flags {
		if p.Overrides == nil {
			p.Overrides = map[string]any{}
		}
		p.Overrides[key] = value
	}
	for _, part := range ask.Parts {
		switch part := part.(type) {
		case message.Text:
			p.Message += part.Text
		case message.Image:
			p.Attachments = append(p.Attachments, client.Attachment{MediaType: part.MediaType, Data: part.Data})
		}
	}
	if ask.Command != nil {
		p.Command = &client.Call{Name: ask.Command.Name, Arguments: ask.Command.Arguments}
	}
	return p, nil
}

func submitted(k session.Key, a client.Accepted, err error) (roster.Submitted, error) {
	return roster.Submitted{Key: session.Key{Tenant: k.Tenant, Stream: a.SessionID}, Asked: k, Post: a.Seq}, err
}

func (s server) Submit(ctx context.Context, ask roster.Ask) (roster.Submitted, error) {
	p, err := s.prompt(&ask)
	if err != nil {
		return roster.Submitted{}, err
	}
	if ask.Key.Stream == "" {
		a, err := s.c.NewSession(ctx, p)
		return submitted(ask.Key, a, err)
	}
	a, err := s.c.Prompt(ctx, ask.Key.Stream, p)
	return submitted(ask.Key, a, err)
}

func (s server) Rerun(ctx context.Context, k session.Key, at string, ask roster.Ask) (roster.Submitted, error) {
	p, err := s.prompt(&ask)
	if err != nil {
		return roster.Submitted{}, err
	}
	a, err := s.c.Rerun(ctx, k.Stream, at, p)
	return submitted(k, a, err)
}

func (s server) Follow(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error] {
	return func(yield func([]session.Event, error) bool) {
		for e, err := range s.c.Events(ctx, k.Stream, client.EventsOptions{After: after}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if _, usage := e.Body.(*client.ContextUsage); !usage && !yield([]session.Event{e}, nil) {
				return
			}
		}
	}
}

// Resume does nothing: a server's sessions go on by themselves.
func (server) Resume(context.Context, session.Key) error { return session.ErrNoWork }

func (s server) Cancel(ctx context.Context, k session.Key, reason string) error {
	return s.c.Cancel(ctx, k.Stream, reason)
}

func (s server) Steer(ctx context.Context, k session.Key, parts []message.Part) error {
	return s.c.Steer(ctx, k.Stream, message.PartsText(parts))
}

func (s server) Followup(ctx context.Context, k session.Key, parts []message.Part) error {
	return s.c.Followup(ctx, k.Stream, message.PartsText(parts))
}

func (s server) Approvals(ctx context.Context, k session.Key) ([]roster.Approval, error) {
	return s.c.Approvals(ctx, k.Stream)
}

func (s server) Answer(ctx context.Context, _, id string, a roster.Answer) (roster.Approval, error) {
	asked := roster.Approval{ID: id}
	stream, _, _ := session.ParseAskID(id)
	if list, err := s.c.Approvals(ctx, stream); err == nil { // else the answer says why
		for i := range list {
			if list[i].ID == id {
				asked = list[i]
			}
		}
	}
	var err error
	switch {
	case a.Answer == session.AnswerText:
		_, err = s.c.Reply(ctx, stream, id, a.Text)
	case asked.Question != "" && a.Answer == session.AnswerNo:
		_, err = s.c.Decline(ctx, stream, id, a.Message)
	default:
		_, err = s.c.Decide(ctx, id, client.Decision{Answer: a.Answer, ForSession: a.ForSession, Message: a.Message})
	}
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Code == "InvalidAnswer" {
		err = &roster.AnswerError{ID: id, Reason: refused.Message}
	}
	return asked, err
}

func (s server) Fork(ctx context.Context, k session.Key, id, at string) (session.Key, error) {
	to, err := s.c.Fork(ctx, id, at)
	return session.Key{Tenant: k.Tenant, Stream: to}, err
}

func (s server) Revert(ctx context.Context, k session.Key, to string) (string, error) {
	return s.c.Revert(ctx, k.Stream, to)
}

func (s server) Tree(ctx context.Context, _ session.Key, id string) ([]view.TreeMessage, error) {
	return s.c.Tree(ctx, id)
}

func (s server) Request(ctx context.Context, _ session.Key, id string, turn int, about string) (*view.Request, error) {
	return s.c.Request(ctx, id, turn, about)
}

func (s server) Undo(ctx context.Context, k session.Key, o roster.UndoOptions) (view.Undo, error) {
	return s.c.Undo(ctx, k.Stream, client.Undo{DryRun: o.DryRun, Redo: o.Redo, Last: o.Last, Shared: o.Shared, Plan: o.Plan})
}

func (s server) Search(ctx context.Context, _, words string, limit int) ([]view.Found, error) {
	list := []view.Found{}
	for f, err := range s.c.Sessions(ctx, client.SessionQuery{Search: words, Limit: limit}) {
		if err != nil {
			return nil, err
		}
		list = append(list, view.Found{Session: f.SessionInfo, Seq: f.Seq, Match: f.Match})
	}
	return list, nil
}
