package mcpjson

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
	"lathe/internal/jsonfile"
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
type Answers struct{ file jsonfile.File }

// OpenAnswers returns the answers in a file; nothing is read yet.
func OpenAnswers(path string) *Answers {
	return &Answers{jsonfile.File{
		Path: path, Most: 8 << 20, What: "the answers",
		Lost: "remove the file and answer again: lathe mcp import", Full: "remove the file and answer again: lathe mcp import",
	}}
}

type document struct {
	jsonfile.Header
	Answers map[string]answer `json:"answers"` // by the ID of the source
}

func (a *Answers) read() (map[string]answer, error) {
	var doc document
	if err := a.file.Read(&doc); err != nil {
		return nil, err
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
	var doc document
	return a.file.Update(ctx, &doc, func() {
		if doc.Answers == nil {
			doc.Answers = map[string]answer{}
		}
		change(doc.Answers)
	})
}
