package judge

import (
	"path/filepath"
	"slices"
	"strings"
)

// Change is a command that changes what it does not name as a file: the state of a
// repository, installed packages, a service.
type Change struct {
	Text string // of the command, as rules see it
	What string // what it changes
}

// Changes lists the commands of a script that change something besides the files in
// Writes, as far as their words tell. What a program of the project does is not known
// by its words: a test run or a build is no change.
func (a Analysis) Changes() []Change {
	var out []Change
	for _, c := range a.Commands {
		if len(c.Args) == 0 {
			continue
		}
		args := c.Args[1:]
		what := ""
		switch name := strings.TrimSuffix(filepath.Base(c.Args[0]), ".exe"); name {
		case "git":
			what = gitChange(args)
		default:
			what = changing(name, args)
		}
		if what != "" {
			out = append(out, Change{Text: c.Text, What: what})
		}
	}
	return out
}

// changingWords lists, by program, the first words with which it changes something, and
// what.
var changingWords = map[string]struct{ words, what string }{
	"npm":       {"install i ci add remove rm uninstall un update up upgrade link unlink dedupe prune init publish unpublish version rebuild", "installed packages"},
	"pnpm":      {"install i add remove rm uninstall update up upgrade link unlink dedupe prune init publish rebuild import", "installed packages"},
	"yarn":      {"install add remove upgrade up link unlink dedupe init publish version import set", "installed packages"},
	"bun":       {"install i add remove rm update link unlink init create publish", "installed packages"},
	"pip":       {"install uninstall", "installed packages"},
	"pip3":      {"install uninstall", "installed packages"},
	"uv":        {"add remove sync lock init pip venv", "installed packages"},
	"poetry":    {"add remove install update lock init new", "installed packages"},
	"pipenv":    {"install uninstall update lock sync", "installed packages"},
	"go":        {"get install generate fmt fix mod work", "the module or its files"},
	"cargo":     {"add remove install uninstall update fix fmt init new publish yank vendor", "the package or its files"},
	"bundle":    {"install update add remove init lock", "installed packages"},
	"gem":       {"install uninstall update", "installed packages"},
	"composer":  {"install update require remove", "installed packages"},
	"apt":       {"install remove purge upgrade full-upgrade autoremove update", "installed packages"},
	"apt-get":   {"install remove purge upgrade dist-upgrade autoremove update", "installed packages"},
	"dnf":       {"install remove upgrade update", "installed packages"},
	"yum":       {"install remove upgrade update", "installed packages"},
	"apk":       {"add del upgrade update", "installed packages"},
	"brew":      {"install uninstall upgrade update", "installed packages"},
	"systemctl": {"start stop restart reload enable disable mask", "services"},
	"terraform": {"apply destroy init import fmt", "the infrastructure or its files"},
	"kubectl":   {"apply create delete edit patch replace scale", "the cluster"},
}

// lookingWords are words after which one of changingWords only looks.
var lookingWords = map[string]string{
	"go mod":  "graph why verify",
	"uv pip":  "list show freeze check tree",
	"go work": "",
}

func changing(name string, args []string) string {
	entry, ok := changingWords[name]
	words := operands(args)
	if !ok || len(words) == 0 || !in(words[0], entry.words) || slices.Contains(args, "--dry-run") || slices.Contains(args, "--help") {
		return ""
	}
	if looks, ok := lookingWords[name+" "+words[0]]; ok && len(words) > 1 && in(words[1], looks) {
		return ""
	}
	return entry.what
}

// operands leaves out the options; one with a value in a word of its own is not told
// from a flag, so the value stays.
func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(w string) bool { return strings.HasPrefix(w, "-") })
}

// What commands of git change.
const (
	gitTree    = "checkout switch restore reset merge rebase cherry-pick revert pull am apply clean rm mv read-tree checkout-index sparse-checkout"
	gitHistory = "add commit commit-tree stage update-index update-ref symbolic-ref replace filter-branch fast-import init clone gc prune repack push"
)

// gitLooks lists, for commands of git that look or change by what follows, the words
// that look. No word at all looks as well, except for those in gitBare.
var gitLooks = map[string]string{
	"stash": "list show", "worktree": "list", "remote": "show get-url", "reflog": "show exists", "notes": "list show",
	"submodule": "status summary", "bisect": "log view visualize", "lfs": "ls-files status env version", "config": "get list", "bundle": "verify list-heads",
}

const gitBare = "stash bisect"

func gitChange(args []string) string {
	for len(args) > 1 && in(args[0], "-C -c --git-dir --work-tree") {
		args = args[2:]
	}
	args = slices.DeleteFunc(slices.Clone(args), func(w string) bool { return in(w, "--no-pager -P") })
	if len(args) == 0 || slices.Contains(args, "--dry-run") || slices.Contains(args, "-h") || slices.Contains(args, "--help") {
		return ""
	}
	sub, rest := args[0], args[1:]
	words := operands(rest)
	looks, either := gitLooks[sub]
	switch {
	case sub == "apply" && (slices.Contains(rest, "--check") || slices.Contains(rest, "--stat")), sub == "clean" && slices.Contains(rest, "-n"):
		return ""
	case in(sub, gitTree):
		return "the working tree"
	case in(sub, gitHistory):
		return "the repository"
	case sub == "branch" || sub == "tag":
		return gitNames(rest, words)
	case sub == "config" && (len(words) == 1 || len(words) > 0 && anyOf(rest, "--get --get-all --get-regexp --list -l")):
		return ""
	case !either, len(words) == 0 && !in(sub, gitBare) && !slices.Contains(rest, "--unset"), len(words) > 0 && in(words[0], looks):
		return ""
	case sub == "stash":
		return "the working tree"
	}
	return "the repository"
}

// gitNames tells whether branch or tag lists names or changes them.
func gitNames(rest, words []string) string {
	if anyOf(rest, "-d -D -m -M -c -C -f --delete --move --copy --force -u --set-upstream-to --unset-upstream --edit-description -a -s") &&
		!(slices.Contains(rest, "-a") && len(words) == 0) {
		return "the repository"
	}
	if len(words) == 0 || anyOf(rest, "-l --list --contains --no-contains --merged --no-merged --points-at -v -vv -r --show-current -n --sort --format") {
		return ""
	}
	return "the repository"
}

func anyOf(args []string, list string) bool {
	return slices.ContainsFunc(args, func(w string) bool { return in(w, list) })
}
