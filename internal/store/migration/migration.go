// Package migration reads the numbered SQL files that bring a database from each version of
// its tables to the next. The files, and the table that says which of them were applied,
// are those of the goose tool, which earlier versions of lathe linked: it can still be
// used on a database of lathe's.
package migration

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Step brings a database from the version before to Version.
type Step struct {
	Version int64
	SQL     string // any number of statements, to be run in one transaction
}

// Steps returns what leads from a version to the newest one, in order. The versions of the
// files have to be 1, 2, 3 and so on: what is missing or there twice is an error.
func Steps(files fs.FS, from int64) ([]Step, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var steps []Step
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil || v != int64(i)+1 {
			return nil, fmt.Errorf("migration %s: its name should begin with %05d_", name, i+1)
		}
		if v <= from {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		up, ok := strings.CutPrefix(string(text), "-- +goose Up\n")
		if !ok {
			return nil, fmt.Errorf("migration %s: its first line should be %q", name, "-- +goose Up")
		}
		up, _, _ = strings.Cut(up, "\n-- +goose Down\n")
		steps = append(steps, Step{v, up})
	}
	return steps, nil
}
