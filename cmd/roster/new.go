package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
)

type newFlags struct {
	dialect, description, mode, model, tools, prompt string
	set                                              []string
}

func (c *cli) newCommand() *cobra.Command {
	var f newFlags
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new profile",
		Long: `Writes the file of a new profile where its dialect keeps it, and says where. On a
terminal it asks for what no flag gives; in a script the flags are all there is.
A profile of that name is not overwritten.`,
		Example: `  roster new reviewer --description "Reviews changes" --tools read,grep --prompt "You review code."
  roster new nested/helper --dialect opencode --mode subagent --description "Helps" --set temperature=0.2`,
		Args: exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.newProfile(cmd.Context(), args[0], f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.dialect, "dialect", "roster", "the `DIALECT` of the file: "+strings.Join(writable(), ", "))
	fs.StringVar(&f.description, "description", "", "what it is for, as `TEXT`")
	fs.StringVar(&f.mode, "mode", "", "`MODE`: all, primary or subagent")
	fs.StringVar(&f.model, "model", "", "the `MODEL`: provider/model-id or an alias (default: the workspace's)")
	fs.StringVar(&f.tools, "tools", "", "the tools, as a `LIST` with commas (default: all that its rules allow; of a knot: none)")
	fs.StringVar(&f.prompt, "prompt", "", "the prompt, as `TEXT`; - reads it from standard input")
	fs.StringArrayVar(&f.set, "set", nil, "any other key: `KEY=VALUE`; may be repeated")
	return cmd
}

func (c *cli) newProfile(ctx context.Context, name string, f newFlags) error {
	if err := profile.CheckName(name); err != nil {
		return usagef("%v", err)
	}
	if !slices.Contains(writable(), f.dialect) {
		return usagef("--dialect %s: the dialects that can be written are %s", f.dialect, strings.Join(writable(), ", "))
	}
	if err := c.askFor(&f); err != nil {
		return err
	}
	at, err := c.reach()
	if err != nil {
		return err
	}
	saved, err := at.Create(ctx, name, f)
	if err == nil {
		err = c.showNew(&saved)
	}
	return c.close(at, err)
}

func (c *cli) showNew(p *view.Profile) error {
	if c.json {
		return c.writeJSON(map[string]string{"name": p.Name, "file": p.Source.File, "revision": p.Revision})
	}
	_, err := fmt.Fprintln(c.stdout, p.Source.File)
	c.warn(p.Diagnostics)
	return err
}

// askFor asks for what no flag gives, if somebody is there to answer. An empty
// answer leaves a key out.
func (c *cli) askFor(f *newFlags) error {
	if f.prompt == "-" {
		data, err := io.ReadAll(io.LimitReader(c.stdin, maxPrompt+1))
		if err != nil {
			return err
		}
		if len(data) > maxPrompt {
			return usagef("the prompt has more than %d bytes", maxPrompt)
		}
		f.prompt = string(data)
		return nil
	}
	if !terminal(c.stdin) || !terminal(c.stderr) {
		return nil
	}
	in := bufio.NewReader(c.stdin)
	for _, q := range []struct {
		text  string
		value *string
	}{
		{"What is it for", &f.description}, {"Model (empty: the workspace's)", &f.model},
		{"Tools, with commas (empty: all that its rules allow)", &f.tools}, {"Prompt (empty: write it into the file later)", &f.prompt},
	} {
		if *q.value != "" {
			continue
		}
		fmt.Fprintf(c.stderr, "%s: ", q.text)
		answer, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		*q.value = strings.TrimSpace(answer)
	}
	return nil
}

// keys are those that the flags give.
func (f newFlags) keys() (map[string]string, error) {
	keys, err := (&runFlags{set: f.set}).overrides()
	if err != nil {
		return nil, err
	}
	for key, value := range map[string]string{"description": f.description, "mode": f.mode, "model": f.model, "tools": f.tools} {
		if value != "" {
			keys[key] = value
		}
	}
	return keys, nil
}

func (f newFlags) profile(name string) (*profile.Profile, error) {
	keys, err := f.keys()
	if err != nil {
		return nil, err
	}
	p, err := resolve.Keys(source.Flag, keys)
	if err != nil {
		return nil, usagef("%v", err)
	}
	p.Name, p.Dialect = name, f.dialect
	if p.Body = strings.TrimRight(f.prompt, "\n"); p.Body != "" {
		p.Body += "\n"
	}
	dialect.Fresh(p, f.dialect)
	return p, nil
}
