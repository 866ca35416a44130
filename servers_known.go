package roster

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/internal/keep"
	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/mcp"
)

type (
	reach     = profile.Server
	overrides = session.Overrides
)

// memory is what is kept of a server, so that its tools are known while it is not
// there.
type memory struct {
	Name  string           `json:"name"`
	Seen  time.Time        `json:"seen"`
	Tools []mcp.Definition `json:"tools"`
}

func (a *App) memoryFile(digest string) keep.File {
	return keep.File(filepath.Join(a.state, "servers", digest+".json"))
}

// remembered is what is kept of the servers of a spec, by name. What cannot be read
// is not there.
func (a *App) remembered(s *spec.Spec) map[string]memory {
	out := map[string]memory{}
	for i := range s.Servers {
		x := &s.Servers[i]
		if !isDigest(x.Digest) {
			continue
		}
		data, err := a.memoryFile(x.Digest).Read()
		var m memory
		if err == nil && json.Unmarshal(data, &m) == nil {
			out[x.Name] = m
		}
	}
	return out
}

func isDigest(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// remember keeps what the servers have that are up. It is a help for later: that it
// cannot be written is no reason not to go on.
func (a *App) remember(s *spec.Spec, clients []*mcp.Client, known map[string]memory) {
	for _, c := range clients {
		st := c.State()
		x, err := serverNamed(s, c.Name())
		if err != nil || !st.Up || !isDigest(x.Digest) {
			continue
		}
		a.servers.mu.Lock()
		done := a.servers.kept[x.Digest] == st.Generation
		a.servers.kept[x.Digest] = st.Generation
		a.servers.mu.Unlock()
		if done {
			continue
		}
		m := memory{Name: c.Name(), Seen: time.Now().UTC()}
		for _, t := range c.Tools() {
			m.Tools = append(m.Tools, t.Definition)
		}
		if slices.EqualFunc(m.Tools, known[c.Name()].Tools, sameTool) {
			continue
		}
		if err := a.writeMemory(x.Digest, m); err != nil {
			a.opts.Log.Warn("what an MCP server has is not remembered", "server", c.Name(), "error", err)
		}
	}
}

func sameTool(a, b mcp.Definition) bool {
	same := bytes.Equal(a.Schema, b.Schema)
	a.Schema, b.Schema = nil, nil
	return same && reflect.DeepEqual(a, b)
}

func (a *App) writeMemory(digest string, m memory) error {
	f := a.memoryFile(digest)
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return f.Write(data)
}

// secrets are what servers are sent that nobody else is to see.
type secrets struct {
	mu        sync.Mutex
	variables map[string]bool
	values    map[string]bool
}

// add notes what is secret in a server: the variables that it names for its headers,
// and those whose names, or the names of what they fill in, say so, and such values as
// they are written.
func (s *secrets) add(written, full *reach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.variables == nil {
		s.variables, s.values = map[string]bool{}, map[string]bool{}
	}
	for _, name := range secretVariables(written) {
		s.variables[name] = true
	}
	for _, list := range [][]profile.Pair{full.Headers, full.Env} {
		for _, p := range list {
			if secretName(p.Name) {
				for word := range strings.FieldsSeq(p.Value) {
					s.value(word)
				}
			}
		}
	}
}

// value notes a text; a short one could be any word.
func (s *secrets) value(text string) {
	if len(text) >= secret.MinLength && len(s.values) < maxSecrets {
		s.values[text] = true
	}
}

// maxSecrets bounds the values that are looked for in texts.
const maxSecrets = 1000

func (s *secrets) list() (values []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.values {
		values = append(values, v)
	}
	return values
}

func (s *secrets) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.variables {
		names = append(names, v)
	}
	return names
}

// serverVariables are those of the servers of a configuration.
func serverVariables(cfg *config.Config) (names []string) {
	for i := range cfg.Servers {
		if s := &cfg.Servers[i]; s.Inert == nil {
			names = append(names, secretVariables(&s.Server)...)
		}
	}
	return names
}

// secretVariables are the variables of a server that hold secrets.
func secretVariables(s *reach) (names []string) {
	of := func(text string, all bool) {
		for _, name := range (reach{Command: text}).Variables() {
			if all || secret.Name(name) {
				names = append(names, name)
			}
		}
	}
	for _, h := range s.Headers {
		of(h.Value, true)
	}
	for _, e := range s.Env {
		of(e.Value, secret.Name(e.Name))
	}
	for _, text := range append([]string{s.URL, s.Command}, s.Args...) {
		of(text, false)
	}
	return names
}

// secretName says whether the name of a header or a variable says that it holds a
// secret.
func secretName(name string) bool {
	name = strings.ReplaceAll(name, "-", "_")
	return secret.Name(name) || strings.EqualFold(name, "authorization") || strings.EqualFold(name, "cookie")
}
