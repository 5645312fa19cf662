package judge

import "strings"

// judgeGit judges the global options, the command and its options: git runs programs
// named by its configuration and by many options.
func judgeGit(x *invocation) {
	args := gitGlobals(x, x.args())
	if len(args) == 0 {
		return
	}
	if len(args) < len(x.args()) {
		x.also(append([]field{x.words[0]}, args...))
	}
	sub := args[0]
	switch {
	case strings.HasPrefix(sub.text, "-"):
		return // --version, --help
	case !sub.known || !in(sub.text, x.prog.known):
		x.opaque("git " + sub.text + " may be an alias, which can run anything")
	}
	gitOptions(x, sub.text, args[1:])
	gitCommand(x, sub.text, args[1:])
}

// gitGlobals reads what stands before the command.
func gitGlobals(x *invocation, args []field) []field {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		name, value, given := strings.Cut(args[0].text, "=")
		f := field{text: value, known: args[0].known}
		if in(name, "-c -C --git-dir --work-tree --namespace --config-env --super-prefix --exec-path --attr-source --list-cmds") && !given && name != "--exec-path" {
			if len(args) > 1 {
				f = args[1]
				args = args[1:]
			}
		} else if name == "-c" { // -c name=value in one word does not exist, but -cname=value might
			f = args[0]
		}
		gitGlobal(x, name, f, given)
		args = args[1:]
	}
	return args
}

func gitGlobal(x *invocation, name string, f field, given bool) {
	switch name {
	case "-C":
		x.reads(f, PathUse{Dir: true})
		x.scope = x.scope.clone()
		x.scope.enter(f, x.env.Home)
		x.scope.alt = nil
	case "-c":
		gitConfig(x, f)
	case "--git-dir", "--work-tree":
		x.opaque("git takes its configuration from another directory")
	case "--exec-path":
		if given {
			x.opaque("git runs programs of another directory")
		}
	case "--no-pager", "-P", "--version", "-v", "--help", "-h", "--html-path", "--man-path", "--info-path", "--literal-pathspecs",
		"--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-optional-locks", "--no-replace-objects", "--bare", "--no-advice", "--no-lazy-fetch":
	default:
		x.opaque("the option " + name + " of git can run or change other things")
	}
}

func gitConfig(x *invocation, f field) {
	key, value, _ := strings.Cut(f.text, "=")
	if !f.known || !in(key, x.prog.settings) && (key != "core.pager" || value != "cat") && (key != "core.editor" || value != "true") {
		x.opaque("the setting " + key + " of git can run commands")
	}
}

// gitOptions looks for options that run programs or write files.
func gitOptions(x *invocation, sub string, args []field) {
	row := lookup("git " + sub)
	if len(row.network) > 0 {
		x.reaches("git " + sub)
	}
	for _, f := range args {
		if f.text == "--" {
			break
		}
		switch {
		case strings.HasPrefix(f.text, "--output-indicator"), in(f.text, "--no-ext-diff --no-textconv --template-default"):
		case strings.HasPrefix(f.text, "--") && hasOption(f.text, x.prog.executes),
			strings.HasPrefix(f.text, "ext::"), strings.HasPrefix(f.text, "fd::"):
			x.opaque("the word " + f.text + " of git can run programs or write files")
		}
		if strings.Contains(f.text, "::") && row.is("takes-address") {
			x.opaque("an address of git can run programs")
		}
	}
	gitStrategy(x, sub, args)
	for _, f := range args {
		if len(f.text) > 1 && f.text[0] == '-' && f.text[1] != '-' && hasOption(f.text, row.executes) {
			x.opaque("the option " + f.text + " of git can run programs or write files")
		}
	}
}

// gitStrategy judges the strategy of a merge: one that git does not know is the
// program git-merge-NAME.
func gitStrategy(x *invocation, sub string, args []field) {
	if !in(sub, "merge rebase pull cherry-pick revert") {
		return
	}
	for i, f := range args {
		name, value, given := strings.Cut(f.text, "=")
		if name != "-s" && len(name) < 4 || name == "--strategy-option" || !strings.HasPrefix("--strategy", name) && !(name == "-s" && in(sub, "rebase merge pull")) {
			continue
		}
		if !given && i+1 < len(args) {
			value = args[i+1].text
		}
		if !in(value, "ours recursive ort octopus resolve subtree") {
			x.opaque("git " + sub + " runs a program for the strategy " + value)
		}
	}
}

// gitCommand judges commands that run others and those that write named files.
func gitCommand(x *invocation, sub string, args []field) {
	gitContents(x, sub, args)
	first := field{}
	if len(args) > 0 {
		first = args[0]
	}
	_, operands := permuted(args, "m F C c n message file source")
	switch sub {
	case "bisect":
		if first.text == "run" {
			x.opaque("git bisect run runs a command")
			x.inner(args[1:])
		}
	case "submodule":
		if hasAny(args, "foreach") {
			x.opaque("git submodule foreach runs a command")
		}
	case "config":
		gitConfigure(x, args)
	case "maintenance", "fast-import", "filter-branch", "merge-index":
		x.opaque("git " + sub + " can run programs or write files")
	case "rm", "mv", "checkout-index", "merge-file":
		for _, f := range operands {
			x.writes(f, PathUse{Tree: true})
			if sub == "mv" {
				x.reads(f, PathUse{})
			}
		}
	case "clean":
		if !hasAny(args, "-n", "--dry-run") {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
	case "restore", "checkout":
		gitRestore(x, sub, args, operands)
	case "init":
		if len(operands) == 0 {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
		for _, f := range operands {
			x.writes(f, PathUse{Tree: true})
		}
	case "format-patch":
		if !hasAny(args, "--stdout") {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
	case "clone", "worktree": // the value of an option may stand among them
		if sub == "clone" && len(operands) < 2 {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
		for _, f := range operands[min(1, len(operands)):] {
			x.writes(f, PathUse{Tree: true})
		}
	case "bundle", "pack-objects", "mailinfo", "interpret-trailers":
		gitOutput(x, sub, args, operands)
	case "reset", "read-tree":
		if hasAny(args, "--hard", "--merge", "--keep", "-u") {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
	case "push":
		for _, f := range operands[:min(1, len(operands))] {
			if !f.known || strings.HasPrefix(f.text, "file:") || strings.HasPrefix(f.text, "~") || strings.ContainsAny(f.text, "./") && !strings.Contains(f.text, ":") {
				x.opaque("git push runs the hooks of a repository on this machine")
			}
		}
	case "apply", "am":
		if !hasAny(args, "--check", "--stat", "--numstat", "--summary") {
			x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		}
	case "show", "cat-file", "grep", "blame", "annotate":
		for _, f := range operands {
			if strings.HasPrefix(f.text, ":/") { // a search in messages
				continue
			}
			if _, file, ok := strings.Cut(f.text, ":"); ok && file != "" {
				f.text = file
			}
			if sub != "show" || strings.Contains(f.text, "/") {
				x.reads(f, PathUse{})
			}
		}
	case "diff", "hash-object":
		if hasAny(args, "--no-index") || sub == "hash-object" {
			for _, f := range operands {
				x.reads(f, PathUse{})
			}
		}
	}
}

// gitOutput records the files that commands write by name.
func gitOutput(x *invocation, sub string, args, operands []field) {
	from := 0
	switch sub {
	case "bundle":
		if len(operands) == 0 || operands[0].text != "create" {
			return
		}
		from = 1
	case "interpret-trailers":
		if !hasAny(args, "--in-place") {
			return
		}
	}
	for _, f := range operands[from:] {
		x.writes(f, PathUse{Tree: true})
	}
}

func hasAny(args []field, names ...string) bool {
	for _, f := range args {
		for _, name := range names {
			if f.text == name {
				return true
			}
		}
	}
	return false
}

// gitRestore records files that are overwritten by name.
func gitRestore(x *invocation, sub string, args, operands []field) {
	if sub == "restore" {
		if hasAny(args, "--staged", "-S") && !hasAny(args, "--worktree", "-W") {
			return
		}
		for _, f := range operands {
			x.writes(f, PathUse{Tree: true})
		}
		return
	}
	for i, f := range args {
		if f.text == "--" {
			for _, p := range args[i+1:] {
				x.writes(p, PathUse{Tree: true})
			}
			return
		}
	}
	if hasAny(args, "-b", "-B") {
		return
	}
	for _, f := range operands { // a branch or a file; a bare name counts as a branch
		if len(operands) > 1 || strings.ContainsAny(f.text, "./") {
			x.writes(f, PathUse{Tree: true})
		}
	}
}

// gitConfigure allows reading settings and changing harmless ones.
func gitConfigure(x *invocation, args []field) {
	opts, operands := permuted(args, "f t file blob type default comment value url")
	for _, f := range args {
		if f.text == "-f" || strings.HasPrefix(f.text, "--fi") && f.text != "--fixed-value" || strings.HasPrefix(f.text, "-f") && !strings.HasPrefix(f.text, "--") {
			x.opaque("git config changes a file by name")
		}
	}
	if has(opts, "--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch") {
		return
	}
	if len(operands) > 0 && in(operands[0].text, "get list") {
		return
	}
	if len(operands) > 0 && in(operands[0].text, "set unset") {
		operands = operands[1:]
	} else if len(operands) == 1 && !has(opts, "--unset", "--unset-all", "--edit", "-e", "--remove-section") {
		return // prints it
	}
	if len(operands) == 0 || !operands[0].known || !in(operands[0].text, x.prog.settings) {
		x.opaque("the settings of git can make it run commands")
	}
}
