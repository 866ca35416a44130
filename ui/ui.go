// Package ui is the web page: what Vite makes of the sources beside it, in dist. The
// page uses the HTTP API alone, and nothing that is elsewhere.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

// Policy is what the page may load and do, as Content-Security-Policy: its own scripts
// and styles, the API of the server that it is from, and pictures in data of the API.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// forever is for files whose names change with what is in them.
const forever = "public, max-age=31536000, immutable"

// file is one of the page's, ready to be sent.
type file struct {
	kind, tag, caching string
	data, packed       []byte // packed is by gzip; nil: it would not be smaller
}

// Handler serves the page at / and its files at /assets/NAME and /favicon.svg. It is
// safe for concurrent use.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := files()[r.URL.Path]
		if f == nil {
			http.NotFound(w, r)
			return
		}
		f.serve(w, r)
	})
}

// files are those of the page by the paths that they have there. They are made ready
// when the first one is asked for.
var files = sync.OnceValue(func() map[string]*file {
	all := map[string]*file{}
	_ = fs.WalkDir(dist, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := dist.ReadFile(name)
		at := strings.TrimPrefix(name, "dist")
		if at == "/index.html" {
			at = "/"
		}
		all[at] = newFile(name, data)
		return err
	}) // of files that are part of the program, which can be read
	return all
})

func newFile(name string, data []byte) *file {
	sum := sha256.Sum256(data)
	f := &file{kind: mime.TypeByExtension(path.Ext(name)), tag: `"` + hex.EncodeToString(sum[:12]) + `"`, caching: "no-cache", data: data}
	switch path.Ext(name) { // the same on every machine, whatever its tables say
	case ".js":
		f.kind = "text/javascript; charset=utf-8"
	case ".css":
		f.kind = "text/css; charset=utf-8"
	case ".svg":
		f.kind = "image/svg+xml"
	}
	if strings.HasPrefix(name, "dist/assets/") {
		f.caching = forever
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = z.Write(data) // into memory, which takes all
	if z.Close() == nil && packed.Len() < len(data) {
		f.packed = packed.Bytes()
	}
	return f
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Type", f.kind)
	head.Set("Cache-Control", f.caching)
	head.Set("ETag", f.tag)
	head.Set("Content-Security-Policy", Policy)
	head.Set("Referrer-Policy", "no-referrer")
	head.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data := f.data
	if f.packed != nil && takesGzip(r) {
		head.Set("Content-Encoding", "gzip")
		data = f.packed
	}
	head.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // who has gone needs nothing more
}

// takesGzip says whether a client can unpack: it names gzip, and not as what it refuses.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" {
			return strings.ReplaceAll(weight, " ", "") != "q=0"
		}
	}
	return false
}
