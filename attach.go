package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/command"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Bounds of what one prompt attaches: how many files, and their bytes in all.
const (
	maxAttached      = 32
	maxAttachedBytes = 16 << 20
)

// AttachError: a file that a prompt names cannot go with it.
type AttachError struct{ Path, Reason string }

func (e *AttachError) Error() string { return fmt.Sprintf("@%s: %s", e.Path, e.Reason) }

// Attach makes the parts of a prompt in which the user names files of the
// workspace with @path or @"path": the text, then each file as the profile's tool
// read gives it, images too. What is no file stays text; missed are those that look
// like one. A file that the profile's rules deny is an error, and so is one outside
// of the workspace that they do not allow. Give it only what the user has written
// himself.
func (a *App) Attach(ctx context.Context, name string, over session.Overrides, text string) (parts []message.Part, missed []string, err error) {
	parts = []message.Part{message.Text{Text: text}}
	named := command.Mentions(text)
	if len(named) == 0 {
		return parts, nil, nil
	}
	from := a.now()
	if from.err != nil {
		return nil, nil, from.err
	}
	p, err := a.profileHere(ctx, from, name)
	if err != nil {
		return nil, nil, err
	}
	in := a.input(from, p, over)
	in.RulesOnly = true
	s, _, err := resolve.Spec(in)
	if err != nil {
		return nil, nil, err
	}
	permit, err := s.Permit(false)
	if err != nil {
		return nil, nil, err
	}
	tools, err := tool.Builtins(a.env(s))
	if err != nil {
		return nil, nil, err
	}
	read := tools[slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Def().Name == "read" })]
	seen, size := map[string]bool{}, 0
	for _, m := range named {
		path := fileOf(m, s.Workspace)
		if path == "" && m.LikeFile() {
			missed = append(missed, m.Shortest())
		}
		if path == "" || seen[path] {
			continue
		}
		if seen[path] = true; len(seen) > maxAttached {
			return nil, nil, &AttachError{path, fmt.Sprintf("a prompt takes %d files at most", maxAttached)}
		}
		file, err := attachment(ctx, read, permit, path)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range file {
			switch p := p.(type) {
			case message.Text:
				size += len(p.Text)
			case message.Image:
				size += len(p.Data)
			}
		}
		if size > maxAttachedBytes {
			return nil, nil, &AttachError{path, fmt.Sprintf("the files of a prompt have %d MiB at most: name it without @, and the agent reads of it what it needs", maxAttachedBytes>>20)}
		}
		parts = append(parts, file...)
	}
	return parts, missed, nil
}

// attachment is one file as parts of a prompt.
func attachment(ctx context.Context, read tool.Tool, permit *permission.Engine, path string) ([]message.Part, error) {
	input, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		return nil, err
	}
	plan, err := read.Prepare(ctx, tool.Call{ID: "attach", Input: input, Permit: permit})
	if err != nil {
		return nil, &AttachError{path, err.Error()}
	}
	defer plan.Close()
	needs := plan.Needs()
	outside := slices.ContainsFunc(needs, func(q permission.Query) bool { return q.Tool == permission.ExternalDirectory })
	switch d := permit.Decide(needs...); {
	case d.Effect == permission.Allow:
	case d.Effect == permission.Ask && !outside: // who would be asked has named it
	case outside:
		return nil, &AttachError{path, "it is outside of the workspace: allow external_directory for it in the profile, or copy it"}
	default:
		return nil, &AttachError{path, "the profile may not read it: " + d.Reason}
	}
	r, err := plan.Run(ctx, func(string) {})
	if err != nil {
		return nil, &AttachError{path, err.Error()}
	}
	var parts []message.Part
	for _, p := range r.Parts {
		if t, ok := p.(message.Text); ok && len(r.Parts) == 1 {
			p = message.Text{Text: fmt.Sprintf("\n\n@%s:\n%s", path, t.Text)}
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// fileOf is the path of the file that is meant, relative to the workspace where it is
// in it; empty: there is none.
func fileOf(m command.Mention, workspace string) string {
	for _, path := range m.Paths {
		full := path
		if !filepath.IsAbs(path) {
			full = filepath.Join(workspace, path)
		}
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
