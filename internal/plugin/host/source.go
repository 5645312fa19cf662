package host

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/config"
)

// Source is where a plugin, or a file of tools, comes from.
type Source struct {
	Name    string // unique among those of a directory
	Kind    string // "plugin" or "tool"
	Spec    string // as it is written: a package, or a file
	File    string // path, unless it is a package
	Options map[string]any
	// Repository says that a repository brought it; otherwise it is the person's own.
	Repository bool
	From       string // the file or directory that names it
	Off        bool   // the person switched it off
}

// Package reports whether it is a package from a registry.
func (s Source) Package() bool { return s.File == "" }

// Sources lists the plugins and tools of a configuration: first those that it names,
// then those in the directories that may hold programs.
func Sources(c *config.Config) []Source {
	var out []Source
	for _, p := range c.Plugins {
		if c.Flags.Pure {
			break
		}
		s := Source{Name: packageName(p.Spec), Kind: "plugin", Spec: p.Spec, Options: p.Options, From: p.Pos.File, Repository: c.TrustOf(p.Pos) == config.Repository}
		if file, ok := fileOf(p.Spec); ok {
			s.File, s.Name = file, base(file)
		}
		out = append(out, s)
	}
	for _, d := range c.CodeDirectories() {
		for _, folder := range []string{"plugin", "plugins", "tool", "tools"} {
			kind := strings.TrimSuffix(folder, "s")
			if c.Flags.Pure && kind == "plugin" {
				continue
			}
			for _, file := range scripts(filepath.Join(d.Path, folder)) {
				out = append(out, Source{Name: base(file), Kind: kind, Spec: file, File: file, From: d.Path, Repository: d.Trust == config.Repository})
			}
		}
	}
	distinct(out)
	return out
}

// fileOf returns the file that a spec names, if it names one.
func fileOf(spec string) (string, bool) {
	if rest, ok := strings.CutPrefix(spec, "file://"); ok {
		if path, err := url.PathUnescape(rest); err == nil {
			return filepath.FromSlash(path), true
		}
		return filepath.FromSlash(rest), true
	}
	return spec, filepath.IsAbs(spec)
}

func base(file string) string {
	name := filepath.Base(file)
	if stem := strings.TrimSuffix(name, filepath.Ext(name)); stem != "index" && stem != "" {
		return stem
	}
	return filepath.Base(filepath.Dir(file))
}

// scripts lists the JavaScript and TypeScript files of a directory by name.
func scripts(dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if !e.IsDir() && slices.Contains([]string{".ts", ".js", ".mjs", ".mts"}, ext) && !strings.HasSuffix(e.Name(), ".d.ts") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// packageName is a package's name without its version.
func packageName(spec string) string {
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		return spec[:i]
	}
	return spec
}

// version is what a spec asks for; "latest" if it says nothing.
func version(spec string) string {
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		return cmp.Or(spec[i+1:], "latest")
	}
	return "latest"
}

// distinct makes the names unique, for example of two files with the same name.
func distinct(list []Source) {
	count := map[string]int{}
	for i := range list {
		name := list[i].Name
		if count[name]++; count[name] > 1 {
			list[i].Name = name + " (" + list[i].Spec + ")"
		}
	}
}
