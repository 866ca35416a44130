package permission

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyRule draws a rule about few tools and subjects, so that they meet.
func anyRule() *rapid.Generator[Rule] {
	return rapid.Custom(func(t *rapid.T) Rule {
		return Rule{
			Tool:      rapid.SampledFrom([]string{"*", "bash", "bash", "bash", "write", "read", "b*", "task", "webfetch", "browser_*", "browser_open", Protected, ExternalDirectory}).Draw(t, "tool"),
			Subject:   rapid.SampledFrom([]string{"*", "rm *", "git *", "git log*", "git l??", "*x", "a", "a?", "X=* *", "/bin/*", "https://a.example/*"}).Draw(t, "subject"),
			Effect:    rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(t, "effect"),
			Untrusted: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "untrusted"),
		}
	})
}

func anyLayers(t *rapid.T) Layers {
	return Layers{
		Rules:    rapid.SliceOfN(anyRule(), 0, 6).Draw(t, "rules"),
		Host:     rapid.SliceOfN(anyRule(), 0, 3).Draw(t, "host"),
		Default:  rapid.SampledFrom([]Effect{Deny, Ask, Allow}).Draw(t, "default"),
		Mode:     Mode(rapid.IntRange(int(ModeDefault), int(ModeBypass)).Draw(t, "mode")),
		Headless: rapid.Bool().Draw(t, "headless"), Workspace: "/ws",
	}
}

func anyQuery(t *rapid.T) Query {
	tool := rapid.SampledFrom([]string{"bash", "bash", "bash", "write", "read", "other", "task", "webfetch", "browser_open", Protected, ExternalDirectory}).Draw(t, "tool")
	subjects := []string{
		"a", "ax", "x", "rm x", "git log", "git log x", "git log $x", "git $x", "$x y", "X=1 rm x", "/bin/rm x", "git log; rm x", "git log > a",
		"a | b", "'", "sudo rm x", "env git log", "git log < /etc/x", "a *", "\x00", "a\x00x",
	}
	if ofAddress(tool) {
		subjects = []string{"https://a.example/", "https://a.example/x", "http://b.example/", "https://u@a.example/"}
	}
	return Query{Tool: tool, Subject: rapid.SampledFrom(subjects).Draw(t, "subject")}
}

func anyGrants(t *rapid.T) Grants {
	grant := rapid.Custom(func(t *rapid.T) Grant {
		return Grant{Query: anyQuery(t), Effect: rapid.SampledFrom([]Effect{Deny, Allow}).Draw(t, "effect")}
	})
	return Grants{Session: rapid.SliceOfN(grant, 0, 3).Draw(t, "session"), Workspace: rapid.SliceOfN(grant, 0, 3).Draw(t, "workspace")}
}

// TestDenyOnlyNarrows: another deny, wherever it stands, allows nothing more.
func TestDenyOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l, g, q := anyLayers(r), anyGrants(r), anyQuery(r)
		before := compile(t, l).With(g).Decide(q)
		deny := anyRule().Draw(r, "deny")
		deny.Effect = Deny
		if rapid.Bool().Draw(r, "of the host") {
			l.Host = slices.Insert(slices.Clone(l.Host), rapid.IntRange(0, len(l.Host)).Draw(r, "at"), deny)
		} else {
			l.Rules = slices.Insert(slices.Clone(l.Rules), rapid.IntRange(0, len(l.Rules)).Draw(r, "at"), deny)
		}
		if after := compile(t, l).With(g).Decide(q); after.Effect > before.Effect {
			r.Fatalf("%s before, %s with one more deny", before.Effect, after.Effect)
		}
	})
}

// TestEveryCapOnlyNarrows: the host's policy, having nobody to answer, and a
// denial of the session never allow more; a grant does not lift a denial.
func TestEveryCapOnlyNarrows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l, g, q := anyLayers(r), anyGrants(r), anyQuery(r)
		now := compile(t, l).With(g).Decide(q)
		free, loud := l, l
		free.Host, loud.Headless = nil, false
		if d := compile(t, free).With(g).Decide(q); now.Effect > d.Effect {
			r.Fatalf("%s with the host's policy, %s without", now.Effect, d.Effect)
		}
		asked := compile(t, loud).With(g).Decide(q)
		if now.Effect > asked.Effect || l.Headless && now.Effect == Ask {
			r.Fatalf("%s with nobody there, %s else", now.Effect, asked.Effect)
		}
		bare := compile(t, l).Decide(q)
		if bare.Effect == Deny && bare.Step != StepHeadless && bare.Step != StepMode && now.Effect != Deny {
			r.Fatalf("%s with grants, denied by %s without", now.Effect, bare.Step)
		}
		refused := Grants{Session: append([]Grant{{Query: q, Effect: Deny}}, g.Session...), Workspace: g.Workspace}
		if d := compile(t, l).With(refused).Decide(q); d.Effect == Ask || d.Effect > bare.Effect {
			r.Fatalf("%s though it was refused, %s before", d.Effect, bare.Effect)
		}
		if now.Grantable && now.Effect != Ask {
			r.Fatalf("a grant is offered for %s", now.Effect)
		}
	})
}

// TestHolesAreNeverLaxer: whatever turns out to be in a hole, the line was not
// judged more laxly than the line with that in its place.
func TestHolesAreNeverLaxer(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := anyLayers(r)
		e := compile(t, l)
		line := rapid.SampledFrom([]string{"git @", "git log @", "git lo@", "git @ x", "rm @", "echo @ > a", "git log @ @", "git@x", "X=@ rm x", "git log '@'"}).Draw(r, "line")
		filling := rapid.SampledFrom([]string{"log", "x", "g", "log x", "rm x", "-5"}).Draw(r, "filling")
		unknown := e.Decide(Query{Tool: "bash", Subject: strings.NewReplacer("'@'", `"$v"`, "@", "$v").Replace(line)})
		known := e.Decide(Query{Tool: "bash", Subject: strings.ReplaceAll(line, "@", filling)})
		if unknown.Effect > known.Effect {
			r.Fatalf("%q: %s, with %q it is %s", line, unknown.Effect, filling, known.Effect)
		}
	})
}

// TestSpellingDoesNotMatter: the same words with other spaces and quotes get
// the same answer from the same rule.
func TestSpellingDoesNotMatter(t *testing.T) {
	word := rapid.SampledFrom([]string{"git", "log", "rm", "-rf", "x", "/bin/rm", "a b", "it's", "", "a;b", "$x", "*", `"`, `\`, "#", "ü", "a=b", "-5", "~", "{a,b}"})
	rapid.Check(t, func(r *rapid.T) {
		e := compile(t, anyLayers(r))
		words := append([]string{rapid.SampledFrom([]string{"git", "rm", "/bin/rm", "ls", "a"}).Draw(r, "command")}, rapid.SliceOfN(word, 0, 4).Draw(r, "words")...)
		one, other := spell(r, words), spell(r, words)
		a, b := e.Decide(Query{Tool: "bash", Subject: one}), e.Decide(Query{Tool: "bash", Subject: other})
		if a.Effect != b.Effect || a.Step != b.Step || a.Rule != b.Rule {
			r.Fatalf("%q: %s by %s, %q: %s by %s", one, a.Effect, a.Step, other, b.Effect, b.Step)
		}
	})
}

// spell writes words as a command line, each character quoted in one of the
// ways that there are.
func spell(r *rapid.T, words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(r, "space"))
		}
		if w == "" {
			b.WriteString(rapid.SampledFrom([]string{"''", `""`}).Draw(r, "empty"))
		}
		for _, c := range w {
			plain := c >= 'a' && c <= 'z' || c == '/' || c == '-' && b.Len() > 0
			switch how := rapid.IntRange(0, 3).Draw(r, "how"); {
			case how == 0 && plain:
				b.WriteRune(c)
			case how == 1 && c != '\'':
				b.WriteString("'" + string(c) + "'")
			case how == 2 && c < 0x80:
				b.WriteString(`\` + string(c))
			case strings.ContainsRune("\"\\$`", c):
				b.WriteString(`"\` + string(c) + `"`)
			default:
				b.WriteString(`"` + string(c) + `"`)
			}
		}
	}
	return b.String()
}

// TestMayMatchIsSure holds the matching of texts with holes against filling
// them.
func TestMayMatchIsSure(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, err := ParsePattern(rapid.StringMatching(`[ab*?ü]{0,8}`).Draw(r, "pattern"))
		if err != nil {
			t.Fatal(err)
		}
		s := rapid.StringMatching(`[ab\x00ü]{0,6}`).Draw(r, "text")
		filled := s
		for strings.Contains(filled, hole) {
			filled = strings.Replace(filled, hole, rapid.StringMatching(`[abü]{0,3}`).Draw(r, "filling"), 1)
		}
		held := textOf(s)
		if p.Match(filled) && !p.mayMatch(&held) && !p.Match(s) {
			r.Fatalf("%q may be %q and is said not to match", s, filled)
		}
		if p.Match(s) && !p.Match(filled) {
			r.Fatalf("%q is said to match always, and may be %q", s, filled)
		}
	})
}

// TestOfferIsTheMost: no call gets more than what its tool is offered with, so
// that a tool which is withheld could do nothing.
func TestOfferIsTheMost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l, q := anyLayers(r), anyQuery(r)
		l.Mode = rapid.SampledFrom([]Mode{ModeDefault, ModePlan, ModeDontAsk}).Draw(r, "strict mode")
		e := compile(t, l)
		offer, d := e.Offer(q.Tool), e.Decide(q)
		if d.Effect > offer.Effect {
			r.Fatalf("%s by %s, offered as %s by %s", d.Effect, says(d), offer.Effect, says(offer))
		}
	})
}

// TestOthersOnlyNarrow: the policy of this moment beside that of a run's start,
// and the agents above with their denials, never allow more.
func TestOthersOnlyNarrow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l, g, q := anyLayers(r), anyGrants(r), anyQuery(r)
		alone := compile(t, l).With(g).Decide(q)
		narrower := l
		narrower.HostNow = rapid.SliceOfN(anyRule(), 1, 3).Draw(r, "host now")
		if d := compile(t, narrower).With(g).Decide(q); d.Effect > alone.Effect {
			r.Fatalf("%s with another policy beside it, %s without", d.Effect, alone.Effect)
		}
		above := compile(t, anyLayers(r))
		under := compile(t, l).Under(above).With(g)
		d := under.Decide(q)
		if d.Effect > alone.Effect || above.Decide(q).Effect == Deny && d.Effect != Deny {
			r.Fatalf("%s under another, %s alone", d.Effect, alone.Effect)
		}
		if d.Effect > under.Offer(q.Tool).Effect && l.Mode != ModeBypass && l.Mode != ModeAcceptEdits && len(g.Session)+len(g.Workspace) == 0 {
			r.Fatalf("%s, and withheld", d.Effect)
		}
	})
}
