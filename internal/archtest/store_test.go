package archtest

import (
	"slices"
	"testing"
)

// opens lists who may import a store's implementation, and why. Everything else sees
// the contract, lathe/internal/store.
var opens = map[string]string{
	"lathe/internal/cli/app":    "opens the database of this machine",
	"lathe/internal/cli/data":   "its commands are about SQLite's files",
	"lathe/internal/enginetest": "opens one for tests",
}

func TestStoresAreSeenByTheirContract(t *testing.T) {
	const sqlite = "lathe/internal/store/sqlite"
	for _, p := range packages(t) {
		if p.ImportPath == sqlite || exempt(p.ImportPath) || opens[p.ImportPath] != "" {
			continue
		}
		if slices.Contains(p.Imports, sqlite) {
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
