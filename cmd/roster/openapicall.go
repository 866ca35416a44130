package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/tool/openapi"
)

func (c *cli) openapiCallCommand() *cobra.Command {
	var call roster.OperationCall
	var input string
	var dry bool
	cmd := &cobra.Command{
		Use:   "call SERVICE|FILE OPERATION",
		Short: "Call an operation, as an agent's tool would",
		Long: `Calls an operation of a service of roster.yaml, of one of a profile with --profile, or
of an OpenAPI document in a file. The input is one JSON object, as roster openapi show
describes it, or - for what stands on standard input. It is sent at once: you are not
asked, as an agent's call would be.

Requests go to the hosts that the service's entry names and to no other; of a file, to
those of --server and --host. With --dry-run nothing is sent: the request is shown, with
the names of variables in the place of what they hold. The exit code is 1 if the service
answers with anything but success.`,
		Example: "  roster openapi call petstore getPetById --input '{\"petId\": 7}'\n" +
			"  roster openapi call petstore.yaml addPet --server https://pets.example/v1 --input - --dry-run",
		Args: exactly("SERVICE|FILE", "OPERATION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			call.Service, call.Operation, call.Input = args[0], args[1], []byte(input)
			return c.callOperation(cmd, call, dry)
		},
		ValidArgsFunction: completeFiles,
	}
	f := cmd.Flags()
	f.StringVar(&input, "input", "{}", "the input: a `JSON` object, or - for standard input")
	f.BoolVar(&dry, "dry-run", false, "show the request and send nothing")
	f.StringVar(&call.Profile, "profile", "", "the profile `NAME` whose services are meant")
	f.StringVar(&call.Server, "server", "", "of a file: the `URL` that the operation is at")
	f.StringArrayVar(&call.Hosts, "host", nil, "of a file: a `HOST` that the operation may be at, also a private one; may be repeated")
	if err := cmd.RegisterFlagCompletionFunc("profile", c.completeProfiles); err != nil {
		panic(err) // the flag is there
	}
	return cmd
}

const maxInput = 8 << 20 // bytes

func (c *cli) callOperation(cmd *cobra.Command, call roster.OperationCall, dry bool) (err error) {
	if string(call.Input) == "-" {
		if call.Input, err = io.ReadAll(io.LimitReader(c.stdin, maxInput)); err != nil {
			return err
		}
	}
	app, err := c.open(roster.Options{})
	if err != nil {
		return err
	}
	defer func() { err = c.close(app, err) }()
	if dry {
		r, err := app.RequestOf(cmd.Context(), call)
		if err != nil {
			return err
		}
		return c.writeRequest(r)
	}
	answer, err := app.CallOperation(cmd.Context(), call)
	if err != nil {
		return err
	}
	if c.json {
		err = c.writeJSON(answer)
	} else {
		fmt.Fprintln(c.stdout, strings.TrimRight(answer.Text, "\n"))
	}
	if err == nil && answer.Failed {
		return exit(exitFailed)
	}
	return err
}

func (c *cli) writeRequest(r *openapi.Request) error {
	if c.json {
		return c.writeJSON(r)
	}
	fmt.Fprintf(c.stdout, "%s %s\n", r.Method, render.Safe(r.URL))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(c.stdout, "%s: %s\n", name, render.Safe(r.Header[name]))
	}
	if r.Body != "" {
		fmt.Fprintf(c.stdout, "\n%s\n", r.Body)
	}
	return nil
}
