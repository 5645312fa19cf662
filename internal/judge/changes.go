package judge

import (
	"path/filepath"
	"slices"
	"strings"
)

// Change is a command that changes something it does not name as a file: the state
// of a repository, installed packages, a service.
type Change struct {
	Text string // of the command, as rules see it
	What string // what it changes
}

// Changes lists the commands of a script that change something besides the files in
// Writes, as far as their words say. What a program of the project does cannot be
// known from its words: a test run or a build does not count as a change.
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

// changing returns what a command changes by the row of its program.
func changing(name string, args []string) string {
	c := lookup(name).changes
	words := operands(args)
	if !c.by(words) || slices.Contains(args, "--dry-run") || slices.Contains(args, "--help") {
		return ""
	}
	if len(words) > 1 && in(words[1], lookup(name+" "+words[0]).changes.looks) {
		return ""
	}
	return c.what
}

// by reports whether a program with these words changes something.
func (c change) by(words []string) bool {
	switch {
	case len(words) > 0 && in(words[0], c.looks):
		return false
	case c.words == "always":
		return true
	}
	return len(words) > 0 && (c.words == "words" || in(words[0], c.words))
}

// operands leaves out the options; an option with a separate value cannot be told
// from a flag, so the value stays.
func operands(args []string) []string {
	return slices.DeleteFunc(slices.Clone(args), func(w string) bool { return strings.HasPrefix(w, "-") })
}

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
	c := lookup("git " + sub).changes
	switch {
	case sub == "apply" && (slices.Contains(rest, "--check") || slices.Contains(rest, "--stat")), sub == "clean" && slices.Contains(rest, "-n"):
		return ""
	case sub == "branch" || sub == "tag":
		return gitNames(rest, words)
	case sub == "config" && (len(words) == 1 || len(words) > 0 && anyOf(rest, "--get --get-all --get-regexp --list -l")):
		return ""
	case c.by(words), len(words) == 0 && slices.Contains(rest, "--unset"):
		return c.what
	}
	return ""
}

// gitNames reports whether branch or tag lists names rather than changing them.
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
