package gitlog

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// object is what a repository keeps under a hash.
type object struct {
	kind string // "commit", "tree", "blob", "tag"
	data []byte
}

// errNoObject says that a repository does not have an object. A shallow clone
// lacks the parents of its oldest commits.
var errNoObject = errors.New("the object is not there")

// objects are those of a repository and of the ones that it shares with.
type objects struct {
	dirs  []string
	packs []*pack
	cache cache
	zip   io.ReadCloser // used again for each object
}

// openObjects finds the packs of a folder of objects, and those that the folder
// shares. What these share in turn is not looked at: two that name each other
// would have no end.
func openObjects(dir string) (*objects, error) {
	o := &objects{dirs: []string{dir}}
	data, err := readFile(filepath.Join(dir, "info", "alternates"), maxRefs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		if o.dirs = append(o.dirs, line); len(o.dirs) > maxShared {
			return nil, fmt.Errorf("it shares the objects of more than %d repositories", maxShared)
		}
	}
	for _, dir := range o.dirs {
		names, err := filepath.Glob(filepath.Join(quoteGlob(dir), "pack", "pack-*.idx"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			o.packs = append(o.packs, &pack{name: strings.TrimSuffix(name, ".idx")})
		}
	}
	if len(o.packs) > maxPacks {
		return nil, fmt.Errorf("it has %d packs, more than %d: git gc makes them one", len(o.packs), maxPacks)
	}
	return o, nil
}

// quoteGlob makes a pattern of a path that stands for itself.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func (o *objects) close() error {
	var errs []error
	for _, p := range o.packs {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// read gives an object of a kind. It is shared and must not be changed.
func (o *objects) read(h hash, kind string) ([]byte, error) {
	got, err := o.find(h)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", kind, h, err)
	}
	if got.kind != kind {
		return nil, fmt.Errorf("%s is a %s, not a %s", h, got.kind, kind)
	}
	return got.data, nil
}

func (o *objects) find(h hash) (object, error) {
	for _, p := range o.packs {
		at, ok, err := p.find(h)
		if err != nil {
			return object{}, err
		}
		if ok {
			return o.packed(p, at)
		}
	}
	key := place{loose: h}
	if got, ok := o.cache.objects[key]; ok {
		return got, nil
	}
	name := h.String()
	for _, dir := range o.dirs {
		got, err := o.loose(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			o.cache.put(key, got)
		}
		return got, err
	}
	return object{}, errNoObject
}

// loose reads an object that is a file of its own: compressed, after a line that
// says what it is and how large.
func (o *objects) loose(file string) (object, error) {
	if _, err := os.Lstat(file); err != nil {
		return object{}, err
	}
	f, err := openRegular(file)
	if err != nil {
		return object{}, err
	}
	defer f.Close()
	if err := o.unzip(f); err != nil {
		return object{}, err
	}
	head := make([]byte, 0, 32)
	for {
		n, err := io.ReadFull(o.zip, head[len(head):len(head)+1])
		if head = head[:len(head)+n]; err != nil || len(head) == cap(head) {
			return object{}, errors.Join(errors.New("the object does not say what it is"), err)
		}
		if head[len(head)-1] == 0 {
			break
		}
	}
	kind, length, _ := strings.Cut(string(head[:len(head)-1]), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	if err != nil {
		return object{}, errors.New("the object does not say how large it is")
	}
	data, err := o.unzipped(size)
	return object{kind, data}, err
}

// unzip begins to unpack what was compressed.
func (o *objects) unzip(r io.Reader) (err error) {
	if o.zip == nil {
		o.zip, err = zlib.NewReader(r)
		return err
	}
	return o.zip.(zlib.Resetter).Reset(r, nil)
}

// unzipped reads what unzip began. It must have exactly the size.
func (o *objects) unzipped(size int64) ([]byte, error) {
	if err := fits(size); err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, min(size, 64<<10)+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(o.zip, size+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) != size {
		return nil, fmt.Errorf("the object has not the %d bytes that it says", size)
	}
	return data.Bytes(), nil
}

func fits(size int64) error {
	if size < 0 || size > maxObject {
		return fmt.Errorf("it has %d bytes, more than %d", size, maxObject)
	}
	return nil
}

// place is where an object is: in a pack, or alone.
type place struct {
	pack  *pack
	at    int64
	loose hash
}

// cache keeps the objects that were read last; it is emptied when it is full.
type cache struct {
	objects map[place]object
	size    int
}

const (
	maxCached     = 16 << 20 // bytes of all
	maxCachedEach = 1 << 20
	perCached     = 256 // that one takes besides its data
)

// put keeps an object, if it is small.
func (c *cache) put(at place, o object) {
	if len(o.data) > maxCachedEach {
		return
	}
	if c.size += len(o.data) + perCached; c.size > maxCached || c.objects == nil {
		c.objects, c.size = map[place]object{}, len(o.data)+perCached
	}
	c.objects[at] = o
}
