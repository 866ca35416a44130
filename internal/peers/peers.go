// Package peers gives tests the programs and documents of others that they try
// ours with, from the npm registry: what package.json names, in the versions that
// package-lock.json pins. `make need` fetches them. It is for tests.
package peers

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Dir is the folder whose node_modules has the packages. Where it lacks one, the
// test fails.
func Dir(tb testing.TB) string {
	tb.Helper()
	_, self, _, _ := runtime.Caller(0)
	dir := filepath.Dir(self)
	have, err := os.ReadFile(filepath.Join(dir, "node_modules", "complete"))
	want, err2 := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil || err2 != nil || string(have) != string(want) {
		tb.Fatal("what others have written for such tests is not here, or in other versions: run `make need`, which needs Node.js, npm and its registry")
	}
	return dir
}

// File is the path of a file of a package, such as "@scope/name/dist/index.js".
func File(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(Dir(tb), "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// GitHub is the path of GitHub's OpenAPI document: 1,223 operations in 13 MB of
// JSON.
func GitHub(tb testing.TB) string {
	tb.Helper()
	return File(tb, "@octokit/openapi/generated/api.github.com.json")
}
