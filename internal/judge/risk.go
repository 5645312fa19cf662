package judge

import (
	"path"
	"slices"
	"strings"
)

// Risks says in words what a person should look at before they allow a script: what it
// fetches and runs, what it forces or deletes, what it writes outside the project, what uses
// the network. A script without risks may still do harm.
func (a Analysis) Risks(root Root) []string {
	var out []string
	add := func(risk string) {
		if risk != "" && !slices.Contains(out, risk) {
			out = append(out, risk)
		}
	}
	if a.RunsFetched {
		add("runs what it fetches from the network, unseen")
	}
	for _, c := range a.Commands {
		add(risk(c.Args))
	}
	for _, w := range a.Writes {
		if !w.Dynamic && !root.Contains(w.Path) {
			add("writes outside the project: " + w.Path)
		}
	}
	reaches := slices.DeleteFunc(slices.Sorted(slices.Values(a.Reaches)), builds)
	if len(reaches) > 0 {
		add("uses the network: " + strings.Join(slices.Compact(reaches), ", "))
	}
	return out
}

// builds reports what uses the network only for what is missing: to say so each time would
// teach people to look away.
func builds(what string) bool {
	_, verb, _ := strings.Cut(what, " ")
	return slices.Contains([]string{"test", "build", "run", "vet", "check", "generate", "clippy"}, verb)
}

// risk says what a command might do that cannot be taken back, or that others feel.
func risk(args []string) string {
	if len(args) == 0 {
		return ""
	}
	name := path.Base(args[0])
	switch name {
	case "sudo", "doas", "su", "pkexec":
		return name + " runs it with the rights of another user"
	case "rm":
		if flagged(args, 'r', "recursive") || flagged(args, 'R', "recursive") {
			return "rm deletes whole directories"
		}
	case "chmod", "chown", "chgrp":
		if flagged(args, 'R', "recursive") {
			return name + " changes whole directories"
		}
	case "dd", "mkfs", "fdisk", "parted", "shred", "wipefs":
		return name + " can overwrite disks and whole files"
	case "git":
		return riskOfGit(args[1:])
	}
	if flagged(args, 0, "force") {
		return "--force: " + name + " skips its own checks"
	}
	return ""
}

// riskOfGit says which work a git command may lose.
func riskOfGit(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		valued := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree"}, args[0]) && len(args) > 1
		if args = args[1:]; valued {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return ""
	}
	switch force := flagged(args, 'f', "force"); args[0] {
	case "push":
		if force || flagged(args, 0, "force-with-lease") || flagged(args, 0, "mirror") || slices.ContainsFunc(args[1:], func(s string) bool { return strings.HasPrefix(s, "+") }) {
			return "--force: git push overwrites what others have pushed"
		}
		if flagged(args, 'd', "delete") {
			return "git push deletes a branch that others see"
		}
	case "reset":
		if flagged(args, 0, "hard") {
			return "git reset --hard throws away changes that are not committed"
		}
	case "clean":
		if force {
			return "git clean deletes files that git does not know"
		}
	case "checkout", "switch":
		if force || flagged(args, 0, "discard-changes") {
			return "git " + args[0] + " throws away changes that are not committed"
		}
	case "branch":
		if flagged(args, 'D', "") || force {
			return "git branch deletes commits that are nowhere else"
		}
	case "filter-branch", "filter-repo":
		return "git " + args[0] + " writes the whole history anew"
	}
	return ""
}

// flagged reports whether arguments hold an option: a letter, alone or among others, or a long
// name.
func flagged(args []string, letter byte, long string) bool {
	for _, a := range args[1:] {
		switch {
		case a == "--":
			return false
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a[2:], "=")
			if long != "" && name == long {
				return true
			}
		case strings.HasPrefix(a, "-") && letter != 0 && strings.IndexByte(a[1:], letter) >= 0:
			return true
		}
	}
	return false
}
