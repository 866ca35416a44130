package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settled is the box with the links of its paths followed. What can only be
// reached through a folder that the command may write is left out: it is there
// with that folder, and a command could have put a link in its place, which would
// open to the next one whatever it leads to.
func (b Box) settled() Box {
	var write []string
	for i, path := range b.Write {
		steps := steps(path)
		inOther := func(j int) bool {
			other := real(b.Write[j])
			if steps[len(steps)-1] == other {
				return j < i // the same twice
			}
			return slices.ContainsFunc(steps, func(s string) bool { return within(other, s) })
		}
		if !slices.ContainsFunc(indices(b.Write), func(j int) bool { return j != i && inOther(j) }) {
			write = append(write, steps[len(steps)-1])
		}
	}
	var read []string
	for _, path := range b.Read {
		steps := steps(path)
		if !slices.ContainsFunc(steps, func(s string) bool { return in(write, s) }) {
			read = append(read, steps[len(steps)-1])
		}
	}
	hidden := slices.Clone(b.Hidden)
	for i, path := range hidden {
		hidden[i] = real(path)
	}
	b.Write, b.Read, b.Hidden = write, read, hidden
	return b
}

func indices(list []string) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// maxLinks is how many links are followed, as the kernel does.
const maxLinks = 40

// steps are the places that the kernel comes by on the way to a path; the last
// is where it leads. With too many links it leads nowhere that exists.
func steps(path string) []string {
	at, rest := "/", strings.Split(filepath.Clean(path), "/")
	out := []string{at}
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		out = append(out, next)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks {
			at = next
			continue
		}
		links++
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if out[len(out)-1] != at {
		out = append(out, at)
	}
	return out
}
