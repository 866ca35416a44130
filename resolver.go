package roster

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
)

// ProfileRequest says which profile is wanted, and for whom.
type ProfileRequest struct {
	AgentID string // a name, as profile.CheckName takes it
	Tenant  string // never empty
}

// ProfileResolver gives profiles from anywhere. It is asked, by name and tenant, for
// each prompt, each agent that is given a task, and each look at a profile. No profile
// and no error says that it has none of the name: the workspace's catalog is looked at
// then. The profile goes by the name that it was asked for.
//
// ctx ends with the request, and after 30 seconds. It is called from several
// goroutines. Profiles of a StaticResolver stand in the catalog, in lists and among
// those that agents give tasks to; those of other resolvers are found by name alone.
type ProfileResolver interface {
	ResolveProfile(ctx context.Context, r ProfileRequest) (*Profile, error)
}

// ResolverFunc is a ProfileResolver that is a function.
type ResolverFunc func(ctx context.Context, r ProfileRequest) (*Profile, error)

// ResolveProfile calls f.
func (f ResolverFunc) ResolveProfile(ctx context.Context, r ProfileRequest) (*Profile, error) {
	return f(ctx, r)
}

// StaticResolver has the same profiles for all tenants. What is wrong with them is the
// error of NewApp: a *DefinitionError.
func StaticResolver(profiles ...*Profile) ProfileResolver {
	s := &static{all: make(map[string]*Profile, len(profiles))}
	for _, p := range profiles {
		s.err = errors.Join(s.err, s.add(p))
	}
	return s
}

// static is immutable once it is made.
type static struct {
	list []*Profile
	all  map[string]*Profile
	err  error
}

func (s *static) add(p *Profile) error {
	if p == nil {
		return &DefinitionError{Field: "Profile", Reason: "is nil: give what DefineProfile makes"}
	}
	if p.err != nil {
		return p.err
	}
	if s.all[p.ID()] != nil {
		return &DefinitionError{Profile: p.ID(), Field: "ID", Reason: "is that of two profiles: one of them needs another"}
	}
	s.list, s.all[p.ID()] = append(s.list, p), p
	return nil
}

// ResolveProfile implements ProfileResolver.
func (s *static) ResolveProfile(_ context.Context, r ProfileRequest) (*Profile, error) {
	if p := s.all[r.AgentID]; p != nil {
		return p, nil
	}
	return nil, s.err
}

// CatalogResolver has the profiles of a catalog, such as one of a tenant's own, as
// its files are when it is asked. A file that does not load is an error. What its
// files allow, start or reach counts only where the workspace is trusted.
func CatalogResolver(c *catalog.Catalog) ProfileResolver {
	return ResolverFunc(func(_ context.Context, r ProfileRequest) (*Profile, error) {
		p, err := c.Get(r.AgentID)
		if errors.Is(err, profile.ProfileNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return &Profile{base: p}, nil
	})
}
