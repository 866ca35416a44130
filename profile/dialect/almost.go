package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
)

// almostGuard gives the key that decides what an agent may do and that a key
// almost is; empty: none. A key in another case, in the plural or with a slip
// would otherwise leave a profile free that was meant to be restricted.
func almostGuard(written string) string {
	written = strings.TrimPrefix(written, "+")
	if written == "" || len(written) > 30 || !strings.ContainsRune("tTpPdDaA", rune(written[0])) {
		return "" // quickly, for there may be thousands
	}
	bare := func(key string) string {
		key = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(key), "-", ""), "_", "")
		return strings.TrimSuffix(key, "s")
	}
	word := bare(written)
	for _, key := range []string{"tools", "permission", "default-permission", "permission-mode", "allowed-tools", "disallowed-tools"} {
		want := bare(key)
		slips := 2
		if len(want) < 8 {
			slips = min(1, max(0, len(word)-3)) // of few letters one makes another word
		}
		if word[:min(1, len(word))] == want[:1] && max(len(word), len(want))-min(len(word), len(want)) <= slips && levenshtein.ComputeDistance(word, want) <= slips {
			return key
		}
	}
	return ""
}

// almost handles a key that is nobody's and almost one of those. permissions,
// which many files have, restricts and is read at the end; the others are
// errors.
func (d *decoder) almost(f field, key string) {
	if f.written == "permissions" {
		d.almostRules = append(d.almostRules, f)
		return
	}
	d.report(profile.CodeAlmostGuard, f.at, f.written, fmt.Sprintf("%s is not a known key: the profile would not be restricted by it", f.written), fmt.Sprintf("did you mean %q?", key))
}

// restrict reads the rules of keys that are almost permission: what they forbid
// counts, and what they allow does not. It is called after all rules were read.
func (d *decoder) restrict(g grammar) {
	for _, f := range d.almostRules {
		says := "what it denies or asks for counts, what it allows does not"
		rules, ok := d.restricting(g, f)
		if !ok {
			says = "what it says cannot be read as rules, so that all asks that no other rule decides"
			rules = []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Ask, At: f.at}}
		}
		d.report(profile.CodeAlmostRules, f.at, f.written, fmt.Sprintf("%s is not a known key: %s", f.written, says), `did you mean "permission"?`)
		d.addRestricting(rules)
	}
}

// restricting gives the rules of a field that allow nothing, read as those of
// the permission key or as lists of tools under allow, ask and deny.
func (d *decoder) restricting(g grammar, f field) ([]permission.Rule, bool) {
	probe := &decoder{file: d.file, doc: d.doc, p: &profile.Profile{Dialect: d.p.Dialect}, opts: d.opts, alias: d.alias}
	lists, isLists := effectLists(f)
	for e, list := range lists {
		for _, r := range probe.denials(list) {
			r.Effect = e
			probe.p.Permission = append(probe.p.Permission, r)
		}
	}
	if !isLists {
		probe.permission(g, f)
	}
	if profile.Refused(probe.ds) {
		return nil, false
	}
	return slices.DeleteFunc(probe.p.Permission, func(r permission.Rule) bool { return r.Effect == permission.Allow }), true
}

// effectLists gives the lists of tools of a map that has them by their effects.
func effectLists(f field) (map[permission.Effect]field, bool) {
	n := deref(f.node)
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, false
	}
	lists := map[permission.Effect]field{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		e, err := permission.ParseEffect(deref(n.Content[i]).Value)
		if err != nil || deref(n.Content[i+1]).Kind == yaml.MappingNode {
			return nil, false
		}
		if e != permission.Allow {
			lists[e] = field{key: f.key, written: f.written, at: f.at, node: n.Content[i+1]}
		}
	}
	return lists, true
}

// addRestricting puts asks before all other rules and denials after them, so
// that none weakens another. A profile that was written anew has them already.
func (d *decoder) addRestricting(rules []permission.Rule) {
	same := func(r permission.Rule) func(permission.Rule) bool {
		return func(o permission.Rule) bool {
			return o.Tool == r.Tool && o.Subject == r.Subject && o.Effect == r.Effect
		}
	}
	have := d.p.Permission
	last := len(have)
	for last > 0 && have[last-1].Effect == permission.Deny {
		last--
	}
	var asks, denials []permission.Rule
	for _, r := range rules {
		switch {
		case r.Effect == permission.Ask && !slices.ContainsFunc(have, same(r)):
			asks = append(asks, r)
		case r.Effect == permission.Deny && !slices.ContainsFunc(have[last:], same(r)):
			denials = append(denials, r)
		}
	}
	d.p.Permission = slices.Concat(asks, have, denials)
}
