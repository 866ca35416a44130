package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// The hidden first arguments by which a program is the helper, and by which what
// the helper starts goes behind a wall.
const (
	helperArg = "__exec"
	enterArg  = "__enter"
)

// early is whether this program has been started to be one of them. They run
// while the packages are initialised, as soon as this one is: a large program has
// many that come after it, and a command would wait for them twice: of roster, 11 ms
// each time, of which 3 ms are left.
var _ = early()

func early() bool {
	if len(os.Args) < 2 {
		return false
	}
	switch os.Args[1] {
	case enterArg:
		if isRuleset(rulesetFD) && len(os.Args) > 3 {
			fmt.Fprintln(os.Stderr, "roster exec helper:", enter(os.Args[2], os.Args[3:]))
			os.Exit(NotStarted)
		}
	case helperArg:
		if isPipe(controlFD) {
			os.Exit(execMain(os.Args[2:]))
		}
	}
	return false
}

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
