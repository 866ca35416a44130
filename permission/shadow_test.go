package permission

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		wide, narrow string
		want         bool
	}{
		{"*", "rm *", true}, {"*", "*", true}, {"rm *", "rm *", true}, {"rm *", "rm -rf *", true}, {"git *", "git push*", true},
		{"git push*", "git *", false}, {"git *", "git", false}, {"git*", "git", true}, {"*.env", "a/*.env", true}, {"*.env", "*.env.*", false},
		{"?", "a", true}, {"?", "é", true}, {"?", "*", false}, {"a?c", "abc", true}, {"a?c", "a?c", true}, {"a?c", "a*c", false}, {"abc", "a?c", false},
		{"*b*", "abc", true}, {"*b*", "a*c", false}, {"", "", true}, {"", "a", false}, {"*", "", true}, {"**", "x", true}, {"a*", "*", false},
	} {
		steps := maxSteps
		if got := covers(tt.wide, tt.narrow, &steps); got != tt.want {
			t.Errorf("%q covers %q: %t", tt.wide, tt.narrow, got)
		}
	}
}

// TestCoversIsSure holds every confirmation against matching.
func TestCoversIsSure(t *testing.T) {
	pattern := rapid.StringMatching(`[ab*?]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		wide, narrow := pattern.Draw(t, "wide"), pattern.Draw(t, "narrow")
		subject := strings.NewReplacer("?", "b", "*", rapid.StringMatching(`[ab]{0,3}`).Draw(t, "run")).Replace(narrow)
		w, _ := ParsePattern(wide)
		n, _ := ParsePattern(narrow)
		steps := maxSteps
		if covers(wide, narrow, &steps) && n.Match(subject) && !w.Match(subject) {
			t.Fatalf("%q is said to cover %q, and does not match %q", wide, narrow, subject)
		}
	})
}

func TestShadowed(t *testing.T) {
	for _, tt := range []struct{ name, rules, want string }{
		{"a later star", "bash:rm *:deny bash:*:ask", "bash rm * by bash *"},
		{"every tool", "bash:*:deny *:*:allow", "bash * by * *"},
		{"a wider pattern", "bash:git push*:deny bash:git *:allow", "bash git push* by bash git *"},
		{"in the right order", "bash:*:ask bash:rm *:deny", ""},
		{"another tool", "bash:*:deny read:*:allow", ""},
		{"a part only", "bash:*:deny bash:git *:allow", ""},
		{"denied again", "bash:rm *:deny bash:*:ask bash:rm*:deny", ""},
		{"a later deny covers it", "bash:rm *:deny bash:*:deny", ""},
		{"a star is no pseudo-tool", "external_directory:*:deny protected:*:deny *:*:allow", ""},
		{"nor for a pattern that means one", "ext*:*:deny *:*:allow", ""},
		{"everything", "*:*:deny *:*:allow", "* * by * *"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rules []Rule
			for text := range strings.SplitSeq(strings.NewReplacer(":deny ", ":deny|", ":ask ", ":ask|", ":allow ", ":allow|").Replace(tt.rules), "|") {
				part := strings.Split(text, ":")
				e, err := ParseEffect(part[2])
				if err != nil {
					t.Fatal(err)
				}
				rules = append(rules, Rule{Tool: part[0], Subject: part[1], Effect: e})
			}
			var got []string
			for _, s := range Shadowed(rules) {
				got = append(got, fmt.Sprintf("%s %s by %s %s", s.Deny.Tool, s.Deny.Subject, s.By.Tool, s.By.Subject))
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
}

// TestShadowedIsBounded gives it what would take hours if it compared all.
func TestShadowedIsBounded(t *testing.T) {
	var rules []Rule
	for range 3000 {
		rules = append(rules, Rule{Tool: "bash", Subject: strings.Repeat("*a", 500), Effect: Deny})
	}
	rules = append(rules, Rule{Tool: "bash", Subject: strings.Repeat("*a", 500) + "b", Effect: Allow})
	start := time.Now()
	Shadowed(rules)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}
