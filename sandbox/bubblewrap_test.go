package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine is a place with the usual folders, and those that the tests name.
func machine(links map[string]string, folders ...string) place {
	there := append([]string{"/usr", "/etc", "/opt", "/sys/devices/system", "/run/systemd/resolve", "/run/systemd/resolve/stub-resolv.conf", "/project", "/home/me"}, folders...)
	p := place{dir: "/project", home: "/home/me"}
	p.look = func(path string) (string, bool) {
		link, ok := links[path]
		return link, ok || slices.Contains(there, path) || strings.HasSuffix(path, ".file")
	}
	p.folder = func(path string) bool { return !strings.HasSuffix(path, ".file") }
	return p
}

var merged = map[string]string{"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"}

// TestBubblewrapArguments holds the arguments that bwrap is started with against
// testdata/bubblewrap.
func TestBubblewrapArguments(t *testing.T) {
	work := Box{Kind: Bubblewrap, Write: []string{"/project"}}
	tests := map[string]struct {
		box   Box
		place place
		path  []string
		etc   []string
	}{
		"plain":             {box: work, place: machine(merged)},
		"with the network":  {box: Box{Kind: Bubblewrap, Write: []string{"/project"}, Network: true}, place: machine(merged)},
		"folders apart":     {box: work, place: machine(nil, "/bin", "/lib")},
		"read more":         {box: Box{Write: []string{"/project"}, Read: []string{"/home/me/go", "/nowhere", "/usr/local/go"}}, place: machine(merged, "/home/me/go", "/usr/local/go"), path: []string{"/home/me/bin", "/usr/bin"}},
		"two folders":       {box: Box{Write: []string{"/project", "/home/me/out"}}, place: machine(merged, "/home/me/out")},
		"the home folder":   {box: Box{Write: []string{"/home/me"}, Hidden: []string{"/home/me/.config/roster", "/home/me/a.file", "/home/me/none"}}, place: machine(merged, "/home/me/.config", "/home/me/.config/roster")},
		"hidden elsewhere":  {box: Box{Write: []string{"/project"}, Hidden: []string{"/srv/state", "/opt/state"}}, place: machine(merged, "/opt/state")},
		"all that there is": {box: Box{Write: []string{"/project"}, Read: []string{"/"}, Hidden: []string{"/home/me/state"}, Network: true}, place: machine(merged, "/", "/home/me/state")},
		"of root":           {box: work, place: machine(merged, "/etc/ssl/private"), etc: []string{"/etc/shadow.file", "/etc/ssl/private"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.place.path, tt.place.private = tt.path, tt.etc
			golden(t, "bubblewrap", tt.box.bubblewrapArgs(tt.place))
		})
	}
}

// golden compares arguments with a file, which has one option in a line. With
// ROSTER_UPDATE set it writes the file.
func golden(t *testing.T, dir string, args []string) {
	t.Helper()
	var text strings.Builder
	for i, a := range args {
		if i > 0 {
			text.WriteString(map[bool]string{true: "\n", false: " "}[strings.HasPrefix(a, "-")])
		}
		text.WriteString(a)
	}
	text.WriteByte('\n')
	path := filepath.Join("testdata", dir, strings.TrimPrefix(filepath.Base(t.Name()), "Test")+".txt")
	if os.Getenv("ROSTER_UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("not the arguments of %s (ROSTER_UPDATE=1 writes it):\n%s", path, diff)
	}
}
