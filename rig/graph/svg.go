package graph

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Sizes of letters, in pixels. Texts are cut to what fits.
const (
	letterW, boldW, smallW = 7.3, 8.2, 6.0

	pad        = 12.0
	maxLetters = 36
	oneLineH   = 32.0
	twoLinesH  = 46.0
	legendH    = 34.0
)

// looms is how many looms have a color of their own.
const looms = 8

// style follows the reader's choice of light and dark. It refers to nothing outside.
const style = `
svg{--paper:#ffffff;--ink:#1f2933;--soft:#5b6776;--line:#8b97a5;--box:#ffffff;--folder:#fdf3d7;--schedule:#e6f0fb;--event:#efe6fb;--tieoff:#e4f4ea;--bad:#fde2e0;--cycle:#c2410c;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){svg{--paper:#14181d;--ink:#e6eaef;--soft:#a3afbd;--line:#6b7888;--box:#222933;--folder:#40361a;--schedule:#1d3450;--event:#38264f;--tieoff:#1b3d2b;--bad:#4f2321;--cycle:#fb923c}}
.paper{fill:var(--paper)}
text{fill:var(--ink);font-size:13px}
.small{fill:var(--soft);font-size:11px}
.bold{font-weight:600}
.node{stroke:var(--line);stroke-width:1.2}
.knot{fill:var(--box)}
.folder{fill:var(--folder)}
.schedule{fill:var(--schedule)}
.event{fill:var(--event)}
.tie-off{fill:var(--tieoff)}
.broken,.missing{fill:var(--bad);stroke-dasharray:4 3}
.edge{fill:none;stroke:var(--line);stroke-width:1.4}
.arrow{fill:var(--line)}
.cycle{stroke:var(--cycle);stroke-width:2}
.cyclearrow{fill:var(--cycle)}
`

// hues are of the stripes of looms: they are seen on light and on dark.
var hues = [looms]string{"#3b82f6", "#10b981", "#f59e0b", "#ec4899", "#8b5cf6", "#14b8a6", "#ef4444", "#84cc16"}

// SVG writes the graph as a picture, for light and dark, without scripts and without
// anything that is fetched.
func (g *Graph) SVG(w io.Writer) error {
	width, height := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
	for i, n := range g.Nodes {
		width[i], height[i] = sizeOf(n)
	}
	p := &picture{g: g, l: arrange(g, width, height), colors: map[string]string{}}
	p.draw()
	_, err := io.WriteString(w, p.b.String())
	return err
}

func sizeOf(n Node) (w, h float64) {
	w, h = letters(cut(n.Label))*letterW, oneLineH
	if n.Kind == Knot {
		w = letters(cut(n.Label))*boldW + pad // and the stripe of its loom
	}
	if n.Detail != "" {
		w, h = max(w, letters(cut(n.Detail))*smallW), twoLinesH
	}
	return max(w, 40) + 2*pad, h
}

// letters counts what a text takes of the width of a letter.
func letters(s string) (n float64) {
	for _, r := range s {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// cut shortens a text in its middle, for its beginning and its end say most. What cannot
// be seen is a question mark.
func cut(s string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s))
	if len(runes) <= maxLetters {
		return string(runes)
	}
	half := (maxLetters - 1) / 2
	return string(runes[:half]) + "…" + string(runes[len(runes)-half:])
}

type picture struct {
	g      *Graph
	l      *layout
	b      strings.Builder
	colors map[string]string // of looms
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

func (p *picture) draw() {
	w, h := max(p.l.w, 560), p.l.h+legendH
	fmt.Fprintf(&p.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="The rig: %d nodes, %d edges">`+"\n<style>%s</style>\n", w, h, w, h, len(p.g.Nodes), len(p.g.Edges), style)
	p.b.WriteString(`<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="arrow" d="M0 0L8 4L0 8z"/></marker>` +
		`<marker id="c" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="cyclearrow" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	fmt.Fprintf(&p.b, `<rect class="paper" width="%.0f" height="%.0f"/>`+"\n", w, h)
	for i := range p.g.Edges {
		p.edge(i)
	}
	for i, n := range p.g.Nodes {
		p.node(n, &p.l.items[i])
	}
	p.legend(h - legendH)
	p.b.WriteString("</svg>\n")
}

// edge draws a curve through the items of a path. It leaves a node at its right side,
// straight until its column ends, enters at its left, and passes bends straight.
func (p *picture) edge(i int) {
	way := p.l.paths[i]
	first := &p.l.items[way.items[0]]
	x, y := first.right, first.y+first.h/2
	fmt.Fprintf(&p.b, `<path class="edge%s" d="M%.1f %.1fH%.1f`, p.cycle(i, " cycle"), first.x+first.w, y, x)
	for j, n := range way.items[1:] {
		it := &p.l.items[n]
		tx, ty := it.x, it.y+it.h/2
		mid := (x + tx) / 2
		fmt.Fprintf(&p.b, "C%.1f %.1f %.1f %.1f %.1f %.1f", mid, y, mid, ty, tx, ty)
		if j < len(way.items)-2 {
			fmt.Fprintf(&p.b, "L%.1f %.1f", tx+it.w, ty)
		}
		x, y = tx+it.w, ty
	}
	end := "end"
	if way.back {
		end = "start"
	}
	marker := "a"
	if p.g.Edges[i].Cycle {
		marker = "c"
	}
	fmt.Fprintf(&p.b, `" marker-%s="url(#%s)"/>`+"\n", end, marker)
}

func (p *picture) cycle(i int, class string) string {
	if p.g.Edges[i].Cycle {
		return class
	}
	return ""
}

func (p *picture) node(n Node, it *item) {
	class := string(n.Kind)
	if n.Missing {
		class += " missing"
	}
	fmt.Fprintf(&p.b, `<g><title>%s</title>`, escaped(title(n)))
	p.shape(n.Kind, class, it.x, it.y, it.w, it.h)
	bold := ""
	if n.Kind == Knot {
		bold = ` class="bold"`
		fmt.Fprintf(&p.b, `<rect x="%.1f" y="%.1f" width="4" height="%.1f" rx="2" fill="%s"/>`, it.x+4, it.y+6, it.h-12, p.color(n.Detail))
	}
	middle := it.x + it.w/2
	if n.Detail == "" {
		fmt.Fprintf(&p.b, `<text%s x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, bold, middle, it.y+it.h/2+4.5, escaped(cut(n.Label)))
	} else {
		fmt.Fprintf(&p.b, `<text%s x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, bold, middle, it.y+19.5, escaped(cut(n.Label)))
		fmt.Fprintf(&p.b, `<text class="small" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, middle, it.y+35.5, escaped(cut(n.Detail)))
	}
	p.b.WriteString("</g>\n")
}

func title(n Node) string {
	s := string(n.Kind) + " " + n.Label
	if n.File != "" {
		s += "\n" + n.File
	}
	return cleanLines(s)
}

// cleanLines takes out what cannot stand in XML or be seen.
func cleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// color is that of a loom; looms that have none of their own share them.
func (p *picture) color(loom string) string {
	c, known := p.colors[loom]
	if !known {
		c = hues[len(p.colors)%looms]
		p.colors[loom] = c
	}
	return c
}

// shape draws what a node stands on, by its kind.
func (p *picture) shape(k Kind, class string, x, y, w, h float64) {
	const fold = 9.0
	switch k {
	case Folder: // with a tab
		fmt.Fprintf(&p.b, `<path class="node %s" d="M%.1f %.1fh%.1fl4 -4h14l4 4h%.1fv%.1fh%.1fz"/>`, class, x, y, 6.0, w-28, h, -w)
	case TieOff: // a leaf with its corner folded
		fmt.Fprintf(&p.b, `<path class="node %s" d="M%.1f %.1fh%.1fl%.1f %.1fv%.1fh%.1fzM%.1f %.1fv%.1fh%.1f"/>`, class, x, y, w-fold, fold, fold, h-fold, -w, x+w-fold, y, fold, fold)
	case Event, Schedule:
		fmt.Fprintf(&p.b, `<rect class="node %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.1f"/>`, class, x, y, w, h, h/2)
	default:
		fmt.Fprintf(&p.b, `<rect class="node %s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="6"/>`, class, x, y, w, h)
	}
}

// legend says which shape stands for what.
func (p *picture) legend(y float64) {
	x := margin
	for _, k := range []struct {
		kind Kind
		text string
	}{{Folder, "folder"}, {Schedule, "schedule"}, {Knot, "knot"}, {Event, "event"}, {TieOff, "tie-off"}} {
		p.shape(k.kind, string(k.kind), x, y+6, 22+6, 14)
		fmt.Fprintf(&p.b, `<text class="small" x="%.1f" y="%.1f">%s</text>`+"\n", x+34, y+17, k.text)
		x += 34 + letters(k.text)*smallW + 20
	}
	if len(p.g.Cycles) > 0 {
		fmt.Fprintf(&p.b, `<path class="edge cycle" d="M%.1f %.1fh28" marker-end="url(#c)"/><text class="small" x="%.1f" y="%.1f">cycle</text>`+"\n", x, y+13, x+34, y+17)
	}
}
