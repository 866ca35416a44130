package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/sqlite"
)

func BenchmarkTurn(b *testing.B) {
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			storetest.BenchTurn(b, openBench(b, filepath.Join(b.TempDir(), "roster.db")), clients)
		})
	}
}

func openBench(b *testing.B, path string) *sqlite.Store {
	b.Helper()
	s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkOpen opens and closes a database that is up to date.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "roster.db")
	openBench(b, path)
	b.ReportAllocs()
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreate makes a new database, with all migrations.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		s, err := sqlite.Open(b.Context(), filepath.Join(dir, fmt.Sprint(n), "roster.db"), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
