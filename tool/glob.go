package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

type globTool struct {
	defined
	*workspace
	globSet
}

func (t *globTool) Recovery(Call) Recovery { return Repeat }

type globInput struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	IncludeIgnored bool   `json:"include-ignored"`
}

func (t *globTool) Prepare(ctx context.Context, c Call) (Plan, error) {
	in, err := decode[globInput](c)
	if err != nil {
		return nil, err
	}
	names, err := parseGlob("pattern", strings.TrimPrefix(in.Pattern, "./"))
	if err != nil {
		return nil, err
	}
	p, err := t.prepareSearch("glob", in.Path, c)
	if err != nil {
		return nil, err
	}
	p.search.all, p.search.links = in.IncludeIgnored, true
	p.search.match, p.search.found.keep = names.match, t.limit
	return &globPlan{p, t.limit}, nil
}

// searchPlan is a search that is about to begin. It has the directory open; err,
// if that failed, is told only to one who may know it.
type searchPlan struct {
	tool   string
	search *search
	single bool // the path is a file, and its directory is open
	err    error
}

func (w *workspace) prepareSearch(tool, dir string, c Call) (*searchPlan, error) {
	if dir == "" {
		dir = "."
	}
	to, err := w.open(dir)
	if err != nil {
		return nil, err
	}
	p := &searchPlan{tool: tool, search: &search{workspace: w, permit: c.Permit, root: to}}
	st, err := to.Lstat()
	switch {
	case err != nil:
		p.err = notFound(to.subject, err)
	case st.Mode.IsRegular():
		p.single = true
	case !st.Mode.IsDir():
		p.err = notRegular(to.subject, st.Mode)
	default:
		p.search.dir, p.err = to.OpenDir()
	}
	return p, nil
}

func (p *searchPlan) Needs() []permission.Query {
	return reads(p.tool, p.search.root.subject, p.search.root.outside)
}

func (p *searchPlan) Close() error {
	var err error
	if p.search.dir != nil {
		err = p.search.dir.Close()
	}
	return errors.Join(err, p.search.root.Close())
}

// find runs the search, or judges the one file.
func (p *searchPlan) find(ctx context.Context) error {
	if p.err != nil {
		return p.err
	}
	s := p.search
	if !p.single {
		return s.run(ctx)
	}
	// The file itself is the root: its name below it is empty.
	st, err := s.root.Lstat()
	if err != nil {
		return notFound(s.root.subject, err)
	}
	s.file(&s.gathered, foundFile{subject: s.root.subject}, s.root.outside, st, nil)
	return nil
}

// openFound opens a file that the search found, and says its size.
func (p *searchPlan) openFound(f foundFile) (io.ReadCloser, int64, error) {
	if !p.single {
		return p.search.dir.OpenHandle(f.rel)
	}
	file, err := p.search.root.Open()
	if err != nil {
		return nil, 0, err
	}
	st, err := pinned.StatFile(file)
	return file, st.Size, err
}

type globPlan struct {
	*searchPlan
	limit int
}

func (p *globPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	if p.single {
		return Result{}, fmt.Errorf("%s is a file: give a directory as path", p.search.root.subject)
	}
	if err := p.find(ctx); err != nil {
		return Result{}, err
	}
	var b strings.Builder
	found := &p.search.found
	for _, f := range found.files {
		b.WriteString(named(f.subject))
		b.WriteByte('\n')
	}
	if found.total == 0 {
		b.WriteString("[no file matches]\n")
	}
	if more := found.total - len(found.files); more > 0 {
		fmt.Fprintf(&b, "[%s left out: only the newest %d are listed, narrow the pattern]\n", count(more, "more match", "more matches"), p.limit)
	}
	b.WriteString(p.search.notes())
	return Text(b.String()), nil
}
