package tool

import (
	"context"
	"fmt"

	"github.com/rosterrun/roster/tool/internal/expr"
)

type grepTool struct {
	defined
	*workspace
	grepSet
}

func (t *grepTool) Recovery(Call) Recovery { return Repeat }

type grepInput struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	Glob           string `json:"glob"`
	IgnoreCase     bool   `json:"ignore-case"`
	IncludeIgnored bool   `json:"include-ignored"`
}

func (t *grepTool) Prepare(_ context.Context, c Call) (Plan, error) {
	in, err := decode[grepInput](c)
	if err != nil {
		return nil, err
	}
	var names globs
	if in.Glob != "" {
		if names, err = parseGlob("glob", in.Glob); err != nil {
			return nil, err
		}
	}
	e, err := expr.Compile(in.Pattern, in.IgnoreCase)
	if err != nil {
		return nil, err
	}
	p, err := t.prepareSearch("grep", in.Path, c)
	if err != nil {
		return nil, err
	}
	p.search.all = in.IncludeIgnored
	if len(names) > 0 {
		p.search.match = names.matchName
	}
	return &grepPlan{searchPlan: p, grepSet: t.grepSet, expr: e}, nil
}

type grepPlan struct {
	*searchPlan
	grepSet
	expr *expr.Expr
}

func (p *grepPlan) Run(ctx context.Context, _ func(string)) (Result, error) {
	if err := p.find(ctx); err != nil {
		return Result{}, err
	}
	r, err := p.scan(ctx)
	if err != nil {
		return Result{}, err
	}
	out := &r.text
	if r.more {
		fmt.Fprintf(out, "[stopped at %s: there are more, narrow the search]\n", count(r.matches, "matching line"))
	}
	if r.matches == 0 {
		out.WriteString("[no line matches]\n")
	}
	if r.binary > 0 {
		fmt.Fprintf(out, "[%s skipped]\n", count(r.binary, "binary file"))
	}
	if r.long > 0 {
		fmt.Fprintf(out, "[%s of more than %d bytes searched in pieces]\n", count(r.long, "line"), grepBuffer)
	}
	out.WriteString(p.search.notes())
	return Text(out.String()), nil
}
