package gitlog_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rosterrun/roster/internal/gitlog"
)

// loose writes an object as git does, whatever its size, and gives its hash.
func loose(t *testing.T, git, kind, head string, size int) string {
	t.Helper()
	var b bytes.Buffer
	sum, z := sha1.New(), zlib.NewWriter(&b)
	text := append([]byte(fmt.Sprintf("%s %d\x00%s", kind, len(head)+size, head)), bytes.Repeat([]byte("a"), size)...)
	sum.Write(text)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%x", sum.Sum(nil))
	put(t, filepath.Join(git, "objects", hash[:2], hash[2:]), b.Bytes())
	return hash
}

func put(t testing.TB, file string, data []byte) {
	t.Helper()
	_ = os.Remove(file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHostileRepositories has repositories that would be read without end, or
// into all of the memory. Each must be told as it is, or left alone.
func TestHostileRepositories(t *testing.T) {
	pipe := func(name string) func(*repo, string, string) {
		return func(r *repo, git, _ string) {
			file := filepath.Join(git, name)
			_ = os.Remove(file)
			if err := syscall.Mkfifo(file, 0o644); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	const by = "author A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n\n"
	for name, make := range map[string]func(r *repo, git, head string){
		"HEAD is a pipe":      pipe("HEAD"),
		"a branch is a pipe":  pipe("refs/heads/main"),
		"commondir is a pipe": pipe("commondir"),
		"alternates are a pipe": func(r *repo, git, head string) {
			pipe("objects/info/alternates")(r, git, head)
			_ = os.Remove(filepath.Join(git, "objects", head[:2], head[2:]))
		},
		"packed references are a pipe": func(r *repo, git, head string) {
			pipe("packed-refs")(r, git, head)
			_ = os.Remove(filepath.Join(git, "refs/heads/main"))
		},
		"a commit is a pipe": func(r *repo, git, head string) { pipe("objects/"+head[:2]+"/"+head[2:])(r, git, head) },
		"HEAD without end": func(r *repo, git, _ string) {
			if err := os.Truncate(filepath.Join(git, "HEAD"), 1<<40); err != nil {
				r.t.Skip("no file of that size here: ", err)
			}
		},
		"a commit that stands for much": func(r *repo, git, _ string) {
			tree := r.git("rev-parse", "HEAD^{tree}")
			put(r.t, filepath.Join(git, "refs/heads/main"), []byte(loose(r.t, git, "commit", "tree "+tree+"\n"+by, 20<<20)+"\n"))
		},
		"a tree that stands for much": func(r *repo, git, _ string) {
			tree := loose(r.t, git, "tree", "", 20<<20)
			put(r.t, filepath.Join(git, "refs/heads/main"), []byte(loose(r.t, git, "commit", "tree "+tree+"\n"+by, 1)+"\n"))
		},
		"repositories that share in a circle": func(r *repo, git, head string) {
			other := filepath.Join(r.t.TempDir(), ".git")
			put(r.t, filepath.Join(other, "objects/info/alternates"), []byte("objects\n"))
			put(r.t, filepath.Join(git, "objects/info/alternates"), []byte(filepath.Join(other, "objects")+"\n"))
			_ = os.Remove(filepath.Join(git, "objects", head[:2], head[2:]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.t = t
			r.write("x.md", "1")
			head := r.commit("1")
			make(r, filepath.Join(r.dir, ".git"), head)
			opened, err := gitlog.Open(r.dir)
			if err != nil {
				return
			}
			defer opened.Close()
			if got, err := opened.Log(t.Context(), []string{"x.md"}, 10); err == nil && len(got) > 0 {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestReadFromAnother reads a file that only the repository has with which this
// one shares its objects.
func TestReadFromAnother(t *testing.T) {
	r := newRepo(t)
	r.write("x.md", "one")
	commit := r.commit("1")
	shared := filepath.Join(t.TempDir(), "shared")
	r.git("clone", "-q", "--shared", r.dir, shared)
	opened, err := gitlog.Open(shared)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if got, err := opened.Read(commit, "x.md", 3); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := opened.Read(commit, "x.md", 2); err == nil {
		t.Error("more than the bound was read")
	}
}
