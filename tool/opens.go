package tool

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/permission/shell"
)

// opens lists what the redirections of a command line need besides what rules
// see of the line itself, which is only text: a path that goes through links is
// also judged as the file that it leads to, and one in a source of profiles as
// protected. It is the file of this moment: what a line changes before it opens
// a file is for the sandbox, as is what its commands open.
func (w *workspace) opens(line, dir string) ([]permission.Query, error) {
	if !strings.ContainsAny(line, "<>") {
		return nil, nil
	}
	all, err := shell.Analyze(line)
	if err != nil {
		return nil, nil // all of the line is unknown to the rules
	}
	var needs []permission.Query
	for _, r := range all.Redirects {
		name, known := r.Path.Literal()
		if !known || name == "" {
			continue
		}
		if strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/") && strings.Contains(name, "/fd/") {
			continue // it would be followed to what is open here, not there
		}
		if !filepath.IsAbs(name) {
			name = dir + "/" + name
		}
		more, err := w.redirected(name, r.Write)
		if err != nil {
			return nil, err
		}
		needs = append(needs, more...)
	}
	return needs, nil
}

// redirected is what one redirection needs. A path that cannot be followed is
// none that the shell can open.
func (w *workspace) redirected(name string, write bool) ([]permission.Query, error) {
	t, err := w.open(name)
	if state := (*StateDirError)(nil); errors.As(err, &state) {
		return nil, err
	} else if err != nil {
		return nil, nil
	}
	defer t.Close()
	straight := t.Path == filepath.Clean(name)
	if !write {
		if straight {
			return nil, nil
		}
		return reads("read", t.subject, t.outside), nil
	}
	// A shell writes into the file as it is, so under its other names too, and
	// where those are nobody can tell.
	needs := w.writes("write", t)
	if !t.outside && t.Links() > 1 {
		return append(needs, permission.Query{Tool: permission.ExternalDirectory, Subject: t.subject}), nil
	}
	told := !w.protected.Has(t.Path, t.subject) || permission.DefaultProtected().Has(t.Path, t.subject)
	if straight && told {
		return nil, nil
	}
	return needs, nil
}
