package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/command"
	modelcatalog "github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDenied      = 3 // denied, or waiting for an approval
	exitLimit       = 4
	exitInterrupted = 130
)

// exit ends the program with a code when everything has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitFor is the exit of a run that ended for this reason; nil if it is done.
func exitFor(reason session.Reason) error {
	switch reason {
	case session.ReasonDone:
		return nil
	case session.ReasonLimit:
		return exit(exitLimit)
	case session.ReasonDenied, session.ReasonWaiting:
		return exit(exitDenied)
	case session.ReasonCancelled:
		return exit(exitInterrupted)
	}
	return exit(exitFailed)
}

// usageError is a command line that cannot be understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// report says what went wrong and gives the exit code.
func (c *cli) report(err error, args []string) int {
	if err == nil {
		return exitDone
	}
	if e := exit(0); errors.As(err, &e) {
		return int(e)
	}
	code, name := exitFailed, codeOf(err)
	if u := (*usageError)(nil); errors.As(err, &u) {
		code, name = exitUsage, "Usage"
	}
	if name == string(profile.ExecutingKey) || name == "CommandDenied" || errors.Is(err, command.ErrDenied) {
		code = exitDenied
	}
	// The flags may be what could not be read.
	if c.json || slices.Contains(args, "--json") {
		c.writeJSON(newErrorJSON(err, name))
	}
	fmt.Fprintf(c.stderr, "roster: %v\n", err)
	return code
}

// codeOf is the name of an error: for a file that is refused, of the first thing
// that is wrong with it.
func codeOf(err error) string {
	if d := (*profile.Diagnostic)(nil); errors.As(err, &d) && d.Name != "" {
		return d.Name
	}
	if r := (*client.Error)(nil); errors.As(err, &r) && r.Code != "" {
		return r.Code
	}
	return roster.Code(err)
}

// errorJSON is the form of errors with --json.
type errorJSON struct {
	Error       string               `json:"error"`
	Code        string               `json:"code"`
	Hint        string               `json:"hint,omitempty"`
	Nearest     []string             `json:"nearest,omitempty"`
	Diagnostics []profile.Diagnostic `json:"diagnostics,omitempty"`
}

func newErrorJSON(err error, code string) errorJSON {
	j := errorJSON{Error: err.Error(), Code: code}
	if m := (*modelcatalog.ModelError)(nil); errors.As(err, &m) {
		j.Hint, j.Nearest = m.Hint, m.Nearest
	}
	if p := (*profile.ParseError)(nil); errors.As(err, &p) {
		j.Diagnostics = p.Diagnostics
	} else if d := (*profile.Diagnostic)(nil); errors.As(err, &d) {
		j.Diagnostics = []profile.Diagnostic{*d}
	}
	return j
}

// writeJSON writes v as one line on stdout.
func (c *cli) writeJSON(v any) error {
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// flagError makes a usage error of a flag that cannot be read.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if best := profile.Nearest(unknown.GetSpecifiedName(), names, 1); len(best) > 0 {
			text += fmt.Sprintf(" (did you mean --%s?)", best[0])
		}
	}
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		text = fmt.Sprintf("--%s %s: it takes %s", bad.GetFlag().Name, bad.GetValue(), takes(bad.GetFlag().Value.Type()))
	}
	return usagef("%s: see %s --help", text, cmd.CommandPath())
}

// takes says what the flags of a type take.
func takes(kind string) string {
	switch kind {
	case "int", "int64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 90m or 720h"
	}
	return kind
}

// noEmptyFlag refuses a flag that was given with nothing in it, as "$unset" does
// in a script: the default would not be what was meant.
func noEmptyFlag(cmd *cobra.Command) error {
	var empty error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && empty == nil {
			empty = usagef("--%s is empty: give it a value, or leave it out", f.Name)
		}
	})
	return empty
}

// subcommand is for commands that only have others below them.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	text := fmt.Sprintf("unknown command %q for %s", args[0], cmd.CommandPath())
	if best := profile.Nearest(args[0], names, 1); len(best) > 0 {
		text += fmt.Sprintf(" (did you mean %s?)", best[0])
	}
	return usagef("%s: see %s --help", text, cmd.CommandPath())
}

// needSubcommand is what a command that only has others below it does.
func needSubcommand(cmd *cobra.Command, _ []string) error {
	return usagef("%s needs a command: see %s --help", cmd.CommandPath(), cmd.CommandPath())
}

// arguments wants one argument for each name; those from optional on may be
// left out.
func arguments(optional int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min(optional, len(names)) {
			return usagef("%s is missing: %s", names[len(args)], cmd.UseLine())
		}
		if len(args) > len(names) {
			return usagef("unexpected argument %q: %s", args[len(names)], cmd.UseLine())
		}
		return nil
	}
}

func exactly(names ...string) cobra.PositionalArgs { return arguments(len(names), names...) }
