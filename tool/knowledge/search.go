package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

func (p *plan) search(ctx context.Context, progress func(string)) (string, error) {
	limit := cmp.Or(p.in.Limit, p.tool.limit)
	var results []result
	denied := map[string]bool{}
	err := p.with(ctx, progress, func(f folder, x *index) error {
		of, err := p.inFolder(ctx, f, x, limit, denied)
		results = append(results, of...)
		return err
	})
	if err != nil {
		return "", err
	}
	p.denied = len(denied)
	slices.SortStableFunc(results, func(a, b result) int {
		return cmp.Or(cmp.Compare(b.whole, a.whole), cmp.Compare(a.rank, b.rank))
	})
	var b strings.Builder
	for _, r := range results[:min(limit, len(results))] {
		b.WriteString(r.text)
	}
	if len(results) == 0 {
		b.WriteString("[nothing fits; try other words, or fewer]\n")
	}
	return b.String(), nil
}

// result is a section that is shown.
type result struct {
	text  string
	whole int // 1: it has all that is searched for
	rank  float64
}

// inFolder gives what fits in one folder and may be shown.
func (p *plan) inFolder(ctx context.Context, f folder, x *index, limit int, denied map[string]bool) (out []result, err error) {
	type place struct {
		path string
		line int
	}
	seen, perPath := map[place]bool{}, map[string]int{}
	for whole := 1; whole >= 0 && len(out) < limit; whole-- {
		if whole == 0 && len(p.query.terms) == 1 {
			break
		}
		hits, err := x.search(ctx, p.query.match(whole == 1))
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			at := place{h.path, h.line}
			subject := path.Join(f.subject, h.path)
			if len(out) >= limit || seen[at] || perPath[h.path] >= perFile {
				continue
			}
			seen[at] = true
			if !p.readable(subject, f.outside) {
				denied[subject] = true
				continue
			}
			text, err := p.show(x, subject, h)
			if err != nil {
				continue // it has gone since
			}
			perPath[h.path]++
			out = append(out, result{text, whole, h.rank})
		}
	}
	return out, nil
}

// show gives the lines of a section that fit best, as they are in the file now.
func (p *plan) show(x *index, subject string, h hit) (string, error) {
	d, err := x.read(h.path)
	if err != nil {
		return "", err
	}
	from := min(h.line-1, len(d.lines))
	lines := d.lines[from:min(from+h.lines, len(d.lines))]
	type scored struct{ at, score int }
	var best []scored
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			best = append(best, scored{i, p.query.score(line)})
		}
	}
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	best = best[:min(shownLines, len(best))]
	slices.SortFunc(best, func(a, b scored) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	head := named(subject)
	if h.heading != "" {
		head += " › " + oneLine(h.heading)
	}
	b.WriteString(head + "\n")
	for _, s := range best {
		fmt.Fprintf(&b, "  %s:%d: %s\n", named(subject), from+s.at+1, clip(oneLine(lines[s.at]), maxLine))
	}
	return b.String(), nil
}
