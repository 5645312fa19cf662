package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
)

// Env returns a child's environment: base without the variables named in drop,
// and extra on top. A name in drop that ends in "*" drops all names that begin
// so. A name in both is set.
func Env(base []string, extra map[string]string, drop ...string) []string {
	out := make([]string, 0, len(base)+len(extra))
	for _, kv := range base {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || Named(name, drop) {
			continue
		}
		if _, ok := extra[name]; !ok {
			out = append(out, kv)
		}
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		out = append(out, name+"="+extra[name])
	}
	return out
}

// Named reports whether a list holds a variable's name, or its beginning and "*".
func Named(name string, list []string) bool {
	return slices.ContainsFunc(list, func(d string) bool {
		prefix, wild := strings.CutSuffix(d, "*")
		return d == name || wild && strings.HasPrefix(name, prefix)
	})
}

// Choose returns the shell for an environment: $SHELL unless that is fish or nu,
// which speak another language, or the stand-in that service accounts have; else
// bash; else sh. On macOS zsh goes before bash; on Windows it is Git's bash if there
// is one, else the command processor.
func Choose(env []string) string {
	get := func(name string) string { return lookup(env, name) }
	if runtime.GOOS == "windows" {
		return chooseWindows(get)
	}
	sh := get("SHELL")
	switch filepath.Base(sh) {
	case "fish", "nu", "false", "true", "nologin", ".":
	default:
		if isProgram(sh) {
			return sh
		}
	}
	if runtime.GOOS == "darwin" && isProgram("/bin/zsh") {
		return "/bin/zsh"
	}
	if bash := onPath(get("PATH"), "bash"); bash != "" {
		return bash
	}
	return "/bin/sh"
}

func chooseWindows(get func(string) string) string {
	if bash := get("OPENCODE_GIT_BASH_PATH"); bash != "" {
		return bash
	}
	if git := onPath(get("PATH"), "git.exe"); git != "" {
		bash := filepath.Join(filepath.Dir(git), "..", "bin", "bash.exe")
		if isProgram(bash) {
			return bash
		}
	}
	if cmd := get("COMSPEC"); cmd != "" {
		return cmd
	}
	return "cmd.exe"
}

// shellArgs is the argument list that makes a shell run a script.
func shellArgs(sh, script string) []string {
	if strings.EqualFold(filepath.Base(sh), "cmd.exe") {
		return []string{sh, "/c", script}
	}
	return []string{sh, "-c", script}
}

// Getenv returns the value of a variable in an environment, "" if it is not there.
func Getenv(env []string, name string) string { return lookup(env, name) }

func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

func onPath(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(file) {
			return file
		}
	}
	return ""
}

func isProgram(file string) bool {
	if !filepath.IsAbs(file) {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// Lookup returns a variable of an environment; the last one counts.
func Lookup(env []string, name string) string { return lookup(env, name) }

// Find returns the path of a program in the PATH of an environment, or "".
func Find(env []string, name string) string {
	for _, ext := range extensions(env) {
		if path := onPath(lookup(env, "PATH"), name+ext); path != "" {
			return path
		}
	}
	return ""
}
