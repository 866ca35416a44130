package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Kind is a kind of wall around a command.
type Kind string

// The kinds, from the weakest to the strongest.
const (
	None       Kind = "none"
	Landlock   Kind = "landlock"
	Bubblewrap Kind = "bubblewrap"
	Docker     Kind = "docker"
)

// Kinds lists the kinds from the weakest to the strongest.
func Kinds() []Kind { return []Kind{None, Landlock, Bubblewrap, Docker} }

// Box is where a command runs and what it reaches from there. The zero Box is
// the host. Paths are absolute; those that do not exist are passed over.
type Box struct {
	Kind Kind `json:"kind,omitempty"` // empty is None
	// Write are folders that may be read and written: the workspace, and one
	// for what is temporary.
	Write []string `json:"write,omitempty"`
	// Temp is the one of them that is for temporary files: TMPDIR says so to the
	// command. Empty: as its environment has it.
	Temp string `json:"temp,omitempty"`
	// Read are further files and folders that may be read, and run, beside those
	// of the system: toolchains.
	Read []string `json:"read,omitempty"`
	// Hidden is never reachable, also where Write or Read hold it: what roster
	// keeps for itself.
	Hidden []string `json:"hidden,omitempty"`
	// Network says that the command may connect.
	Network bool `json:"network,omitempty"`
	// Connect are the TCP ports that the command may connect to, and it may listen on
	// none; nil: all, and it may on all. It is Landlock's, from version 4 on: with an
	// older one the command can all the same.
	Connect []int `json:"connect"`
	// Image is what a container is made of.
	Image string `json:"image,omitempty"`
}

// Default is what a command runs in where nobody names a kind: Landlock where
// the kernel has it, else None.
func Default() Kind {
	if Probe(Landlock) == nil {
		return Landlock
	}
	return None
}

// UnavailableError says that a box cannot be had here, and what to do. Nothing
// is run instead.
type UnavailableError struct {
	Kind   Kind
	Reason string
	Remedy string
}

func (e *UnavailableError) Error() string {
	s := fmt.Sprintf("sandbox %s: %s", e.Kind, e.Reason)
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

func (b Box) unavailable(reason, remedy string) error {
	return &UnavailableError{Kind: b.Kind, Reason: reason, Remedy: remedy}
}

// Probe says whether a kind works on this machine: nil, or an
// *UnavailableError. It starts nothing.
func Probe(k Kind) error {
	switch k {
	case None, "":
		return nil
	case Landlock:
		return probeLandlock()
	case Bubblewrap:
		return probeBubblewrap()
	case Docker:
		_, err := findDocker()
		return err
	}
	return &UnavailableError{Kind: k, Reason: "there is no such kind", Remedy: "choose one of none, landlock, bubblewrap and docker"}
}

// Check says whether the box can be had here: nil, or an *UnavailableError.
func (b Box) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := Probe(b.Kind); err != nil {
		return err
	}
	for _, list := range [][]string{b.Write, b.Read, b.Hidden} {
		for _, p := range list {
			if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
				return b.unavailable(fmt.Sprintf("%q is no absolute path", p), "")
			}
		}
	}
	switch b.Kind {
	case Landlock:
		return b.checkLandlock()
	case Docker:
		return b.checkDocker(ctx)
	}
	return nil
}

func (b Box) checkLandlock() error {
	if !b.Network {
		return b.unavailable("it does not keep commands from the network", "choose bubblewrap, or let them have the network")
	}
	allowed := append(append(append([]string{}, b.Write...), b.Read...), systemFolders()...)
	for _, h := range b.Hidden {
		for _, p := range allowed {
			if !Apart(p, []string{h}) {
				return b.unavailable(fmt.Sprintf("%s may be reached, and %s, which no command may reach, cannot be kept apart from it", p, h),
					"choose bubblewrap, or move one of them: --state names another place for roster's state")
			}
		}
	}
	return nil
}

// Describe says in a sentence what commands in the box reach, for those who write
// them. The host has none.
func (b Box) Describe() string {
	switch b.Kind {
	case None, "":
		return ""
	case Landlock:
		return "Commands run in a sandbox: they may write only in the workspace and in $TMPDIR, and read these" +
			and(b.Read) + " and the system's folders. What else there is, such as the home folder, is out of reach: " +
			"\"Permission denied\" there does not mean that something is wrong, and there is no way around it."
	}
	network := "There is no network."
	if b.Network {
		network = "There is a network."
	}
	return "Commands run in a sandbox: they may write only in the workspace, and in /tmp and the home folder, " +
		"which are empty when a command starts and gone when it ends. " + network
}

func and(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return ", " + strings.Join(paths, ", ")
}

// Apart says whether a path neither holds one of others, nor lies in it.
func Apart(path string, others []string) bool {
	path = real(path)
	for _, o := range others {
		if o = real(o); within(path, o) || within(o, path) {
			return false
		}
	}
	return true
}

// told is what the helper is told of a box.
type told struct {
	Box
	Program string `json:"program,omitempty"` // that builds the box, where there is one
	Name    string `json:"name,omitempty"`    // of the container
}

// argv is how the helper is told of the box and the command, and what it starts.
func (b Box) argv(command []string) ([]string, error) {
	t := told{Box: b.settled()}
	var err error
	switch b.Kind {
	case None, "":
		return append([]string{noBox}, command...), nil
	case Landlock:
	case Bubblewrap:
		t.Program, err = findBubblewrap()
	case Docker:
		t.Program, err = findDocker()
		t.Name = "roster-" + strings.ToLower(rand.Text())
	default:
		err = b.unavailable("there is no such kind", "choose one of none, landlock, bubblewrap and docker")
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(t)
	return append([]string{string(text)}, command...), err
}

// noBox stands where the helper is told of a box.
const noBox = "-"

func parseBox(text string) (t told, err error) {
	if text == noBox {
		return t, nil
	}
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return t, fmt.Errorf("the box cannot be read: %w", err)
	}
	return t, nil
}

// real follows the links of a path as far as it exists.
func real(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if found, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(found, rest)
		} else if !errors.Is(err, os.ErrNotExist) || p == filepath.Dir(p) {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// within says whether a path is a folder or lies in it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// systemFolders may be read and run from in every box: programs, libraries and
// their configuration. Homes, /var, /run and what is mounted are not among them.
func systemFolders() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store", "/snap",
		"/run/current-system", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
		"/var/lib/dpkg", "/var/lib/rpm", "/var/lib/ca-certificates", "/var/cache/fontconfig",
		"/proc", "/sys",
	}
}
