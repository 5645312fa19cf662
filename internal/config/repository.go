package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/jsonc"
	"lathe/internal/workspace"
)

const outsideReason = "it leads out of the repository"

// leaves reports, and notes, whether a file or directory of an untrusted
// repository is a link that leads out of it. What lies outside is not the
// repository's to show or run: it could be a secret that goes to the model.
// Outside a checkout the boundary is the directory that holds the file or its
// config directory.
func (l *loader) leaves(path string, trust Trust) bool {
	if trust != Repository || l.o.Trusted {
		return false
	}
	if real, err := workspace.Resolve(path); err == nil && l.holds(path, real) {
		return false
	}
	if _, err := os.Lstat(path); err == nil {
		l.c.LeftOut = append(l.c.LeftOut, LeftOut{filepath.Base(path), jsonc.Pos{File: path}, outsideReason})
	}
	return true
}

// holds reports whether the repository to which a path belongs holds a resolved path.
func (l *loader) holds(path, real string) bool {
	boundary, err := workspace.Resolve(l.boundary(path))
	return err == nil && (real == boundary || strings.HasPrefix(real, strings.TrimSuffix(boundary, string(filepath.Separator))+string(filepath.Separator)))
}

// boundary returns the directory that a repository's file must not leave.
func (l *loader) boundary(path string) string {
	if top := filepath.Clean(l.o.Worktree); top != "" && top != filepath.Dir(top) {
		return top
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); base == ".opencode" || base == ".lathe" {
			return filepath.Dir(dir)
		}
	}
	return filepath.Dir(path)
}

// codeFolders hold programs of a config directory.
var codeFolders = [...]string{"plugin", "plugins", "tool", "tools"}

// noteCode notes the programs in a config directory of an untrusted repository;
// [Config.CodeDirectories] leaves the directory out.
func (l *loader) noteCode(dir Directory) {
	if dir.Trust != Repository || l.o.Trusted {
		return
	}
	for _, name := range codeFolders {
		path := filepath.Join(dir.Path, name)
		if entries, err := os.ReadDir(path); err == nil && len(entries) > 0 {
			l.c.LeftOut = append(l.c.LeftOut, LeftOut{filepath.Base(dir.Path) + "/" + name, jsonc.Pos{File: path}, "it runs code"})
		}
	}
}

// CodeDirectories returns the config directories whose tools, plugins and other
// programs may run: all of them, less those of an untrusted repository.
func (c *Config) CodeDirectories() []Directory {
	var out []Directory
	for _, d := range c.Directories {
		if d.Trust != Repository || c.Trusted {
			out = append(out, d)
		}
	}
	return out
}

// Steering lists what could steer lathe in a repository, if it is there: the
// configuration files and config directories between the worktree's root and
// Dir, whether they lead out of it or not.
func Steering(o Options) (files, dirs []string) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	l := &loader{o: o, flags: ReadFlags(o.Getenv)}
	homes := []string{filepath.Join(o.Paths.Home, ".opencode"), filepath.Join(o.Paths.Home, ".lathe")}
	for _, dir := range l.upward() {
		for _, name := range fileNames {
			if path := filepath.Join(dir, name); exists(path) {
				files = append(files, path)
			}
		}
		for _, name := range []string{".opencode", ".lathe"} {
			if path := filepath.Join(dir, name); !slices.Contains(homes, path) && exists(path) {
				dirs = append(dirs, path)
			}
		}
	}
	return files, dirs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
