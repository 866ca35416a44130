//go:build unix && !linux

package sandbox

import (
	"errors"
	"os"
)

func probeLandlock() error {
	return &UnavailableError{Landlock, "only Linux has it", "choose docker, or say sandbox: none where you trust what runs"}
}

func (b Box) ruleset() (*os.File, error) { return nil, probeLandlock() }

func behind(path string, args []string) (string, []string) { return path, args }

func isRuleset(int) bool { return false }

func enter(string, []string) error {
	return errors.New("this command is for roster's own use, on Linux")
}

func probeBubblewrap() error {
	return &UnavailableError{Bubblewrap, "only Linux has it", "choose docker, or say sandbox: none where you trust what runs"}
}

func findBubblewrap() (string, error) { return "", probeBubblewrap() }

func (b Box) bubblewrap(string, []string) ([]string, *os.File, error) {
	return nil, nil, probeBubblewrap()
}

func started(*os.File) bool { return false }

func inside(int) []int { return nil }
