package gitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

// pack is a file of many objects, with an index of their places. Both are opened
// when they are needed.
type pack struct {
	name       string // without its suffix
	index, all *os.File
	size       int64 // of the pack
	fan        [256]uint32
}

// The index: two words, the counts, the hashes, checksums, places, and the
// places that take more than 31 bits.
const (
	fanAt    = 8
	hashesAt = fanAt + 256*4
)

func (p *pack) open() error {
	if p.all != nil {
		return nil
	}
	index, err := openRegular(p.name + ".idx")
	if err != nil {
		return err
	}
	var head [hashesAt]byte
	if _, err = index.ReadAt(head[:], 0); err == nil && !bytes.HasPrefix(head[:], []byte("\xfftOc\x00\x00\x00\x02")) {
		err = errors.New("it is of a version that is not read")
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[fanAt+4*i:])
		if err == nil && i > 0 && p.fan[i] < p.fan[i-1] {
			err = errors.New("its counts go back")
		}
	}
	var all *os.File
	if err == nil {
		all, err = openRegular(p.name + ".pack")
	}
	if err == nil {
		p.size, err = all.Seek(0, io.SeekEnd)
	}
	if err != nil {
		index.Close()
		if all != nil {
			all.Close()
		}
		return fmt.Errorf("%s.idx: %w", filepath.Base(p.name), err)
	}
	p.index, p.all = index, all
	return nil
}

func (p *pack) close() error {
	if p.all == nil {
		return nil
	}
	return errors.Join(p.index.Close(), p.all.Close())
}

// find gives the place of an object in the pack.
func (p *pack) find(h hash) (at int64, ok bool, err error) {
	if err := p.open(); err != nil {
		return 0, false, err
	}
	count := int64(p.fan[255])
	first := 0
	if h[0] > 0 {
		first = int(p.fan[h[0]-1])
	}
	var buf [len(h)]byte
	read := func(b []byte, at int64) []byte {
		if err == nil {
			_, err = p.index.ReadAt(b, at)
		}
		return b
	}
	i, ok := sort.Find(int(p.fan[h[0]])-first, func(i int) int {
		return bytes.Compare(h[:], read(buf[:], hashesAt+int64(first+i)*int64(len(h))))
	})
	if err != nil || !ok {
		return 0, false, err
	}
	place := binary.BigEndian.Uint32(read(buf[:4], hashesAt+count*24+int64(first+i)*4))
	at = int64(place)
	const far = 1 << 31
	if place&far != 0 {
		at = int64(binary.BigEndian.Uint64(read(buf[:8], hashesAt+count*28+int64(place&^far)*8)))
	}
	if err == nil && (at < 0 || at >= p.size) {
		err = fmt.Errorf("%s.idx: an object is outside of the pack", filepath.Base(p.name))
	}
	return at, err == nil, err
}

// entry is an object as a pack has it: whole, or as what is different from
// another one.
type entry struct {
	kind string // empty: of the other
	size int64
	data int64 // where it begins
	base int64 // place of the other
}

// entry reads the head of an object.
func (p *pack) entry(at int64) (entry, error) {
	var head [64]byte
	n, err := p.all.ReadAt(head[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return entry{}, err
	}
	bad := fmt.Errorf("%s.pack: no object at %d", filepath.Base(p.name), at)
	in := bytes.NewReader(head[:n])
	c, err := in.ReadByte()
	if err != nil {
		return entry{}, bad
	}
	kind := c >> 4 & 7
	e := entry{size: int64(c & 15)}
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil || shift > 50 {
			return entry{}, bad
		}
		e.size |= int64(c&0x7f) << shift
	}
	switch kind {
	case 1, 2, 3, 4:
		e.kind = [...]string{"commit", "tree", "blob", "tag"}[kind-1]
	case 6:
		back := int64(-1)
		for c = 0x80; c&0x80 != 0; {
			if c, err = in.ReadByte(); err != nil || back > 1<<55 {
				return entry{}, bad
			}
			back = (back+1)<<7 | int64(c&0x7f)
		}
		e.base = at - back
		if back <= 0 || e.base <= 0 {
			return entry{}, bad
		}
	case 7:
		var h hash
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return entry{}, bad
		}
		var ok bool
		if e.base, ok, err = p.find(h); err != nil || !ok {
			return entry{}, errors.Join(bad, err)
		}
	default:
		return entry{}, bad
	}
	e.data = at + int64(n-in.Len())
	return e, nil
}

// packed reads an object of a pack.
func (o *objects) packed(p *pack, at int64) (object, error) {
	var chain []entry // what is different, the last object first
	var places []int64
	var got object
	var spent int64
	for {
		var ok bool
		if got, ok = o.cache.objects[place{pack: p, at: at}]; ok {
			break
		}
		e, err := p.entry(at)
		if err == nil {
			err = fits(e.size)
		}
		if err != nil {
			return object{}, err
		}
		if spent += e.size; spent > maxSpent || len(chain) > maxChain {
			return object{}, errors.New("it is built on too much")
		}
		if e.kind != "" {
			got.kind = e.kind
			if got.data, err = o.unpack(p, e); err != nil {
				return object{}, err
			}
			o.cache.put(place{pack: p, at: at}, got)
			break
		}
		chain, places = append(chain, e), append(places, at)
		at = e.base
	}
	for i, e := range slices.Backward(chain) {
		delta, err := o.unpack(p, e)
		if err == nil {
			got.data, err = patch(got.data, delta)
		}
		if err == nil {
			if spent += int64(len(got.data)); spent > maxSpent {
				err = errors.New("it is built on too much")
			}
		}
		if err != nil {
			return object{}, err
		}
		o.cache.put(place{pack: p, at: places[i]}, got)
	}
	return got, nil
}

func (o *objects) unpack(p *pack, e entry) ([]byte, error) {
	if err := o.unzip(io.NewSectionReader(p.all, e.data, p.size-e.data)); err != nil {
		return nil, err
	}
	return o.unzipped(e.size)
}

var errDelta = errors.New("the object is not built as it says")

// patch builds an object of another one, and of what is different: two sizes,
// and pieces of the other or of its own.
func patch(base, delta []byte) ([]byte, error) {
	in := bytes.NewReader(delta)
	from, err := binary.ReadUvarint(in)
	if err != nil || from != uint64(len(base)) {
		return nil, errDelta
	}
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, errDelta
	}
	if err := fits(int64(size)); err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for delta = delta[len(delta)-in.Len():]; len(delta) > 0; {
		var piece []byte
		if piece, delta, err = next(base, delta); err != nil {
			return nil, err
		}
		if uint64(len(out)+len(piece)) > size {
			return nil, errDelta
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != size {
		return nil, errDelta
	}
	return out, nil
}

// next takes a piece off a delta: of the base, or its own.
func next(base, delta []byte) (piece, rest []byte, err error) {
	c, rest := delta[0], delta[1:]
	if c&0x80 == 0 {
		if c == 0 || int(c) > len(rest) {
			return nil, nil, errDelta
		}
		return rest[:c], rest[c:], nil
	}
	var args [7]byte // 4 of the place, 3 of the size
	for i := range args {
		if c&(1<<i) == 0 {
			continue
		}
		if len(rest) == 0 {
			return nil, nil, errDelta
		}
		args[i], rest = rest[0], rest[1:]
	}
	at := int(binary.LittleEndian.Uint32(args[:4]))
	n := int(args[4]) | int(args[5])<<8 | int(args[6])<<16
	if n == 0 {
		n = 1 << 16
	}
	if at > len(base) || n > len(base)-at {
		return nil, nil, errDelta
	}
	return base[at : at+n], rest, nil
}
