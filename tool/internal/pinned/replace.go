package pinned

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Writable says whether the file that there is may be written to as it is: who may
// write to its directory can put another in its place all the same.
func (p *Place) Writable() error {
	return pathError("write", p.Path, unix.Faccessat(int(p.dir.Fd()), p.base, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW))
}

// Replace writes data as the file's new content: into a file beside it, synced
// and renamed over it, so that a reader or a crash finds the old or the new
// content and nothing between. Parents are created. A mode of 0 means a new
// file, by the umask; else owner and group stay, where that is permitted. check, if set, is called last before the rename; its
// error leaves the old file alone. The Stat is of the new file.
func (p *Place) Replace(data []byte, mode fs.FileMode, check func() error) (Stat, error) {
	if err := p.makeParents(); err != nil {
		return Stat{}, err
	}
	dir := int(p.dir.Fd())
	name := ".roster-" + rand.Text() + ".tmp"
	f, err := openAt(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return Stat{}, pathError("create", p.Path, err)
	}
	if mode != 0 {
		p.giveTo(f)
	}
	st, err := fill(f, data, mode)
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		err = pathError("rename", p.Path, unix.Renameat(dir, name, dir, p.base))
	}
	if err != nil {
		unix.Unlinkat(dir, name, 0)
		return Stat{}, err
	}
	p.Exists = true
	return st, syncDir(p.dir)
}

// giveTo makes a file that of the owner and the group of the one that it is to
// replace. Who may not give files away keeps it.
func (p *Place) giveTo(f *os.File) {
	var old, now unix.Stat_t
	if unix.Fstatat(int(p.dir.Fd()), p.base, &old, unix.AT_SYMLINK_NOFOLLOW) != nil || unix.Fstat(int(f.Fd()), &now) != nil {
		return
	}
	if old.Uid != now.Uid || old.Gid != now.Gid {
		_ = f.Chown(int(old.Uid), int(old.Gid))
	}
}

func fill(f *os.File, data []byte, mode fs.FileMode) (Stat, error) {
	_, err := f.Write(data)
	if err == nil && mode != 0 {
		err = f.Chmod(mode.Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	var st Stat
	if err == nil {
		st, err = StatFile(f)
	}
	return st, errors.Join(err, f.Close())
}

// makeParents creates the missing directories and moves the Place into the
// last of them.
func (p *Place) makeParents() error {
	for len(p.missing) > 0 {
		name := p.missing[0]
		dir := int(p.dir.Fd())
		if err := unix.Mkdirat(dir, name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return pathError("mkdir", p.Path, err)
		}
		sub, err := openAt(dir, name, searchFlags, 0)
		if err != nil {
			return pathError("open", p.Path, err)
		}
		p.dir.Close()
		p.dir, p.missing = sub, p.missing[1:]
	}
	return nil
}

// syncDir makes the rename durable. A directory that was opened only to go on
// from cannot be synced, so it is opened again.
func syncDir(dir *os.File) error {
	d, err := openAt(int(dir.Fd()), ".", dirFlags, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // may be written to but not listed
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
