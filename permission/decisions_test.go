package permission

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rosterrun/roster/source"
)

// group is a group of the table: what an engine is given, and its cases.
type group struct {
	name   string
	layers Layers
	grants Grants
	lent   []Rule
	rules  map[int]Rule
	cases  []decision
}

// decision is one case of the table.
type decision struct {
	name  string
	line  int
	query Query
	want  string // effect, step and rule
}

// layers in the order in which resolving puts them.
var order = []source.Layer{source.Builtin, source.User, source.Defaults, source.Extends, source.Profile, source.Session, source.Override, source.Flag}

// table reads testdata/decisions.txt, whose head says how it is written.
func table(t testing.TB) []group {
	t.Helper()
	data, err := os.ReadFile("testdata/decisions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	for i, text := range strings.Split(string(data), "\n") {
		if name, ok := strings.CutPrefix(text, "## "); ok {
			groups = append(groups, group{name: name, rules: map[int]Rule{}, layers: Layers{Default: Ask, Profile: "reviewer", Workspace: "/ws"}})
			continue
		}
		if text = strings.TrimSpace(text); text == "" || strings.HasPrefix(text, "# ") || text == "#" {
			continue
		}
		g := &groups[len(groups)-1]
		if err := g.read(text, i+1); err != nil {
			t.Fatalf("testdata/decisions.txt:%d: %v", i+1, err)
		}
	}
	return groups
}

func (g *group) read(text string, line int) error {
	if i := strings.LastIndex(text, " => "); i >= 0 {
		return g.readCase(text[:i], text[i+len(" => "):], line)
	}
	word, rest, _ := strings.Cut(text, " ")
	var err error
	switch word {
	case "builtin":
		g.layers.Rules = append(g.layers.Rules, Builtin()...)
	case "default":
		g.layers.Default, err = ParseEffect(rest)
	case "mode":
		g.layers.Mode, err = ParseMode(rest)
	case "headless":
		g.layers.Headless = true
	case "profile":
		g.layers.Profile = rest
	case "workspace", "session":
		if !strings.Contains(rest, " ") {
			g.layers.Workspace = rest
			return nil
		}
		profile, rule, _ := strings.Cut(rest, " ")
		var r Rule
		r, err = readRule(rule)
		grant := Grant{Profile: profile, Query: Query{Tool: r.Tool, Subject: r.Subject}, Effect: r.Effect}
		if word == "session" {
			g.grants.Session = append(g.grants.Session, grant)
		} else {
			g.grants.Workspace = append(g.grants.Workspace, grant)
		}
	default:
		var n int
		if n, err = strconv.Atoi(word); err != nil {
			return err
		}
		layer, rule, _ := strings.Cut(rest, " ")
		var r Rule
		r, err = readRule(rule)
		layer, r.Untrusted = strings.CutPrefix(layer, "untrusted-")
		r.At = source.Origin{Layer: source.Layer(layer), File: "table", Line: n}
		if layer == "lent" {
			g.lent = append(g.lent, r)
		} else if r.At.Layer == source.Host {
			g.layers.Host = append(g.layers.Host, r)
		} else {
			g.layers.Rules = append(g.layers.Rules, r)
		}
	}
	return err
}

// readRule reads "TOOL SUBJECT EFFECT".
func readRule(text string) (Rule, error) {
	tool, rest, _ := strings.Cut(text, " ")
	i := strings.LastIndexByte(rest, ' ')
	if i < 0 {
		return Rule{}, fmt.Errorf("no rule: %s", text)
	}
	effect, err := ParseEffect(rest[i+1:])
	return Rule{Tool: tool, Subject: rest[:i], Effect: effect}, err
}

var columns = regexp.MustCompile(`^(\S.*?)  +(\S+)  (?:\[in (\S+)\] )?(.*)$`)

func (g *group) readCase(text, want string, line int) error {
	m := columns.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("no case: %s", text)
	}
	c := decision{name: m[1], line: line, want: strings.Join(strings.Fields(want), " "), query: Query{Tool: m[2], Subject: m[4], Dir: m[3]}}
	for _, s := range []*string{&c.query.Tool, &c.query.Subject} {
		if text, err := strconv.Unquote(*s); err == nil && strings.HasPrefix(*s, `"`) {
			*s = text
		}
	}
	g.cases = append(g.cases, c)
	return nil
}

// engine compiles the group, its rules in the order of their layers.
func (g *group) engine(t testing.TB) *Engine {
	t.Helper()
	l := g.layers
	l.Rules = slices.Clone(l.Rules)
	slices.SortStableFunc(l.Rules, func(a, b Rule) int {
		return cmp.Compare(slices.Index(order, a.At.Layer), slices.Index(order, b.At.Layer))
	})
	grants := g.grants
	if g.lent != nil {
		var err error
		if grants.Lent, err = CompileLent(g.lent); err != nil {
			t.Fatal(err)
		}
	}
	return compile(t, l).With(grants)
}

// says is a decision as the table writes it.
func says(d Decision) string {
	if d.Step == StepNone {
		if d.Reason == ReasonAddress {
			return "deny no address"
		}
		return "deny no query"
	}
	text := d.Effect.String() + " " + string(d.Step)
	switch r := d.Rule; {
	case r == nil && d.Step != StepDefault:
		return text + " default"
	case r == nil:
		return text
	case r.At.Layer == source.Builtin:
		return fmt.Sprintf("%s builtin %s %s", text, r.Tool, r.Subject)
	default:
		return fmt.Sprintf("%s %d", text, r.At.Line)
	}
}

// judge answers a case as the table writes it.
func judge(e *Engine, c decision) string {
	switch {
	case c.want != "offered" && c.want != "withheld":
		return says(e.Decide(c.query))
	case e.Offered(c.query.Tool):
		return "offered"
	}
	return "withheld"
}

// TestDecisions holds the engine against the table.
func TestDecisions(t *testing.T) {
	names := map[string]bool{}
	for _, g := range table(t) {
		e := g.engine(t)
		for _, c := range g.cases {
			name := g.name + ": " + c.name
			if names[name] {
				t.Errorf("testdata/decisions.txt:%d: %s is there twice", c.line, name)
			}
			names[name] = true
			if got := judge(e, c); got != c.want {
				t.Errorf("testdata/decisions.txt:%d: %s: %s %q: got %s, want %s", c.line, name, c.query.Tool, c.query.Subject, got, c.want)
			}
		}
	}
	if len(names) < 300 {
		t.Errorf("the table has %d cases", len(names))
	}
}

// TestEveryStepMatters takes away, one at a time, what the engine does: some
// case of the table then fails.
func TestEveryStepMatters(t *testing.T) {
	names := map[faculty]string{
		byRules: "rules", byDefault: "default", byTrust: "trust", byMode: "mode", byDenials: "denials", bySessionGrants: "session grants",
		byWorkspaceGrants: "workspace grants", byHost: "host", byHeadless: "headless", ofEveryPart: "every part of a line",
		ofRedirects: "redirections", ofBaseNames: "base names", ofHoles: "holes",
		byLent: "lent rules",
	}
	groups := table(t)
	for f := faculty(1); f < lastFaculty; f <<= 1 {
		var fails []string
		for _, g := range groups {
			e := g.engine(t)
			e.off = f
			for _, c := range g.cases {
				if judge(e, c) != c.want {
					fails = append(fails, c.name)
				}
			}
		}
		if len(fails) == 0 {
			t.Errorf("without %s, no case fails", names[f])
		}
		t.Logf("without %s, %d cases fail", names[f], len(fails))
	}
	if lastFaculty != 1<<len(names) {
		t.Error("there are steps that this test does not name")
	}
}
