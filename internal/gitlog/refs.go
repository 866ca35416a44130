package gitlog

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hash is the name of an object.
type hash [20]byte

func (h hash) String() string { return hex.EncodeToString(h[:]) }

func parseHash(s string) (h hash, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err == nil
}

// maxLinks is how many references may name one another.
const maxLinks = 5

// head gives the commit that is checked out; false: there is none yet.
func (r *Repo) head() (hash, bool, error) {
	name := "HEAD"
	for range maxLinks {
		text, err := r.reference(name)
		if errors.Is(err, fs.ErrNotExist) && name != "HEAD" {
			return hash{}, false, r.unborn()
		}
		if err != nil {
			return hash{}, false, err
		}
		to, link := strings.CutPrefix(text, "ref:")
		if !link {
			h, ok := parseHash(text)
			if !ok {
				return h, false, fmt.Errorf("%s names no commit", name)
			}
			return h, true, nil
		}
		name = strings.TrimSpace(to)
		if !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) {
			return hash{}, false, fmt.Errorf("HEAD names %q, which is no branch", name)
		}
	}
	return hash{}, false, errors.New("HEAD names a branch that names another, and so on")
}

// unborn says that a branch without a commit is none of a repository that keeps
// its references in another way.
func (r *Repo) unborn() error {
	if _, err := os.Stat(filepath.Join(r.common, "reftable")); err == nil {
		return errors.New("its references are in tables, which are not read")
	}
	return nil
}

// reference gives what a reference says. A working tree's own come before those
// of the repository.
func (r *Repo) reference(name string) (string, error) {
	for _, dir := range []string{r.git, r.common} {
		data, err := readFile(filepath.Join(dir, filepath.FromSlash(name)), maxSmall)
		if err == nil {
			return strings.TrimSpace(string(data)), nil
		}
		if info, serr := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); serr == nil && !info.IsDir() {
			return "", err
		}
	}
	data, err := readFile(filepath.Join(r.common, "packed-refs"), maxRefs)
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if text, ok := strings.CutSuffix(lines.Text(), " "+name); ok {
			return text, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}
