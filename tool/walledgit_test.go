package tool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rosterrun/roster/sandbox"
)

func TestGitBehindAWall(t *testing.T) {
	home, empty := t.TempDir(), t.TempDir()
	file := filepath.Join(home, ".gitconfig")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		environ []string
		box     sandbox.Box
		without bool
	}{
		{"not readable", []string{"HOME=" + home}, sandbox.Box{Kind: sandbox.Landlock, Write: []string{empty}}, true},
		{"none there", []string{"HOME=" + empty}, sandbox.Box{Kind: sandbox.Landlock}, false},
		{"readable", []string{"HOME=" + home}, sandbox.Box{Kind: sandbox.Landlock, Read: []string{file}}, false},
		{"home is the workspace", []string{"HOME=" + home}, sandbox.Box{Kind: sandbox.Landlock, Write: []string{home}}, false},
		{"said by the user", []string{"HOME=" + home, gitGlobal + "/x"}, sandbox.Box{Kind: sandbox.Landlock}, false},
		{"no wall", []string{"HOME=" + home}, sandbox.Box{}, false},
		{"another home", []string{"HOME=" + home}, sandbox.Box{Kind: sandbox.Bubblewrap}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := walledGit(tt.environ, tt.box)
			if without := slices.Contains(got, gitGlobal+os.DevNull); without != tt.without {
				t.Errorf("%q", got)
			}
		})
	}
}
