package builtin

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/workspace"
)

// protected says why a file needs an explicit permission even where edits are
// allowed, or "": it decides what lathe, git or another program will do later
// without asking. Build files do not count: they are the project's own program,
// which runs when somebody runs it.
func (e Places) protected(path string) string {
	for _, dir := range []string{e.Root.GitDir, e.Root.CommonDir} {
		if dir != "" && within(dir, path) {
			return "it is one of git's own files"
		}
	}
	elements := strings.Split(filepath.ToSlash(path), "/")
	for i, name := range elements {
		switch strings.ToLower(name) {
		case ".git":
			return "it is one of git's own files"
		case ".opencode", ".lathe":
			rest := elements[i+1:]
			if len(rest) == 2 && rest[0] == "plans" && strings.HasSuffix(rest[1], ".md") {
				return ""
			}
			return "it configures lathe"
		}
	}
	switch strings.ToLower(elements[len(elements)-1]) {
	case "opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc":
		return "it configures lathe"
	}
	if hooks := e.hooksPath(); hooks != "" && within(hooks, path) {
		return "git runs it as a hook (core.hooksPath)"
	}
	return steered(e.below(path))
}

// below returns the elements of a path within the workspace, in lower case; of one
// outside it all elements.
func (e Places) below(path string) []string {
	for _, top := range []string{e.Root.TopLevel, e.Root.Dir} {
		if top != "/" && within(top, path) {
			path = path[len(top):]
			break
		}
	}
	return strings.Split(strings.Trim(strings.ToLower(filepath.ToSlash(path)), "/"), "/")
}

// steering are files by which another program decides what it runs.
type steering struct {
	reason string
	// names are in lower case and match in any directory. One that ends in a slash
	// is a directory and stands for everything in it.
	names []string
}

func steers(reason string, names ...string) steering { return steering{reason, names} }

// steerings lists what is known about other programs.
func steerings() []steering {
	return []steering{
		steers("git runs it as a hook", ".husky/", ".githooks/", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml",
			".lefthook.yml", ".lefthook.yaml", "lefthook.toml", "lefthook.json"),
		steers("the shell runs it when somebody enters the directory", ".envrc", ".mise.toml", "mise.toml", ".mise/", ".config/mise/"),
		steers("editors run what it says", ".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".vscode/mcp.json", "*.code-workspace",
			".zed/tasks.json", ".zed/settings.json", ".zed/debug.json", ".idea/runconfigurations/", ".run/", ".idea/watchertasks.xml", ".idea/workspace.xml",
			".devcontainer/", ".devcontainer.json", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".dir-locals.el"),
		steers("the service that builds the project runs what it says", ".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci/",
			".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", ".drone.yml", ".buildkite/", ".woodpecker/", ".woodpecker.yml"),
		steers("other agents run what it says", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/", ".claude/commands/",
			".claude/agents/", ".claude/plugins/", ".cursor/mcp.json", ".cursor/hooks.json", ".cursor/hooks/", ".cursor/environment.json", ".cursor/cli.json",
			".codex/", ".gemini/settings.json", ".gemini/extensions/", ".gemini/commands/", ".qwen/settings.json", ".windsurf/hooks.json", ".windsurf/mcp_config.json",
			".continue/config.yaml", ".continue/config.json", ".continue/mcpservers/", ".roo/mcp.json", ".kiro/settings/", ".kiro/hooks/", ".amazonq/mcp.json",
			".amazonq/cli-agents/", ".aider.conf.yml", "crush.json", ".crush.json"),
	}
}

// steered says which other program a file of the workspace steers, or "".
func steered(elements []string) string {
	for _, s := range steerings() {
		for _, name := range s.names {
			if names(name, elements) {
				return s.reason
			}
		}
	}
	return ""
}

// steeredWithin is steered for a tree that replaces a directory: it says which
// program files in it could steer.
func steeredWithin(elements []string) string {
	last := elements[len(elements)-1]
	for _, s := range steerings() {
		for _, name := range s.names {
			if dir, below, ok := strings.Cut(name, "/"); ok && below != "" && dir == last {
				return s.reason
			}
		}
	}
	return ""
}

// names reports whether an entry of the list means the file.
func names(entry string, elements []string) bool {
	dir := strings.HasSuffix(entry, "/")
	want := strings.Split(strings.TrimSuffix(entry, "/"), "/")
	for at := range elements {
		rest := elements[at:]
		if len(rest) < len(want) || !dir && len(rest) != len(want) {
			continue
		}
		match := true
		for i, w := range want {
			ok, _ := path.Match(w, rest[i])
			match = match && ok
		}
		if match {
			return true
		}
	}
	return false
}

// maxGitConfig bounds what is read of a repository's configuration.
const maxGitConfig = 1 << 20

// hooksPath returns the directory of the checkout from which git takes its hooks,
// when the repository's configuration names one.
func (e Places) hooksPath() string {
	if e.Root.CommonDir == "" {
		return ""
	}
	dir := ""
	for _, file := range []string{filepath.Join(e.Root.CommonDir, "config"), filepath.Join(e.Root.GitDir, "config.worktree")} {
		text, err := workspace.ReadFile(file, maxGitConfig)
		if err != nil {
			continue
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if head, rest, ok := strings.Cut(strings.TrimPrefix(line, "["), "]"); ok && strings.HasPrefix(line, "[") {
				section, line = strings.ToLower(strings.TrimSpace(head)), strings.TrimSpace(rest)
			}
			key, value, ok := strings.Cut(line, "=")
			if ok && section == "core" && strings.EqualFold(strings.TrimSpace(key), "hooksPath") {
				dir = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
	}
	switch rest, home := strings.CutPrefix(dir, "~/"); {
	case dir == "":
		return ""
	case home:
		dir = filepath.Join(e.Home, rest)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(e.Root.TopLevel, dir)
	}
	real, err := workspace.Resolve(dir)
	if err != nil || real == e.Root.TopLevel || real == os.DevNull {
		return "" // otherwise the whole checkout would need an ask
	}
	return real
}

// Protected lists what is there of the files that need an explicit permission: git's
// configuration and hooks, lathe's configuration, and what steers other programs at
// the top of the workspace, in dirs. The order is not defined.
func Protected(root workspace.Root, home string, dirs []string) []string {
	e := Places{Root: root, Home: home}
	list := gitFiles(root)
	if hooks := e.hooksPath(); hooks != "" && root.Contains(hooks) {
		list = append(list, hooks)
	}
	for _, dir := range dirs {
		list = append(list, steeringIn(dir)...)
	}
	return slices.DeleteFunc(list, func(path string) bool { return !exists(path) })
}

// gitFiles lists what git executes, or may execute by its configuration.
func gitFiles(root workspace.Root) (list []string) {
	if root.GitDir == "" {
		git := filepath.Join(root.Dir, ".git") // a command may make one
		return []string{filepath.Join(git, "config"), filepath.Join(git, "hooks")}
	}
	for _, dir := range append([]string{root.CommonDir, root.GitDir}, modules(root.CommonDir)...) {
		list = append(list, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"), filepath.Join(dir, "hooks"))
	}
	list = append(list, filepath.Join(root.GitDir, "commondir"), filepath.Join(root.GitDir, "gitdir"))
	if link := filepath.Join(root.TopLevel, ".git"); link != root.GitDir {
		list = append(list, link)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// maxModules bounds how many submodules are looked at.
const maxModules = 200

// modules lists the git directories of submodules.
func modules(common string) (dirs []string) {
	top := filepath.Join(common, "modules")
	if !exists(top) {
		return nil
	}
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(dirs) >= maxModules:
			return fs.SkipAll
		case d.IsDir() && exists(filepath.Join(path, "HEAD")):
			dirs = append(dirs, path)
			dirs = append(dirs, modules(path)...)
			return fs.SkipDir
		}
		return nil
	})
	return dirs
}

// steeringIn lists what a directory has of the files that steer lathe and other programs.
func steeringIn(dir string) (list []string) {
	top := lowerNames(dir)
	for name, real := range top {
		switch name {
		case ".opencode", ".lathe", "opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc":
			list = append(list, filepath.Join(dir, real))
		}
	}
	for _, s := range steerings() {
		for _, entry := range s.names {
			list = append(list, found(dir, top, strings.Split(strings.TrimSuffix(entry, "/"), "/"))...)
		}
	}
	return list
}

// found lists the files that an entry of the list means in a directory with some names.
func found(dir string, names map[string]string, entry []string) (list []string) {
	match := func(name string) {
		at := filepath.Join(dir, names[name])
		if len(entry) == 1 {
			list = append(list, at)
		} else {
			list = append(list, found(at, lowerNames(at), entry[1:])...)
		}
	}
	if !strings.Contains(entry[0], "*") {
		if _, ok := names[entry[0]]; ok {
			match(entry[0])
		}
		return list
	}
	for name := range names {
		if ok, _ := path.Match(entry[0], name); ok {
			match(name)
		}
	}
	return list
}

// lowerNames lists a directory, by names in lower case.
func lowerNames(dir string) map[string]string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxEntries)
	out := make(map[string]string, len(names))
	for _, name := range names {
		out[strings.ToLower(name)] = name
	}
	return out
}

// maxEntries bounds how much of a directory is looked at.
const maxEntries = 10_000
