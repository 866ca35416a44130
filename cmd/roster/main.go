// Command roster runs agent profiles from the command line and serves them over
// HTTP.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/rosterrun/roster/sandbox"
)

func main() {
	sandbox.Main()
	// A write past the limit on the size of files fails like one to a full disk,
	// and does not end the program. Not ignored: commands would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ)
	c := &cli{stdin: os.Stdin, stdout: &output{file: os.Stdout}, stderr: os.Stderr, getenv: os.Getenv}
	os.Exit(c.execute(os.Args[1:]))
}
