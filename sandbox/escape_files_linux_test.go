package sandbox

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemFile is where an attempt would write to the system.
func systemFile(w *world) string {
	return filepath.Join("/usr/local/lib", filepath.Base(w.dir))
}

func shmFile(w *world) string { return filepath.Join("/dev/shm", filepath.Base(w.dir)) }

// writes are the attempts to change what is outside.
func writes() []attempt {
	return []attempt{
		{name: "make a file outside", script: `echo x > $OUT/new`, worked: made("out/new")},
		{name: "append to a file outside", script: `echo x >> $OUT/file`, worked: changed},
		{name: "empty a file without opening it", script: probe("truncate", "$OUT/file"), worked: changed},
		{name: "delete a file outside", script: `rm -f $OUT/file`, worked: gone("out/file")},
		{name: "rename a file outside", script: `mv $OUT/file $OUT/moved`, worked: made("out/moved")},
		{name: "move a file in from outside", script: probe("rename", "$OUT/file", "$WS/file"), worked: gone("out/file")},
		{name: "move a file of its own out", script: probe("rename", "$WS/own/file", "$OUT/new"), worked: made("out/new")},
		{name: "exchange a file of its own for one outside", script: probe("exchange", "$WS/own/file", "$OUT/file"), worked: changed},
		{name: "write through a hard link to a file outside", script: `ln $OUT/file $WS/link && echo x >> $WS/link`, worked: changed},
		{name: "put a hard link outside", script: `ln $WS/own/file $OUT/new`, worked: made("out/new")},
		{name: "put a symbolic link outside", script: `ln -s $WS $OUT/new`, worked: made("out/new")},
		{name: "make a directory outside", script: `mkdir $OUT/new`, worked: made("out/new")},
		{name: "make a FIFO outside", script: `mkfifo $OUT/new`, worked: made("out/new")},
		{name: "make a socket outside", script: probe("bind", "$OUT/new"), worked: made("out/new")},
		{name: "make a device node outside", script: `mknod $OUT/new c 1 5`, worked: made("out/new"), root: true},
		{name: "write through a symbolic link in the workspace", script: `ln -s $OUT $WS/link; echo x > $WS/link/new`, worked: made("out/new")},
		{name: "write through ..", script: `echo x > $WS/../out/new`, worked: made("out/new")},
		{name: "write through /proc/self/root", script: `echo x > /proc/self/root$OUT/new`, worked: made("out/new")},
		{name: "write through /proc/self/cwd", script: `echo x > /proc/self/cwd/../out/new`, worked: made("out/new")},
		{name: "write while a folder is swapped for a link", script: swapWrite, worked: made("out/new")},
		{name: "put a link in the place of the workspace", script: `mv $WS $WS.old && ln -s $OUT $WS`, worked: made("ws.old")},
		{name: "change the mode of a file outside", script: `chmod 777 $OUT/file`, open: []Kind{Landlock},
			worked: stat(func(st *syscall.Stat_t) bool { return st.Mode&0o777 == 0o777 })},
		{name: "change the owner of a file outside", script: `chown 12345 $OUT/file`, open: []Kind{Landlock}, root: true,
			worked: stat(func(st *syscall.Stat_t) bool { return st.Uid == 12345 })},
		{name: "change the times of a file outside", script: `touch -d @1000 $OUT/file`, open: []Kind{Landlock},
			worked: stat(func(st *syscall.Stat_t) bool { return st.Mtim.Sec == 1000 })},
		{name: "set an attribute of a file outside", script: probe("setxattr", "$OUT/file"), open: []Kind{Landlock},
			worked: func(w *world, _ result) bool {
				_, err := unix.Lgetxattr(filepath.Join(w.out, "file"), "user.roster", make([]byte, 10))
				return err == nil
			}},
		{name: "write to somebody's FIFO", script: `echo x > $OUT/fifo`, worked: piped},
		{name: "write to the system's folders", script: `echo x > ` + `/usr/local/lib/$(basename $(dirname $WS))`, root: true,
			worked: func(w *world, _ result) bool { return fileExists(systemFile(w)) },
			undo:   func(w *world) { os.Remove(systemFile(w)) }},
		{name: "write to the shared memory of all", script: `echo x > /dev/shm/$(basename $(dirname $WS))`,
			worked: func(w *world, _ result) bool { return fileExists(shmFile(w)) },
			undo:   func(w *world) { os.Remove(shmFile(w)) }},
		// The value stays as it is: it is enough that it can be written.
		{name: "write a setting of the kernel", script: `f=/proc/sys/kernel/core_pattern; v=$(<$f); echo "$v" > $f && echo written`, worked: says("written"), root: true},
		{name: "write to the state directory", script: `echo x > $STATE/new`, worked: made("state/new")},
		{name: "delete the state directory", script: `rm -rf $STATE`, worked: gone("state/secret")},
	}
}

const swapWrite = `
mkdir d
(for i in {1..300}; do ln -sfn $OUT l; ln -sfn $WS/d l; done) &
while kill -0 $!; do [ -e $OUT/new ] && break; echo x > l/new; done 2>/dev/null
wait`

const swapRead = `
mkdir d; echo mine > d/secret
(for i in {1..300}; do ln -sfn $OUT l; ln -sfn $WS/d l; done) &
while kill -0 $!; do read -r x < l/secret; [[ $x == secret* ]] && echo "$x" && break; done 2>/dev/null
wait`

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// reads are the attempts to learn what is outside.
func reads() []attempt {
	return []attempt{
		{name: "read a secret in HOME", script: `cat ~/secret`, worked: leaked},
		{name: "list HOME", script: `ls ~`, worked: says("secret")},
		{name: "learn that a file exists", script: `stat -c %F-is-there $OUT/file`, worked: says("is-there"), open: []Kind{Landlock}},
		{name: "read through a symbolic link in the workspace", script: `ln -s $OUT/secret s; cat s`, worked: leaked},
		{name: "read through a hard link", script: `ln $OUT/secret s; cat s`, worked: leaked},
		{name: "read through ..", script: `cat ../out/secret`, worked: leaked},
		{name: "read through /proc/self/root", script: `cat /proc/self/root$OUT/secret`, worked: leaked},
		{name: "read through /proc/self/cwd", script: `cat /proc/self/cwd/../out/secret`, worked: leaked},
		{name: "read while a folder is swapped for a link", script: swapRead, worked: leaked},
		{name: "run a program outside", script: `$OUT/program`, worked: leaked},
		{name: "read the state directory", script: `cat $STATE/secret`, worked: leaked},
		{name: "read the system's password hashes", script: `grep -c ^root: /etc/shadow && echo read`, worked: says("read"), root: true},
		{name: "read through a device node of its own", script: `mknod d c 1 5 && head -c 3 d | wc -c`, worked: says("3"), root: true},
		{name: "open a file by its handle", script: probe("handle", "$OUT/secret"), worked: leaked, root: true},
		{name: "bind a folder outside into the workspace", script: `mkdir m; mount --bind $OUT m && cat m/secret; umount m`, worked: leaked, root: true},
		{name: "mount in namespaces of its own", script: `mkdir m; unshare -Urm sh -c 'mount --bind $OUT m && cat m/secret'`, worked: leaked},
		{name: "mount the disk anew", script: `mkdir m; mount -t tmpfs none m && echo mounted; umount m`, worked: says("mounted"), root: true},
		{name: "chroot to the root of another process", script: `chroot /proc/$VICTIM/root cat $OUT/secret`, worked: leaked, root: true},
		{name: "enter the namespaces of another process", script: `nsenter -t $VICTIM -m cat $OUT/secret`, worked: leaked, root: true},
	}
}

// piped says whether something came through the FIFO outside.
func piped(w *world, _ result) bool {
	n, _ := syscall.Read(w.fifo, make([]byte, 8))
	return n > 0
}
