package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Body reads what the skill says, as its file is now.
func (s *Skill) Body() (string, error) {
	data, err := s.read()
	if err != nil {
		return "", err
	}
	return s.body(data)
}

// Whole reads the SKILL.md as it is now: what it says, all of its text, and the
// revision that this has.
func (s *Skill) Whole() (body, text, rev string, err error) {
	data, err := s.read()
	if err != nil {
		return "", "", "", err
	}
	if s.Dir != "" {
		rev = revision(data)
	}
	body, err = s.body(data)
	return body, string(data), rev, err
}

func (s *Skill) read() ([]byte, error) {
	if s.Dir == "" {
		return s.data, nil
	}
	data, err := readFile(s.root, s.Path())
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", s.File, bare(err))
	}
	return data, nil
}

func (s *Skill) body(data []byte) (string, error) {
	f, ds := profile.Split(s.File, data)
	for i := range ds {
		if ds[i].Severity == profile.SeverityError {
			return "", &ds[i]
		}
	}
	return strings.TrimSpace(string(f.Body)), nil
}

// Text is what the skill says, with what it is called with in the place of
// $ARGUMENTS or, where it does not name that, after it.
func (s *Skill) Text(arguments string) (string, error) {
	body, err := s.Body()
	if err != nil {
		return "", err
	}
	named := strings.Contains(body, argumentsVar)
	body = strings.NewReplacer(argumentsVar, arguments, "${CLAUDE_SKILL_DIR}", s.Dir).Replace(body)
	if arguments != "" && !named {
		body += "\n\nARGUMENTS: " + arguments
	}
	return body, nil
}

const argumentsVar = "$ARGUMENTS"

// Bounds of a list of files.
const (
	maxListed = 100
	maxSeen   = 5000
	maxInside = 6 // folders deep
)

// Files lists the files beside the SKILL.md, by their paths in the folder, and how
// many there are.
func (s *Skill) Files() (list []string, all int) {
	if s.Dir == "" {
		return nil, 0
	}
	fsys, at, closer, err := Place{Root: s.root}.open(s.Dir)
	if err != nil {
		return nil, 0
	}
	defer closer()
	_ = fs.WalkDir(fsys, at, func(name string, e fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, at), "/")
		switch {
		case err != nil:
			return fs.SkipDir
		case name == at:
			return nil
		case hidden(e.Name()) || e.Name() == "node_modules" || e.Name() == "__pycache__":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			if strings.Count(rel, "/") >= maxInside {
				return fs.SkipDir
			}
			return nil
		case rel == path.Base(filepath.ToSlash(s.File)):
			return nil
		}
		if all++; all >= maxSeen {
			return fs.SkipAll
		}
		if len(list) < maxListed {
			list = append(list, rel)
		}
		return nil
	})
	slices.Sort(list)
	return list, all
}

// Source names the skill where rules are lent by it (session.Lent).
func (s *Skill) Source() string { return "skill " + s.Name }

// Lent are the rules that hold while the skill is in use by an agent that works in a
// folder: those given, which are its allowed-tools as far as they count, and those by
// which its own files are read where they are outside. nil: none.
func (s *Skill) Lent(call, workspace string, allowed []permission.Rule) *session.Lent {
	b := &session.Lent{Source: s.Source(), Call: call}
	for _, r := range allowed {
		subject, err := permission.Expand(r.Subject, os.LookupEnv)
		if err != nil || r.Effect != permission.Allow {
			continue // it would only have allowed something
		}
		b.Rules = append(b.Rules, session.Rule{
			Tool: r.Tool, Subject: subject, Effect: r.Effect.String(), Layer: string(r.At.Layer), File: r.At.File, Line: r.At.Line,
		})
	}
	if s.Dir != "" && !within(workspace, s.Dir) && !strings.ContainsAny(s.Dir, "*?") {
		for _, tool := range []string{"read", permission.ExternalDirectory} {
			for _, subject := range []string{s.Dir, s.Dir + "/*"} {
				b.Rules = append(b.Rules, session.Rule{Tool: tool, Subject: subject, Effect: "allow", Layer: string(s.Layer), File: s.File})
			}
		}
	}
	if b.Rules == nil {
		return nil
	}
	return b
}
