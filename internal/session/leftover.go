package session

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/workspace"
)

const (
	// maxPath is the length above which a word in a call cannot name a file.
	maxPath = 4 << 10
	// maxPatchPaths bounds the files that are looked for in one text.
	maxPatchPaths = 1_000
)

// sweepTemps removes the temporary files that interrupted calls left where they
// were writing, meant to replace others.
func sweepTemps(dir string, parts []lathe.Part) (swept int) {
	dirs := map[string]bool{}
	for _, p := range parts {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok {
			continue
		}
		failed, ok := call.State.(*lathe.ToolFailed)
		if !ok {
			continue
		}
		for _, path := range pathsIn(failed.Input) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			if real, err := workspace.Resolve(path); err == nil { // what is written is a link's target
				dirs[filepath.Dir(real)] = true
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(dirs)) {
		swept += workspace.SweepTemps(d)
	}
	return swept
}

// pathsIn returns every word of a tool's input that may name a file, and the
// files of a patch. Words that turn out not to do no harm.
func pathsIn(input json.RawMessage) []string {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return nil
	}
	return addPaths(nil, value)
}

func addPaths(paths []string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			paths = addPaths(paths, v[key])
		}
	case []any:
		for _, item := range v {
			paths = addPaths(paths, item)
		}
	case string:
		paths = addText(paths, v)
	}
	return paths
}

func addText(paths []string, text string) []string {
	if !strings.Contains(text, "\n") {
		if text != "" && len(text) <= maxPath {
			paths = append(paths, text)
		}
		return paths
	}
	for line := range strings.Lines(text) {
		head, path, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && strings.HasPrefix(head, "*** ") && path != "" && len(path) <= maxPath && len(paths) < maxPatchPaths {
			paths = append(paths, path)
		}
	}
	return paths
}
