package archtest

import (
	"slices"
	"testing"
)

// opens lists who may import a store's implementation, and why. Everything else sees
// the contract, lathe/internal/store.
var opens = map[string]string{
	"lathe/internal/cli/app":    "opens the database",
	"lathe/internal/cli/data":   "its commands are about SQLite's files",
	"lathe/internal/enginetest": "opens one for tests",
}

func TestStoresAreSeenByTheirContract(t *testing.T) {
	stores := []string{"lathe/internal/store/sqlite", "lathe/internal/store/postgres"}
	for _, p := range packages(t) {
		if slices.Contains(stores, p.ImportPath) || exempt(p.ImportPath) || opens[p.ImportPath] != "" {
			continue
		}
		if slices.ContainsFunc(stores, func(s string) bool { return slices.Contains(p.Imports, s) }) {
			t.Errorf("%s imports a store's implementation; it is to use lathe/internal/store", p.ImportPath)
		}
	}
}

// The contract names no file, process or machine, and no database: it needs the
// vocabulary alone.
func TestTheContractNeedsTheVocabularyAlone(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != "lathe/internal/store" {
			continue
		}
		want := []string{"context", "encoding/json", "errors", "fmt", "iter", "lathe", "time"}
		slices.Sort(p.Imports)
		if !slices.Equal(p.Imports, want) {
			t.Errorf("it imports %q, want %q", p.Imports, want)
		}
	}
}
