package sandbox

import (
	"cmp"
	"errors"
	"os"
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
	args = append(args, "--remount-ro", "/proc", "--remount-ro", "/dev")
	if !slices.Contains(b.Write, "/") {
		args = append(args, "--remount-ro", "/")
	}
	return append(args, "--setenv", "TMPDIR", "/tmp", "--chdir", p.dir, "--")
}

// mount is one thing that is put into the box.
type mount struct {
	at   string
	args []string
}

// mounts are in the order in which they do not cover each other: what lies in a
// folder comes after it.
func (b Box) mounts(p place) []mount {
	ms := append([]mount{{"/proc", []string{"--proc", "/proc"}}, {"/dev", []string{"--dev", "/dev"}}}, b.empty(p)...)
	bind := func(option, path string) {
		if _, found := p.look(path); found {
			ms = append(ms, mount{path, []string{option, path, path}})
		}
	}
	for _, dir := range b.system() {
		switch link, _ := p.look(dir); {
		case in(b.Read, dir) && !within("/run", dir):
		case link != "": // as /bin is to /usr/bin on most systems
			ms = append(ms, mount{dir, []string{"--symlink", link, dir}})
		default:
			bind("--ro-bind", dir)
		}
	}
	read := append(slices.Clone(p.path), b.Read...)
	for i, r := range read {
		if !in(b.Write, r) && !in(b.system(), r) && !slices.Contains(read[:i], r) {
			bind("--ro-bind", r)
		}
	}
	for _, w := range b.Write {
		bind("--bind", w)
	}
	slices.SortStableFunc(ms, func(a, b mount) int { return cmp.Compare(depth(a.at), depth(b.at)) })
	return ms
}

// empty are the folders that the box has in memory and to itself. Where all of
// the machine may be read, /run is one of them: through the sockets there one
// reaches those who may do more.
func (b Box) empty(p place) []mount {
	folder := func(at, perms string) mount {
		return mount{at, []string{"--perms", perms, "--size", strconv.Itoa(privateSize), "--tmpfs", at}}
	}
	ms := []mount{folder("/dev/shm", "1777"), folder("/tmp", "1777"), folder("/var/tmp", "1777")}
	if p.home != "" && p.home != "/" && !in(b.Write, p.home) && !in(b.Read, p.home) {
		ms = append(ms, folder(p.home, "0700"))
	}
	if in(b.Read, "/run") {
		ms = append(ms, folder("/run", "0755"))
	}
	return ms
}

// in says whether a path is one of the folders or lies in one.
func in(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return within(dir, path) })
}

func depth(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }

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
	return in(slices.Concat(b.system(), p.path, b.Read, b.Write), path)
}

// mask covers what is hidden, where the box would have it. Where the command may
// write, the folders on the way to it are fixed too: it could move them otherwise,
// and put something of its own there for roster to find.
func (b Box) mask(hidden string, p place) []string {
	var args []string
	for _, dir := range b.wayTo(hidden) {
		args = append(args, "--bind", dir, dir)
	}
	if _, found := p.look(hidden); !found {
		return nil // and nobody can make it
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
		if in(b.Write, h) {
			if err := os.MkdirAll(h, 0o700); err != nil && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
		}
	}
	return nil
}
