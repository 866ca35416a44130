package gitlog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// commit is a commit as its object says it.
type commit struct {
	Commit
	hash      hash
	tree      hash
	parents   []hash
	committed time.Time
}

// errNoCommit says that a commit is not there.
var errNoCommit = errors.New("the commit is not there")

func (r *Repo) commit(h hash) (*commit, error) {
	data, err := r.objects.read(h, "commit")
	if errors.Is(err, errNoObject) {
		return nil, fmt.Errorf("%w: %s", errNoCommit, h)
	}
	if err != nil {
		return nil, err
	}
	c := &commit{hash: h, Commit: Commit{Hash: h.String()}}
	head, message, _ := strings.Cut(string(data), "\n\n")
	ok := true
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.tree, ok = parseHash(value)
		case "parent":
			var p hash
			p, ok = parseHash(value)
			c.parents = append(c.parents, p)
		case "author":
			c.Author, c.Time = person(value)
		case "committer":
			_, c.committed = person(value)
		}
		if !ok {
			return nil, fmt.Errorf("commit %s: its %s is no hash", h, key)
		}
	}
	subject, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if r := []rune(subject); len(r) > maxSubject {
		subject = string(r[:maxSubject])
	}
	c.Subject = valid(strings.TrimSpace(subject))
	return c, nil
}

// person reads who made a commit, and when: name <address> seconds zone.
func person(text string) (who string, when time.Time) {
	end := strings.LastIndexByte(text, '>') + 1
	seconds, _, _ := strings.Cut(strings.TrimSpace(text[end:]), " ")
	const last = 253402300799 // of the year 9999
	if n, err := strconv.ParseInt(seconds, 10, 64); err == nil && n >= 0 && n <= last {
		when = time.Unix(n, 0).UTC()
	}
	if r := []rune(text[:end]); len(r) > maxSubject {
		return valid(string(r[:maxSubject])), when
	}
	return valid(text[:end]), when
}

func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// find gives the hash of a regular file in a tree; zero: there is none.
func (r *Repo) find(tree hash, path string) (hash, error) {
	at := tree
	names := strings.Split(path, "/")
	for i, name := range names {
		data, err := r.objects.read(at, "tree")
		if err != nil {
			return hash{}, err
		}
		mode, h, err := lookup(data, name)
		if err != nil {
			return hash{}, fmt.Errorf("tree %s: %w", at, err)
		}
		last := i+1 == len(names)
		if !last && mode != "40000" || last && !strings.HasPrefix(mode, "100") {
			return hash{}, nil
		}
		at = h
	}
	return at, nil
}

// lookup finds a name in a tree: mode, blank, name, zero and hash, one after the
// other. Without it the mode is empty.
func lookup(tree []byte, name string) (mode string, h hash, err error) {
	for len(tree) > 0 {
		head, rest, ok := bytes.Cut(tree, []byte{0})
		m, n, blank := bytes.Cut(head, []byte(" "))
		if !ok || !blank || len(rest) < len(h) {
			return "", h, errors.New("it is damaged")
		}
		if string(n) == name {
			return string(m), hash(rest[:len(h)]), nil
		}
		tree = rest[len(h):]
	}
	return "", h, nil
}
