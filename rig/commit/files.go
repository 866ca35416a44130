package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/git"
)

// choose takes the files that can be in the repository.
func (c *commit) choose(dir string, files []string) error {
	size := 0
	for _, file := range files {
		rel, why := c.place(dir, file)
		if why != "" {
			c.skipped = append(c.skipped, Skip{file, why})
			continue
		}
		if !slices.Contains(c.files, rel) {
			c.files = append(c.files, rel)
			size += len(rel)
		}
	}
	if len(c.files) > maxFiles || size > maxBytes {
		return fmt.Errorf("one commit has at most %d files, with %d bytes of paths: it would have %d", maxFiles, maxBytes, len(c.files))
	}
	return nil
}

// place gives the path of a file below the top, or why it has none. Links on the way
// to it are followed, as git does not.
func (c *commit) place(dir, file string) (rel, why string) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	file = filepath.Join(realFolder(filepath.Dir(file)), filepath.Base(file))
	rel, err := filepath.Rel(c.Top, file)
	rel = filepath.ToSlash(rel)
	if err != nil || rel == "." || !filepath.IsLocal(rel) || strings.Contains(rel, "\x00") {
		return "", OutsideTop
	}
	for name := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(name, ".git") {
			return "", OutsideTop
		}
	}
	for at := path.Dir(rel); at != "."; at = path.Dir(at) {
		if _, err := os.Lstat(filepath.Join(c.Top, at, ".git")); err == nil {
			return "", OtherRepo
		}
	}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return "", NotAFile
	}
	return rel, ""
}

// realFolder follows the links in the part of a path that is there: a file that is
// gone may have taken its folder with it.
func realFolder(dir string) string {
	for at, rest := dir, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// allowed are the files that are neither ignored nor in a submodule of a tree, which
// is in the own index.
func (c *commit) allowed(ctx context.Context, tree string) ([]string, error) {
	links, err := c.submodules(ctx, tree)
	if err != nil {
		return nil, err
	}
	files := slices.DeleteFunc(slices.Clone(c.files), func(file string) bool {
		in := slices.ContainsFunc(links, func(link string) bool { return file == link || strings.HasPrefix(file, link+"/") })
		if in {
			c.skipped = append(c.skipped, Skip{file, OtherRepo})
		}
		return in
	})
	if len(files) == 0 {
		return nil, nil
	}
	ignored, err := c.ignored(ctx, files)
	return slices.DeleteFunc(files, func(file string) bool {
		if !slices.Contains(ignored, file) {
			return false
		}
		c.skipped = append(c.skipped, Skip{file, IsIgnored})
		return true
	}), err
}

// ignored are those of the files that are ignored, and not tracked.
func (c *commit) ignored(ctx context.Context, files []string) ([]string, error) {
	// This command takes no literal paths: what begins with ./ has no magic either.
	const here = "./"
	in := here + strings.Join(files, "\x00"+here) + "\x00"
	out, err := c.own.With("GIT_LITERAL_PATHSPECS=0").Read(ctx, strings.NewReader(in), "check-ignore", "-z", "--stdin")
	var none *git.Error
	if errors.As(err, &none) && none.Code == 1 {
		return nil, nil
	}
	ignored := strings.Split(out, "\x00")
	for i := range ignored {
		ignored[i] = strings.TrimPrefix(ignored[i], here)
	}
	return ignored, err
}

// submodules are those of a tree that a file is, or is in.
func (c *commit) submodules(ctx context.Context, tree string) (links []string, err error) {
	args := []string{"ls-tree", "-z", tree, "--"}
	known := map[string]bool{}
	for _, file := range c.files {
		for at := file; at != "." && !known[at]; at = path.Dir(at) {
			known[at] = true
			args = append(args, at)
		}
	}
	out, err := c.own.Run(ctx, args...)
	for entry := range strings.SplitSeq(out, "\x00") {
		if about, file, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(about, "160000 ") {
			links = append(links, file)
		}
	}
	return links, err
}

// settle brings the user's index to what was committed, for those files of which the
// user had staged nothing: whose entry is that of the commit before. behind: somebody
// has it locked.
func (c *commit) settle(ctx context.Context, hash string) (behind bool, err error) {
	parent, err := c.user.Run(ctx, "rev-parse", "--verify", "--quiet", hash+"^")
	var first *git.Error
	if err != nil && !errors.As(err, &first) {
		return false, err
	}
	was, err := c.treeOf(ctx, parent)
	if err != nil {
		return false, err
	}
	info, err := c.changes(ctx, was, hash)
	if err != nil || info == "" {
		return false, err
	}
	for range tries {
		_, err = c.user.Read(ctx, strings.NewReader(info), "update-index", "-z", "--index-info")
		var locked *git.Error
		if !errors.As(err, &locked) {
			return false, err
		}
		if err := wait(ctx, pause); err != nil {
			return true, err
		}
	}
	return true, nil
}

// changes are the entries of a commit that differ from those of the tree before, for
// the files of which nothing is staged, as update-index reads them.
func (c *commit) changes(ctx context.Context, was, hash string) (string, error) {
	out, err := c.user.Run(ctx, append([]string{"diff-index", "--cached", "-z", "--name-only", "--no-renames", was, "--"}, c.files...)...)
	if err != nil {
		return "", err
	}
	staged := strings.Split(out, "\x00")
	out, err = c.user.Run(ctx, append([]string{"diff-tree", "-r", "-z", "--no-renames", was, hash, "--"}, c.files...)...)
	if err != nil {
		return "", err
	}
	var info strings.Builder
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		about := strings.Fields(fields[i]) // :mode mode object object status
		if len(about) == 5 && !slices.Contains(staged, fields[i+1]) {
			fmt.Fprintf(&info, "%s %s\t%s\x00", about[1], about[3], fields[i+1])
		}
	}
	return info.String(), nil
}
