package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

const (
	// maxHops bounds a chain of references, each to the next.
	maxHops = 50
	// maxFiles bounds how many files a document refers to.
	maxFiles = 200
)

// resolver finds what references mean, in a document and in the files of its folder.
type resolver struct {
	dir   *os.Root
	left  int // bytes that may still be read
	yaml  int
	base  string           // the name of the document's folder, to people
	files map[string]*file // by their paths in the folder
	bad   map[string]error // why others cannot be read
}

func (r *resolver) add(name, path string, data []byte) (*file, error) {
	if len(data) > r.left {
		return nil, (&file{name: name}).refused(nil, 0, fmt.Sprintf("the document is too large: with the files that it refers to, more than %d bytes are left to read", r.left))
	}
	f, err := decode(name, data, r.yaml, r.left)
	if err != nil {
		return nil, err
	}
	f.path = path
	r.left -= len(data)
	r.files[path] = f
	return f, nil
}

// resolve follows the reference of a value, if it is one, and those that it leads to.
// The error says why one cannot be followed; it names what was referred to.
func (r *resolver) resolve(n node) (node, error) {
	for range maxHops {
		ref := n.get("$ref")
		if ref.kind() != '"' {
			return n, nil
		}
		to, err := r.target(n.f, ref.str())
		if err != nil {
			return node{}, fmt.Errorf("$ref %q: %w", short(ref.str()), err)
		}
		n = to
	}
	return node{}, fmt.Errorf("$ref %q: it leads to itself, or through more than %d others", short(n.get("$ref").str()), maxHops)
}

var (
	errURL     = errors.New("it leads to another address, and nothing is fetched: put the file into the document's folder and refer to that")
	errOutside = errors.New("it leads out of the document's folder")
	errNoDir   = errors.New("other files cannot be referred to here")
	errNothing = errors.New("there is nothing of that name")
)

func (r *resolver) target(from *file, ref string) (node, error) {
	name, pointer, _ := strings.Cut(ref, "#")
	f := from
	if name != "" {
		var err error
		if f, err = r.file(from, name); err != nil {
			return node{}, err
		}
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return node{}, errNothing
	}
	n := f.node()
	if pointer == "" {
		return n, nil
	}
	if pointer[0] != '/' {
		return node{}, errors.New("anchors are not followed, only paths such as #/components/schemas/Pet")
	}
	for _, key := range strings.Split(pointer[1:], "/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		if n = n.child(key); !n.there() {
			return node{}, errNothing
		}
	}
	return n, nil
}

// child is the member or the item of that name.
func (n node) child(key string) node {
	if n.kind() != '[' {
		return n.member(key)
	}
	var found node
	want, err := strconv.Atoi(key)
	if err != nil {
		return found
	}
	i := 0
	n.items(func(v node) bool {
		if i == want {
			found = v
		}
		i++
		return i <= want
	})
	return found
}

// file gives a file that another one refers to.
func (r *resolver) file(from *file, ref string) (*file, error) {
	name, err := url.PathUnescape(ref)
	switch {
	case err != nil || strings.ContainsAny(name, "\x00\\"):
		return nil, errOutside
	case strings.Contains(name, "://") || strings.HasPrefix(name, "//") || scheme(name):
		return nil, errURL
	case path.IsAbs(name):
		return nil, errOutside
	}
	name = path.Join(path.Dir(from.path), name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return nil, errOutside
	}
	if f, err := r.files[name], r.bad[name]; f != nil || err != nil {
		return f, err
	}
	if r.dir == nil {
		return nil, errNoDir
	}
	if len(r.files)+len(r.bad) > maxFiles {
		return nil, fmt.Errorf("the document refers to more than %d files", maxFiles)
	}
	data, err := r.read(name)
	if err == nil {
		var f *file
		if f, err = r.add(path.Join(r.base, name), name, data); err == nil {
			return f, nil
		}
	}
	r.bad[name] = err
	return nil, err
}

// refersOut says whether a file may refer to others.
func (f *file) refersOut() bool {
	for rest := f.text; ; {
		_, after, ok := bytes.Cut(rest, []byte(`"$ref"`))
		if !ok {
			return false
		}
		rest = bytes.TrimLeft(after, ": \t\r\n")
		if bytes.HasPrefix(rest, []byte(`"`)) && !bytes.HasPrefix(rest, []byte(`"#`)) {
			return true
		}
	}
}

// scheme says whether a reference begins as "urn:" does.
func scheme(ref string) bool {
	u, err := url.Parse(ref)
	return err == nil && u.Scheme != ""
}

// read gives a file of the document's folder, which is a plain one.
func (r *resolver) read(name string) ([]byte, error) {
	f, err := r.dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file in the document's folder")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path.Join(r.base, name), r.left)
}

// short is a text for messages.
func short(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
