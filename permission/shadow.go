package permission

// Shadow is a deny that never decides, because a later rule covers all that it
// names.
type Shadow struct{ Deny, By Rule }

// maxSteps bounds the comparisons of characters in one ruleset: what is beyond
// is not found.
const maxSteps = 1 << 20

// Shadowed lists the denies of a ruleset that a later allow or ask takes the
// place of for everything that they name. It compares patterns, and may miss
// some.
func Shadowed(rules []Rule) []Shadow {
	steps := maxSteps
	var out []Shadow
	for i, deny := range rules {
		if deny.Effect != Deny {
			continue
		}
		for j := len(rules) - 1; j > i && steps > 0; j-- {
			if by := rules[j]; coversTool(by.Tool, deny.Tool, &steps) && covers(by.Subject, deny.Subject, &steps) {
				if by.Effect != Deny {
					out = append(out, Shadow{deny, by})
				}
				break
			}
		}
	}
	return out
}

// coversTool knows that "*" stands for no pseudo-tool.
func coversTool(wide, narrow string, steps *int) bool {
	if w, err := ParsePattern(wide); err != nil || !w.Any() {
		return covers(wide, narrow, steps)
	}
	n, err := ParsePattern(narrow)
	return err == nil && (n.Any() || !n.Match(ExternalDirectory) && !n.Match(Protected))
}

// covers says whether one pattern matches whatever the other matches. It is
// sure of what it confirms: "?" and the text of the one stand for the same in
// the other, its "*" for any run of characters and wildcards.
func covers(wide, narrow string, steps *int) bool {
	w, n := []rune(wide), []rune(narrow)
	star, from := -1, 0 // the last star of wide, and what of narrow comes after it
	i, j := 0, 0
	for j < len(n) {
		if *steps--; *steps < 0 {
			return false
		}
		switch {
		case i < len(w) && w[i] == '*':
			star, from = i, j
			i++
		case i < len(w) && n[j] != '*' && (w[i] == '?' || w[i] == n[j]):
			i++
			j++
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(w) && w[i] == '*' {
		i++
	}
	return i == len(w)
}
