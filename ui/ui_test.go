package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, path string, head ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPage: the page and all that it names are there, from this server alone, and the
// policy lets nothing else in.
func TestPage(t *testing.T) {
	page := get(t, "/")
	html := text(t, page.Body)
	if page.StatusCode != http.StatusOK || page.Header.Get("Content-Type") != "text/html; charset=utf-8" || page.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v", page.StatusCode, page.Header)
	}
	policy := page.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Error(policy)
	}
	if inline := regexp.MustCompile(`<script[^>]*>[^<]|<style| on\w+=| style=`).FindString(html); inline != "" {
		t.Errorf("the page has %q in itself", inline)
	}
	named := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(html, -1)
	if len(named) < 3 {
		t.Fatalf("the page names %v", named)
	}
	for _, m := range named {
		if m[1] == "/docs" {
			continue // the server's
		}
		f := get(t, m[1])
		if f.StatusCode != http.StatusOK || strings.HasPrefix(m[1], "/assets/") && !strings.Contains(f.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", m[1], f.StatusCode, f.Header)
		}
	}
}

// TestFilesOfThePage: they come packed to who can unpack, and not again to who has them.
func TestFilesOfThePage(t *testing.T) {
	script := regexp.MustCompile(`/assets/[^"]+\.js`).FindString(text(t, get(t, "/").Body))
	plain := get(t, script)
	want := text(t, plain.Body)
	if kind := plain.Header.Get("Content-Type"); kind != "text/javascript; charset=utf-8" || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v", plain.Header)
	}
	packed := get(t, script, "Accept-Encoding", "br, gzip;q=0.8")
	if packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v", packed.Header)
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, z); got != want {
		t.Errorf("unpacked it has %d bytes, not %d", len(got), len(want))
	}
	if f := get(t, script, "Accept-Encoding", "gzip; q=0"); f.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v", f.Header)
	}
	if f := get(t, script, "If-None-Match", plain.Header.Get("ETag")); f.StatusCode != http.StatusNotModified || text(t, f.Body) != "" {
		t.Errorf("%d", f.StatusCode)
	}
	for _, path := range []string{"/assets/none.js", "/assets/", "/index.html", "/assets/../index.html", "/dist/index.html"} {
		if f := get(t, path); f.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, f.StatusCode)
		}
	}
}

// TestSizeOfThePage: all scripts together stay below their bound.
func TestSizeOfThePage(t *testing.T) {
	const most = 250 << 10 // bytes, packed
	scripts, size := 0, 0
	for path, f := range files() {
		if strings.HasSuffix(path, ".js") {
			scripts++
			size += len(f.packed)
		}
	}
	t.Logf("%d scripts, %d bytes packed", scripts, size)
	if size > most || scripts == 0 {
		t.Errorf("%d scripts have %d bytes packed; %d are allowed", scripts, size, most)
	}
}
