// Package config finds, merges and checks configuration: files of the person,
// of the repository and of the administrator, the environment, and agents and
// commands written as Markdown. It reads OpenCode's files as well as lathe's.
//
// Every value keeps the place it was written at, for complaints and for lathe
// config. What comes from a repository counts only as far as the repository is
// trusted.
//
// [Load] (load.go) goes through the sources in order. Each becomes a tree of JSON values
// with positions (markdown.go for agents and commands), is brought to one spelling
// (lower.go), filtered if it comes from an untrusted repository (trust.go, repository.go),
// and merged. The merged tree is decoded into a [Config] (finish.go, decode.go, types.go).
// origin.go and unused.go explain the result, redact.go and secretenv.go keep secrets out
// of what is shown, update.go writes changes back, and paths.go and flags.go read the
// environment.
package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/jsonc"
)

// Options say what to load.
type Options struct {
	Dir      string // absolute; where lathe was started
	Worktree string // absolute; root of the checkout, or "/" outside one
	Paths    Paths
	Getenv   func(string) string // nil: an empty environment
	Auth     *auth.Store         // nil: no credentials, hence no organisations
	HTTP     *http.Client        // for organisations; nil: http.DefaultClient
	// Trusted says that the repository's configuration counts in full.
	Trusted bool
	// ManagedDirs are the administrator's directories; nil: the system's.
	ManagedDirs []string
}

// fileNames are read in this order in each directory; later ones win.
var fileNames = []string{"tui.json", "tui.jsonc", "opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc"}

// Load reads all sources and merges them, lowest first: organisations, the
// person's directories, the file that OPENCODE_CONFIG or LATHE_CONFIG names,
// project files from the worktree's root down, config directories, the content
// of OPENCODE_CONFIG_CONTENT or LATHE_CONFIG_CONTENT, the administrator's files.
//
// A broken file of the person is a warning and skipped; any other is an error
// that says where. Load goes online only for organisations that the person has
// logged in to.
func Load(ctx context.Context, o Options) (*Config, error) {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	l := &loader{ctx: ctx, o: o, flags: ReadFlags(o.Getenv), root: jsonc.NewObject(),
		c: &Config{Trusted: o.Trusted, trust: map[*jsonc.Source]Trust{}}}
	l.repo = filter{agents: map[string][]lathe.Rule{}, mine: l.mine}
	for _, step := range []func() error{
		l.organisations, l.global, l.named, l.project, l.directories, l.content, l.managed,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l.finish()
}

type loader struct {
	ctx   context.Context
	o     Options
	flags Flags
	root  *jsonc.Value // merged so far
	c     *Config

	repo filter // what an untrusted repository says about permissions
}

func (l *loader) warn(path, msg string) {
	if path != "" {
		msg = path + ": " + msg
	}
	l.c.Warnings = append(l.c.Warnings, Issue{Msg: msg})
}

// file adds a file if it is there.
func (l *loader) file(path string, trust Trust) error {
	if l.leaves(path, trust) {
		return nil
	}
	text, err := readFile(path, jsonc.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return l.broken(trust, lathe.Errorf(lathe.CodeInvalid, "", "configuration cannot be read: %v", err))
	}
	return l.text(path, text, filepath.Dir(path), trust)
}

// text adds the text of a source; relative files that it names are relative to dir.
func (l *loader) text(name string, text []byte, dir string, trust Trust) error {
	if strings.TrimSpace(string(text)) == "" {
		return nil
	}
	src, err := l.expand(jsonc.NewSource(name, text), dir, trust)
	var root *jsonc.Value
	if err == nil {
		root, err = src.Parse()
	}
	if err == nil && root.Kind != jsonc.Object {
		err = fmt.Errorf("%s: should be an object, is %s", root.Pos(), root.Kind)
	}
	if err != nil {
		return l.broken(trust, &lathe.Error{Code: lathe.CodeInvalid, Msg: err.Error(), Hint: "correct the file"})
	}
	if base := filepath.Base(name); base == "tui.json" || base == "tui.jsonc" {
		root = screenOnly(root)
	}
	return l.add(root, Source{name, trust})
}

// screenOnly turns a tui.json into the older form: theme and keybinds at the
// top, everything else under "tui".
func screenOnly(root *jsonc.Value) *jsonc.Value {
	out, rest := jsonc.NewObject().AtOf(root), jsonc.NewObject().AtOf(root)
	for _, m := range root.Members {
		switch m.Key {
		case "$schema":
		case "theme", "keybinds":
			out.Put(m)
		default:
			rest.Put(m)
		}
	}
	if len(rest.Members) > 0 {
		out.Set("tui", rest)
	}
	return out
}

// add checks a tree, filters it if it comes from an untrusted repository, and
// merges it.
func (l *loader) add(root *jsonc.Value, s Source) error {
	d := &decoder{home: l.o.Paths.Home}
	d.lower(root)
	probe := Config{}
	d.object(root, "", reflect.ValueOf(&probe).Elem())
	if err := d.err(); err != nil {
		return l.broken(s.Trust, err)
	}
	l.c.Warnings = append(l.c.Warnings, d.warnings...)
	l.c.Sources = append(l.c.Sources, s)
	l.c.trust[origin(root)] = s.Trust
	if s.Trust == Repository {
		l.personal(root)
	}
	untrusted := s.Trust == Repository && !l.o.Trusted
	if untrusted {
		l.repo.apply(root)
		if dis := root.Get("disabled_providers"); dis != nil { // may only grow
			if mine := l.root.Get("disabled_providers"); mine != nil && mine.Kind == jsonc.Array && dis.Kind == jsonc.Array {
				joinLists(dis, mine)
			}
		}
	}
	l.plugins(root)
	hookPaths(root)
	l.separate(root, untrusted)
	merge(l.root, root, "")
	return nil
}

func origin(v *jsonc.Value) *jsonc.Source { return v.Source() }

// plugins gives relative plugin paths their directory while it is known.
func (l *loader) plugins(root *jsonc.Value) {
	list := root.Get("plugin")
	if list == nil {
		return
	}
	for _, e := range list.Items {
		spec := e
		if e.Kind == jsonc.Array && len(e.Items) > 0 {
			spec = e.Items[0]
		}
		if strings.HasPrefix(spec.Text, "./") || strings.HasPrefix(spec.Text, "../") {
			if file := spec.Pos().File; filepath.IsAbs(file) {
				spec.Text = "file://" + filepath.ToSlash(filepath.Join(filepath.Dir(file), spec.Text))
			}
		}
	}
}

// hookPaths makes the relative program paths of hooks absolute while it is known
// which file they come from.
func hookPaths(root *jsonc.Value) {
	hooks := root.Get("hooks")
	if hooks == nil {
		return
	}
	for _, m := range hooks.Members {
		for _, e := range m.Value.Items {
			command := e.Get("command")
			if command == nil {
				continue
			}
			for _, word := range command.Items {
				if file := word.Pos().File; filepath.IsAbs(file) && (strings.HasPrefix(word.Text, "./") || strings.HasPrefix(word.Text, "../")) {
					word.Text = filepath.Join(filepath.Dir(file), word.Text)
				}
			}
		}
	}
}

// broken turns the failure of a source into a warning for the person's own
// files, which must not keep lathe from starting.
func (l *loader) broken(trust Trust, err error) error {
	if trust != User {
		return err
	}
	l.warn("", "skipped: "+err.Error())
	return nil
}

// expand replaces {env:NAME} and {file:path}. An untrusted repository gets
// neither: both could carry a secret to wherever the text goes.
func (l *loader) expand(src *jsonc.Source, dir string, trust Trust) (*jsonc.Source, error) {
	return src.Expand([]string{"env", "file"}, func(kind, arg string, at jsonc.Pos) (string, error) {
		if trust == Repository && !l.o.Trusted {
			l.c.LeftOut = append(l.c.LeftOut, LeftOut{"{" + kind + ":" + arg + "}", at, "it could carry a secret out of the environment or a file"})
			return "", nil
		}
		if kind == "env" {
			name := strings.TrimSpace(arg)
			l.c.placeheld = append(l.c.placeheld, name)
			return l.getenv(name), nil
		}
		path := expandHome(arg, l.o.Paths.Home)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := readFile(path, maxMarkdown)
		if err != nil {
			return "", fmt.Errorf("%s: {file:%s}: %w", at, arg, err)
		}
		return strings.TrimSpace(string(text)), nil
	})
}

func (l *loader) getenv(name string) string {
	if v, ok := l.c.Env[name]; ok {
		return v
	}
	return l.o.Getenv(name)
}

// readFile reads a regular file of bounded size. Anything else, such as a pipe
// that would never end, is an error.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, err
}

func (l *loader) global() error {
	p := l.o.Paths
	for _, dir := range []string{p.OpenCodeConfig, p.Config} {
		if dir == "" {
			continue
		}
		for _, name := range append([]string{"config.json"}, fileNames...) {
			if err := l.file(filepath.Join(dir, name), User); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) named() error {
	for _, prefix := range []string{"OPENCODE_TUI_", "LATHE_TUI_", "OPENCODE_", "LATHE_"} {
		path := l.o.Getenv(prefix + "CONFIG")
		if path == "" {
			continue
		}
		if path = expandHome(path, l.o.Paths.Home); !filepath.IsAbs(path) { // Dir may be any request's
			return lathe.Errorf(lathe.CodeInvalid, "write it whole, or with ~/", "%sCONFIG: %q is not an absolute path", prefix, path)
		}
		if _, err := os.Stat(path); err != nil {
			return lathe.Errorf(lathe.CodeInvalid, "unset "+prefix+"CONFIG or correct it", "configuration file %q of %sCONFIG cannot be read", path, prefix)
		}
		if err := l.file(path, Environment); err != nil {
			return err
		}
	}
	return nil
}

// upward lists the directories from the worktree's root down to Dir. Outside a
// worktree it is Dir alone: what lies above, for instance in /tmp, belongs to
// somebody else.
func (l *loader) upward() []string {
	var dirs []string
	if l.o.Dir == "" || l.flags.DisableProjectConfig {
		return nil
	}
	top := filepath.Clean(l.o.Worktree)
	outside := l.o.Worktree == "" || top == filepath.Dir(top)
	for dir := filepath.Clean(l.o.Dir); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == top || outside || dir == filepath.Dir(dir) {
			break
		}
	}
	slices.Reverse(dirs)
	return dirs
}

func (l *loader) project() error {
	for _, dir := range l.upward() {
		for _, name := range fileNames {
			if err := l.file(filepath.Join(dir, name), Repository); err != nil {
				return err
			}
		}
	}
	return nil
}

// directories applies the config directories: the person's, the repository's
// from its root down (the nearest wins), those in the home directory, and the
// ones that the environment names.
func (l *loader) directories() error {
	p := l.o.Paths
	list := []Directory{{p.OpenCodeConfig, User}, {p.Config, User}}
	homes := []string{filepath.Join(p.Home, ".opencode"), filepath.Join(p.Home, ".lathe")}
	for _, dir := range l.upward() {
		for _, name := range []string{".opencode", ".lathe"} {
			if path := filepath.Join(dir, name); !slices.Contains(homes, path) {
				list = append(list, Directory{path, Repository})
			}
		}
	}
	for _, dir := range homes {
		list = append(list, Directory{dir, User})
	}
	for _, prefix := range []string{"OPENCODE_", "LATHE_"} {
		if dir := l.o.Getenv(prefix + "CONFIG_DIR"); dir != "" {
			if dir = expandHome(dir, p.Home); !filepath.IsAbs(dir) {
				return lathe.Errorf(lathe.CodeInvalid, "write it whole, or with ~/", "%sCONFIG_DIR: %q is not an absolute path", prefix, dir)
			}
			list = append(list, Directory{filepath.Clean(dir), Environment})
		}
	}
	for i, dir := range list {
		if dir.Path == "" || slices.ContainsFunc(list[:i], func(d Directory) bool { return d.Path == dir.Path }) {
			continue
		}
		if info, err := os.Stat(dir.Path); err != nil || !info.IsDir() {
			continue
		}
		if l.leaves(dir.Path, dir.Trust) {
			continue
		}
		l.c.Directories = append(l.c.Directories, dir)
		l.noteCode(dir)
		if i >= 2 { // the person's own were read as global files
			for _, name := range fileNames {
				if err := l.file(filepath.Join(dir.Path, name), dir.Trust); err != nil {
					return err
				}
			}
		}
		if err := l.definitions(dir); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) content() error {
	for _, name := range []string{"OPENCODE_CONFIG_CONTENT", "LATHE_CONFIG_CONTENT"} {
		if err := l.text(name, []byte(l.o.Getenv(name)), l.o.Dir, Environment); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) managed() error {
	dirs := l.o.ManagedDirs
	if dirs == nil {
		dirs = managedDirs(l.o.Getenv)
	}
	if dir := l.flags.TestManagedConfigDir; dir != "" {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for _, name := range fileNames {
			if err := l.file(filepath.Join(dir, name), Managed); err != nil {
				return err
			}
		}
	}
	return nil
}

func managedDirs(getenv func(string) string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/Library/Application Support/opencode", "/Library/Application Support/lathe"}
	case "windows":
		base := firstOf(getenv("ProgramData"), `C:\ProgramData`)
		return []string{filepath.Join(base, "opencode"), filepath.Join(base, "lathe")}
	}
	return []string{"/etc/opencode", "/etc/lathe"}
}
