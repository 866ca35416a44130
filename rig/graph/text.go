package graph

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// Text writes the graph for a terminal: each knot with what starts it, what it sends and
// where it writes, and then the cycles.
func (g *Graph) Text(w io.Writer) error {
	var b strings.Builder
	in, out := make([][]int, len(g.Nodes)), g.next()
	for _, e := range g.Edges {
		in[e.To] = append(in[e.To], e.From)
	}
	for i, n := range g.Nodes {
		switch n.Kind {
		case Broken:
			fmt.Fprintf(&b, "%s\n  cannot be read as a knot: roster rig check\n", plain(n.File))
		case Knot:
			fmt.Fprintf(&b, "%s\n", plain(n.Detail+"/"+n.Label))
			g.textInputs(&b, in, i)
			g.textOutputs(&b, out, i)
		}
	}
	if len(g.Cycles) > 0 {
		b.WriteString("\nCycles, which end where max-hops says:\n")
	}
	for _, c := range g.Cycles {
		var names []string
		for _, n := range append(c, c[0]) {
			if g.Nodes[n].Kind == Knot {
				names = append(names, plain(g.Nodes[n].Detail+"/"+g.Nodes[n].Label))
			} else {
				names = append(names, plain(g.Nodes[n].Label))
			}
		}
		fmt.Fprintf(&b, "  %s\n", strings.Join(names, " → "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (g *Graph) textInputs(b *strings.Builder, in [][]int, knot int) {
	for _, i := range in[knot] {
		switch n := g.Nodes[i]; {
		case n.Missing:
			fmt.Fprintf(b, "  on     %s (%s)\n", plain(n.Label), plain(n.Detail))
		case n.Kind == Event:
			fmt.Fprintf(b, "  on     %s of %s\n", plain(n.Label), g.names(in[i]))
		case n.Kind == Schedule:
			fmt.Fprintf(b, "  at     %s\n", plain(n.Label))
		default:
			fmt.Fprintf(b, "  from   %s\n", plain(n.Label))
		}
	}
}

func (g *Graph) textOutputs(b *strings.Builder, out [][]int, knot int) {
	for _, i := range out[knot] {
		switch n := g.Nodes[i]; n.Kind {
		case Event:
			fmt.Fprintf(b, "  sends  %s → %s\n", plain(n.Label), g.names(out[i]))
		case TieOff:
			fmt.Fprintf(b, "  writes %s\n", plain(n.File))
		}
	}
}

// names are those of knots.
func (g *Graph) names(knots []int) string {
	var names []string
	for _, i := range knots {
		names = append(names, plain(g.Nodes[i].Detail+"/"+g.Nodes[i].Label))
	}
	return strings.Join(names, ", ")
}

// plain is a text that does nothing to a terminal.
func plain(s string) string {
	quoted := strconv.Quote(s)
	if quoted == `"`+s+`"` {
		return s
	}
	return quoted
}

// Mermaid writes the graph as a flowchart of Mermaid, each loom as a box of its knots.
func (g *Graph) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	open := ""
	for i, n := range g.Nodes {
		loom := ""
		if n.Kind == Knot {
			loom = path.Dir(n.File)
		}
		if loom != open && open != "" {
			b.WriteString("  end\n")
		}
		if loom != open && loom != "" {
			fmt.Fprintf(&b, "  subgraph l%d[\"%s\"]\n", i, mermaidText(loom))
		}
		open = loom
		fmt.Fprintf(&b, "    n%d%s\n", i, mermaidShape(n))
	}
	if open != "" {
		b.WriteString("  end\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d --> n%d\n", e.From, e.To)
	}
	for i, e := range g.Edges {
		if e.Cycle {
			fmt.Fprintf(&b, "  linkStyle %d stroke:#c2410c,stroke-width:2px\n", i)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mermaidShape(n Node) string {
	text := mermaidText(n.Label)
	switch n.Kind {
	case Folder:
		return `[/"` + text + `"/]`
	case Schedule:
		return `(["` + text + `"])`
	case Event:
		if n.Missing {
			text += ": " + mermaidText(n.Detail)
		}
		return `{{"` + text + `"}}`
	case TieOff:
		return `[("` + text + `")]`
	case Broken:
		return `>"` + text + `, which is no knot"]`
	}
	return `["` + text + `"]`
}

// mermaidText writes what has a meaning in Mermaid by its number.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\"#&;<>`\\", r) || r < ' ' {
			fmt.Fprintf(&b, "#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
