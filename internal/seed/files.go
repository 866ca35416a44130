package seed

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed profiles.txtar
var profiles []byte

//go:embed project.txtar
var project []byte

// writeFiles makes the files of the workspace, and those that the sessions work on.
func writeFiles(o Options, plan []planning) error {
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Stat("roster.yaml"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("seed: %s has a roster.yaml: name a new folder (%w)", o.Dir, fs.ErrExist)
	}
	for _, archive := range [][]byte{project, profiles} {
		for _, f := range txtar.Parse(archive).Files {
			if err := write(root, f.Name, f.Data); err != nil {
				return err
			}
		}
	}
	for _, p := range plan {
		if p.scene.file == nil {
			continue
		}
		if err := write(root, caseFile(p.n), []byte(p.scene.file(p.n))); err != nil {
			return err
		}
	}
	return nil
}

// writeFurther makes so many more profiles.
func writeFurther(dir string, profiles int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for n := range profiles {
		if err := write(root, fmt.Sprintf("profiles/many/%s-%05d.md", trade(n), n), []byte(further(n))); err != nil {
			return err
		}
	}
	return nil
}

func write(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o666)
}

func trade(n int) string {
	return pick(n, "baker", "carter", "dyer", "glazier", "mason", "tanner", "weaver")
}

// further is the text of one of many profiles.
func further(n int) string {
	return fmt.Sprintf("---\ndescription: The %s of shop %d. %s\nmode: %s\nmodel: %s\ntools: [%s]\n---\nYou work in shop %d.\n",
		trade(n), n, pick(n/7, "Opens early.", "Knows the suppliers.", "Keeps the books.", "Mends what is broken.", "Speaks to customers."),
		pick(n, "all", "primary", "subagent"), pick(n, "acme/large", "acme/small", "north/reason", "acme/small"),
		pick(n, "read, grep", "read, write, edit", "bash", "task, todo"), n)
}

// pick takes one of several by a number.
func pick[T any](n int, of ...T) T { return of[n%len(of)] }
