package dialect_test

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestCorpus decodes every agent file that people published: what is valid
// YAML loads, what is not says where, and what was read is written back.
func TestCorpus(t *testing.T) {
	files, manifest := corpus(t)
	count := map[string]int{}
	for row := range strings.Lines(manifest) {
		col := strings.Split(strings.TrimRight(row, "\n"), "\t")
		data, ok := files[col[0]]
		if !ok || len(col) < 7 || col[4] != "claude-agent" && col[4] != "opencode-agent" {
			continue
		}
		f := &dialect.File{Name: col[0], Path: col[0], Data: data, Claimed: true}
		d, ok := dialect.Detect(f)
		if !ok {
			count["ignored"]++
			continue
		}
		ps, ds := d.Decode(f)
		refused := profile.Refused(ds)
		for i := range ds {
			if ds[i].Severity == profile.SeverityError && (ds[i].Line < 1 || ds[i].Column < 1) {
				t.Errorf("no place: %v", &ds[i])
			}
		}
		switch {
		case !refused:
			count["loaded"]++
			roundTrip(t, d, f.Path, ps[0])
		case col[5] == "yes" && !errors.Is(&profile.ParseError{Diagnostics: ds}, profile.SchemaValidation):
			t.Errorf("valid, and refused: %v", &profile.ParseError{Diagnostics: ds})
		default:
			count["refused"]++
		}
	}
	t.Log(count)
	if count["loaded"] < 880 {
		t.Errorf("%v: fewer files load than are valid", count)
	}
}

// roundTrip allows for what the other format cannot hold.
func roundTrip(t *testing.T, d dialect.Dialect, path string, p *profile.Profile) {
	t.Helper()
	parts, lost := d.Encode(p)
	if len(lost) > 0 {
		return
	}
	data := parts[0].Data
	ps, ds := d.Decode(&dialect.File{Name: path, Path: path, Data: data})
	if profile.Refused(ds) {
		t.Errorf("its own writing is refused: %v", ds)
		return
	}
	if diff := same(p, ps[0]); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestFastCorpus: of real frontmatter, the fast parser reads nearly all, and as
// the library reads it.
func TestFastCorpus(t *testing.T) {
	files, _ := corpus(t)
	all, fast := 0, 0
	for name, data := range files {
		f, ds := profile.Split(name, data)
		if profile.Refused(ds) {
			continue
		}
		all++
		if dialect.CheckFast(t, string(f.YAML)) {
			fast++
		}
	}
	t.Logf("%d of %d", fast, all)
	if fast < all*95/100 {
		t.Errorf("fast reads %d of %d, too few to be of use", fast, all)
	}
}

// BenchmarkParse decodes the real files that load, from bytes to profile. Beside
// it the YAML library alone reads the same frontmatter: the time of the one in
// that of the other says more than either on a machine that does other work.
func BenchmarkParse(b *testing.B) {
	files, _ := corpus(b)
	valid, repaired := map[string][]byte{}, map[string][]byte{}
	yamls := map[string][]byte{}
	for p, data := range files {
		if !loads(p, data) {
			continue
		}
		front, _ := profile.Split(p, data)
		if err := yaml.Load(front.YAML, new(yaml.Node)); err != nil {
			repaired[p] = data
		} else {
			valid[p], yamls[p] = data, front.YAML
		}
	}
	for _, bench := range []struct {
		name  string
		files map[string][]byte
		read  func(string, []byte) bool
	}{
		{"valid", valid, loads},
		{"repaired", repaired, loads},
		{"yaml-alone", yamls, func(_ string, data []byte) bool { return yaml.Load(data, new(yaml.Node)) == nil }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for p, data := range bench.files {
					bench.read(p, data)
					n++
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "profiles/s")
		})
	}
}

// loads says whether a file loads.
func loads(file string, data []byte) bool {
	f := &dialect.File{Name: file, Path: file, Data: data}
	d, ok := dialect.Detect(f)
	if !ok {
		return false
	}
	_, ds := d.Decode(f)
	return !profile.Refused(ds)
}
