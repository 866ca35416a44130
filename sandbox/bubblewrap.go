package sandbox

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// privateSize bounds each folder that a box has in memory and to itself, in
// bytes.
const privateSize = 1 << 30

// place is what a box is built from: what the machine has, as far as it matters.
type place struct {
	dir     string   // where the command starts
	home    string   // the user's home folder
	path    []string // the folders on PATH that may be read
	private []string // what not everybody may read of the system's folders
	// look says what is at a path: the target of a symbolic link, or "" for
	// anything else.
	look func(path string) (link string, found bool)
	// folder says whether a path is a folder.
	folder func(path string) bool
}

// bubblewrapArgs are the arguments by which bwrap builds the box. Inside there is
// a system that can only be read, /tmp and the home folder are empty and go with
// the command, and nothing else of the machine is there but what Read and Write
// name.
func (b Box) bubblewrapArgs(p place) []string {
	args := []string{
		"--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try",
		"--disable-userns", "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "sandbox",
	}
	if !b.Network {
		args = append(args, "--unshare-net")
	}
	for _, m := range b.mounts(p) {
		args = append(args, m.args...)
	}
	for _, h := range append(slices.Clone(p.private), b.Hidden...) {
		if b.holds(h, p) {
			args = append(args, b.mask(h, p)...)
		}
	}
	// Whose user is root here may write the kernel's settings in any /proc, also
	// without capabilities.
	return append(args, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/",
		"--setenv", "TMPDIR", "/tmp", "--chdir", p.dir, "--")
}

// mount is one thing that is put into the box.
type mount struct {
	at   string
	args []string
}

// mounts are in the order in which they do not cover each other: what lies in a
// folder comes after it.
func (b Box) mounts(p place) []mount {
	ms := []mount{
		{"/proc", []string{"--proc", "/proc"}},
		{"/dev", []string{"--dev", "/dev"}},
		empty("/dev/shm", "1777"), empty("/tmp", "1777"), empty("/var/tmp", "1777"),
	}
	held := func(path string) bool {
		return slices.ContainsFunc(b.Write, func(w string) bool { return within(w, path) })
	}
	if p.home != "" && p.home != "/" && !held(p.home) {
		ms = append(ms, empty(p.home, "0700"))
	}
	bind := func(option, path string) {
		if _, found := p.look(path); found {
			ms = append(ms, mount{path, []string{option, path, path}})
		}
	}
	for _, dir := range b.system() {
		// /bin is a link to /usr/bin on most systems.
		if link, found := p.look(dir); found && link != "" {
			ms = append(ms, mount{dir, []string{"--symlink", link, dir}})
		} else {
			bind("--ro-bind", dir)
		}
	}
	for _, r := range append(slices.Clone(p.path), b.Read...) {
		if !held(r) && !slices.ContainsFunc(b.system(), func(s string) bool { return within(s, r) }) {
			bind("--ro-bind", r)
		}
	}
	for _, w := range b.Write {
		bind("--bind", w)
	}
	slices.SortStableFunc(ms, func(a, b mount) int { return cmp.Compare(depth(a.at), depth(b.at)) })
	return ms
}

func depth(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }

// empty is a folder in memory.
func empty(at, perms string) mount {
	return mount{at, []string{"--perms", perms, "--size", strconv.Itoa(privateSize), "--tmpfs", at}}
}

// system are the folders of the system. /proc is the box's own, and of /sys there
// is what says how many processors the machine has. In /run are sockets, through
// which one reaches others, also without a network.
func (b Box) system() []string {
	folders := slices.DeleteFunc(systemFolders(), func(dir string) bool {
		return dir == "/proc" || dir == "/sys" || within("/run", dir) && dir != "/run/current-system"
	})
	folders = append(folders, "/sys/devices/system")
	if b.Network {
		folders = append(folders, "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf",
			"/run/resolvconf/resolv.conf", "/run/NetworkManager/resolv.conf")
	}
	return folders
}

// holds says whether a path of the machine is in the box.
func (b Box) holds(path string, p place) bool {
	return slices.ContainsFunc(slices.Concat(b.system(), p.path, b.Read, b.Write), func(dir string) bool { return within(dir, path) })
}

// mask covers what is hidden, where the box would have it. Where the command may
// write, the folders on the way to it are fixed too: it could move them otherwise,
// and put something of its own there for roster to find.
func (b Box) mask(hidden string, p place) []string {
	var args []string
	for _, w := range b.Write {
		if !within(w, hidden) {
			continue
		}
		var way []string
		for dir := filepath.Dir(hidden); dir != w && within(w, dir); dir = filepath.Dir(dir) {
			way = append(way, dir)
		}
		for _, dir := range slices.Backward(way) {
			args = append(args, "--bind", dir, dir)
		}
	}
	if _, found := p.look(hidden); !found {
		return nil
	}
	if p.folder(hidden) {
		return append(args, "--perms", "0000", "--tmpfs", hidden, "--remount-ro", hidden)
	}
	return append(args, "--ro-bind", "/dev/null", hidden)
}

// makeHidden makes what is hidden where the command may write, so that the
// command cannot make it.
func (b Box) makeHidden() error {
	for _, h := range b.Hidden {
		if slices.ContainsFunc(b.Write, func(w string) bool { return within(w, h) }) {
			if err := os.MkdirAll(h, 0o700); err != nil && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
		}
	}
	return nil
}
