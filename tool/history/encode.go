package history

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A tree is written down as the nodes, each before what is in it. The file begins
// with magic, the root and the paths that the tree is of, none for all; it ends
// with magic again, so that one which was cut is no tree.
const magic = "roster files 1\n"

const (
	maxRecord = 512 << 20 // bytes of a written tree
	maxText   = 1 << 16   // bytes of a name or target in it
)

var errRecord = errors.New("what was written down of the files cannot be read")

// saveTree replaces the file, so that whoever has it under another name keeps
// what it was.
func saveTree(path, root string, paths []string, n *node) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tree-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := &encoder{bufio.NewWriterSize(f, 1<<16), nil}
	w.WriteString(magic)
	w.text(root)
	w.num(uint64(len(paths)))
	for _, p := range paths {
		w.text(p)
	}
	w.node(n)
	w.WriteString(magic)
	if err = errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

type encoder struct {
	*bufio.Writer
	buf []byte
}

func (w *encoder) num(v uint64) {
	w.buf = binary.AppendUvarint(w.buf[:0], v)
	_, _ = w.Write(w.buf) // the error comes with Flush
}

func (w *encoder) text(s string) {
	w.num(uint64(len(s)))
	_, _ = w.WriteString(s)
}

func (w *encoder) node(n *node) {
	_ = w.WriteByte(byte(n.kind))
	w.text(n.name)
	w.num(uint64(n.mode))
	trusted := uint64(0)
	if n.trusted && n.kind != kindDir { // the rules of a directory are not written, so it is listed anew
		trusted = 1
	}
	w.num(uint64(n.why)<<1 | trusted)
	for _, v := range [...]uint64{uint64(n.stamp.size), uint64(n.stamp.mtime), uint64(n.stamp.ctime), n.stamp.ino} {
		w.num(v)
	}
	switch {
	case n.kind == kindLink:
		w.text(n.target)
	case n.kind == kindDir:
		w.num(uint64(len(n.children)))
		for _, c := range n.children {
			w.node(c)
		}
	case n.why == kept:
		_, _ = w.Write(n.digest[:])
		w.num(uint64(n.at))
	}
}

// loadTree reads what saveTree has written.
func loadTree(path string) (root string, paths []string, n *node, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, nil, err
	}
	defer f.Close()
	r := &decoder{Reader: bufio.NewReaderSize(io.LimitReader(f, maxRecord), 1<<16)}
	r.magic()
	root = r.text()
	for i := r.num(); i > 0 && r.err == nil; i-- {
		paths = append(paths, r.text())
	}
	n = r.node(0)
	r.magic()
	if r.err != nil {
		return "", nil, nil, fmt.Errorf("%s: %w", path, r.err)
	}
	return root, paths, n, nil
}

type decoder struct {
	*bufio.Reader
	err   error
	nodes int
}

func (r *decoder) fail() {
	if r.err == nil {
		r.err = errRecord
	}
}

func (r *decoder) bytes(b []byte) {
	if _, err := io.ReadFull(r, b); err != nil {
		r.fail()
	}
}

func (r *decoder) magic() {
	b := make([]byte, len(magic))
	if r.bytes(b); string(b) != magic {
		r.fail()
	}
}

func (r *decoder) num() uint64 {
	v, err := binary.ReadUvarint(r)
	if err != nil {
		r.fail()
	}
	return v
}

func (r *decoder) text() string {
	n := r.num()
	if n > maxText {
		r.fail()
	}
	if r.err != nil {
		return ""
	}
	b := make([]byte, n)
	r.bytes(b)
	return string(b)
}

func (r *decoder) node(depth int) *node {
	var k [1]byte
	r.bytes(k[:])
	n := &node{kind: kind(k[0]), name: r.text(), mode: uint32(r.num())}
	flags := r.num()
	n.why, n.trusted = unkept(flags>>1), flags&1 == 1
	n.stamp = stamp{int64(r.num()), int64(r.num()), int64(r.num()), r.num()}
	if r.nodes++; r.nodes > maxNodes+maxDepth || depth > maxDepth+1 || n.why > unsettled || n.kind < kindFile || n.kind > kindDir {
		r.fail()
	}
	switch {
	case r.err != nil:
	case n.kind == kindLink:
		n.target = r.text()
	case n.kind == kindDir:
		for i := r.num(); i > 0 && r.err == nil; i-- {
			n.children = append(n.children, r.node(depth+1))
		}
	case n.why == kept:
		r.bytes(n.digest[:])
		n.at = int64(r.num())
	}
	return n
}
