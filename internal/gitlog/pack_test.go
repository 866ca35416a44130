package gitlog_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/gitlog"
)

// TestPacksThatGitMakes reads what git packs as differences, of both kinds.
func TestPacksThatGitMakes(t *testing.T) {
	r := newRepo(t)
	var texts, commits []string
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("%d %x", i, strings.Repeat(fmt.Sprint(i*i), 40)))
		texts = append(texts, strings.Join(lines, "\n"))
		r.write("a/b/x.md", texts[i])
		commits = append(commits, r.commit(fmt.Sprint(i)))
	}
	for _, kind := range []string{"true", "false"} {
		r.git("-c", "repack.useDeltaBaseOffset="+kind, "repack", "-q", "-adf", "--depth=30", "--window=30")
		if got := len(r.log("a/b/x.md")); got != len(commits) {
			t.Errorf("%s: %d commits", kind, got)
		}
		repo, err := gitlog.Open(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range commits {
			if got, err := repo.Read(c, "a/b/x.md", 1<<20); err != nil || string(got) != texts[i] {
				t.Errorf("%s: version %d: %d bytes, %v", kind, i, len(got), err)
			}
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}

// packed is an object of a pack: its kind, what it says its size is, what stands
// before its data, and its data.
type packed struct {
	name   string // 40 digits
	kind   byte
	size   int
	before []byte
	data   []byte
}

// The kinds of packed objects.
const (
	packedCommit = 1
	packedTree   = 2
	packedBlob   = 3
	packedBack   = 6
	packedNamed  = 7
)

// writePack writes a pack and its index.
func writePack(t testing.TB, git string, all ...packed) {
	t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(all)))
	type place struct {
		name string
		at   int
	}
	var places []place
	for _, o := range all {
		places = append(places, place{o.name, len(pack)})
		head, size := o.kind<<4|byte(o.size&15), o.size>>4
		for ; size > 0; size >>= 7 {
			pack, head = append(pack, head|0x80), byte(size&0x7f)
		}
		pack = append(append(pack, head), o.before...)
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		if _, err := z.Write(o.data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		pack = append(pack, b.Bytes()...)
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.name, b.name) })
	index := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		n := 0
		for _, p := range places {
			if p.name[:2] <= fmt.Sprintf("%02x", i) {
				n++
			}
		}
		index = binary.BigEndian.AppendUint32(index, uint32(n))
	}
	for _, p := range places {
		index = append(index, raw(t, p.name)...)
	}
	index = append(index, make([]byte, 4*len(places))...)
	for _, p := range places {
		index = binary.BigEndian.AppendUint32(index, uint32(p.at))
	}
	put(t, filepath.Join(git, "objects/pack/pack-0.pack"), append(pack, make([]byte, 20)...))
	put(t, filepath.Join(git, "objects/pack/pack-0.idx"), append(index, make([]byte, 40)...))
}

func raw(t testing.TB, name string) []byte {
	t.Helper()
	h, err := hex.DecodeString(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// named is an object's name of one letter.
func named(letter string) string { return strings.Repeat(letter, 40) }

// delta builds size bytes, by copying the first n of a base as often as needed.
func delta(base, n, size int) []byte {
	d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(size))
	for ; size > 0; size -= n {
		n = min(n, size)
		d = append(d, 0x80|0x10|0x20|0x40, byte(n), byte(n>>8), byte(n>>16))
	}
	return d
}

// TestHostilePacks reads a file of packs that stand for far more than they are,
// or that have no end. Each must be refused at little cost.
func TestHostilePacks(t *testing.T) {
	const by = "author A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n\n"
	name := func(s string) []byte { return raw(t, named(s)) }
	zeros := make([]byte, 20<<20)
	much := append(binary.AppendUvarint([]byte{3}, 1<<40), delta(3, 3, 300)[3:]...)
	chain := func(n int) []packed { // each builds 16 MiB of the one before
		all := []packed{{named("f"), packedBlob, 16 << 20, nil, zeros[:16<<20]}}
		for i := range n {
			d := delta(16<<20, 1<<24-1, 16<<20)
			p := packed{fmt.Sprintf("e%039x", i), packedNamed, len(d), raw(t, all[len(all)-1].name), d}
			if i == n-1 {
				p.name = named("b")
			}
			all = append(all, p)
		}
		return all
	}
	for name, objects := range map[string][]packed{
		"a difference that builds much":       {{named("f"), packedBlob, 3, nil, []byte("abc")}, {named("b"), packedNamed, len(much), name("f"), much}},
		"a difference of itself":              {{named("b"), packedNamed, 10, name("b"), delta(3, 3, 9)}},
		"differences of each other":           {{named("b"), packedNamed, 10, name("c"), delta(3, 3, 9)}, {named("c"), packedNamed, 10, name("b"), delta(3, 3, 9)}},
		"a long chain of large objects":       chain(200),
		"an object that says it is much":      {{named("b"), packedBlob, 1 << 40, nil, []byte("abc")}},
		"an object that is more than it says": {{named("b"), packedBlob, 3, nil, zeros}},
		"a difference that is much":           {{named("f"), packedBlob, 3, nil, []byte("abc")}, {named("b"), packedNamed, len(zeros), name("f"), zeros}},
		"a base that is much":                 {{named("f"), packedBlob, len(zeros), nil, zeros}, {named("b"), packedNamed, 9, name("f"), delta(len(zeros), 3, 3)}},
		"a base before the pack":              {{named("b"), packedBack, 10, []byte{0x80, 0x80, 0x80, 0x00}, delta(3, 3, 9)}},
		"a kind that there is not":            {{named("b"), 5, 3, nil, []byte("abc")}},
		"nothing":                             {},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.t = t
			git := filepath.Join(r.dir, ".git")
			tree := append([]byte("100644 x.md\x00"), raw(t, named("b"))...)
			commit := []byte("tree " + named("d") + "\n" + by)
			writePack(t, git, append(objects,
				packed{named("d"), packedTree, len(tree), nil, tree},
				packed{named("a"), packedCommit, len(commit), nil, commit})...)
			put(t, filepath.Join(git, "refs/heads/main"), []byte(named("a")+"\n"))
			repo, err := gitlog.Open(r.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer repo.Close()
			if got, err := repo.Log(t.Context(), []string{"x.md"}, 10); err != nil || len(got) != 1 {
				t.Fatalf("the commit itself is not hostile: %v, %v", got, err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if got, err := repo.Read(named("a"), "x.md", 32<<20); err == nil {
				t.Errorf("%d bytes", len(got))
			}
			runtime.ReadMemStats(&after)
			if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 400 {
				t.Errorf("%d MiB were used", mib)
			}
		})
	}
}

// FuzzPack reads a pack of any bytes.
func FuzzPack(f *testing.F) {
	dir := f.TempDir()
	git := filepath.Join(dir, ".git")
	put(f, filepath.Join(git, "HEAD"), []byte(named("a")))
	d := delta(3, 3, 9)
	for _, all := range [][]packed{
		{{named("a"), packedCommit, 3, nil, []byte("abc")}},
		{{named("a"), packedNamed, len(d), raw(f, named("b")), d}, {named("b"), packedBlob, 3, nil, []byte("abc")}},
		{{named("b"), packedBlob, 3, nil, []byte("abc")}, {named("a"), packedBack, len(d), []byte{12}, d}},
	} {
		writePack(f, git, all...)
		pack, err := os.ReadFile(filepath.Join(git, "objects/pack/pack-0.pack"))
		if err != nil {
			f.Fatal(err)
		}
		index, err := os.ReadFile(filepath.Join(git, "objects/pack/pack-0.idx"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pack, index)
	}
	f.Fuzz(func(t *testing.T, pack, index []byte) {
		put(t, filepath.Join(git, "objects/pack/pack-0.pack"), pack)
		put(t, filepath.Join(git, "objects/pack/pack-0.idx"), index)
		repo, err := gitlog.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		if _, err := repo.Log(t.Context(), []string{"x.md"}, 3); err == nil {
			if _, err := repo.Read(named("a"), "x.md", 10); err == nil {
				t.Log("it has the file")
			}
		}
	})
}
