package host

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"lathe/internal/shell"
)

//go:embed js
var program embed.FS

// mostMemory is how much memory the process may use, in MiB.
const mostMemory = 1024

// missing says what this machine lacks to run plugins.
type missing struct{ what string }

// Error says what is missing.
func (m *missing) Error() string { return m.what }

// Runtime returns the program that runs plugins: what LATHE_PLUGIN_RUNTIME names, else
// bun, else node, whichever the environment's PATH has.
func Runtime(env []string) (string, error) {
	if path := shell.Lookup(env, "LATHE_PLUGIN_RUNTIME"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", &missing{"LATHE_PLUGIN_RUNTIME names " + path + ", which is not there"}
		}
		return path, nil
	}
	for _, name := range []string{"bun", "node"} {
		if path := shell.Find(env, name); path != "" {
			return path, nil
		}
	}
	return "", &missing{fmt.Sprintf("plugins need bun, or node %d or newer, and neither is on PATH", minNode)}
}

// isBun reports whether a runtime is bun, by its name.
func isBun(path string) bool { return strings.HasPrefix(filepath.Base(path), "bun") }

// command returns the command line and environment of the process.
func (h *Host) command() (args, env []string, err error) {
	path, err := Runtime(h.o.Env)
	if err != nil {
		return nil, nil, err
	}
	dir, err := unpack(h.o.Cache)
	if err != nil {
		return nil, nil, fmt.Errorf("the plugins' host cannot be unpacked: %w", err)
	}
	main := filepath.Join(dir, "main.mjs")
	args = []string{path, "--no-warnings", fmt.Sprintf("--max-old-space-size=%d", mostMemory), main}
	if isBun(path) {
		args = []string{path, "--no-install", main}
	}
	env = shell.Env(h.o.Env, map[string]string{"LATHE_PLUGIN_MEMORY": fmt.Sprint(mostMemory)}, "NODE_OPTIONS", "BUN_OPTIONS")
	return throughShell(args), env, nil
}

// throughShell moves the pipes away from standard input and output, to which plugins
// and their programs may print: the process reads from 4 and writes to 3, and its
// output goes where its errors go.
func throughShell(args []string) []string {
	if runtime.GOOS == "windows" {
		return args
	}
	return append([]string{"/bin/sh", "-c", `exec "$@" 4<&0 3>&1 0</dev/null 1>&2`, "plugins"}, args...)
}

// unpack writes the host's program into the cache, once for each version of it.
func unpack(cache string) (string, error) {
	files := map[string][]byte{}
	sum := sha256.New()
	err := fs.WalkDir(program, "js", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := program.ReadFile(path)
		files[filepath.Base(path)] = text
		sum.Write([]byte(path))
		sum.Write(text)
		return err
	})
	if err != nil {
		return "", err
	}
	top := filepath.Join(cache, "plugins")
	dir := filepath.Join(top, "host-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	return dir, whole(dir, func(tmp string) error {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(tmp, name), text, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole fills a temporary directory and moves it to its place, so that it is either
// complete or not there.
func whole(dir string, fill func(tmp string) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // nothing is left there after the move
	if err := fill(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil // another process did the same
		}
		return err
	}
	return nil
}
