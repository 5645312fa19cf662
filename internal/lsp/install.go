package lsp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ownDirs are where the programs are that lathe installed below a directory.
func ownDirs(own string) []string {
	return []string{
		filepath.Join(own, "npm", "node_modules", ".bin"), filepath.Join(own, "go", "bin"),
		filepath.Join(own, "pip", "bin"), filepath.Join(own, "gem", "bin"), filepath.Join(own, "dotnet"),
	}
}

// Step is a command that installs a server, or a part of it.
type Step struct {
	Args []string
	Env  []string // added to the environment
	Dir  string   // created first if it does not exist; may be empty
	Root bool     // it needs the rights of the system's administrator
}

// String returns the step as a person would type it.
func (s Step) String() string {
	words := slices.Concat(s.Env, s.Args)
	if s.Root {
		words = append([]string{"sudo"}, words...)
	}
	for i, w := range words {
		if strings.ContainsAny(w, " \t'\"$&;()<>|*?") || w == "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Installation says how a server is installed below a directory. An error says what the
// person has to do instead.
func (s *Spec) Installation(own string, find func(name string) string) ([]Step, error) {
	manager, what, _ := strings.Cut(s.Install, " ")
	words := strings.Fields(what)
	need := func(program string, args ...string) ([]Step, error) {
		path := find(program)
		if path == "" {
			return nil, fmt.Errorf("%s is installed with %s, which was not found; install %s first", s.ID, program, program)
		}
		return []Step{{Args: append([]string{path}, args...)}}, nil
	}
	switch manager {
	case "npm":
		dir := filepath.Join(own, "npm")
		steps, err := need("npm", slices.Concat([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--no-save"}, words)...)
		return in(dir, nil, steps), err
	case "go":
		dir := filepath.Join(own, "go", "bin")
		steps, err := need("go", slices.Concat([]string{"install"}, words)...)
		return in(dir, []string{"GOBIN=" + dir}, steps), err
	case "pip":
		dir := filepath.Join(own, "pip")
		steps, err := need("python3", "-m", "venv", dir)
		if err != nil {
			return nil, err
		}
		pip := Step{Args: slices.Concat([]string{filepath.Join(dir, "bin", "pip"), "install"}, words)}
		return append(steps, pip), nil
	case "gem":
		dir := filepath.Join(own, "gem")
		steps, err := need("gem", slices.Concat([]string{"install", "--install-dir", dir, "--bindir", filepath.Join(dir, "bin")}, words)...)
		return in(dir, nil, steps), err
	case "dotnet":
		steps, err := need("dotnet", slices.Concat([]string{"tool", "install", "--tool-path", filepath.Join(own, "dotnet")}, words)...)
		return steps, err
	case "system":
		return s.systemStep(words[0], find)
	}
	return nil, fmt.Errorf("lathe cannot install %s: install %s, so that %q is on PATH", s.ID, strings.TrimPrefix(what, "hand "), s.Program())
}

func in(dir string, env []string, steps []Step) []Step {
	for i := range steps {
		steps[i].Dir, steps[i].Env = dir, env
	}
	return steps
}

// systemStep installs with the package manager of the system.
func (s *Spec) systemStep(name string, find func(string) string) ([]Step, error) {
	for _, m := range []struct {
		program string
		args    []string
		root    bool
	}{
		{"brew", []string{"install"}, false},
		{"apt-get", []string{"install", "--yes"}, true},
		{"dnf", []string{"install", "--assumeyes"}, true},
		{"pacman", []string{"-S", "--noconfirm", "--needed"}, true},
		{"apk", []string{"add"}, true},
		{"zypper", []string{"--non-interactive", "install"}, true},
		{"winget", []string{"install"}, false},
	} {
		if path := find(m.program); path != "" {
			return []Step{{Args: slices.Concat([]string{path}, m.args, []string{packageName(m.program, name)}), Root: m.root && os.Geteuid() > 0}}, nil
		}
	}
	return nil, fmt.Errorf("no package manager was found to install %s with; install it so that %q is on PATH", s.ID, s.Program())
}

// packageName is what a package manager calls a program, if not by its name.
func packageName(manager, name string) string {
	names := map[string]string{
		"brew clangd": "llvm", "dnf clangd": "clang-tools-extra", "pacman clangd": "clang", "apk clangd": "clang-extra-tools", "zypper clangd": "clang-tools",
		"winget clangd": "LLVM.LLVM", "apt-get rust-analyzer": "rust-analyzer", "winget zls": "zigtools.zls",
	}
	return cmp.Or(names[manager+" "+name], name)
}

// RunStep carries out a step, with its output going to out. The end of ctx ends it.
func RunStep(ctx context.Context, s Step, env []string, out io.Writer) error {
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return err
		}
	}
	args := s.Args
	if s.Root {
		args = append([]string{"sudo"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Stdin = slices.Concat(env, s.Env), out, out, os.Stdin
	if runtime.GOOS != "windows" {
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s: %w", s, err)
	}
	return nil
}

// Where returns the path of the program of a server, or "" if there is none.
func (p Place) Where(s *Spec) string {
	prog, ok := p.find(s, p.Dir)
	if !ok {
		return ""
	}
	return prog.args[0]
}

// Lookup returns the path of a program on PATH or where lathe installs, or "".
func (p Place) Lookup(name string) string {
	path, _ := p.lookup(p.Dir, name)
	return path
}
