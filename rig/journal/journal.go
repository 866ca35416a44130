// Package journal keeps the files of a rig that are for other programs to read: its state,
// which is replaced as a whole, and logs, to which lines are added. Roster itself reads
// none of them.
package journal

import (
	"context"
	"errors"
	"os"
	"path"

	"github.com/rosterrun/roster/rig/tieoff"
)

// What the files are, below the rig, with slashes.
const (
	State  = "state.json"
	Folder = "logs"
)

// MaxLog is how many bytes a log has at most. One that would grow larger becomes FILE.1,
// in place of the one before.
const MaxLog = 10 << 20

// Log is the file of a log, such as that of a loom.
func Log(name string) string { return path.Join(Folder, name+".jsonl") }

// Append adds a line, without its end, to a log; root is the folder of the rig. Several
// processes may do so at once. What a process left half written that was killed stays a
// line of its own. Links are refused (*tieoff.LinkError).
func Append(ctx context.Context, root *os.Root, file string, line []byte) error {
	f, err := tieoff.Lock(ctx, root, file)
	if err != nil {
		return err
	}
	defer func() { f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 && size+int64(len(line))+1 > MaxLog {
		if err := root.Rename(file, file+".1"); err != nil {
			return err
		}
		f.Close()
		if f, err = tieoff.Lock(ctx, root, file); err != nil {
			return err
		}
		size = 0 // or what others have added meanwhile, in whole lines
	}
	text := append(append([]byte{}, line...), '\n')
	if last := make([]byte, 1); size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	_, err = f.Write(text)
	return err
}

// Replace has a file hold data, all of it or what it held before; root is the folder of
// the rig. Several processes may do so at once.
func Replace(ctx context.Context, root *os.Root, file string, data []byte) error {
	dir, base := path.Split(file)
	temporary := dir + "." + base + ".tmp" // which no knot takes for a strand
	f, err := tieoff.Lock(ctx, root, temporary)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(0); err != nil { // another process was killed
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, root.Remove(temporary))
	}
	return root.Rename(temporary, file)
}
