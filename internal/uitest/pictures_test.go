package uitest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// pictures is where a picture of each page is put, in light and in dark, of a desktop and
// of a phone.
var pictures = flag.String("pictures", "", "the `folder` to put a picture of each page into")

// ways are those in which a page is looked at.
var ways = []string{"light", "dark", "phone-light", "phone-dark"}

// named is the name of a page's picture.
func named(path string, l look) string {
	return cmp.Or(l.name, strings.ReplaceAll(strings.Trim(path, "/"), "/", "-"))
}

// checkPictures says what page has no picture in the documentation, and which picture is
// of no page. Where pictures are made, it writes the page that shows them.
func checkPictures(t *testing.T, known map[string]look, all []string) {
	var b strings.Builder
	b.WriteString("# What each page looks like\n\nMade by `make pictures`, of a workspace that `internal/seed` makes.\n")
	want := []string{"README.md"}
	for _, path := range all {
		name := named(path, known[path])
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		for _, way := range ways {
			want = append(want, name+"-"+way+".webp")
			fmt.Fprintf(&b, "<img src=%q alt=%q height=\"400\">\n", name+"-"+way+".webp", name+", "+way)
		}
	}
	slices.Sort(want)
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, "README.md"), []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	folder := filepath.FromSlash("../../docs/screens")
	var have []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	if !slices.Equal(have, want) {
		t.Errorf("docs/screens has %q, and there should be %q: make pictures", have, want)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "README.md")); err != nil || string(text) != b.String() {
		t.Errorf("docs/screens/README.md is not of now: make pictures (%v)", err)
	}
}

// picture puts a picture of what is seen into the folder of pictures, if there is one.
func (p *tab) picture(name, way string) {
	p.Helper()
	if *pictures == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(60))})
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+"-"+way+".webp"), shot.Data, 0o666); err != nil {
		p.Fatal(err)
	}
}
