package mcpjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/filelock"
	"lathe/internal/workspace"
)

const (
	maxAnswers = 8 << 20
)

// State is what the person said of a source.
type State string

// States of a source.
const (
	Unasked State = "new"
	Changed State = "changed" // an answer was given to something else that it said
	Used    State = "used"
	Refused State = "refused"
)

// answer is what the person said.
type answer struct {
	Digest string `json:"digest"`
	Use    bool   `json:"use"`
}

// Answers keeps in a file, which need not exist, what the person said of sources. It is
// safe for concurrent use, also by several processes.
type Answers struct{ path string }

// OpenAnswers returns the answers in a file; nothing is read yet.
func OpenAnswers(path string) *Answers { return &Answers{path} }

type document struct {
	Version int               `json:"version"`
	Answers map[string]answer `json:"answers"` // by the ID of the source
}

func (a *Answers) read() (map[string]answer, error) {
	raw, err := workspace.ReadFile(a.path, maxAnswers)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var doc document
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err == nil && doc.Version != 1 {
		err = fmt.Errorf("version %d is not known", doc.Version)
	}
	if err != nil {
		return nil, &lathe.Error{Code: lathe.CodeInvalid, Msg: "the answers in " + a.path + " cannot be read",
			Hint: "remove the file and answer again: lathe mcp import", Cause: err}
	}
	return doc.Answers, nil
}

// State says what the person said of a source.
func (a *Answers) State(s Source) (State, error) {
	all, err := a.read()
	if err != nil {
		return Unasked, err
	}
	return state(all, s), nil
}

func state(all map[string]answer, s Source) State {
	given, ok := all[s.ID()]
	switch {
	case !ok:
		return Unasked
	case given.Digest != s.Digest:
		return Changed
	case given.Use:
		return Used
	}
	return Refused
}

// Agreed returns the servers that the person agreed to, as the files are now; those of a
// stronger source first, each name once.
func (a *Answers) Agreed(w Where) ([]config.MCP, error) {
	all, err := a.read()
	used := func(given answer) bool { return given.Use }
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(all)), used) {
		return nil, err
	}
	var out []config.MCP
	for _, s := range Sources(w) {
		if state(all, s) != Used {
			continue
		}
		for _, one := range s.Servers {
			if !slices.ContainsFunc(out, func(c config.MCP) bool { return c.Name == one.Name }) {
				out = append(out, one.MCP)
			}
		}
	}
	return out, nil
}

// Answer keeps what the person says of a source as it was shown.
func (a *Answers) Answer(ctx context.Context, s Source, use bool) error {
	return a.update(ctx, func(all map[string]answer) { all[s.ID()] = answer{s.Digest, use} })
}

// Forget takes back what was said of the files of a repository that are in or below a
// directory.
func (a *Answers) Forget(ctx context.Context, dir string) error {
	if all, err := a.read(); err != nil || len(all) == 0 {
		return err
	}
	within := func(path string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && (rel == "." || filepath.IsLocal(rel))
	}
	return a.update(ctx, func(all map[string]answer) {
		maps.DeleteFunc(all, func(id string, _ answer) bool {
			rest, ok := strings.CutPrefix(id, string(Project)+":")
			of, _, _ := strings.Cut(rest, ":")
			return ok && within(of)
		})
	})
}

func (a *Answers) update(ctx context.Context, change func(map[string]answer)) error {
	if err := os.MkdirAll(filepath.Dir(a.path), 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Lock(ctx, a.path+".lock", a.path)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := a.read()
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]answer{}
	}
	change(all)
	raw, err := json.MarshalIndent(document{1, all}, "", "  ")
	if err != nil {
		return err
	}
	return workspace.WriteFile(a.path, append(raw, '\n'), 0o600)
}
