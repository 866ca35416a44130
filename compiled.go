package roster

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/engine"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool/skill"
)

// compiled keeps what profiles came to, as long as nothing that went into it
// has changed. It is safe for concurrent use.
type compiled struct {
	mu   sync.Mutex
	kept map[compiledKey]compilation
	most int // 0: keptCompilations
}

type compiledKey struct {
	profile, overrides string
	of                 *profile.Profile // as it stands in the catalog, or as a resolver gives it
	built              string           // the revision of what was built of it for the request
	session            session.Settings
	allowAll, headless bool
	above              string // the spec of the agent that delegates
	client             string // what the program brings along that asks
	tree               string // that it works in
}

// compilation is a blueprint with all that it was made of: the catalog, which is
// another one when a file of it changes, and the files of its prompt.
type compilation struct {
	catalog   *catalog.Snapshot // whose profiles it may give tasks, or its session, to
	skills    *skill.Snapshot
	files     []file
	blueprint *engine.Blueprint
}

// file is a file as it was when it was looked at.
type file struct {
	path  string
	there bool
	size  int64
	mtime time.Time
}

// Bounds of what is kept.
const (
	keptCompilations = 256
	// settled is how old a change must be to be told from a later one.
	settled = 2 * time.Second
)

// compile resolves a profile to what runs of it share.
func (a *App) compile(ctx context.Context, name string, over session.Overrides, headless bool) (*engine.Blueprint, error) {
	return a.compileIn(ctx, compiling{name: name, over: over, headless: headless})
}

// compiling is what a profile is compiled for.
type compiling struct {
	name     string
	of       request // for whom
	over     session.Overrides
	headless bool
	above    *engine.Blueprint // of the agent that it works for; nil: for nobody
	// tree is the worktree of its session; nil: it is that of the agent above, or
	// there is none.
	tree *spec.Worktree
}

// in is the worktree that the session works in, and whether it is another's.
func (c *compiling) in() (tree *spec.Worktree, shared bool) {
	if c.tree == nil && c.above != nil {
		return c.above.Spec.Worktree, true
	}
	return c.tree, false
}

func (a *App) compileIn(ctx context.Context, c compiling) (*engine.Blueprint, error) {
	from := a.now()
	all := from.catalog.Snapshot()
	p, err := a.profileOf(ctx, all, c.of.tenant(), c.name)
	if err != nil {
		return nil, err
	}
	basis := basisOf(p)
	p, observe, err := a.built(ctx, from, p, c)
	if err != nil {
		return nil, err
	}
	b, err := a.compileProfile(ctx, from, all, p, basis, c)
	if err == nil && observe != nil {
		b = b.Observed(observe)
	}
	return b, err
}

// compileProfile compiles a profile of a basis, once as long as nothing changes.
func (a *App) compileProfile(ctx context.Context, from *setup, all *catalog.Snapshot, p, basis *profile.Profile, c compiling) (*engine.Blueprint, error) {
	over, headless, above, skills := c.over, c.headless, c.above, from.skills.Snapshot()
	key := compiledKey{
		profile: c.name, overrides: text(over.Set) + "\n" + text(over.Flags), of: basis,
		session: over.Session, allowAll: over.AllowAll, headless: headless, above: above.Digest(), client: clientDigest(over.Client),
	}
	cache := from.compiled
	if isBuilt(p.Code) {
		cache, key.built = from.built.compiled, p.Revision()
	}
	tree, shared := c.in()
	root := a.Dir()
	if tree != nil {
		root, key.tree = tree.Root, tree.Dir
	}
	if b := cache.get(key, all, skills); b != nil {
		return b, nil
	}
	now := time.Now()
	files := stamps(root, prompt.InstructionFiles()...) // as they are before they are read
	in := a.input(from, p, over)
	in.Worktree, in.Shared = tree, shared
	in.Skills = func() []spec.Skill { return from.forModels(skills) }
	if above != nil {
		in.Above, in.Inherit = above.Spec, &above.Spec.Model
	}
	s, err := a.resolveToRun(from, all, in, headless)
	if err != nil {
		return nil, err
	}
	files = append(files, stamps(a.Dir(), slices.Concat(a.scripts(s), a.documentFiles(s), s.Files)...)...)
	b, err := a.blueprint(ctx, from, s, headless)
	if err == nil && over.Client != nil {
		b, err = b.ForClient(over.Client)
	}
	if err == nil && areSettled(files, now) && a.documentsHere(s) && worthKeeping(s) {
		cache.put(key, compilation{all, skills, files, b})
	}
	return b, err
}

// resolveToRun resolves a profile, with whom it can give work to, and has its keys read.
func (a *App) resolveToRun(from *setup, all *catalog.Snapshot, in resolve.Input, headless bool) (*spec.Spec, error) {
	s, _, err := a.resolveInput(from, in)
	if err != nil {
		return nil, err
	}
	a.readKeys(s)
	if own := s.Context.Summariser; own != nil {
		a.readKeys(own)
	}
	return s, a.reach(from, all, s, headless, in.Above != nil)
}

// scripts are the files that the models of a spec answer from.
func (a *App) scripts(s *spec.Spec) []string {
	models := append([]spec.Model{s.Model}, s.Fallbacks...)
	if s.Context.Summariser != nil {
		models = append(models, s.Context.Summariser.Model)
	}
	var files []string
	for _, m := range models {
		if found, err := a.found(m); err == nil && found.Endpoint.API == modelcatalog.APIScript {
			files = append(files, a.path(found.Endpoint.BaseURL))
		}
	}
	return files
}

// text is the canonical form of overrides.
func text(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b.WriteString(k + "\x00" + m[k] + "\x00")
	}
	return b.String()
}

// areSettled says that a later change of the files could be told.
func areSettled(files []file, now time.Time) bool {
	return !slices.ContainsFunc(files, func(f file) bool { return now.Sub(f.mtime) < settled })
}

// stamps looks at files below a directory.
func stamps(dir string, names ...string) []file {
	files := make([]file, len(names))
	for i, name := range names {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		files[i] = stampOf(name)
	}
	return files
}

func stampOf(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		return file{path: path}
	}
	return file{path, true, info.Size(), info.ModTime().Round(0)}
}

func (c *compiled) get(k compiledKey, all *catalog.Snapshot, skills *skill.Snapshot) *engine.Blueprint {
	c.mu.Lock()
	found, ok := c.kept[k]
	c.mu.Unlock()
	if !ok || found.catalog != all || found.skills != skills || !current(found.blueprint) {
		return nil
	}
	for _, f := range found.files {
		if stampOf(f.path) != f {
			return nil
		}
	}
	return found.blueprint
}

// current says whether the tools of a blueprint are those of now, and all of them.
func current(b *engine.Blueprint) bool {
	v, ok := b.Live.(*serving)
	return !ok || v.whole && !v.Stale()
}

func (c *compiled) put(k compiledKey, v compilation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(c.kept) >= cmp.Or(c.most, keptCompilations) {
		c.kept = map[compiledKey]compilation{}
	}
	c.kept[k] = v
}
