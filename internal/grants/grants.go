// Package grants keeps what people have allowed for good in a workspace. It is
// outside of the workspace, where no agent's tool can reach it.
package grants

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/keep"
	"github.com/rosterrun/roster/permission"
)

// Grant is one thing that one user allowed one profile in one workspace.
type Grant struct {
	ID        string    `json:"id"` // says all that it covers: the same is granted once
	Tenant    string    `json:"tenant"`
	User      string    `json:"user"`
	Workspace string    `json:"workspace"` // its real path
	Profile   string    `json:"profile"`
	Tool      string    `json:"tool"`
	Subject   string    `json:"subject"`
	Dir       string    `json:"dir,omitempty"`
	Given     time.Time `json:"given"`
	By        string    `json:"by,omitempty"`  // who answered
	Ask       string    `json:"ask,omitempty"` // what was answered
}

// Whose names who grants and where.
type Whose struct{ Tenant, User, Workspace string }

const (
	version = 1
	maxKept = 10_000
)

type document struct {
	Version int     `json:"version"`
	Grants  []Grant `json:"grants"`
}

// Store is the file with all grants. It is safe for concurrent use, also by
// several processes.
type Store struct {
	file keep.File

	mu    sync.Mutex
	stamp keep.Stamp
	known []Grant // as of stamp; not changed once it is here
}

// New returns the store in a file, which need not exist.
func New(file string) *Store { return &Store{file: keep.File(file)} }

// List gives the grants of a workspace, the oldest first.
func (s *Store) List(workspace string) ([]Grant, error) {
	all, err := s.read()
	return slices.DeleteFunc(slices.Clone(all), func(g Grant) bool { return g.Workspace != workspace }), err
}

// For gives what holds for a profile at this moment. Whoever is about to answer
// is waited for.
func (s *Store) For(w Whose, profile string) ([]permission.Grant, error) {
	if st, err := keep.File(string(s.file) + ".lock").Stamp(); err == nil && st == (keep.Stamp{}) {
		return nil, nil // nobody has ever granted anything
	}
	unlock, err := s.file.Lock(context.Background(), true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	var hold []permission.Grant
	for _, g := range all {
		if (Whose{g.Tenant, g.User, g.Workspace}) == w && g.Profile == profile {
			hold = append(hold, permission.Grant{
				Profile: g.Profile, Effect: permission.Allow,
				Query: permission.Query{Tool: g.Tool, Subject: g.Subject, Dir: g.Dir},
			})
		}
	}
	return hold, nil
}

// Add keeps grants once answer, which makes the answer known, has succeeded.
// Until then For waits, so that whoever goes on by the answer finds the grants.
func (s *Store) Add(ctx context.Context, answer func() error, list ...Grant) error {
	return s.update(ctx, func(all []Grant) ([]Grant, error) {
		if len(all)+len(list) > maxKept {
			return nil, fmt.Errorf("there are %d grants already: revoke some (roster approvals grants)", len(all))
		}
		if err := answer(); err != nil {
			return nil, err
		}
		for _, g := range list {
			g.ID = id(&g)
			if !slices.ContainsFunc(all, func(o Grant) bool { return o.ID == g.ID }) {
				all = append(all, g)
			}
		}
		return all, nil
	})
}

// Revoke takes grants of a workspace back, at once for every run, and returns
// them. A prefix of an id is enough if it is that of one grant only.
func (s *Store) Revoke(ctx context.Context, workspace, prefix string) (gone []Grant, err error) {
	err = s.update(ctx, func(all []Grant) ([]Grant, error) {
		match := func(g Grant) bool { return g.Workspace == workspace && strings.HasPrefix(g.ID, prefix) }
		for _, g := range all {
			if match(g) {
				gone = append(gone, g)
			}
		}
		if len(gone) == 0 || prefix == "" {
			return nil, &NotFoundError{prefix}
		}
		if len(gone) > 1 {
			return nil, fmt.Errorf("%d grants have an id that begins with %s: write more of it", len(gone), prefix)
		}
		return slices.DeleteFunc(all, match), nil
	})
	if errors.Is(err, fs.ErrNotExist) { // there is no folder for it yet
		err = &NotFoundError{prefix}
	}
	return gone, err
}

// NotFoundError is returned for a grant that is not there.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("there is no grant %q: see roster approvals grants", e.ID)
}

// id is the digest of what a grant covers.
func id(g *Grant) string {
	h := sha256.New()
	for _, part := range []string{g.Tenant, g.User, g.Workspace, g.Profile, g.Tool, g.Subject, g.Dir} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// read gives all grants, from memory if the file is as it was.
func (s *Store) read() ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp, err := s.file.Stamp()
	if err != nil || stamp == s.stamp {
		return s.known, err
	}
	data, err := s.file.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s cannot be read, so nothing is granted: %w (repair the file, or remove it)", s.file, err)
	}
	if doc.Version != version {
		return nil, fmt.Errorf("%s is of version %d, which this program does not know, so nothing is granted", s.file, doc.Version)
	}
	s.stamp, s.known = stamp, doc.Grants
	return s.known, nil
}

func (s *Store) update(ctx context.Context, change func([]Grant) ([]Grant, error)) error {
	unlock, err := s.file.Lock(ctx, false)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	all, err = change(slices.Clone(all))
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b Grant) int { return cmp.Or(a.Given.Compare(b.Given), cmp.Compare(a.ID, b.ID)) })
	data, err := json.MarshalIndent(document{version, all}, "", "  ")
	if err != nil {
		return err
	}
	return s.file.Write(append(data, '\n'))
}
