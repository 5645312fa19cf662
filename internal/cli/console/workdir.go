package console

import (
	"errors"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/workspace"
)

// WorkDir returns the directory to work in, absolute and existing.
func WorkDir(env *Env, dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	if !filepath.IsAbs(dir) {
		return "", lathe.Errorf(lathe.CodeInvalid, "change to a directory that exists", "the current directory is gone")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", Usagef("directory %q: %w", dir, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return "", Usagef("%q is not a directory", dir)
	}
	return workspace.Resolve(dir)
}

// Absolute returns the absolute path that a person means.
func Absolute(env *Env, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(env.Dir, path)
	}
	return filepath.Clean(path)
}
