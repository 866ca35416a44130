package acp

import (
	"encoding/json"
	"path/filepath"

	sdk "github.com/coder/acp-go-sdk"
)

// kindOf says what a tool does, for the sign that the client shows it by.
func kindOf(tool string) sdk.ToolKind {
	switch tool {
	case "read", "knowledge_read", "knowledge_list", "skill", "mcp_read", "mcp_resources", "browser_read":
		return sdk.ToolKindRead
	case "write", "edit":
		return sdk.ToolKindEdit
	case "glob", "grep", "knowledge_search":
		return sdk.ToolKindSearch
	case "bash":
		return sdk.ToolKindExecute
	case "webfetch", "websearch", "browser_open":
		return sdk.ToolKindFetch
	case "todo", "scratchpad", "plan", "task":
		return sdk.ToolKindThink
	case "switch_profile":
		return sdk.ToolKindSwitchMode
	}
	return sdk.ToolKindOther
}

// changes says whether a tool changes a file in a way that its input shows.
func changes(tool string) bool { return tool == "write" || tool == "edit" }

// fileInput is what the tools for files take.
type fileInput struct {
	Path    string  `json:"path"`
	Offset  int     `json:"offset"`
	Old     string  `json:"old"`
	New     string  `json:"new"`
	Content *string `json:"content"`
}

// file reads the input of a tool for files; false: it names none.
func (c *connection) file(tool string, input []byte) (in fileInput, ok bool) {
	switch tool {
	case "read", "write", "edit":
	default:
		return in, false
	}
	if json.Unmarshal(input, &in) != nil || in.Path == "" {
		return in, false
	}
	if !filepath.IsAbs(in.Path) {
		in.Path = filepath.Join(c.opts.Dir, in.Path)
	}
	return in, true
}

// locations are the files that a call is about.
func (c *connection) locations(tool string, input []byte) []sdk.ToolCallLocation {
	in, ok := c.file(tool, input)
	if !ok {
		return nil
	}
	l := sdk.ToolCallLocation{Path: in.Path}
	if in.Offset > 0 {
		l.Line = sdk.Ptr(in.Offset)
	}
	return []sdk.ToolCallLocation{l}
}

// diff is the change that a call would make: of an edit the piece that is replaced,
// of a write the whole new content.
func (c *connection) diff(tool string, input []byte) []sdk.ToolCallContent {
	in, ok := c.file(tool, input)
	switch {
	case ok && tool == "edit":
		return []sdk.ToolCallContent{sdk.ToolDiffContent(in.Path, in.New, in.Old)}
	case ok && tool == "write" && in.Content != nil:
		return []sdk.ToolCallContent{sdk.ToolDiffContent(in.Path, *in.Content)}
	}
	return nil
}

// rawInput is the input of a call as it is; what is no JSON, as text.
func rawInput(input []byte) any {
	switch {
	case len(input) == 0:
		return nil
	case json.Valid(input):
		return json.RawMessage(input)
	}
	return string(input)
}
