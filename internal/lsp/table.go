package lsp

import (
	"slices"
	"strings"
)

// Spec describes a language server. Lists are words with blanks between them, so that
// the table costs nothing until it is used.
type Spec struct {
	ID string
	// Files are extensions without the dot, or whole names of files.
	Files string
	// Markers are names and patterns of files in a root. The root is the nearest
	// directory with one, from the file's own upwards. Several groups, separated by "|",
	// are tried one after the other.
	Markers string
	// Unless are names of files that, in the file's directory or above, mean that the server does not serve it.
	Unless string
	// Required means that there is no root without a marker; otherwise it is the
	// directory of the instance.
	Required bool
	// Commands are command lines, separated by "|"; the first whose program is
	// found is run.
	Commands string
	// Needs is a package that must be in the project's node_modules.
	Needs string
	// Init are the initialisation options, as JSON. {python} is the project's
	// interpreter, {typescript} the directory of its typescript's library.
	Init string
	// Runs means that the server executes what a repository brings: build scripts,
	// macros, plugins, an interpreter, packages of node_modules. It is not started in an
	// untrusted repository.
	Runs bool
	// Sync names a way to ask for diagnostics that the server has in addition to the
	// protocol's: "tsserver" for commands that are handed to TypeScript's own server.
	Sync string
	// Install says how to install the program: a package manager (npm, go, pip, gem,
	// dotnet, cargo, system, or "by hand") and the package.
	Install string

	command []string          // replaces Commands for a custom server, word by word
	env     map[string]string // added to the environment
	initial map[string]any    // instead of Init
	config  bool              // the configuration names it

	unconfined bool // the person lets it use the whole machine
}

const (
	lockFiles  = "package-lock.json bun.lockb bun.lock pnpm-lock.yaml yarn.lock"
	pythonRoot = "pyproject.toml setup.py setup.cfg requirements.txt Pipfile pyrightconfig.json"
	scripts    = "ts tsx js jsx mjs cjs mts cts"
	denoFiles  = "deno.json deno.jsonc"
)

// builtIn is the table of servers that lathe knows, one row each.
var builtIn = [...]Spec{
	{ID: "deno", Files: "ts tsx js jsx mjs", Markers: denoFiles, Required: true, Commands: "deno lsp", Init: `{"enable":true}`, Install: "by hand deno"},
	{ID: "typescript", Files: scripts, Markers: lockFiles, Unless: denoFiles, Commands: "typescript-language-server --stdio", Needs: "typescript",
		Init: `{"tsserver":{"path":"{typescript}/tsserver.js"}}`, Runs: true, Sync: "tsserver", Install: "npm typescript-language-server typescript@5"},
	{ID: "vue", Files: "vue", Markers: lockFiles, Commands: "vue-language-server --stdio", Init: `{"typescript":{"tsdk":"{typescript}"}}`, Runs: true, Install: "npm @vue/language-server"},
	{ID: "eslint", Files: scripts + " vue", Markers: lockFiles, Commands: "vscode-eslint-language-server --stdio", Needs: "eslint", Runs: true, Install: "npm vscode-langservers-extracted"},
	{ID: "oxlint", Files: scripts + " vue astro svelte", Markers: ".oxlintrc.json " + lockFiles + " package.json", Required: true, Commands: "oxlint --lsp|oxc_language_server", Needs: "oxlint", Runs: true, Install: "npm oxlint"},
	{ID: "biome", Files: scripts + " json jsonc vue astro svelte css graphql gql html", Markers: "biome.json biome.jsonc", Required: true, Commands: "biome lsp-proxy --stdio", Runs: true, Install: "npm @biomejs/biome"},
	{ID: "gopls", Files: "go", Markers: "go.work|go.mod go.sum", Commands: "gopls", Init: `{"pullDiagnostics":true}`, Install: "go golang.org/x/tools/gopls@latest"},
	{ID: "ruby-lsp", Files: "rb rake gemspec ru", Markers: "Gemfile", Commands: "rubocop --lsp|ruby-lsp", Runs: true, Install: "gem rubocop"},
	{ID: "ty", Files: "py pyi", Markers: "ty.toml " + pythonRoot, Commands: "ty server", Init: `{"settings":{"python":{"pythonPath":"{python}"}}}`, Runs: true, Install: "pip ty"},
	{ID: "pyright", Files: "py pyi", Markers: pythonRoot, Commands: "pyright-langserver --stdio|basedpyright-langserver --stdio", Init: `{"pythonPath":"{python}","python":{"pythonPath":"{python}"}}`, Runs: true, Install: "npm pyright"},
	{ID: "elixir-ls", Files: "ex exs", Markers: "mix.exs mix.lock", Commands: "elixir-ls|language_server.sh", Runs: true, Install: "by hand elixir-ls"},
	{ID: "zls", Files: "zig zon", Markers: "build.zig", Commands: "zls", Runs: true, Install: "system zls"},
	{ID: "csharp", Files: "cs", Markers: "*.sln *.csproj global.json", Commands: "csharp-ls", Runs: true, Install: "dotnet csharp-ls"},
	{ID: "razor", Files: "cshtml razor", Markers: "*.slnx *.sln *.csproj global.json", Commands: "roslyn-language-server --stdio", Runs: true, Install: "by hand the Roslyn language server with its Razor extension"},
	{ID: "fsharp", Files: "fs fsi fsx fsscript", Markers: "*.sln *.fsproj global.json", Commands: "fsautocomplete", Runs: true, Install: "dotnet fsautocomplete"},
	{ID: "sourcekit-lsp", Files: "swift objc objcpp", Markers: "Package.swift *.xcodeproj *.xcworkspace", Commands: "sourcekit-lsp|xcrun sourcekit-lsp", Runs: true, Install: "by hand Swift's toolchain, which has sourcekit-lsp"},
	{ID: "rust", Files: "rs", Markers: "Cargo.toml Cargo.lock", Commands: "rust-analyzer", Runs: true, Install: "system rust-analyzer"},
	{ID: "clangd", Files: "c cpp cc cxx c++ h hpp hh hxx h++", Markers: "compile_commands.json compile_flags.txt .clangd|CMakeLists.txt Makefile", Commands: "clangd --background-index --clang-tidy", Install: "system clangd"},
	{ID: "svelte", Files: "svelte", Markers: lockFiles, Commands: "svelteserver --stdio", Runs: true, Install: "npm svelte-language-server"},
	{ID: "astro", Files: "astro", Markers: lockFiles, Commands: "astro-ls --stdio", Needs: "typescript", Init: `{"typescript":{"tsdk":"{typescript}"}}`, Runs: true, Install: "npm @astrojs/language-server"},
	{ID: "jdtls", Files: "java", Markers: "settings.gradle settings.gradle.kts|pom.xml build.gradle build.gradle.kts .project .classpath", Required: true, Commands: "jdtls", Runs: true, Install: "by hand jdtls, with Java 21"},
	{ID: "kotlin-ls", Files: "kt kts", Markers: "settings.gradle settings.gradle.kts|gradlew|build.gradle build.gradle.kts pom.xml", Commands: "kotlin-lsp --stdio|kotlin-language-server", Runs: true, Install: "by hand kotlin-lsp"},
	{ID: "yaml-ls", Files: "yaml yml", Markers: lockFiles, Commands: "yaml-language-server --stdio", Install: "npm yaml-language-server"},
	{ID: "lua-ls", Files: "lua", Markers: ".luarc.json .luarc.jsonc .luacheckrc .stylua.toml stylua.toml selene.toml selene.yml", Commands: "lua-language-server", Runs: true, Install: "system lua-language-server"},
	{ID: "php intelephense", Files: "php", Markers: "composer.json composer.lock .php-version", Commands: "intelephense --stdio", Init: `{"telemetry":{"enabled":false}}`, Install: "npm intelephense"},
	{ID: "prisma", Files: "prisma", Markers: "schema.prisma prisma/schema.prisma prisma", Unless: "package.json", Commands: "prisma-language-server --stdio|prisma language-server", Runs: true, Install: "npm @prisma/language-server"},
	{ID: "dart", Files: "dart", Markers: "pubspec.yaml analysis_options.yaml", Commands: "dart language-server --lsp", Runs: true, Install: "by hand Dart's SDK"},
	{ID: "ocaml-lsp", Files: "ml mli", Markers: "dune-project dune-workspace .merlin opam", Commands: "ocamllsp", Runs: true, Install: "by hand ocaml-lsp-server (opam)"},
	{ID: "bash", Files: "sh bash zsh ksh", Commands: "bash-language-server start", Install: "npm bash-language-server"},
	{ID: "terraform", Files: "tf tfvars", Markers: ".terraform.lock.hcl terraform.tfstate *.tf", Commands: "terraform-ls serve",
		Init: `{"experimentalFeatures":{"prefillRequiredFields":true,"validateOnSave":true}}`, Runs: true, Install: "by hand terraform-ls"},
	{ID: "texlab", Files: "tex bib", Markers: ".latexmkrc latexmkrc .texlabroot texlabroot", Commands: "texlab", Runs: true, Install: "system texlab"},
	{ID: "dockerfile", Files: "dockerfile Dockerfile", Commands: "docker-langserver --stdio", Install: "npm dockerfile-language-server-nodejs"},
	{ID: "gleam", Files: "gleam", Markers: "gleam.toml", Commands: "gleam lsp", Runs: true, Install: "system gleam"},
	{ID: "clojure-lsp", Files: "clj cljs cljc edn", Markers: "deps.edn project.clj shadow-cljs.edn bb.edn build.boot", Commands: "clojure-lsp listen", Runs: true, Install: "by hand clojure-lsp"},
	{ID: "nixd", Files: "nix", Markers: "flake.nix|.git", Commands: "nixd", Runs: true, Install: "system nixd"},
	{ID: "tinymist", Files: "typ typc", Markers: "typst.toml", Commands: "tinymist", Install: "system tinymist"},
	{ID: "haskell-language-server", Files: "hs lhs", Markers: "stack.yaml cabal.project hie.yaml *.cabal", Commands: "haskell-language-server-wrapper --lsp", Runs: true, Install: "by hand haskell-language-server (ghcup)"},
	{ID: "julials", Files: "jl", Markers: "Project.toml Manifest.toml *.jl", Commands: "julia --startup-file=no --history-file=no -e using~LanguageServer;runserver()", Runs: true, Install: "by hand Julia's LanguageServer package"},
}

// BuiltIn returns the servers that lathe knows.
func BuiltIn() []Spec { return slices.Clone(builtIn[:]) }

// serves reports whether a file, by its name, is one of the server's.
func (s *Spec) serves(name string) bool {
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		ext = strings.ToLower(name[i+1:])
	}
	for f := range strings.FieldsSeq(s.Files) {
		if ext != "" && strings.EqualFold(f, ext) || f == name {
			return true
		}
	}
	return false
}

// Extensions returns the files as OpenCode writes them: extensions with the dot.
func (s *Spec) Extensions() []string {
	out := []string{}
	for f := range strings.FieldsSeq(s.Files) {
		if f != "Dockerfile" {
			f = "." + f
		}
		out = append(out, f)
	}
	return out
}

// commandLines are those to try, in order.
func (s *Spec) commandLines() [][]string {
	if s.command != nil {
		return [][]string{s.command}
	}
	var out [][]string
	for line := range strings.SplitSeq(s.Commands, "|") {
		words := strings.Fields(line)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "~", " ")
		}
		out = append(out, words)
	}
	return out
}

// Program is the name of the server's program.
func (s *Spec) Program() string { return s.commandLines()[0][0] }

// languages are the identifiers of languages by extension, where they are not the
// extension itself.
const languages = `abap bat=bat bib=bibtex bibtex clj=clojure cljs=clojure cljc=clojure edn=clojure coffee=coffeescript c cpp cc=cpp cxx=cpp c++=cpp h=c hpp=cpp hh=cpp hxx=cpp h++=cpp ` +
	`cs=csharp css d pas=pascal pascal diff patch=diff dart dockerfile ex=elixir exs=elixir erl=erlang hrl=erlang fs=fsharp fsi=fsharp fsx=fsharp fsscript=fsharp ` +
	`go groovy gleam hbs=handlebars handlebars hs=haskell lhs=haskell html htm=html ini java jl=julia js=javascript jsx=javascriptreact mjs=javascript cjs=javascript ` +
	`json jsonc tex=latex latex less lua makefile md=markdown markdown m=objective-c mm=objective-cpp pl=perl pm=perl pm6=perl6 php ps1=powershell psm1=powershell pug jade=pug ` +
	`py=python pyi=python r rb=ruby rake=ruby gemspec=ruby ru=ruby erb=erb cshtml=razor razor rs=rust scss sass scala shader=shaderlab sh=shellscript bash=shellscript zsh=shellscript ksh=shellscript ` +
	`sql svelte swift ts=typescript tsx=typescriptreact mts=typescript cts=typescript mtsx=typescriptreact ctsx=typescriptreact ets=typescript xml xsl yaml yml=yaml vue ` +
	`zig zon=zig astro ml=ocaml mli=ocaml.interface tf=terraform tfvars=terraform-vars hcl typ=typst typc=typst nix kt=kotlin kts=kotlin prisma graphql gql=graphql ` +
	`toml=toml csv=csv rst=restructuredtext proto=proto objc=objective-c objcpp=objective-cpp`

// languageID returns what the protocol calls the language of a file.
func languageID(name string) string {
	switch strings.ToLower(name) {
	case "dockerfile":
		return "dockerfile"
	case "makefile", "gnumakefile":
		return "makefile"
	}
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "plaintext"
	}
	ext := strings.ToLower(name[i+1:])
	for word := range strings.FieldsSeq(languages) {
		if from, to, ok := strings.Cut(word, "="); ok && from == ext {
			return to
		} else if !ok && word == ext {
			return word
		}
	}
	return "plaintext"
}
