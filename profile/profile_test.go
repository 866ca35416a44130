package profile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

func TestNames(t *testing.T) {
	tests := []struct {
		in    string
		valid bool
		slug  string // "!" is refused
	}{
		{"reviewer", true, "reviewer"},
		{"nested/deep", true, "nested/deep"},
		{"a.b_c-d9", true, "a.b_c-d9"},
		{"Real Estate Buyer & Seller", false, "real-estate-buyer-seller"},
		{"C++", false, "cpp"},
		{"C# Expert", false, "cs-expert"},
		{"Visual C++/F#", false, "visual-cpp/fs"},
		{"Issue #12, PR#12, a+b", false, "issue-12-pr-12-a-b"},
		{"Google+ #", false, "google"},
		{"-x", false, "x"},
		{"a//b", false, "a/b"},
		{"müller", false, "m-ller"},
		{"专家", false, ""},
		{"", false, "!"},
		{" ", false, "!"},
		{"..", false, "!"},
		{"../x", false, "!"},
		{"a/../b", false, "!"},
		{"/etc/passwd", false, "!"},
		{`a\b`, false, "!"},
		{"a\x00b", false, "!"},
		{"a\nb", false, "!"},
		{"a\x7fb", false, "!"},
		{strings.Repeat("a", profile.MaxName), true, strings.Repeat("a", profile.MaxName)},
		{strings.Repeat("a", profile.MaxName+1), false, "!"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.20q", tt.in), func(t *testing.T) {
			if err := profile.CheckName(tt.in); (err == nil) != tt.valid {
				t.Errorf("CheckName: %v", err)
			}
			slug, err := profile.Slug(tt.in)
			if tt.slug == "!" {
				if !errors.Is(err, profile.SchemaValidation) {
					t.Errorf("Slug gives %q, %v; want a refusal", slug, err)
				}
				return
			}
			if err != nil || slug != tt.slug {
				t.Errorf("Slug gives %q, %v; want %q", slug, err, tt.slug)
			}
			if slug != "" && profile.CheckName(slug) != nil {
				t.Errorf("the slug %q is no name", slug)
			}
		})
	}
}

func FuzzSlug(f *testing.F) {
	f.Add("Real Estate Buyer & Seller")
	f.Add("a/../b")
	f.Fuzz(func(t *testing.T, in string) {
		slug, err := profile.Slug(in)
		if err != nil || slug == "" {
			return
		}
		if err := profile.CheckName(slug); err != nil {
			t.Errorf("Slug(%q) = %q: %v", in, slug, err)
		}
		if profile.CheckName(in) == nil && slug != in {
			t.Errorf("the name %q became %q", in, slug)
		}
	})
}

func TestErrorsKeepTheirNames(t *testing.T) {
	missing := profile.Diagnose(profile.CodeMissingFrontmatter, source.Origin{File: "a.md", Line: 1, Column: 1}, "", "no frontmatter", "write it")
	own := missing
	own.Name = string(profile.InvalidFormat)
	note := profile.Diagnose(profile.CodeSlug, source.Origin{}, "", "", "")
	err := error(&profile.LoadError{Path: "a.md", Err: &profile.ParseError{Diagnostics: []profile.Diagnostic{note, missing}}})
	io := error(&profile.LoadError{Path: "a.md", Err: fmt.Errorf("%w: %w", profile.IO, fs.ErrPermission)})
	tests := []struct {
		name   string
		err    error
		target error
		want   bool
	}{
		{"by name through both", err, profile.MissingFrontmatter, true},
		{"another name", err, profile.InvalidYAML, false},
		{"own name of a dialect", &own, profile.InvalidFormat, true},
		{"the code's name as well", &own, profile.MissingFrontmatter, true},
		{"IO", io, profile.IO, true},
		{"the cause of IO", io, fs.ErrPermission, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := errors.Is(tt.err, tt.target); got != tt.want {
				t.Errorf("errors.Is(%v, %v) = %v", tt.err, tt.target, got)
			}
		})
	}
	var d *profile.Diagnostic
	if !errors.As(err, &d) || d.Code != profile.CodeMissingFrontmatter {
		t.Errorf("errors.As gives %v", d)
	}
	if want := "a.md:1:1: error [P101]: no frontmatter (write it)"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestCodes(t *testing.T) {
	form := regexp.MustCompile(`^P[1-3]\d\d$`)
	seen := map[string]bool{}
	for _, c := range profile.Codes() {
		if !form.MatchString(c.Code) || seen[c.Code] || c.Meaning == "" || c.Severity == "" {
			t.Errorf("bad entry %+v", c)
		}
		if c.Severity == profile.SeverityError && c.Name == "" {
			t.Errorf("the error %s has no name", c.Code)
		}
		seen[c.Code] = true
	}
	if !slices.IsSortedFunc(profile.Codes(), func(a, b profile.Code) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("the codes are not in order")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"permission", "provider", "prompt", "model", "mode"}
	for word, want := range map[string]string{
		"permissions": "permission", "modle": "mode model", "prov": "provider", "zzz": "", "Model": "model mode",
		"mdoe": "mode", "nods": "",
	} {
		if got := strings.Join(profile.Nearest(word, names, 3), " "); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
