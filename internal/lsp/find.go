package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"lathe/internal/shell"
)

// Place is where a file's server looks for roots and programs.
type Place struct {
	Dir      string // of the instance: no root is above it
	Worktree string // top of the checkout: node_modules are looked for up to it
	Env      []string
	Home     string
	Own      string // where [Install] puts servers; may be empty
	Trusted  bool   // programs that the repository brings may be run
}

// root returns the root of a file for a server, or "" if it does not serve the file.
// Both paths are resolved.
func (p Place) root(s *Spec, path string) string {
	if s.Unless != "" && p.marker(path, s.Unless) != "" {
		return ""
	}
	for group := range strings.SplitSeq(s.Markers, "|") {
		if dir := p.marker(path, group); dir != "" {
			if s.ID == "rust" {
				dir = p.cargoWorkspace(dir)
			}
			return dir
		}
	}
	if s.Required {
		return ""
	}
	return p.Dir
}

// above calls a function with the directories from a file's own up to a top, until it
// returns true. A file outside of the top has none.
func above(top, path string, f func(dir string) bool) {
	for dir := filepath.Dir(path); within(top, dir); dir = filepath.Dir(dir) {
		if f(dir) || dir == top {
			return
		}
	}
}

func within(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// marker returns the nearest directory, from the file's own up to the instance's, that
// has one of the names.
func (p Place) marker(path, names string) (found string) {
	above(p.Dir, path, func(dir string) bool {
		for name := range strings.FieldsSeq(names) {
			if has(dir, name) {
				found = dir
				return true
			}
		}
		return false
	})
	return found
}

func has(dir, name string) bool {
	if !strings.Contains(name, "*") {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(name, e.Name()); ok {
			return true
		}
	}
	return false
}

// cargoWorkspace returns the nearest directory above whose manifest has a workspace,
// else the directory itself.
func (p Place) cargoWorkspace(dir string) string {
	found := dir
	above(p.Worktree, filepath.Join(dir, "Cargo.toml"), func(d string) bool {
		data, err := os.ReadFile(filepath.Join(d, "Cargo.toml"))
		if err == nil && strings.Contains(string(data), "[workspace]") {
			found = d
			return true
		}
		return false
	})
	return found
}

// program is what is run for a server.
type program struct {
	args []string
	own  bool // it comes from the repository
}

// find returns the first of a server's command lines whose program is there.
func (p Place) find(s *Spec, root string) (program, bool) {
	for _, line := range s.commandLines() {
		if path, own := p.lookup(root, line[0]); path != "" {
			return program{append([]string{path}, line[1:]...), own}, true
		}
	}
	return program{}, false
}

// lookup returns the path of a program: from node_modules of a trusted project, from
// PATH, from where lathe installs, from Go's and Cargo's directories.
func (p Place) lookup(root, name string) (path string, own bool) {
	if strings.ContainsAny(name, `/\`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		return shell.Executable(name), within(p.Worktree, name)
	}
	if p.Trusted {
		above(p.Worktree, filepath.Join(root, "x"), func(dir string) bool {
			path = shell.Executable(filepath.Join(dir, "node_modules", ".bin", name))
			return path != ""
		})
		if path != "" {
			return path, true
		}
	}
	for _, dir := range p.programDirs() {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path := shell.Executable(filepath.Join(dir, name)); path != "" {
			return path, within(p.Worktree, path)
		}
	}
	return "", false
}

// programDirs are where programs are looked for, besides the project.
func (p Place) programDirs() []string {
	dirs := filepath.SplitList(p.getenv("PATH"))
	if p.Own != "" {
		dirs = append(dirs, ownDirs(p.Own)...)
	}
	if dir := p.getenv("GOBIN"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range filepath.SplitList(p.getenv("GOPATH")) {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if dir := p.getenv("CARGO_HOME"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if p.Home != "" {
		for _, dir := range []string{"go/bin", ".cargo/bin", ".local/bin", ".dotnet/tools"} {
			dirs = append(dirs, filepath.Join(p.Home, filepath.FromSlash(dir)))
		}
	}
	return dirs
}

// ProgramDirs are where programs are looked for, besides the project.
func ProgramDirs(p Place) []string { return p.programDirs() }

func (p Place) getenv(name string) (value string) {
	for _, kv := range p.Env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// module returns the directory of a package in the nearest node_modules that has it.
func (p Place) module(root, name string) (found string) {
	above(p.Worktree, filepath.Join(root, "x"), func(dir string) bool {
		at := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			found = at
		}
		return found != ""
	})
	return found
}

// typescript returns the library directory of the project's typescript, else of the one
// that lathe installed along with the server.
func (p Place) typescript(root string) string {
	if dir := p.module(root, "typescript"); dir != "" && p.Trusted {
		return filepath.Join(dir, "lib")
	}
	if p.Own != "" {
		if dir := filepath.Join(p.Own, "npm", "node_modules", "typescript", "lib"); has(dir, "tsserver.js") {
			return dir
		}
	}
	return ""
}

// python returns the interpreter of the project's virtual environment, or "".
func (p Place) python(root string) string {
	dirs := []string{p.getenv("VIRTUAL_ENV")}
	if p.Trusted {
		dirs = append(dirs, filepath.Join(root, ".venv"), filepath.Join(root, "venv"))
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		name := filepath.Join(dir, "bin", "python")
		if runtime.GOOS == "windows" {
			name = filepath.Join(dir, "Scripts", "python")
		}
		if path := shell.Executable(name); path != "" {
			return path
		}
	}
	return ""
}

// options returns the initialisation options of a server. Options that depend on
// something missing are left out.
func (p Place) options(s *Spec, root string) any {
	if s.initial != nil {
		return s.initial
	}
	if s.Init == "" {
		return nil
	}
	var v map[string]any
	if json.Unmarshal([]byte(s.Init), &v) != nil {
		return nil
	}
	v = p.fill(v, map[string]func() string{
		"{python}":     func() string { return p.python(root) },
		"{typescript}": func() string { return p.typescript(root) },
	})
	if len(v) == 0 {
		return nil
	}
	return v
}

func (p Place) fill(v map[string]any, holes map[string]func() string) map[string]any {
	out := map[string]any{}
	for key, value := range v {
		switch value := value.(type) {
		case map[string]any:
			if inner := p.fill(value, holes); len(inner) > 0 {
				out[key] = inner
			}
		case string:
			if filled, ok := fillText(value, holes); ok {
				out[key] = filled
			}
		default:
			out[key] = value
		}
	}
	return out
}

// fillText fills in a placeholder at the beginning of a text.
func fillText(text string, holes map[string]func() string) (string, bool) {
	for hole, value := range holes {
		if rest, ok := strings.CutPrefix(text, hole); ok {
			with := value()
			return with + filepath.FromSlash(rest), with != ""
		}
	}
	return text, true
}
