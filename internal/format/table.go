package format

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec describes a formatter. Lists are words with blanks between them.
type Spec struct {
	Name  string
	Files string // extensions without the dot
	// Command has $FILE where the file goes. If it is the last word, it may stand for
	// several files.
	Command string
	// Above are names; one of them must exist in the file's directory or above it.
	Above string
	// Dependency is a package that a package.json above must name.
	Dependency string
	// Uses names another rule that decides whether the project uses the
	// formatter; see [Place.uses].
	Uses string
	// Runs means that it executes what the repository brings, such as the plugins that
	// its configuration names.
	Runs bool
	// Unconfined means that the person lets it use the whole machine. A program that the
	// repository brings is confined all the same.
	Unconfined bool

	command []string // instead of Command: a custom formatter's
	env     map[string]string
	custom  bool
}

const web = "js jsx mjs cjs ts tsx mts cts html htm css scss sass less vue svelte json jsonc yaml yml toml xml md mdx graphql gql"

// builtIn is the table of formatters that lathe knows, one row each.
var builtIn = [...]Spec{
	{Name: "gofmt", Files: "go", Command: "gofmt -w $FILE"},
	{Name: "mix", Files: "ex exs eex heex leex neex sface", Command: "mix format $FILE", Above: "mix.exs", Runs: true},
	{Name: "prettier", Files: web, Command: "prettier --write $FILE", Dependency: "prettier", Runs: true},
	{Name: "oxfmt", Files: "js jsx mjs cjs ts tsx mts cts", Command: "oxfmt $FILE", Dependency: "oxfmt", Uses: "oxfmt", Runs: true},
	{Name: "biome", Files: web, Command: "biome check --write $FILE", Above: "biome.json biome.jsonc", Runs: true},
	{Name: "zig", Files: "zig zon", Command: "zig fmt $FILE"},
	{Name: "clang-format", Files: "c cc cpp cxx c++ h hh hpp hxx h++ ino C H", Command: "clang-format -i $FILE", Above: ".clang-format _clang-format"},
	{Name: "ktlint", Files: "kt kts", Command: "ktlint -F $FILE"},
	{Name: "ruff", Files: "py pyi", Command: "ruff format $FILE", Uses: "ruff"},
	{Name: "air", Files: "R", Command: "air format $FILE", Uses: "air"},
	{Name: "uv", Files: "py pyi", Command: "uv format -- $FILE", Uses: "uv"},
	{Name: "rubocop", Files: "rb rake gemspec ru", Command: "rubocop --autocorrect $FILE", Runs: true},
	{Name: "standardrb", Files: "rb rake gemspec ru", Command: "standardrb --fix $FILE", Runs: true},
	{Name: "htmlbeautifier", Files: "erb html.erb", Command: "htmlbeautifier $FILE"},
	{Name: "dart", Files: "dart", Command: "dart format $FILE"},
	{Name: "ocamlformat", Files: "ml mli", Command: "ocamlformat -i $FILE", Above: ".ocamlformat"},
	{Name: "terraform", Files: "tf tfvars", Command: "terraform fmt $FILE"},
	{Name: "latexindent", Files: "tex", Command: "latexindent -w -s $FILE"},
	{Name: "gleam", Files: "gleam", Command: "gleam format $FILE"},
	{Name: "shfmt", Files: "sh bash", Command: "shfmt -w $FILE"},
	{Name: "nixfmt", Files: "nix", Command: "nixfmt $FILE"},
	{Name: "rustfmt", Files: "rs", Command: "rustfmt $FILE"},
	{Name: "pint", Files: "php", Command: "./vendor/bin/pint $FILE", Uses: "pint", Runs: true},
	{Name: "ormolu", Files: "hs", Command: "ormolu -i $FILE"},
	{Name: "cljfmt", Files: "clj cljs cljc edn", Command: "cljfmt fix --quiet $FILE"},
	{Name: "dfmt", Files: "d", Command: "dfmt -i $FILE"},
}

// BuiltIn returns the formatters that lathe knows.
func BuiltIn() []Spec { return slices.Clone(builtIn[:]) }

// Custom returns a formatter of a configuration. Extensions may have a dot.
func Custom(name string, command, extensions []string, env map[string]string) Spec {
	for i, ext := range extensions {
		extensions[i] = strings.TrimPrefix(ext, ".")
	}
	return Spec{Name: name, Files: strings.Join(extensions, " "), command: command, env: env, custom: true}
}

// With returns the formatter with other files and further environment variables, if given.
func (s Spec) With(extensions []string, env map[string]string) Spec {
	if len(extensions) > 0 {
		s.Files = Custom("", nil, slices.Clone(extensions), nil).Files
	}
	if env != nil {
		s.env = env
	}
	return s
}

// Extensions returns the files as OpenCode writes them, with the dot.
func (s *Spec) Extensions() []string {
	out := []string{}
	for f := range strings.FieldsSeq(s.Files) {
		out = append(out, "."+f)
	}
	return out
}

func (s *Spec) words() []string {
	if s.command != nil {
		return s.command
	}
	return strings.Fields(s.Command)
}

// formats reports whether a file, by its name, is one of the formatter's. Case
// matters for extensions that exist in both cases, such as C.
func (s *Spec) formats(name string) bool {
	for f := range strings.FieldsSeq(s.Files) {
		if strings.HasSuffix(name, "."+f) {
			return true
		}
	}
	return false
}

// above calls a function with the directories from a file's own up to the checkout's
// top, until it returns true.
func (p Place) above(path string, f func(dir string) bool) bool {
	for dir := filepath.Dir(path); within(p.Worktree, dir); dir = filepath.Dir(dir) {
		if f(dir) {
			return true
		}
		if dir == p.Worktree {
			break
		}
	}
	return false
}

func within(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// used reports whether the project of a file uses a formatter, as far as its files show.
func (p Place) used(s *Spec, path string) bool {
	if s.Above != "" && !p.above(path, func(dir string) bool { return anyOf(dir, s.Above) }) {
		return false
	}
	if s.Dependency != "" && !p.above(path, func(dir string) bool {
		return dependsOn(filepath.Join(dir, "package.json"), s.Dependency, "dependencies", "devDependencies")
	}) {
		return false
	}
	switch s.Uses {
	case "ruff":
		return p.above(path, usesRuff)
	case "uv":
		return !p.above(path, usesRuff) && p.above(path, func(dir string) bool { return anyOf(dir, "uv.lock uv.toml") })
	case "air":
		return p.above(path, func(dir string) bool { return anyOf(dir, "air.toml .air.toml") })
	case "oxfmt":
		return p.Oxfmt
	case "pint":
		return p.above(path, func(dir string) bool {
			return dependsOn(filepath.Join(dir, "composer.json"), "laravel/pint", "require", "require-dev")
		})
	}
	return true
}

func anyOf(dir, names string) bool {
	for name := range strings.FieldsSeq(names) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// dependsOn reports whether a manifest names a package in one of its lists.
func dependsOn(file, name string, keys ...string) bool {
	data, err := readSmall(file)
	if err != nil {
		return false
	}
	var manifest map[string]json.RawMessage
	if json.Unmarshal(data, &manifest) != nil {
		return false
	}
	for _, key := range keys {
		var list map[string]json.RawMessage
		if json.Unmarshal(manifest[key], &list) == nil && list[name] != nil {
			return true
		}
	}
	return false
}

func usesRuff(dir string) bool {
	if anyOf(dir, "ruff.toml .ruff.toml") {
		return true
	}
	for _, name := range []string{"pyproject.toml", "requirements.txt", "Pipfile"} {
		if data, err := readSmall(filepath.Join(dir, name)); err == nil && strings.Contains(string(data), "ruff") {
			return true
		}
	}
	return false
}

// readSmall reads a manifest.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 4<<20 {
		return nil, os.ErrInvalid
	}
	return os.ReadFile(path)
}
