package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettled(t *testing.T) {
	dir := real(t.TempDir())
	in := func(path string) string { return filepath.Join(dir, path) }
	for _, d := range []string{"ws/sub", "home", "lib"} {
		if err := os.MkdirAll(in(d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{
		"link": "ws", "ws/out": "../home", "ws/abs": in("home"), "viaws": "ws/out", "outlink": in("lib"), "loop": "loop",
	} {
		if err := os.Symlink(to, in(from)); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct{ write, read, wantWrite, wantRead []string }{
		"as they are":            {[]string{"ws", "home"}, []string{"lib"}, []string{"ws", "home"}, []string{"lib"}},
		"links are followed":     {[]string{"link"}, []string{"outlink"}, []string{"ws"}, []string{"lib"}},
		"one in another":         {[]string{"ws/sub", "ws"}, []string{"ws/sub"}, []string{"ws"}, nil},
		"twice":                  {[]string{"ws", "link", "ws"}, nil, []string{"ws"}, nil},
		"a link out of it":       {[]string{"ws", "ws/out"}, []string{"ws/out", "ws/abs", "ws/out/x"}, []string{"ws"}, nil},
		"by way of a link to it": {[]string{"link", "link/out"}, []string{"link/out"}, []string{"ws"}, nil},
		"a link through it":      {[]string{"ws", "viaws"}, []string{"viaws"}, []string{"ws"}, nil},
		"up and down again":      {[]string{"ws"}, []string{"ws/../lib"}, []string{"ws"}, []string{"lib"}},
		"what is not there":      {[]string{"ws", "none"}, []string{"no/ne"}, []string{"ws", "none"}, []string{"no/ne"}},
		"a loop":                 {[]string{"loop"}, nil, []string{"loop"}, nil},
	}
	paths := func(names []string) (out []string) {
		for _, n := range names {
			out = append(out, dir+"/"+n) // as written, with its ..
		}
		return out
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Box{Write: paths(tt.write), Read: paths(tt.read)}.settled()
			if diff := cmp.Diff(Box{Write: paths(tt.wantWrite), Read: paths(tt.wantRead)}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
