package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/printable"
	"lathe/internal/tui/edit"
	"lathe/internal/workspace"
)

// maxStash bounds how many texts are put aside in a project. Nothing is dropped to
// make room: the person decides what goes.
const maxStash = 100

// Stashed is a text that was put aside.
type Stashed struct {
	ID    string
	At    time.Time
	Draft edit.Draft
}

// stashDir has a file for each text, so that several screens never write the
// same one.
func (m *Memory) stashDir() string { return filepath.Join(m.dir, "stash", m.project) }

// Stash puts a text aside.
func (m *Memory) Stash(d edit.Draft, at time.Time) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("put a text aside: %w", err)
	}
	if len(data) > maxDraft {
		return fmt.Errorf("put a text aside: it has more than %d MB", maxDraft>>20)
	}
	dir := m.stashDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("put a text aside: %w", err)
	}
	if n := len(stashNames(dir)); n >= maxStash {
		return fmt.Errorf("put a text aside: there are %d already; delete some in /stash", n)
	}
	for n := at.UnixNano(); ; n++ {
		name := filepath.Join(dir, fmt.Sprintf("%020d.json", n))
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		if err := workspace.WriteFile(name, data, 0o600); err != nil {
			return fmt.Errorf("put a text aside: %w", err)
		}
		return nil
	}
}

// Stashed returns what was put aside, the newest first. What cannot be read is
// left out.
func (m *Memory) Stashed() []Stashed {
	var out []Stashed
	for _, id := range stashNames(m.stashDir()) {
		n, _ := strconv.ParseInt(id, 10, 64)
		s := Stashed{ID: id, At: time.Unix(0, n)}
		data, err := workspace.ReadFile(filepath.Join(m.stashDir(), id+".json"), 2*maxDraft)
		if err != nil || json.Unmarshal(data, &s.Draft) != nil || s.Draft.Text == "" {
			continue
		}
		s.Draft.Text = printable.Text(s.Draft.Text, printable.Options{})
		out = append(out, s)
	}
	slices.Reverse(out)
	return out
}

// Unstash deletes what was put aside. If it is no longer there because another
// screen took it, that is not an error.
func (m *Memory) Unstash(id string) error {
	if !isStashID(id) {
		return fmt.Errorf("delete what was put aside: %.40q names nothing", id)
	}
	if err := os.Remove(filepath.Join(m.stashDir(), id+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete what was put aside: %w", err)
	}
	return nil
}

// stashNames returns what is in a stash, oldest first.
func stashNames(dir string) []string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, f := range files { // sorted by name, which is the time
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && isStashID(id) {
			out = append(out, id)
		}
	}
	return out
}

func isStashID(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n >= 0 && len(id) == 20
}
