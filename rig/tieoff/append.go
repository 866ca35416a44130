package tieoff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Ledger is where it is kept what of a job is done. Both are called while the file is
// locked, and what they keep has to survive a crash.
type Ledger interface {
	// Write is called before anything is written: from the offset on, the file may have
	// the section then, whole, in part or not. digest gives the SHA-256, in hex, of the
	// file with it.
	Write(offset int64, digest func() (string, error)) error
	// Done is called when the section is in the file, and survives a crash.
	Done() error
}

// ErrMoved says that a file was replaced, again and again, while a section was added.
var ErrMoved = errors.New("the file was replaced while it was written to")

// moves is how often a file is opened anew that was replaced meanwhile.
const moves = 3

// Append adds a section to a tie-off below root, and says so to the ledger before and
// after. It waits for the lock of the file as long as ctx lasts. Where not all of the
// section could be written, what was is taken out again, unless somebody else has
// written after it.
//
// After an error, a job of which the ledger knows that it is being written is to be
// given to Recover, and never again to Append.
func Append(ctx context.Context, root *os.Root, name string, section []byte, l Ledger) error {
	for range moves {
		f, err := Lock(ctx, root, name)
		if err != nil {
			return err
		}
		err = add(root, name, f, section, l)
		f.Close()
		if !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", name, ErrMoved)
}

// Recover ends the work on a job of which the ledger says that its section is being
// written from an offset on, by a process that is no more. If the job's marker is in
// the file, it is done. If the file ends, from the offset on, in a part of the section,
// that is cut off: only then does a file become smaller. Then the section is added,
// also to a file that is not there any more, for it never was done. What people have
// written stays.
func Recover(ctx context.Context, root *os.Root, name, job string, offset int64, section []byte, l Ledger) error {
	if !validJob(job) {
		return &JobError{job}
	}
	for range moves {
		f, err := Lock(ctx, root, name)
		if err != nil {
			return err
		}
		err = takeUp(root, name, f, job, offset, section, l)
		f.Close()
		if !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", name, ErrMoved)
}

func takeUp(root *os.Root, name string, f *os.File, job string, offset int64, section []byte, l Ledger) error {
	there, err := contains(f, markerMark+job+" sha256=")
	if err != nil {
		return err
	}
	if !there {
		if err := cutTorn(f, offset, section); err != nil {
			return err
		}
		return add(root, name, f, section, l)
	}
	if err := settle(root, name, f); err != nil { // who wrote it may not have come so far
		return err
	}
	return l.Done()
}

// add writes a section at the end of a locked file. ErrMoved: it is not the one with
// that name any more.
func add(root *os.Root, name string, f *os.File, section []byte, l Ledger) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	text, err := padded(f, size, section)
	if err != nil {
		return err
	}
	if err := l.Write(size, func() (string, error) { return digestWith(f, size, text) }); err != nil {
		return err
	}
	n, err := f.Write(text)
	if err != nil {
		return errors.Join(fmt.Errorf("adding to %s: %w", name, err), takeBack(f, size, text[:max(0, n)]))
	}
	if size == 0 {
		err = settle(root, name, f)
	} else {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("adding to %s: %w", name, err)
	}
	if !same(root, name, f) {
		return ErrMoved
	}
	return l.Done()
}

// digestWith is that of the first bytes of a file, with a text behind them.
func digestWith(f io.ReaderAt, size int64, text []byte) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, size)); err != nil {
		return "", err
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// padded is a section with a line end before it, where the file does not end in one.
func padded(f *os.File, size int64, section []byte) ([]byte, error) {
	if size == 0 {
		return section, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return nil, err
	}
	if last[0] == '\n' {
		return section, nil
	}
	return append([]byte("\n"), section...), nil
}

// takeBack cuts off what was written, if the file ends in it. Its error is that of a
// file which cannot be cut; what is left there is found by Recover.
func takeBack(f *os.File, offset int64, written []byte) error {
	tail, err := tailFrom(f, offset, len(written))
	if err != nil || len(written) == 0 || !bytes.Equal(tail, written) {
		return err
	}
	return errors.Join(f.Truncate(offset), f.Sync())
}

// cutTorn cuts off the file from the offset on, if what is there is a part of a
// section that was not written to its end. NULs behind it are what a file system may
// leave of a write when the power fails.
func cutTorn(f *os.File, offset int64, section []byte) error {
	info, err := f.Stat()
	if err != nil || info.Size() <= offset || offset < 0 {
		return err
	}
	text, err := padded(f, offset, section)
	if err != nil {
		return err
	}
	tail, err := tailFrom(f, offset, len(text))
	if err != nil {
		return err
	}
	if tail == nil || !bytes.HasPrefix(text, bytes.TrimRight(tail, "\x00")) {
		return nil
	}
	return errors.Join(f.Truncate(offset), f.Sync())
}

// tailFrom reads a file from an offset to its end; nil: there are more bytes than that.
func tailFrom(f *os.File, offset int64, most int) ([]byte, error) {
	tail, err := io.ReadAll(io.NewSectionReader(f, offset, int64(most)+1))
	if err != nil || len(tail) > most {
		return nil, err
	}
	return tail, nil
}

// contains says whether a line of the file begins with a text.
func contains(f *os.File, text string) (bool, error) {
	const chunk = 64 << 10
	want := []byte("\n" + text)
	buf := make([]byte, 1, chunk+len(want))
	buf[0] = '\n' // before the first line
	for at := int64(0); ; {
		n, err := f.ReadAt(buf[len(buf):cap(buf)], at)
		at += int64(n)
		buf = buf[:len(buf)+n]
		if bytes.Contains(buf, want) {
			return true, nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		keep := min(len(buf), len(want)-1)
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
}
