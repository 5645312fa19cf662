package surroundings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"lathe/internal/workspace"
)

// ecosystem is a kind of project: the files at its top that tell it, and the programs
// that work on it. What is wanted may be read from the file that tells it.
type ecosystem struct {
	marks    []string // any of them; may hold wildcards
	programs []string
}

// ecosystems in the order in which they are told.
var ecosystems = []ecosystem{
	{[]string{"go.mod", "go.work"}, []string{"go"}},
	{[]string{"Cargo.toml"}, []string{"cargo", "rustc"}},
	{[]string{"package.json"}, []string{"node"}},
	{[]string{"package-lock.json"}, []string{"npm"}},
	{[]string{"pnpm-lock.yaml"}, []string{"pnpm"}},
	{[]string{"yarn.lock"}, []string{"yarn"}},
	{[]string{"bun.lock", "bun.lockb"}, []string{"bun"}},
	{[]string{"deno.json", "deno.jsonc"}, []string{"deno"}},
	{[]string{"pyproject.toml", "setup.py", "requirements.txt", "Pipfile", "tox.ini"}, []string{"python3"}},
	{[]string{"uv.lock"}, []string{"uv"}},
	{[]string{"poetry.lock"}, []string{"poetry"}},
	{[]string{"pom.xml"}, []string{"java", "mvn"}},
	{[]string{"build.gradle", "build.gradle.kts"}, []string{"java", "gradle"}},
	{[]string{"CMakeLists.txt"}, []string{"cmake", "cc"}},
	{[]string{"meson.build"}, []string{"meson", "cc"}},
	{[]string{"Makefile", "makefile", "GNUmakefile"}, []string{"make"}},
	{[]string{"justfile", "Justfile"}, []string{"just"}},
	{[]string{"Gemfile"}, []string{"ruby", "bundle"}},
	{[]string{"composer.json"}, []string{"php", "composer"}},
	{[]string{"*.csproj", "*.sln", "*.fsproj"}, []string{"dotnet"}},
	{[]string{"mix.exs"}, []string{"elixir", "mix"}},
	{[]string{"Package.swift"}, []string{"swift"}},
	{[]string{"build.zig"}, []string{"zig"}},
	{[]string{"Dockerfile", "compose.yaml", "docker-compose.yml"}, []string{"docker"}},
}

// Toolchains tells, for what the files at the top of a project need, which programs
// are on the search path and in which version, as far as files tell it: "go 1.26.8
// (go.mod asks for 1.26.0), make, cargo: not found". It is empty where nothing is needed.
func Toolchains(dir, path string) string {
	var told []string
	seen := map[string]bool{}
	for _, e := range ecosystems {
		if !marked(dir, e.marks) {
			continue
		}
		for _, name := range e.programs {
			if !seen[name] {
				seen[name] = true
				told = append(told, describe(dir, path, name))
			}
		}
	}
	return strings.Join(told, ", ")
}

func marked(dir string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(m, "*") {
			if found, _ := filepath.Glob(filepath.Join(escape(dir), m)); len(found) > 0 {
				return true
			}
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, m)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// escape keeps what a directory's name holds from being taken for a wildcard.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

func describe(dir, path, name string) string {
	program := find(path, name)
	if program == "" {
		return name + ": not found"
	}
	out := name
	if v := version(name, program); v != "" {
		out += " " + v
	}
	if want := wanted(dir, name); want != "" {
		out += " (" + want + ")"
	}
	return out
}

// find looks for a program on an absolute search path and returns where it really lies.
func find(path, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // the project's own
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			return real
		}
		return file
	}
	return ""
}

// patterns are compiled when a session asks, not at each start.
var patterns = sync.OnceValue(func() (p struct{ dotted, suffix, nodeHeader, javaLine *regexp.Regexp }) {
	p.dotted = regexp.MustCompile(`\d+(\.\d+)+`)
	p.suffix = regexp.MustCompile(`[a-z]-?(\d+(?:\.\d+)*)$`)
	p.nodeHeader = regexp.MustCompile(`(?m)^#define NODE_(?:MAJOR|MINOR|PATCH)_VERSION (\d+)`)
	p.javaLine = regexp.MustCompile(`(?m)^JAVA_VERSION="([^"]+)"`)
	return p
})

// version reads the version of a program from the files that come with it.
func version(name, program string) string {
	home := filepath.Dir(filepath.Dir(program))
	switch name {
	case "go":
		return patterns().dotted.FindString(read(filepath.Join(home, "VERSION")))
	case "node":
		var parts []string
		for _, m := range patterns().nodeHeader.FindAllStringSubmatch(read(filepath.Join(home, "include", "node", "node_version.h")), 3) {
			parts = append(parts, m[1])
		}
		return strings.Join(parts, ".")
	case "npm", "pnpm", "yarn":
		return packageVersion(filepath.Join(home, "package.json"))
	case "java":
		if m := patterns().javaLine.FindStringSubmatch(read(filepath.Join(home, "release"))); m != nil {
			return m[1]
		}
	case "cargo", "rustc":
		return patterns().dotted.FindString(filepath.Base(home)) // a toolchain of rustup
	}
	// Distributions name the file by its version: python3.13, gcc-14.
	if m := patterns().suffix.FindStringSubmatch(filepath.Base(program)); m != nil && filepath.Base(program) != name {
		return m[1]
	}
	return ""
}

func packageVersion(file string) string {
	var p struct {
		Version string `json:"version"`
	}
	if json.Unmarshal([]byte(read(file)), &p) != nil || len(p.Version) > 40 {
		return ""
	}
	return patterns().dotted.FindString(p.Version)
}

// wish is where a project says which version of a program it wants.
type wish struct {
	file string
	line *regexp.Regexp
}

var wishes = sync.OnceValue(func() map[string][]wish {
	goLine := regexp.MustCompile(`(?m)^go (\d[\d.a-z]{0,20})\s*$`)
	name := regexp.MustCompile(`^([\w.-]{1,30})\s*$`)
	return map[string][]wish{
		"go":      {{"go.mod", goLine}, {"go.work", goLine}},
		"rustc":   {{"rust-toolchain.toml", regexp.MustCompile(`channel\s*=\s*"([\w.-]{1,30})"`)}, {"rust-toolchain", name}},
		"node":    {{".nvmrc", regexp.MustCompile(`^(v?[\w.*/-]{1,30})\s*$`)}, {".node-version", regexp.MustCompile(`^(v?[\d.]{1,20})\s*$`)}},
		"python3": {{".python-version", name}, {"pyproject.toml", regexp.MustCompile(`(?m)^requires-python\s*=\s*"([^"\n]{1,30})"`)}},
		"ruby":    {{".ruby-version", name}},
	}
})

func wanted(dir, name string) string {
	for _, w := range wishes()[name] {
		if m := w.line.FindStringSubmatch(read(filepath.Join(dir, w.file))); m != nil {
			return w.file + " asks for " + m[1]
		}
	}
	return ""
}

func read(file string) string {
	data, err := workspace.ReadFile(file, maxFile)
	if err != nil {
		return ""
	}
	return string(data)
}
