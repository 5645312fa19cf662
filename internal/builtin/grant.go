package builtin

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// grant returns what a command may do although it is confined: what was asked about by
// name before it runs, and what git writes in its configuration.
func (e shellTools) grant(would judge.Analysis) (g sandbox.Grant) {
	for _, w := range would.Writes {
		path, ok := e.realPath(w)
		switch {
		case !ok || e.closed(path):
		case !e.Root.Contains(path):
			g.Within = append(g.Within, place(path, w))
		case e.protected(path) != "":
			g.Change = append(g.Change, path)
		}
	}
	for _, r := range would.Reads {
		if path, ok := e.realPath(r); ok && !e.inner(path) && !e.Root.Contains(path) {
			g.Read = append(g.Read, path)
		}
	}
	for _, c := range would.Commands {
		g.Change = append(g.Change, e.gitWrites(c)...)
	}
	return g
}

// place is the directory that has to be writable for a file to be changed: many
// programs write a new one and rename it.
func place(path string, w judge.PathUse) string {
	if w.Tree || w.Dir || isDir(path) {
		return path
	}
	return filepath.Dir(path)
}

// gitConfigures are commands of git that write its configuration: remotes, branches
// that follow others, submodules.
var gitConfigures = []string{"remote", "submodule", "branch", "checkout", "switch", "push", "pull", "fetch", "clone", "init", "worktree", "config",
	"lfs", "sparse-checkout", "maintenance", "flow", "subtree", "rebase", "merge"}

// gitWrites lists the configuration that a command of git may write. What it writes
// there is looked at when it has ended.
func (e shellTools) gitWrites(c judge.Cmd) []string {
	if len(c.Args) < 2 || filepath.Base(c.Args[0]) != "git" || e.Root.CommonDir == "" ||
		!slices.ContainsFunc(c.Args[1:], func(arg string) bool { return slices.Contains(gitConfigures, arg) }) {
		return nil
	}
	list := []string{filepath.Join(e.Root.CommonDir, "config"), filepath.Join(e.Root.GitDir, "config.worktree")}
	if slices.Contains(c.Args[1:], "submodule") || slices.Contains(c.Args[1:], "clone") {
		list = append(list, filepath.Join(e.Root.CommonDir, "modules"))
	}
	return list
}

// maxRefusals bounds how many refusals the model is told of one command.
const maxRefusals = 8

// confined notes how far a command was confined, and what it was refused.
func confined(meta map[string]any, exit shell.Exit) {
	if exit.Level > sandbox.RulesOnly {
		meta["sandbox"] = exit.Level.String()
	}
	if len(exit.Refused) > 0 {
		meta["refused"] = exit.Refused
	}
}

// refusals tells the model what a command was refused, and what it can do about it.
func refusals(exit shell.Exit, rules tool.Rules) (lines []string) {
	for i, r := range exit.Refused {
		if r.Undone == "" && !r.Told && exit.Code == 0 && exit.Signal == "" {
			continue // it did without
		}
		if i == maxRefusals {
			lines = append(lines, fmt.Sprintf("and %d more", len(exit.Refused)-i))
			break
		}
		line := "Not allowed by the sandbox: " + r.Op + " " + r.Path
		if r.Undone != "" {
			line += "; " + r.Undone
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 && len(unreadOf(exit.Refused)) == len(exit.Refused) {
		return append(lines, "It is hidden from commands, as credentials and other programs' sockets are. Where a command needs it, name the path in the command itself: then the user is asked.")
	}
	if len(lines) > 0 && rules != nil && rules.Action("edit", anyFile) != lathe.Allow {
		return append(lines, "Commands may write in $LATHE_SCRATCH, /tmp and the caches of tools. Files of the project may not be edited here without permission.")
	}
	if len(lines) > 0 {
		lines = append(lines, "Commands may write in the project, $LATHE_SCRATCH, /tmp and the caches of tools, not in files that steer other programs. "+
			"To write elsewhere, use the edit or write tool, or name the path in the command itself (a redirect, cp, mkdir): then the user is asked.")
	}
	return lines
}

// astray tells the model where a command that failed tried to go without the proxy.
func astray(exit shell.Exit) string {
	if len(exit.Lost) == 0 || exit.Code == 0 && exit.Signal == "" {
		return ""
	}
	var to []string
	for i, at := range exit.Lost {
		if i == maxRefusals {
			to = append(to, fmt.Sprintf("and %d more", len(exit.Lost)-i))
			break
		}
		word := at.String()
		if at.Port() == 53 {
			word = "a server of names (" + word + ")"
		}
		to = append(to, word)
	}
	return "It tried to reach " + strings.Join(to, ", ") + " by itself. Commands have a network of their own, and reach other hosts through the proxy in HTTPS_PROXY and ALL_PROXY alone " +
		"(HTTP CONNECT and SOCKS5): use a program, or an option, that goes through it."
}

// heldBack tells the model which variables a command that failed speaks of and was not
// given.
func (o *output) heldBack(exit shell.Exit, text string) string {
	if exit.Code == 0 && exit.Signal == "" {
		return ""
	}
	var names []string
	for _, name := range o.env.HeldBack {
		if slices.Contains(strings.FieldsFunc(text, notOfName), name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": set in the user's environment, but commands are not given what looks like a secret. " +
		`The user can let them have it: "shell": {"env": ["` + names[0] + `"]} in their configuration.`
}

// tooMany is what programs print that could not start another process, or a thread, and
// tooLarge what they print that got no memory.
var (
	tooMany = pattern(`(?i)fork: (?:retry: )?resource temporarily unavailable|cannot fork|unable to create (?:new )?(?:native )?thread|can't start new thread|` +
		`failed to create new OS thread|fork/exec \S+ resource temporarily unavailable|spawn \S+ EAGAIN`)
	tooLarge = pattern(`(?i)MemoryError|cannot allocate memory|out of memory|bad_alloc|ENOMEM`)
)

// limited tells the model by which limit a command may have failed.
func (o *output) limited(exit shell.Exit, text string) string {
	const set = ` Use fewer at once; the user can allow more: "shell": {"limits": {%q: …}} in their configuration.`
	switch {
	case exit.Code == 0 && exit.Signal == "" || exit.Level == sandbox.RulesOnly:
		return ""
	case exit.OutOfMemory:
		return "The machine ran out of memory, and the kernel ended a process: commands are the first that it ends. Use less memory, or fewer processes at once."
	case exit.Level == sandbox.Full && o.env.Processes > 0 && tooMany().MatchString(text):
		return fmt.Sprintf("All commands of this directory together may have %d processes and threads.", o.env.Processes) + fmt.Sprintf(set, "processes")
	case o.env.Memory > 0 && tooLarge().MatchString(text):
		return fmt.Sprintf("Each process of a command may have %d MB of data.", o.env.Memory) + fmt.Sprintf(set, "memory")
	}
	return ""
}

// notOfName reports whether a character does not belong to the name of a variable.
func notOfName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
