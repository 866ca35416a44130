// Package history keeps what the files of a directory hold before a call may
// change them, says afterwards what it has changed, and takes changes back.
//
// What is kept: regular files, symbolic links and directories below a root; not
// what .gitignore names, nor .git, nor files beyond a bound. Contents are kept
// beside the log, in the state directory, until a call has ended; what it has
// changed then goes into the log with the contents before and after.
package history

import (
	"crypto/sha256"
	"encoding/hex"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
)

// Bounds of what is kept.
const (
	MaxFile  = 5 << 20 // bytes of a file
	maxNodes = 200_000 // files and directories below a root
	maxDepth = 128     // directories below each other
	maxPack  = 1 << 30 // bytes of contents that are kept beside the log for a root
	maxNotes = 64 << 20
)

type digest = [sha256.Size]byte

// kind is what a node is.
type kind uint8

const (
	kindFile kind = iota + 1
	kindLink
	kindDir
)

// unkept is why the content of a file is not kept.
type unkept uint8

const (
	kept unkept = iota
	tooLarge
	unreadable
	full
	unsettled // it changed while it was read
)

func (u unkept) String() string {
	return [...]string{"", "it has more than 5 MiB", "it could not be read", "there is too much to keep", "it was being written"}[u]
}

// stamp tells whether a file is the one that was looked at before, unchanged.
type stamp struct {
	size, mtime, ctime int64
	ino                uint64
}

// node is a file, link or directory as it was when it was looked at. It is never
// changed: what is new of a tree is in new nodes, up to its root.
type node struct {
	name string
	kind kind
	mode uint32 // permission bits
	why  unkept
	// trusted says that the file was at rest when it was looked at: if its stamp
	// is the same the next time, so is the file.
	trusted  bool
	stamp    stamp
	digest   digest
	at       int64  // where the content begins in the pack
	target   string // of a link
	children []*node
	rules    *rules // for what is in a directory
}

func newNode(name string, st *unix.Stat_t) *node {
	n := &node{name: name, mode: uint32(st.Mode) & 0o7777, stamp: stampOf(st)}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		n.kind = kindFile
	case unix.S_IFLNK:
		n.kind, n.mode = kindLink, 0o777
	case unix.S_IFDIR:
		n.kind = kindDir
	}
	return n
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino}
}

// same says whether two nodes say the same of a path, as far as a person would
// care: times do not count.
func (n *node) same(o *node) bool {
	if n == nil || o == nil {
		return n == o
	}
	if n.kind != o.kind || n.mode != o.mode || n.target != o.target {
		return false
	}
	if n.kind != kindFile {
		return true
	}
	if n.why == kept && o.why == kept {
		return n.digest == o.digest
	}
	return n.why == o.why && n.stamp.size == o.stamp.size && n.stamp.mtime == o.stamp.mtime && n.stamp.ino == o.stamp.ino
}

// state is the node as the log has it, without where its content is.
func (n *node) state() *session.FileState {
	if n == nil {
		return nil
	}
	s := &session.FileState{Mode: n.mode}
	switch n.kind {
	case kindDir:
		s.Kind = session.KindDir
	case kindLink:
		s.Kind, s.Target = session.KindLink, n.target
	default:
		s.Kind, s.Size = session.KindFile, n.stamp.size
		if n.why == kept {
			s.Digest = hex.EncodeToString(n.digest[:])
		} else {
			s.Unkept = n.why.String()
		}
	}
	return s
}

// change is a path whose node is another one.
type change struct {
	path          string
	before, after *node
}

// differences lists what is different in two trees. Trees share the nodes that are the
// same, so it takes time only for what is not.
func differences(path string, before, after *node, out []change) []change {
	if before == after {
		return out
	}
	if path != "" && !before.same(after) {
		out = append(out, change{path, before, after})
	}
	var old, now []*node
	if before != nil {
		old = before.children
	}
	if after != nil {
		now = after.children
	}
	for len(old) > 0 || len(now) > 0 {
		var b, a *node
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].name < now[0].name:
			b, old = old[0], old[1:]
		case len(old) == 0 || now[0].name < old[0].name:
			a, now = now[0], now[1:]
		default:
			b, a, old, now = old[0], now[0], old[1:], now[1:]
		}
		out = differences(join(path, first(b, a).name), b, a, out)
	}
	return out
}

func first(a, b *node) *node {
	if a != nil {
		return a
	}
	return b
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
