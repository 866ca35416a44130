// Command roster runs agent profiles from the command line and serves them over
// HTTP.
package main

import (
	"os"

	"github.com/rosterrun/roster/sandbox"
)

// execCommand is the hidden command under which roster starts itself to hold
// the processes of a tool call.
const execCommand = "__exec"

func main() {
	if len(os.Args) > 1 && os.Args[1] == execCommand {
		os.Exit(sandbox.ExecMain(os.Args[2:]))
	}
	c := &cli{stdin: os.Stdin, stdout: &output{file: os.Stdout}, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(c.execute(os.Args[1:]))
}
