package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// MCPServer is an MCP server that is there for all profiles.
type MCPServer struct {
	profile.Server
	// Item is what has to be trusted of it, and Inert why it has no effect; nil: it
	// has one.
	Item  trust.Item
	Inert *trust.Error
}

// servers reads those of roster.yaml. They have the form that they have in a
// profile.
func (s section) servers(it item) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: it.key, Line: it.at.Line, Column: it.at.Column}
	_, ds := dialect.Keys(s.file, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, it.node}})
	s.strictly(ds)
	list, names, _ := profile.ServerEntries(it.node)
	if len(names) > 0 {
		s.notAllowed(it, "%s takes a map of servers by name; a list of names is for profiles", it.path)
	}
	for _, e := range list {
		s.oneServer(it.path, e, time.Second)
	}
}

// oneServer takes one server in.
func (s section) oneServer(key string, e profile.ServerEntry, unit time.Duration) {
	server, off, _, err := profile.ParseServer(e.Name, e.Value, unit)
	if err != nil || off {
		return // what is wrong was said; one that is taken away is not there
	}
	at := s.at(e.Item)
	found := MCPServer{Server: server, Item: trust.ServerItem("", key, e, at)}
	if s.workspace {
		found.Inert = s.judge(found.Item)
	}
	s.cfg.Servers = append(s.cfg.Servers, found)
}

// serverFiles reads the servers of other tools' files in the workspace. What is
// wrong with them keeps nothing of ours from working.
func (l *loader) serverFiles() {
	for _, f := range trust.ServerFiles() {
		s := section{l, origin{file: f.Name, layer: source.Defaults, workspace: true}}
		data, err := readFile(filepath.Join(l.cfg.Dir, f.Name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		at := source.Origin{Layer: s.layer, File: f.Name}
		if err == nil && len(data) > maxFile {
			err = fmt.Errorf("it has more than %d bytes", maxFile)
		}
		if err != nil {
			s.report(CodeServers, at, "", fmt.Sprintf("the file cannot be read: %v", err), "")
			continue
		}
		l.cfg.Files = append(l.cfg.Files, filepath.Join(l.cfg.Dir, f.Name))
		key, value, err := f.Servers(data)
		if err != nil {
			at, message := s.yamlError(err)
			s.report(CodeServers, at, "", message, "")
		} else if value != nil {
			s.foreign(key, value, f.Unit)
		}
	}
}

// foreign takes in the servers of such a file.
func (s section) foreign(key string, value *yaml.Node, unit time.Duration) {
	list, _, _ := profile.ServerEntries(value)
	seen := map[string]bool{}
	for _, e := range list {
		path := join(key, e.Name)
		_, _, unknown, err := profile.ParseServer(e.Name, e.Value, unit)
		if seen[e.Name] {
			err = errors.New("the name stands twice; the first counts")
		}
		seen[e.Name] = true
		if err != nil {
			s.report(CodeServers, s.at(e.Item), path, path+": "+strings.ReplaceAll(err.Error(), "\n", "; ")+"; the server is left out", "")
			continue
		}
		if len(unknown) > 0 {
			s.report(CodeServers, s.at(e.Item), path, path+": "+strings.Join(unknown, ", ")+" has no effect here", "")
		}
		s.oneServer(key, e, unit)
	}
}
