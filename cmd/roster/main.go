// Command roster runs agent profiles from the command line and serves them over
// HTTP.
package main

import (
	"os"

	"github.com/rosterrun/roster/sandbox"
)

func main() {
	sandbox.Main()
	c := &cli{stdin: os.Stdin, stdout: &output{file: os.Stdout}, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(c.execute(os.Args[1:]))
}
