package judge

import (
	"path"
	"strings"
)

// reads records a path that the command reads.
func (x *invocation) reads(f field, u PathUse) {
	if f.text == "-" && !u.Dir {
		return
	}
	u.By = x.base
	x.use(&x.out.Reads, f, x.scope, u)
}

// writes records a path that the command changes.
func (x *invocation) writes(f field, u PathUse) {
	if f.text == "-" {
		return
	}
	u.By = x.base
	x.use(&x.out.Writes, f, x.scope, u)
}

// files records the paths that a program's row names, and those that only
// functions know.
func (x *invocation) files() {
	how, more, _ := strings.Cut(x.prog.operands, " ")
	switch how {
	case "read":
		judgeReaders(x, more == "write")
	case "search":
		judgeSearchers(x, more == "tree")
	case "list":
		judgeListers(x, false)
	case "pattern":
		judgeListers(x, true)
	case "remove":
		opts, operands := x.split()
		x.writeAll(operands, PathUse{Tree: has(opts, "-r", "-R", "--recursive")})
	case "write":
		_, operands := x.split()
		x.writeAll(operands, PathUse{})
	case "mode":
		judgeMode(x)
	case "copy", "move", "link":
		judgeCopy(x, how, more == "tree")
	case "dd":
		judgeDd(x)
	case "change":
		judgeInPlace(x, more == "read")
	case "format":
		judgeFormat(x)
	case "unpack":
		judgeUnpack(x)
	}
	x.outputs()
	x.inputs()
	x.rewrites()
}

// split tells the options of a command from its operands.
func (x *invocation) split() (opts []option, operands []field) {
	return permuted(x.args(), x.prog.values)
}

func (x *invocation) readAll(operands []field, u PathUse) {
	for _, f := range operands {
		x.reads(f, u)
	}
}

func (x *invocation) writeAll(operands []field, u PathUse) {
	for _, f := range operands {
		x.writes(f, u)
	}
}

// judgeReaders read their operands. Some write the second.
func judgeReaders(x *invocation, writeSecond bool) {
	_, operands := x.split()
	if writeSecond && len(operands) > 1 {
		x.writes(operands[1], PathUse{})
		operands = operands[:1]
	}
	x.readAll(operands, PathUse{})
}

// judgeSearchers take a pattern, unless an option gives one, and read the other operands.
func judgeSearchers(x *invocation, tree bool) {
	opts, operands := x.split()
	if o, ok := find(opts, "-f", "--file"); ok && o.given {
		x.reads(o.value, PathUse{})
	}
	if !has(opts, "-e", "-f", "--regexp", "--file", "--files") && len(operands) > 0 {
		operands = operands[1:]
	}
	recursive := tree || has(opts, "-r", "-R", "--recursive")
	for _, f := range operands {
		x.reads(f, PathUse{Dir: recursive, Tree: recursive})
	}
}

// judgeListers look at their operands without reading them. Some take a pattern first.
func judgeListers(x *invocation, pattern bool) {
	_, operands := x.split()
	if pattern && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, f := range operands {
		if !in(x.base, "test [") || strings.Contains(f.text, "/") && f.known { // those compare texts as well
			x.reads(f, PathUse{Dir: true})
		}
	}
}

func judgeMode(x *invocation) {
	words := x.args()
	kept := words[:0:0]
	for _, f := range words { // chmod -x is a mode
		if !(x.base == "chmod" && len(f.text) > 1 && f.text[0] == '-' && strings.Trim(f.text[1:], "rwxXst,") == "") {
			kept = append(kept, f)
		}
	}
	opts, operands := permuted(kept, x.prog.values)
	if len(kept) == len(words) && !has(opts, "--reference", "-m", "-x") && len(operands) > 0 {
		operands = operands[1:]
	}
	x.writeAll(operands, PathUse{Tree: has(opts, "-R", "--recursive")})
}

// judgeCopy handles commands with sources and a destination. The destination may be a
// directory, so the file inside it counts as well.
func judgeCopy(x *invocation, how string, tree bool) {
	opts, operands := x.split()
	var dest field
	if o, ok := find(opts, "-t", "--target-directory"); ok && o.given && x.base != "rsync" { // whose -t takes no value
		dest = o.value
	} else if len(operands) > 0 && (len(operands) > 1 || x.base != "ln") {
		dest, operands = operands[len(operands)-1], operands[:len(operands)-1]
	} else if len(operands) == 1 {
		dest = field{text: path.Base(operands[0].text), known: operands[0].known}
	}
	tree = tree || has(opts, "-r", "-R", "-a", "--recursive", "--archive")
	for _, f := range operands {
		switch {
		case remote(f.text):
			x.opaque(x.base + " reaches another machine")
			x.reaches(x.base)
		case how == "move" || has(opts, "--remove-source-files"):
			x.writes(f, PathUse{Tree: true})
			x.reads(f, PathUse{}) // other rules apply to it under another name
		case how == "link":
			linkTarget(x, f, dest)
			noteLink(x, f, dest)
		default:
			x.reads(f, PathUse{Dir: tree, Tree: tree})
		}
	}
	if remote(dest.text) {
		x.opaque(x.base + " reaches another machine")
		x.reaches(x.base)
		return
	}
	x.writes(dest, PathUse{Tree: tree && x.base != "ln"})
	for _, f := range operands {
		if base := path.Base(f.text); f.known && !f.glob && dest.known && base != "." && base != ".." && base != "/" {
			x.writes(field{text: strings.TrimSuffix(dest.text, "/") + "/" + base, known: true, glob: dest.glob}, PathUse{Tree: tree})
		}
	}
}

// linkTarget records where a new link leads: later uses of the link cannot yet
// be told from other files.
func linkTarget(x *invocation, f, dest field) {
	x.reads(f, PathUse{Dir: true})
	if f.known && dest.known && !strings.HasPrefix(f.text, "/") && strings.Contains(dest.text, "/") {
		x.reads(field{text: path.Dir(dest.text) + "/" + f.text, known: true}, PathUse{Dir: true})
	}
}

// remote reports whether a word is host:path.
func remote(s string) bool {
	i := strings.IndexByte(s, ':')
	return i > 0 && !strings.Contains(s[:i], "/")
}

func judgeDd(x *invocation) {
	for _, f := range x.args() {
		name, value, _ := strings.Cut(f.text, "=")
		v := f
		v.text = value
		switch name {
		case "of":
			x.writes(v, PathUse{})
		case "if":
			x.reads(v, PathUse{})
		}
	}
}

// judgeInPlace handles commands that change their operands or write next to them.
// Some put what they read into a file with another name.
func judgeInPlace(x *invocation, read bool) {
	opts, operands := x.split()
	if printsOnly(opts) && x.base != "ar" { // whose options have no dash
		x.readAll(operands, PathUse{})
		return
	}
	if x.base == "patch" && len(operands) == 0 { // the patch names the files
		x.writes(field{text: ".", known: true}, PathUse{Tree: true})
		return
	}
	x.writeAll(operands, PathUse{})
	if x.base == "zip" {
		x.readAll(operands[min(1, len(operands)):], PathUse{Dir: true, Tree: true})
	}
	if read {
		x.readAll(operands, PathUse{})
	}
}

// printsOnly reports whether options have a program print or check, and change nothing.
func printsOnly(opts []option) bool {
	return has(opts, "-c", "--stdout", "--to-stdout", "--list", "-t", "--test", "--dry-run")
}

// judgeFormat handles Go formatters, which change files and trees only with -w.
func judgeFormat(x *invocation) {
	opts, operands := x.split()
	switch {
	case !has(opts, "-w"):
		x.readAll(operands, PathUse{Dir: true})
	case printsOnly(opts):
		x.readAll(operands, PathUse{})
	case len(operands) == 0:
		x.writes(field{text: ".", known: true}, PathUse{Tree: true})
	default:
		x.writeAll(operands, PathUse{Tree: true})
	}
}

func judgeUnpack(x *invocation) {
	opts, operands := x.split()
	if has(opts, "-l", "-t", "-Z", "-v") && x.base == "unzip" || len(operands) > 0 && in(operands[0].text, "l t") {
		x.readAll(operands, PathUse{Dir: true})
		return
	}
	dir := field{text: ".", known: true}
	if o, ok := find(opts, "-d", "--directory", "-D"); ok && o.given {
		dir = o.value
	}
	x.writes(dir, PathUse{Tree: true})
}

// outputs records files named by an output option. Its name is not shortened.
func (x *invocation) outputs() {
	args := x.args()
	for i, f := range args {
		for dashed := range strings.FieldsSeq(x.prog.output) {
			long := strings.HasPrefix(dashed, "--")
			rest, ok := strings.CutPrefix(f.text, dashed)
			switch {
			case !ok || long && rest != "" && rest[0] != '=':
			case rest == "" && i+1 < len(args):
				x.writes(args[i+1], PathUse{})
			case rest != "" && x.base != "go": // whose -output is not -o
				x.writes(field{text: strings.TrimPrefix(rest, "="), known: f.known}, PathUse{})
			case strings.HasPrefix(rest, "="):
				x.writes(field{text: rest[1:], known: f.known}, PathUse{})
			}
		}
	}
	switch {
	case in(x.base, "sort gsort"):
		sortedInto(x, args)
	case x.base == "wget" && !hasOption(joinWords(args), "-O"):
		x.writes(field{text: ".", known: true}, PathUse{Tree: false})
	}
}

// sortedInto records the output of sort where it stands in a cluster of options.
func sortedInto(x *invocation, args []field) {
	for i, f := range args {
		if len(f.text) < 2 || f.text[0] != '-' {
			continue
		}
		if f.text[1] != '-' {
			n := strings.IndexByte(f.text, 'o')
			if len(f.text) > 2 && f.text[1] != 'o' && strings.HasSuffix(f.text, "o") && i+1 < len(args) {
				x.writes(args[i+1], PathUse{})
			}
			if n > 1 && n+1 < len(f.text) {
				x.writes(field{text: f.text[n+1:], known: f.known}, PathUse{})
			}
		}
		if name, _, _ := strings.Cut(f.text, "="); len(f.text) > 3 && strings.HasPrefix("--output", name) && !strings.HasPrefix(f.text, "--output") {
			x.opaque("sort has a shortened option")
		}
	}
}
