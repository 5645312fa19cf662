package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"lathe"
	"lathe/internal/filelock"
	"lathe/internal/jsonc"
)

// UpdateGlobal merges a patch into the person's own configuration of lathe and
// returns the file that was written. OpenCode's files are never written.
func UpdateGlobal(ctx context.Context, p Paths, patch []byte) (string, error) {
	if err := Ensure(p.Config); err != nil {
		return "", err
	}
	return update(ctx, p, p.Config, []string{"lathe.jsonc", "lathe.json", "opencode.jsonc", "opencode.json"}, "lathe.jsonc", patch)
}

// UpdateProject merges a patch into the configuration of a directory and returns
// the file that was written: the one that is read last of those that exist, else a
// new lathe.json.
//
// A link to a configuration elsewhere is not followed: it came with the repository,
// and may lead anywhere.
func UpdateProject(ctx context.Context, p Paths, dir string, patch []byte) (string, error) {
	for _, name := range fileNames {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if home, e := filepath.EvalSymlinks(dir); err != nil || e != nil || filepath.Dir(real) != home || !slices.Contains(fileNames, filepath.Base(real)) {
			return "", lathe.Errorf(lathe.CodeInvalid, "change the file that it leads to yourself", "%s is a link that leads out of the directory, and is not written through", path)
		}
	}
	return update(ctx, p, dir, []string{"lathe.jsonc", "lathe.json", "opencode.jsonc", "opencode.json"}, "lathe.json", patch)
}

// update merges the patch, a JSON object, key by key: objects deeply, null
// removes, all else replaces. Comments and layout stay. The result must be a
// configuration, or nothing is written.
func update(ctx context.Context, p Paths, dir string, names []string, fresh string, patch []byte) (string, error) {
	tree, err := jsonc.Parse("the change", patch)
	if err == nil && tree.Kind != jsonc.Object {
		err = fmt.Errorf("should be an object, is %s", tree.Kind)
	}
	if err != nil {
		return "", lathe.Errorf(lathe.CodeInvalid, "", "the change of the configuration is not usable: %v", err)
	}
	path := filepath.Join(dir, fresh)
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			path = filepath.Join(dir, name)
			break
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	unlock, err := lockFile(ctx, p, path)
	if err != nil {
		return "", err
	}
	defer unlock()
	text, err := readFile(path, jsonc.MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("change the configuration: %w", err)
	}
	if text, err = jsonc.Merge(text, tree); err != nil {
		return "", fmt.Errorf("change %s: %w", path, err)
	}
	if err := check(path, text, p.Home); err != nil {
		return "", err
	}
	if err := writeFile(path, text); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return path, nil
}

// lockFile keeps other lathe processes from changing the same file. The lock is
// in the state directory, so that none lies about in a repository.
func lockFile(ctx context.Context, p Paths, path string) (func(), error) {
	if err := Ensure(p.State); err != nil {
		return nil, err
	}
	return filelock.Lock(ctx, filepath.Join(p.State, "config.lock"), path)
}

// check reports type errors of a configuration; placeholders are checked as written.
func check(name string, text []byte, home string) error {
	root, err := jsonc.Parse(name, text)
	if err != nil {
		return lathe.Errorf(lathe.CodeInvalid, "", "%v", err)
	}
	d := &decoder{home: home}
	d.lower(root)
	d.object(root, "", reflect.ValueOf(new(Config)).Elem())
	return d.err()
}
