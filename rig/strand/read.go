package strand

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Content is a file together with what is in it.
type Content struct {
	File
	Digest string // SHA-256 of the content, in hex; empty if it is skipped
	Data   []byte // nil if it is skipped, or only the path is wanted
}

// Restless says that a file was changed again and again while it was read.
type Restless struct{ Path string }

func (e *Restless) Error() string {
	return fmt.Sprintf("%s is changed faster than it can be read: read it again when it has come to rest", e.Path)
}

const (
	readTries = 3
	// fresh is how coarse the clock of a kernel may be: what is written within it can
	// leave size and time as they were.
	fresh = 20 * time.Millisecond
	chunk = 256 << 10
)

// Read gives a file and its content as they were at one moment. A file that was
// changed just now is waited for, 20 ms at most; one that changes while it is read is
// read anew, three times in all, and then the error is *Restless. What is no strand
// has Skipped, and neither digest nor data. fs.ErrNotExist: there is no such file.
// Nothing that could block is opened.
func (d *Dir) Read(ctx context.Context, name string) (Content, error) {
	if why := d.Skips(name); why != "" {
		return d.skipped(name, why)
	}
	root, err := d.root()
	if err != nil {
		return Content{}, err
	}
	defer root.Close()
	for range readTries {
		c, again, err := d.attempt(ctx, root, name)
		if err != nil || !again {
			return c, err
		}
	}
	return Content{}, &Restless{name}
}

// skipped is what is not read because of its name. It may not be there.
func (d *Dir) skipped(name string, why Reason) (Content, error) {
	c := Content{File: File{Path: name, Skipped: why}}
	if why == Outside {
		return c, nil
	}
	root, err := d.root()
	if err != nil {
		return Content{}, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return Content{}, gone(err)
	}
	c.set(info)
	return c, nil
}

// root opens the folder. fs.ErrNotExist: it is not there, or is a file.
func (d *Dir) root() (*os.Root, error) {
	root, err := os.OpenRoot(d.path)
	if err == nil {
		return root, nil
	}
	if info, lost := os.Stat(d.path); lost == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: d.path, Err: fs.ErrNotExist}
	}
	return nil, err
}

// gone is the error for a path that is not there, also because what should be a
// folder on the way is a file now.
func gone(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return &fs.PathError{Op: "read", Path: "", Err: fs.ErrNotExist}
	}
	return err
}

func (f *File) set(info fs.FileInfo) {
	f.Size, f.ModTime = info.Size(), info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Inode = st.Ino
	}
}

// attempt reads a file once. again: it was changed meanwhile.
func (d *Dir) attempt(ctx context.Context, root *os.Root, name string) (c Content, again bool, err error) {
	if err := ctx.Err(); err != nil {
		return c, false, err
	}
	c.Path = name
	at, info, why, err := d.find(root, name)
	if err != nil {
		return Content{}, false, gone(err)
	}
	c.set(info)
	if why == "" {
		why = d.tooLarge(info.Size())
	}
	if c.Skipped = why; why != "" {
		return c, false, nil
	}
	if err := rest(ctx, info.ModTime()); err != nil {
		return Content{}, false, err
	}
	f, err := root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Content{}, errors.Is(err, fs.ErrNotExist), gone(err)
	}
	defer f.Close()
	return d.stable(ctx, c, f, func() (fs.FileInfo, error) { return root.Lstat(at) })
}

func (d *Dir) tooLarge(size int64) Reason {
	if size > d.o.MaxSize && !d.o.PathOnly {
		return TooLarge
	}
	return ""
}

// rest waits until a file that was changed just now would show another change by its
// time. A time that is yet to come says nothing.
func rest(ctx context.Context, changed time.Time) error {
	age := time.Since(changed)
	if age < 0 || age >= fresh {
		return ctx.Err()
	}
	t := time.NewTimer(fresh - age)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stable reads an open file, and looks before and after whether it is the same.
func (d *Dir) stable(ctx context.Context, c Content, f *os.File, named func() (fs.FileInfo, error)) (Content, bool, error) {
	before, err := f.Stat()
	if err != nil {
		return Content{}, false, err
	}
	c.set(before)
	if !before.Mode().IsRegular() {
		c.Skipped = Irregular
		return c, false, nil
	}
	if c.Skipped = d.tooLarge(before.Size()); c.Skipped != "" {
		return c, false, nil
	}
	sum := sha256.New()
	data, head, err := d.take(ctx, f, before.Size(), sum)
	if err != nil {
		return Content{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return Content{}, false, err
	}
	last, err := named()
	if err != nil || !os.SameFile(last, after) || !unchanged(before, after) || time.Since(after.ModTime()).Abs() < fresh {
		return Content{}, true, nil
	}
	if IsBinary(head) {
		c.Skipped = Binary
		return c, false, nil
	}
	c.Digest, c.Data = hex.EncodeToString(sum.Sum(nil)), data
	return c, false, nil
}

// take reads and hashes. head is the content, or as much as says whether it is binary.
func (d *Dir) take(ctx context.Context, r io.Reader, size int64, sum hash.Hash) (data, head []byte, err error) {
	keep := int64(headSize + 1)
	if !d.o.PathOnly {
		keep = size
	}
	head = make([]byte, 0, min(keep, size))
	buf := make([]byte, min(chunk, size+1))
	for n := int64(0); n <= size; { // what grows beyond is seen afterwards
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		got, err := r.Read(buf)
		n += int64(got)
		sum.Write(buf[:got])
		head = append(head, buf[:min(int64(got), keep-int64(len(head)))]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if d.o.PathOnly {
		return nil, head, nil
	}
	return head, head, nil
}

func unchanged(a, b fs.FileInfo) bool {
	if a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
		return false
	}
	return changedAt(a) == changedAt(b)
}
