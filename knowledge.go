package roster

import (
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
	"github.com/rosterrun/roster/tool/knowledge"
)

// knowledgeOf is the capability of a knowledge base, of those who list a tool of it.
func (a *App) knowledgeOf(s *spec.Spec, files []tool.Tool) ([]engine.Capability, error) {
	if !lists(s, contract.Knowledge) {
		return nil, nil
	}
	i := slices.IndexFunc(files, func(t tool.Tool) bool { return t.Def().Name == "read" })
	tools, err := knowledge.New(knowledge.Options{
		Settings: s.ToolSettings[knowledge.SearchName], Root: s.Workspace, Hidden: a.hidden(),
		Indexes: filepath.Join(a.state, "knowledge"), Read: files[i],
	})
	if err != nil {
		return nil, err
	}
	return []engine.Capability{{Name: string(contract.Knowledge), Summary: contract.Knowledge.Summary(), Tools: tools}}, nil
}

// noKnowledge notes that a profile lists tools and no folder for them.
func (a *App) noKnowledge(s *spec.Spec) []profile.Diagnostic {
	if !lists(s, contract.Knowledge) {
		return nil
	}
	if folders, err := knowledge.Folders(s.ToolSettings[knowledge.SearchName]); err != nil || len(folders) > 0 {
		return nil // a wrong setting is an error of its own
	}
	return []profile.Diagnostic{profile.Diagnose(profile.CodeNoKnowledge, s.Origins["tools"].Origin, "tools",
		"tools lists the knowledge base, and no folder of it is named: its tools are not offered",
		"name some: tool-settings: {knowledge_search: {folders: [docs]}}")}
}
