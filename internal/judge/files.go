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

// files records the paths of well-known file commands. Options with a value are
// listed so that the value does not count as a path.
func (x *invocation) files() {
	switch x.base {
	case "cat", "tac", "nl", "head", "tail", "less", "more", "bat", "batcat", "wc", "sort", "gsort", "cut", "paste", "join", "comm", "diff", "cmp", "sdiff",
		"od", "xxd", "hexdump", "strings", "base64", "base32", "basenc", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "cksum", "sum",
		"fold", "fmt", "rev", "column", "expand", "unexpand", "uniq", "zcat", "bzcat", "xzcat", "zless", "view", "nano", "vi", "vim", "nvim", "iconv", "pr", "look", "tsort", "ptx", "colordiff", "delta", "md5", "shasum", "b2sum", "shuf", "gshuf", "diff3",
		"icdiff", "wdiff", "dwdiff", "hexyl", "glow", "mdcat", "lolcat", "ccat", "highlight", "pygmentize", "source-highlight", "enscript", "pandoc", "msgcat", "xmllint", "cpp", "brotli":
		x.readers()
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ripgrep", "ag", "ack", "jq", "yq", "ugrep", "pcregrep", "pcre2grep", "bzgrep", "xzgrep":
		x.searchers()
	case "ls", "dir", "vdir", "tree", "du", "stat", "file", "readlink", "realpath", "exa", "eza", "lsd", "test", "[", "fd", "fdfind", "df":
		x.listers()
	case "rm", "unlink", "rmdir", "shred", "srm", "trash":
		opts, operands := permuted(x.args(), "n s size iterations interactive")
		x.writeAll(operands, PathUse{Tree: has(opts, "-r", "-R", "--recursive")})
	case "mkdir", "touch", "truncate", "mkfifo", "mknod", "tee", "sponge", "fallocate", "ctags":
		_, operands := permuted(x.args(), "m d r t s Z date reference size mode time")
		x.writeAll(operands, PathUse{})
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "chcon", "setfattr":
		x.changeMode()
	case "cp", "mv", "install", "ln", "rsync", "scp", "link", "gcp", "gmv", "ditto":
		x.copy()
	case "dd":
		x.dd()
	case "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "uncompress", "dos2unix", "unix2dos", "patch", "rename", "perl-rename", "ex", "ed", "strip", "ar", "ranlib", "zip", "split", "csplit", "indent", "gofmt", "goimports", "gofumpt":
		x.inPlace()
	case "unzip", "7z", "7za", "unrar", "cpio", "pax":
		x.unpack()
	}
	x.outputs()
	x.inputs()
	x.rewrites()
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

func (x *invocation) readers() {
	valued := map[string]string{"head": "n c lines bytes", "tail": "n c s lines bytes pid sleep-interval", "sort": "k t S T o key field-separator output",
		"cut": "d f c b delimiter fields", "fold": "w", "column": "s t o c N", "diff": "U C I x X label exclude color", "xxd": "s l c g o", "od": "A t N j w S",
		"hexdump": "n s e f", "strings": "n t e", "nl": "b w s v n", "join": "t o j 1 2 a e v", "base64": "w wrap", "uniq": "f s w", "paste": "d", "iconv": "f t o", "shuf": "n i o e head-count input-range output", "pandoc": "f t o r w V from to read write output",
		"xmllint": "xpath format encode", "brotli": "o q w S", "pygmentize": "l f F O P o", "enscript": "p o f", "highlight": "S O o",
		"less": "b h j x y z p P t T k o O", "shasum": "a", "comm": "output-delimiter"}[x.base]
	_, operands := permuted(x.args(), valued)
	if in(x.base, "uniq xxd") && len(operands) > 1 {
		x.writes(operands[1], PathUse{})
		operands = operands[:1]
	}
	x.readAll(operands, PathUse{})
}

func (x *invocation) searchers() {
	valued := "A B C m e f d D context after-context before-context max-count regexp file include exclude " +
		"exclude-dir glob type type-not max-depth color colors sort sortr iglob indent arg argjson slurpfile rawfile"
	if in(x.base, "rg ripgrep ag ack") {
		valued += " g t T j r M E"
	}
	opts, operands := permuted(x.args(), valued)
	if o, ok := find(opts, "-f", "--file"); ok && o.given {
		x.reads(o.value, PathUse{})
	}
	if !has(opts, "-e", "-f", "--regexp", "--file", "--files") && len(operands) > 0 {
		operands = operands[1:]
	}
	recursive := has(opts, "-r", "-R", "--recursive") || in(x.base, "rg ripgrep ag ack")
	for _, f := range operands {
		x.reads(f, PathUse{Dir: recursive, Tree: recursive})
	}
}

func (x *invocation) listers() {
	_, operands := permuted(x.args(), "I w L P o c f format printf time-style block-size max-depth d t exclude e E")
	if in(x.base, "fd fdfind") && len(operands) > 0 {
		operands = operands[1:]
	}
	for _, f := range operands {
		if !in(x.base, "test [") || strings.Contains(f.text, "/") && f.known {
			x.reads(f, PathUse{Dir: true})
		}
	}
}

func (x *invocation) changeMode() {
	words := x.args()
	kept := words[:0:0]
	for _, f := range words { // chmod -x is a mode
		if !(x.base == "chmod" && len(f.text) > 1 && f.text[0] == '-' && strings.Trim(f.text[1:], "rwxXst,") == "") {
			kept = append(kept, f)
		}
	}
	opts, operands := permuted(kept, "reference m x n v")
	if len(kept) == len(words) && !has(opts, "--reference", "-m", "-x") && len(operands) > 0 {
		operands = operands[1:]
	}
	x.writeAll(operands, PathUse{Tree: has(opts, "-R", "--recursive")})
}

// copy handles commands with sources and a destination. The destination may be a
// directory, so the file in it counts as well.
func (x *invocation) copy() {
	valued := "t S target-directory suffix"
	switch x.base {
	case "install":
		valued += " m o g Z mode owner group"
	case "rsync":
		valued = "e f T B M exclude include filter rsh bwlimit port log-file backup-dir temp-dir partial-dir files-from exclude-from include-from"
	case "scp":
		valued = "i P F c l J o S D X"
	}
	opts, operands := permuted(x.args(), valued)
	var dest field
	if o, ok := find(opts, "-t", "--target-directory"); ok && o.given && x.base != "rsync" {
		dest = o.value
	} else if len(operands) > 0 && (len(operands) > 1 || x.base != "ln") {
		dest, operands = operands[len(operands)-1], operands[:len(operands)-1]
	} else if len(operands) == 1 {
		dest = field{text: path.Base(operands[0].text), known: operands[0].known}
	}
	tree := has(opts, "-r", "-R", "-a", "--recursive", "--archive") || in(x.base, "mv rsync ditto")
	for _, f := range operands {
		switch {
		case remote(f.text):
			x.opaque(x.base + " reaches another machine")
		case in(x.base, "mv gmv") || has(opts, "--remove-source-files"):
			x.writes(f, PathUse{Tree: true})
			x.reads(f, PathUse{}) // under another name other rules bind it
		case x.base == "ln", x.base == "link":
			x.linkTarget(f, dest)
			x.linked(f, dest)
		default:
			x.reads(f, PathUse{Dir: tree, Tree: tree})
		}
	}
	if remote(dest.text) {
		x.opaque(x.base + " reaches another machine")
		return
	}
	x.writes(dest, PathUse{Tree: tree && x.base != "ln"})
	for _, f := range operands {
		if base := path.Base(f.text); f.known && !f.glob && dest.known && base != "." && base != ".." && base != "/" {
			x.writes(field{text: strings.TrimSuffix(dest.text, "/") + "/" + base, known: true, glob: dest.glob}, PathUse{Tree: tree})
		}
	}
}

// linkTarget records where a new link leads: later uses of the link cannot be
// told from other files yet.
func (x *invocation) linkTarget(f, dest field) {
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

func (x *invocation) dd() {
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

func (x *invocation) inPlace() {
	valued := "i o p d D r e s S F B n b a l C T"
	switch x.base {
	case "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "uncompress":
		valued = "S T M C o"
	case "zip":
		valued = "x i b t n"
	}
	opts, operands := permuted(x.args(), valued)
	if in(x.base, "gofmt goimports gofumpt") && !has(opts, "-w") {
		x.readAll(operands, PathUse{Dir: true})
		return
	}
	if has(opts, "-c", "--stdout", "--to-stdout", "--list", "-t", "--test", "--dry-run") && x.base != "ar" {
		x.readAll(operands, PathUse{})
		return
	}
	if in(x.base, "gofmt goimports gofumpt") || x.base == "patch" && len(operands) == 0 {
		if len(operands) == 0 {
			operands = []field{{text: ".", known: true}}
		}
		x.writeAll(operands, PathUse{Tree: true})
		return
	}
	x.writeAll(operands, PathUse{})
	switch x.base {
	case "zip":
		x.readAll(operands[min(1, len(operands)):], PathUse{Dir: true, Tree: true})
	case "split", "csplit", "gzip", "bzip2", "xz", "zstd", "lz4", "dos2unix", "unix2dos":
		x.readAll(operands, PathUse{})
	}
}

func (x *invocation) unpack() {
	opts, operands := permuted(x.args(), "d x P O D directory")
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

// outputs records files named by an output option.
func (x *invocation) outputs() {
	list := ""
	switch x.base {
	case "sort", "gsort":
		list = "o output"
	case "tree":
		list = "o"
	case "curl":
		list = "o output D dump-header c cookie-jar trace trace-ascii output-dir libcurl stderr"
	case "wget":
		list = "O output-document P directory-prefix o output-file a append-output"
	case "go", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "rustc", "tsc", "pandoc", "xz", "iconv", "jq", "javac", "protoc", "base64", "shasum", "openssl":
		list = "o out output"
	default:
		return
	}
	args := x.args()
	for i, f := range args {
		for name := range strings.FieldsSeq(list) {
			dashed := "--" + name
			if len(name) == 1 {
				dashed = "-" + name
			}
			rest, ok := strings.CutPrefix(f.text, dashed)
			switch {
			case !ok || strings.HasPrefix(f.text, "-") && len(name) > 1 && rest != "" && rest[0] != '=':
			case rest == "" && i+1 < len(args):
				x.writes(args[i+1], PathUse{})
			case rest != "" && x.base != "go":
				x.writes(field{text: strings.TrimPrefix(rest, "="), known: f.known}, PathUse{})
			case strings.HasPrefix(rest, "="):
				x.writes(field{text: rest[1:], known: f.known}, PathUse{})
			}
		}
		if x.base == "sort" && len(f.text) > 2 && f.text[0] == '-' && f.text[1] != '-' && f.text[1] != 'o' && strings.HasSuffix(f.text, "o") && i+1 < len(args) {
			x.writes(args[i+1], PathUse{})
		}
		if n := strings.IndexByte(f.text, 'o'); x.base == "sort" && n > 1 && f.text[0] == '-' && f.text[1] != '-' && n+1 < len(f.text) {
			x.writes(field{text: f.text[n+1:], known: f.known}, PathUse{})
		}
		if x.base == "sort" && len(f.text) > 3 && strings.HasPrefix("--output", strings.SplitN(f.text, "=", 2)[0]) && !strings.HasPrefix(f.text, "--output") {
			x.opaque("sort has a shortened option")
		}
	}
	if x.base == "wget" && !hasOption(joinWords(args), "-O") {
		x.writes(field{text: ".", known: true}, PathUse{Tree: false})
	}
}
