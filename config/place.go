package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FindWorkspace returns the nearest parent of dir, or dir itself, that holds a
// roster.yaml; without one it is dir. The result is absolute, with links
// followed.
func FindWorkspace(dir string) (string, error) {
	start, err := realDir(dir)
	if err != nil {
		return "", err
	}
	for at := start; ; at = filepath.Dir(at) {
		info, err := os.Stat(filepath.Join(at, File))
		if err == nil && info.Mode().IsRegular() {
			return at, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("looking for %s: %w", File, err)
		}
		if at == filepath.Dir(at) {
			return start, nil
		}
	}
}

func realDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("workspace %s: %w", dir, err)
	}
	dir, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("workspace %s is not a directory", dir)
	}
	return dir, nil
}

// Home returns the directory of the user's part: ROSTER_HOME, else
// roster in XDG_CONFIG_HOME or ~/.config. It need not exist.
func Home(getenv func(string) string) (string, error) {
	if dir := getenv("ROSTER_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	return underHome(getenv, "XDG_CONFIG_HOME", ".config")
}

// StateDir returns where the state of a workspace is kept: outside of it, in a
// directory named by the digest of its real path. It need not exist.
func StateDir(workspace string, getenv func(string) string) (string, error) {
	root, err := underHome(getenv, "XDG_STATE_HOME", filepath.Join(".local", "state"))
	if err != nil {
		return "", err
	}
	return below(root, workspace)
}

// WorktreeDir returns where the worktrees of a workspace's sessions are: outside
// of it, and of the state, which no tool reaches. It need not exist.
func WorktreeDir(workspace string, getenv func(string) string) (string, error) {
	root, err := underHome(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share"))
	if err != nil {
		return "", err
	}
	return below(root+"-worktrees", workspace)
}

// below returns the folder of a workspace: named by the digest of its real path.
func below(root, workspace string) (string, error) {
	real, err := realDir(workspace)
	if err != nil {
		return "", err
	}
	const digits = 16 // of the digest in hex: 64 bits
	sum := sha256.Sum256([]byte(real))
	return filepath.Join(root, hex.EncodeToString(sum[:])[:digits]), nil
}

// underHome returns roster in the directory that a variable names, else in one
// below the home directory. A relative path in the variable is not valid and
// is passed over, as the XDG specification says.
func underHome(getenv func(string) string, variable, otherwise string) (string, error) {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "roster"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("neither %s nor HOME names a directory: set one of them", variable)
	}
	return filepath.Join(home, otherwise, "roster"), nil
}
