package sandbox

import (
	"errors"
	"os"
	"sync/atomic"
)

// helperArg is the hidden first argument by which a program is the helper.
const helperArg = "__exec"

// declared is set by Main. Without it a program that was started to be the
// helper would do its own work instead, and start itself again.
var declared atomic.Bool

// ErrNoHelper is the error of a command in a program that has not called Main.
var ErrNoHelper = errors.New("this program cannot start commands: it has to call sandbox.Main first thing in its main function (or TestMain)")

// Main makes this process the exec helper and does not return, if it was started
// to be that. A program that runs commands calls it first in main, before it
// reads its arguments or starts anything.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == helperArg {
		os.Exit(execMain(os.Args[2:]))
	}
	declared.Store(true)
}

// Self is how this program is started as the helper of a Command. It is empty if
// the program has not called Main.
func Self() []string {
	self, err := os.Executable()
	if err != nil || !declared.Load() {
		return nil
	}
	return []string{self, helperArg}
}
