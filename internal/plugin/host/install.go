package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // what all plugins can use
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/workspace"
)

const (
	installLimit = 3 * time.Minute
	lockWait     = installLimit
)

//go:embed base/package.json
var basePackage []byte

//go:embed base/package-lock.json
var baseLock []byte

// lockNames are the files in which npm and bun pin what they install.
var lockNames = []string{"package-lock.json", "bun.lock"}

// Packages installs packages into lathe's cache. It is safe for concurrent use, also by
// several processes.
type Packages struct{ o Options }

// NewPackages returns what installs packages with a host's options; Dir and the settings for
// hooks and clients do not matter.
func NewPackages(o Options) Packages { return Packages{o.complete()} }

// resolve finds the file of each plugin, installing packages that are not there, and
// returns those that can be loaded.
func (h *Host) resolve(ctx context.Context) []loadPlugin {
	told := make([]Plugin, len(h.sources))
	var ready []loadPlugin
	for i, s := range h.sources {
		told[i].Source = s
		if s.Package() {
			dir, err := h.packages.Install(ctx, s.Spec)
			if err == nil {
				told[i].File, err = entry(filepath.Join(dir, "node_modules", filepath.FromSlash(packageName(s.Spec))))
			}
			if err != nil {
				told[i].Error = err.Error()
				h.o.Tell(fmt.Sprintf("the plugin %s cannot be used: %v", s.Name, err))
				continue
			}
		} else if file, err := localEntry(s.File); err != nil {
			told[i].Error, told[i].File = err.Error(), ""
			h.o.Tell(fmt.Sprintf("the plugin %s cannot be used: %v", s.Name, err))
			continue
		} else {
			told[i].File = file
		}
		ready = append(ready, loadPlugin{Name: s.Name, Kind: s.Kind, File: told[i].File, Options: s.Options, Limit: pluginLimit.Milliseconds()})
	}
	h.mu.Lock()
	h.told = told
	h.mu.Unlock()
	return ready
}

func localEntry(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("there is no file %s", file)
	}
	if info.IsDir() {
		return entry(file)
	}
	return file, nil
}

// entry returns the file by which a package's directory is loaded.
func entry(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		text = []byte("{}")
	}
	var pkg struct {
		Main, Module string
		Exports      json.RawMessage
	}
	if err := json.Unmarshal(text, &pkg); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, "package.json"), err)
	}
	for _, name := range append(exported(pkg.Exports), pkg.Main, pkg.Module, "index.js", "index.ts", "index.mjs") {
		for _, suffix := range []string{"", ".js", ".ts", "/index.js", "/index.ts"} {
			file := filepath.Join(dir, filepath.FromSlash(name+suffix))
			if info, err := os.Stat(file); name != "" && err == nil && info.Mode().IsRegular() {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("the package in %s has no file to load", dir)
}

// exported lists the files that "exports" names for a plugin: its server, then itself.
func exported(raw json.RawMessage) (out []string) {
	var paths map[string]json.RawMessage
	if json.Unmarshal(raw, &paths) != nil {
		return condition(raw)
	}
	for _, key := range []string{"./server", "."} {
		out = append(out, condition(paths[key])...)
	}
	if out == nil {
		out = condition(raw)
	}
	return out
}

func condition(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, key := range []string{"bun", "import", "node", "default"} {
		if found := condition(all[key]); found != nil {
			return found
		}
	}
	return nil
}

// shared returns where the packages are that every plugin can use, and where those of
// configuration directories without installed packages were installed. What could not
// be installed is logged; plugins that need it say so.
func (h *Host) shared(ctx context.Context) (modules string, roots []root) {
	dir, err := h.packages.installed(ctx, "base", map[string][]byte{"package.json": basePackage, "package-lock.json": baseLock}, "")
	if err != nil {
		h.o.Log.Warn("what plugins share could not be installed", "err", err)
		h.o.Tell(fmt.Sprintf("plugins cannot use OpenCode's client or schemas: %v", err))
	}
	roots = []root{}
	for _, s := range h.sources {
		if s.File == "" || strings.Contains(filepath.ToSlash(s.File), "/node_modules/") {
			continue
		}
		top := filepath.Dir(filepath.Dir(s.File))
		if slices.ContainsFunc(roots, func(r root) bool { return r.Dir == top }) {
			continue
		}
		if own := h.packages.ownPackages(ctx, top); own != "" {
			roots = append(roots, root{top, own})
		}
	}
	return dir, roots
}

// ownPackages installs the dependencies of a configuration directory that has none
// installed, and returns where.
func (p Packages) ownPackages(ctx context.Context, dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return ""
	}
	var pkg struct{ Dependencies map[string]string }
	if json.Unmarshal(text, &pkg) != nil {
		return ""
	}
	delete(pkg.Dependencies, "@opencode-ai/plugin") // which lathe has for all
	if len(pkg.Dependencies) == 0 {
		return ""
	}
	files := map[string][]byte{"package.json": manifest(pkg.Dependencies)}
	for _, name := range lockNames {
		if lock, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			files[name] = lock
		}
	}
	made, err := p.installed(ctx, "dir", files, "")
	if err != nil {
		p.o.Tell(fmt.Sprintf("the packages of %s cannot be had: %v", dir, err))
		return ""
	}
	return made
}

func manifest(dependencies map[string]string) []byte {
	text, err := json.MarshalIndent(map[string]any{"private": true, "dependencies": dependencies}, "", "  ")
	if err != nil { // strings always encode
		panic(err)
	}
	return append(text, '\n')
}

var (
	validName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[a-zA-Z0-9][a-zA-Z0-9._-]*/)?[a-zA-Z0-9][a-zA-Z0-9._-]*$`)
	})
	validVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9.+~^<>=|* -]+$`) })
)

// Install returns the directory into which a package is installed, installing it if it
// is not. What was installed is pinned.
func (p Packages) Install(ctx context.Context, spec string) (string, error) {
	name := packageName(spec)
	if !validName().MatchString(name) || strings.Contains(name, "..") || !validVersion().MatchString(version(spec)) {
		return "", fmt.Errorf("%q is neither a package (NAME or NAME@VERSION) nor a file", spec)
	}
	pinned := filepath.Join(p.o.Data, "plugins", safe(spec))
	files := map[string][]byte{"package.json": manifest(map[string]string{name: version(spec)})}
	for _, lock := range lockNames {
		if text, err := os.ReadFile(filepath.Join(pinned, lock)); err == nil {
			files[lock] = text
		}
	}
	return p.installed(ctx, "pkg-"+safe(spec), files, pinned)
}

// pin keeps the lock files of an installation in lathe's data directory.
func pin(dir, pinned string) error {
	if err := os.MkdirAll(pinned, 0o700); err != nil {
		return err
	}
	for _, name := range lockNames {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) { // another installer did it, with a lock of its own
			err = os.Remove(filepath.Join(pinned, name))
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if err != nil {
			return err
		}
		// Whole or not at all: a lock cut short by a full disk would fail every later install.
		if err := workspace.WriteFile(filepath.Join(pinned, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// safe turns a spec into a file name.
func safe(spec string) string {
	sum := sha256.Sum256([]byte(spec))
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, spec) + "-" + hex.EncodeToString(sum[:4])
}

// installed returns a directory of the cache in which the packages of a package.json are
// installed, installing them if they are not; pinned is where the locks are kept, if they are. An
// installation that fails leaves nothing.
func (p Packages) installed(ctx context.Context, name string, files map[string][]byte, pinned string) (string, error) {
	dir, err := p.place(name, files)
	if err != nil {
		return "", err
	}
	if done(dir) && !done(fresh(dir)) {
		return dir, nil
	}
	return dir, p.alone(ctx, dir, func(ctx context.Context) error {
		if done(fresh(dir)) { // lathe died before it had taken its place
			if err := takePlace(dir, pinned); err != nil && !done(dir) {
				return err
			}
		}
		if done(dir) {
			return nil
		}
		return p.fill(ctx, dir, name, files, pinned)
	})
}

// alone runs f while no other process changes what is installed in a directory of the cache.
func (p Packages) alone(ctx context.Context, dir string, f func(context.Context) error) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	lock := flock.New(dir + ".lock")
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil || !ok {
		return fmt.Errorf("another lathe has been installing it for a long time: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	return f(ctx)
}

// fill makes a directory with the packages in it, whole, and pins them.
func (p Packages) fill(ctx context.Context, dir, name string, files map[string][]byte, pinned string) error {
	if p.o.Offline {
		return errors.New("it is not installed, and lathe is told to stay offline")
	}
	return whole(dir, func(tmp string) error {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(tmp, name), text, 0o600); err != nil {
				return err
			}
		}
		if err := p.fetch(ctx, tmp, files["package-lock.json"] != nil); err != nil {
			return err
		}
		if name == "base" {
			if err := helper(tmp); err != nil {
				return err
			}
		}
		if pinned == "" {
			return nil
		}
		return pin(tmp, pinned)
	})
}

// place is where the packages of a package.json are, or would be.
func (p Packages) place(name string, files map[string][]byte) (string, error) {
	if p.o.Cache == "" {
		return "", errors.New("there is no directory to install into")
	}
	key := sha256.New()
	key.Write(files["package.json"])
	for _, lock := range lockNames {
		if name == "base" || name == "dir" {
			key.Write(files[lock])
		}
	}
	return filepath.Join(p.o.Cache, "plugins", name+"-"+hex.EncodeToString(key.Sum(nil))[:10]), nil
}

func done(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	return err == nil
}

// helper writes the package that plugins import their helpers from: it is a few lines,
// whereas the real one brings thousands of files.
func helper(dir string) error {
	top := filepath.Join(dir, "node_modules", "@opencode-ai", "plugin")
	if err := os.MkdirAll(top, 0o700); err != nil {
		return err
	}
	index := "import { z } from \"zod\"\nexport const tool = (input) => input\ntool.schema = z\n"
	pkg := `{"name":"@opencode-ai/plugin","type":"module","exports":{".":"./index.js","./tool":"./index.js"}}` + "\n"
	return errors.Join(
		os.WriteFile(filepath.Join(top, "index.js"), []byte(index), 0o600),
		os.WriteFile(filepath.Join(top, "package.json"), []byte(pkg), 0o600),
	)
}

// fetch runs npm, or bun if there is no npm, in a directory with a package.json.
// Pinned means that the lock file says what to install.
func (p Packages) fetch(ctx context.Context, dir string, pinned bool) error {
	args, err := p.installer(pinned)
	if err != nil {
		return err
	}
	var told tail
	svc, err := p.o.Runner.Open(shell.Program{
		Args: args, Dir: dir, Env: p.o.Env, Kind: shell.KindInstall, Stderr: func(b []byte) { told.Write(b) },
		Allow: sandbox.Grant{Within: []string{dir}},
	})
	if err != nil {
		return err
	}
	defer svc.Stdout.Close()
	_ = svc.Stdin.Close()
	go func() { _, _ = io.Copy(io.Discard, svc.Stdout) }() // ends with the program
	timer := time.NewTimer(installLimit)
	defer timer.Stop()
	select {
	case <-svc.Done():
	case <-timer.C:
		svc.Stop(time.Second)
		return fmt.Errorf("%s took longer than %s", args[0], installLimit)
	case <-ctx.Done():
		svc.Stop(time.Second)
		return context.Cause(ctx)
	}
	exit, err := svc.Exit()
	if err != nil {
		return err
	}
	if exit.Code != 0 || !done(dir) {
		return fmt.Errorf("%s could not install it: %s", filepath.Base(args[0]), told.reason())
	}
	return nil
}

func (p Packages) installer(pinned bool) ([]string, error) {
	scripts := []string{"--ignore-scripts"}
	if p.o.Scripts {
		scripts = nil
	}
	if npm := shell.Find(p.o.Env, "npm"); npm != "" {
		verb := "install"
		if pinned {
			verb = "ci"
		}
		return append([]string{npm, verb, "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--no-update-notifier"}, scripts...), nil
	}
	if path, err := Runtime(p.o.Env); err == nil && isBun(path) {
		return append([]string{path, "install", "--no-progress"}, scripts...), nil
	}
	return nil, &missing{"packages are installed by npm or bun, and neither is on PATH"}
}

// tail keeps the end of what an installer printed.
type tail struct{ text []byte }

func (t *tail) Write(b []byte) {
	t.text = append(t.text, b...)
	if n := len(t.text) - 8<<10; n > 0 {
		t.text = t.text[n:]
	}
}

// reason is a short form of what an installer said.
func (t *tail) reason() string {
	var lines []string
	for line := range strings.Lines(string(bytes.ToValidUTF8(t.text, []byte("\uFFFD")))) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "npm error"), "error:"))
		if line != "" && !strings.HasPrefix(line, "A complete log") && !strings.HasPrefix(line, "npm warn") && len(lines) < 3 {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return "it gave no reason"
	}
	return strings.Join(lines, "; ")
}
