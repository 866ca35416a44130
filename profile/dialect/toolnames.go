package dialect

import (
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/contract"
)

// Tools lists the tools that are built in, by their names here.
func Tools() []string { return contract.Names() }

// foreignTools is the one table of other systems' tool names; those of our groups
// come first. It names what does the same; a name that only comes close is not in
// it.
func foreignTools(name string) []string {
	if tools := contract.In(contract.Group(name)); tools != nil {
		return tools
	}
	switch name {
	case "fs", "filesystem", "File", "fs_*":
		return contract.In(contract.Files)
	case "search", "codebase", "search/codebase", "code_search":
		return []string{"grep", "glob"}
	case "edit/editFiles", "editFiles", "fs_write":
		return []string{"edit", "write"}
	case "Read", "read_file", "file_read", "ReadFile", "fs_read", "view", "readFile", "read/readFile":
		return []string{"read"}
	case "Write", "write_file", "file_write", "WriteFile", "create_file", "createFile", "edit/createFile":
		return []string{"write"}
	case "Edit", "edit_file", "file_edit", "EditFile", "replace", "str_replace", "apply_patch":
		return []string{"edit"}
	case "Glob", "find_files", "fileSearch", "search/fileSearch", "findTestFiles":
		return []string{"glob"}
	case "Grep", "search_file_content", "grep_search", "grep_files", "textSearch", "search/textSearch", "usages", "search/usages":
		return []string{"grep"}
	case "Bash", "local_shell", "terminal", "execute", "execute_bash", "execute_command", "run_shell_command",
		"runCommands", "runInTerminal", "terminalCommand", "execute/runInTerminal", "powershell":
		return []string{"bash"}
	case "WebFetch", "web_fetch", "fetch", "web/fetch":
		return []string{"webfetch"}
	case "WebSearch", "web_search", "google_web_search":
		return []string{"websearch"}
	case "TodoWrite", "todowrite", "todos", "write_todos":
		return []string{"todo"}
	case "update_plan":
		return []string{"plan"}
	case "Task", "Agent", "agent", "runSubagent", "agent/runSubagent":
		return []string{"task"}
	case "Skill", "activate_skill":
		return []string{"skill"}
	case "AskUserQuestion", "question", "askQuestions", "vscode/askQuestions":
		return []string{"ask_user"}
	case "save_memory", "vscode/memory":
		return []string{"memory"}
	}
	return partialTools(name)
}

// partialTools are the names that stand for a part of one of our tools. To list
// one is to list our tool; to forbid one does not forbid our tool, which does
// more than it.
func partialTools(name string) []string {
	switch name {
	case "LS", "ListDir", "list", "list_dir", "list_directory", "listDirectory", "search/listDirectory", "fs_list",
		"NotebookRead", "read_many_files", "view_image", "viewImage", "read/viewImage", "read/getNotebookSummary":
		return []string{"read"}
	case "createDirectory", "edit/createDirectory":
		return []string{"write"}
	case "MultiEdit", "NotebookEdit", "patch", "editNotebook", "edit/editNotebook":
		return []string{"edit"}
	case "BashOutput", "KillBash", "KillShell", "TaskOutput", "TaskStop", "getTerminalOutput", "awaitTerminal", "killTerminal",
		"execute/getTerminalOutput", "execute/awaitTerminal", "execute/killTerminal":
		return []string{"bash"}
	case "TodoRead", "todoread", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate":
		return []string{"todo"}
	case "EnterPlanMode", "ExitPlanMode", "enter_plan_mode", "exit_plan_mode":
		return []string{"plan"}
	}
	return nil
}

// toolNames gives our names for a tool of any system; an unknown name stands
// for itself.
func toolNames(name string) (names []string, known bool) {
	if contract.Find(name) != nil {
		return []string{name}, true
	}
	if ours := foreignTools(name); ours != nil {
		return ours, true
	}
	if offered, ok := serverTool(name); ok {
		return []string{offered}, true
	}
	return []string{name}, strings.Contains(name, "*")
}

// serverTool gives the name under which a tool of an MCP server is offered, for
// the ways in which other systems write it: mcp__server__tool, server/tool,
// @server/tool. A server without a tool, where that can only be a server,
// stands for all of its tools.
func serverTool(name string) (string, bool) {
	server, tool, ok := "", "", false
	if rest, is := strings.CutPrefix(name, "mcp__"); is {
		server, tool, _ = strings.Cut(rest, "__")
		ok = true
	} else if rest, is := strings.CutPrefix(name, "@"); is {
		server, tool, _ = strings.Cut(rest, "/")
		ok = true
	} else {
		server, tool, ok = strings.Cut(name, "/")
		ok = ok && tool != "" && !isToolset(server)
	}
	if !ok || server == "" || !alphanumeric(server[0]) {
		return "", false
	}
	if tool == "" {
		tool = "*"
	}
	return offeredName(server) + "_" + offeredName(tool), true
}

// isToolset knows the sets of an editor's own tools, which are written like
// servers.
func isToolset(name string) bool {
	switch name {
	case "vscode", "edit", "execute", "read", "search", "web", "agent", "todo", "runCommands", "runTasks", "runNotebooks":
		return true
	}
	return false
}

// offeredName replaces the characters that tool names cannot hold. A pattern
// stays one.
func offeredName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (alphanumeric(byte(r)) || strings.ContainsRune("_-*", r)) {
			return r
		}
		return '_'
	}, s)
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// mapTool gives the one name of ours for a tool, or the name itself.
func mapTool(name string) string {
	if names, _ := toolNames(name); len(names) == 1 {
		return names[0]
	}
	return name
}

// names gives our names for a tool as the file's dialect means it.
func (d *decoder) names(name string) ([]string, bool) {
	if d.alias != nil {
		if ours := d.alias(name); ours != nil {
			return ours, true
		}
	}
	return toolNames(name)
}

// ruleTools gives the names that a rule for a tool stands for. A rule that
// restricts a part of one of our tools stands for that name alone. One that
// restricts BASH means ours, for there is no other; one that allows it may not.
func ruleTools(name string, e permission.Effect) []string {
	if e != permission.Allow && partialTools(name) != nil {
		return []string{name}
	}
	names, known := toolNames(name)
	if low := strings.ToLower(name); !known && e != permission.Allow && contract.Find(low) != nil {
		return []string{low}
	}
	return names
}

// claudeTool spells one of our tools as Claude does.
func claudeTool(name string) string {
	switch name {
	case "read", "write", "edit", "glob", "grep", "bash", "skill":
		return strings.ToUpper(name[:1]) + name[1:]
	case "webfetch":
		return "WebFetch"
	case "websearch":
		return "WebSearch"
	case "todo":
		return "TodoWrite"
	case "task":
		return "Agent"
	case "ask_user":
		return "AskUserQuestion"
	}
	return name
}

// opencodeTool spells one of our tools as OpenCode does.
func opencodeTool(name string) string {
	switch name {
	case "todo":
		return "todowrite"
	case "ask_user":
		return "question"
	}
	return name
}

// copilotTool spells one of our tools as Copilot does.
func copilotTool(name string) string {
	switch name {
	case "edit":
		return "edit/editFiles"
	case "write":
		return "edit/createFile"
	case "glob":
		return "search/fileSearch"
	case "grep":
		return "search/textSearch"
	case "bash":
		return "execute"
	case "webfetch":
		return "web/fetch"
	case "task":
		return "agent"
	case "ask_user":
		return "vscode/askQuestions"
	case "memory":
		return "vscode/memory"
	}
	return name
}

// copilotAlias reads the names that mean something else in Copilot than in the
// table: a set of tools under the name of one of ours. Letter case is free.
func copilotAlias(name string) []string {
	switch low := strings.ToLower(name); low {
	case "edit":
		return []string{"edit", "write"}
	case "read", "search", "execute", "agent", "web", "todo", "shell", "bash", "powershell":
		names, _ := toolNames(low)
		return names
	}
	return nil
}

// geminiTool spells one of our tools as Gemini does.
func geminiTool(name string) string {
	switch name {
	case "read":
		return "read_file"
	case "write":
		return "write_file"
	case "edit":
		return "replace"
	case "grep":
		return "grep_search"
	case "bash":
		return "run_shell_command"
	case "webfetch":
		return "web_fetch"
	case "websearch":
		return "google_web_search"
	case "todo":
		return "write_todos"
	case "skill":
		return "activate_skill"
	case "memory":
		return "save_memory"
	}
	if geminiAlias(name) != nil {
		return "mcp_" + name
	}
	return name
}

// geminiAlias reads mcp_server_tool. What stands for every tool of every server
// has no name among ours.
func geminiAlias(name string) []string {
	if rest, ok := strings.CutPrefix(name, "mcp_"); ok && strings.Contains(strings.Trim(rest, "_"), "_") && !strings.HasPrefix(rest, "_") {
		return []string{offeredName(rest)}
	}
	return nil
}
