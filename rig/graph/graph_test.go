package graph

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/rig"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load makes knots from the first lines of their files, by LOOM/NAME, and loads them.
func load(t testing.TB, knots map[string]string) *rig.Rig {
	t.Helper()
	dir := t.TempDir()
	for id, front := range knots {
		file := filepath.Join(dir, "rig", filepath.FromSlash(id)+".md")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\nagent-profile-ref: fast\n"+front+"\n---\nDo."), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := rig.Load(t.Context(), dir, "rig", rig.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sample(t testing.TB) *Graph {
	return New(load(t, map[string]string{
		"review-loom/reviewer": "strand-dir: docs",
		"review-loom/summary":  "strand-dir: event:review-loom:Reviewed",
		"plan-loom/planner":    "strand-dir: event:reviewer:Reviewed",
		"plan-loom/again":      "strand-dir: event:planner:Planned",
		"plan-loom/back":       "strand-dir: event:again:Again",
		"plan-loom/planner2":   "strand-dir: event:back:Back",
		"plan-loom/a":          "strand-dir: event:b:B",
		"plan-loom/b":          "strand-dir: event:a:A",
		"plan-loom/nightly":    "schedule: 0 3 * * *",
		"plan-loom/digest":     "strand-dir: rig/tie-offs/plan-loom",
		"plan-loom/lost":       "strand-dir: event:nobody:Gone",
		"plan-loom/bad":        "timeout: never",
		"plan-loom/odd":        "strand-dir: 'docs/<a>&\"b\"'",
	}))
}

// TestGolden is the graph as text and for Mermaid.
func TestGolden(t *testing.T) {
	g := sample(t)
	for name, write := range map[string]func(io.Writer) error{"rig.txt": g.Text, "rig.mmd": g.Mermaid} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s\n%s", name, diff)
		}
	}
}

// TestCycles finds each way that leads back, and no other edge.
func TestCycles(t *testing.T) {
	g := sample(t)
	var got []string
	for _, c := range g.Cycles {
		var names []string
		for _, n := range c {
			names = append(names, g.Nodes[n].Label)
		}
		got = append(got, strings.Join(names, " "))
	}
	want := []string{"a A b B", "digest tie-off-digest.md rig/tie-offs/plan-loom/"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	marked := 0
	for _, e := range g.Edges {
		if e.Cycle {
			marked++
		}
	}
	if marked != 7 {
		t.Errorf("%d edges lie in cycles", marked)
	}
}

// TestSVG: the picture is well formed, fetches nothing, runs nothing, and keeps names
// as they are.
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := sample(t).SVG(&b); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for dec := xml.NewDecoder(&b); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "script" || e.Name.Local == "image" || e.Name.Local == "use" || e.Name.Local == "foreignObject" {
				t.Errorf("an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || strings.Contains(a.Value, "url(") && !strings.HasPrefix(a.Value, "url(#") {
					t.Errorf("an attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts = append(texts, string(e))
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{`docs/<a>&"b"/`, "prefers-color-scheme:dark", "reviewer", "tie-off-odd.md", "nothing sends it: nobody"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(all, "@import") || strings.Contains(all, "http") {
		t.Error("something is fetched")
	}
}

// many is a rig of n knots, each of which waits for others, some in cycles.
func many(t testing.TB, n int) *Graph {
	knots := map[string]string{}
	for i := range n {
		front := fmt.Sprintf("strand-dir: event:k%d:E%d", (i*7+3)%n, i%3)
		if i%4 == 0 {
			front = fmt.Sprintf("strand-dir: docs/%d", i%12)
		}
		knots[fmt.Sprintf("l%d-loom/k%d", i%5, i)] = front
	}
	return New(load(t, knots))
}

// TestLayout: nothing overlaps, edges lead to the right, and everything is within the
// picture, also in a large graph with cycles.
func TestLayout(t *testing.T) {
	for name, g := range map[string]*Graph{"sample": sample(t), "100": many(t, 100), "empty": New(), "a ring": ring(50)} {
		t.Run(name, func(t *testing.T) {
			width, height := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
			for i, n := range g.Nodes {
				width[i], height[i] = sizeOf(n)
			}
			l := arrange(g, width, height)
			for _, column := range l.columns {
				for i := range column[:max(0, len(column)-1)] {
					above, below := &l.items[column[i]], &l.items[column[i+1]]
					if above.y+above.h+rowGap > below.y+0.01 {
						t.Fatalf("%+v overlaps %+v", above, below)
					}
				}
			}
			for i, p := range l.paths {
				for j := range p.items[1:] {
					if from, to := &l.items[p.items[j]], &l.items[p.items[j+1]]; from.x+from.w >= to.x {
						t.Fatalf("edge %d leads from %+v to %+v", i, from, to)
					}
				}
				if p.back && !g.Edges[i].Cycle {
					t.Errorf("edge %d leads back, and is in no cycle", i)
				}
			}
			for _, it := range l.items {
				if it.x < margin-0.01 || it.y < margin-0.01 || it.x+it.w > l.w || it.y+it.h > l.h {
					t.Fatalf("%+v is outside of %g, %g", it, l.w, l.h)
				}
			}
		})
	}
}

// ring is a graph in which each node leads to the next, and the last to the first.
func ring(n int) *Graph {
	g := &Graph{}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{Label: fmt.Sprint(i)})
		g.Edges = append(g.Edges, Edge{From: i, To: (i + 1) % n})
	}
	g.findCycles()
	return g
}

func TestCrossings(t *testing.T) {
	for _, c := range []struct {
		order []float64
		want  int
	}{{nil, 0}, {[]float64{1, 2, 2, 3}, 0}, {[]float64{3, 2, 1}, 3}, {[]float64{2, 1, 2, 1}, 3}} {
		if got := inversions(c.order); got != c.want {
			t.Errorf("%v: %d", c.order, got)
		}
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("a", 30) + strings.Repeat("b", 30)
	if got := cut(long); len([]rune(got)) > maxLetters || !strings.HasPrefix(got, "aaa") || !strings.HasSuffix(got, "bbb") {
		t.Error(got)
	}
	if got := cut("a\x1b\u202eb"); got != "a??b" {
		t.Errorf("%q", got)
	}
	if letters("文a") != 3 {
		t.Error("a wide letter takes the place of two")
	}
}

func BenchmarkSVG(b *testing.B) {
	g := many(b, 100)
	for b.Loop() {
		if err := g.SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestJoin: rigs that were drawn one by one come together as if they were drawn at once.
func TestJoin(t *testing.T) {
	a, b := load(t, map[string]string{"a-loom/x": "strand-dir: docs", "a-loom/y": "strand-dir: event:z:Z", "a-loom/z": "strand-dir: event:y:Y"}), load(t, map[string]string{"b-loom/x": "strand-dir: docs"})
	if diff := cmp.Diff(New(a, b), Join(New(a), New(b))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(New(), Join()); diff != "" {
		t.Error(diff)
	}
}

// TestCheck: places that lead to no node are found before anything is drawn.
func TestCheck(t *testing.T) {
	if err := sample(t).Check(); err != nil {
		t.Error(err)
	}
	one := []Node{{ID: "a"}}
	for _, g := range []Graph{
		{Nodes: one, Edges: []Edge{{From: 0, To: 1}}}, {Nodes: one, Edges: []Edge{{From: -1, To: 0}}},
		{Nodes: one, Cycles: [][]int{{}}}, {Nodes: one, Cycles: [][]int{{0, 1}}}, {Cycles: [][]int{{-1}}},
	} {
		if g.Check() == nil {
			t.Errorf("%+v is let through", g)
		}
	}
}
