package judge

import (
	"path"
	"slices"
	"strings"
)

// inputs records the files that programs are told by an option, an address or a
// sign in a word to read, and that can come out again.
func (x *invocation) inputs() {
	list := x.prog.reads
	if x.base == "git" && len(x.words) > 1 {
		list = lookup("git " + x.words[1].text).reads
	}
	args := x.args()
	for i, f := range args {
		for name := range strings.FieldsSeq(list) {
			if value, ok := optionValue(args, i, name); ok {
				x.reads(value, PathUse{})
			}
		}
		if in(x.base, "jq yq") && in(f.text, "--slurpfile --rawfile --argfile") && i+2 < len(args) {
			x.reads(args[i+2], PathUse{})
		}
	}
	switch x.base {
	case "curl":
		curlInputs(x, args)
	case "openssl", "gpg", "age", "docker", "podman":
		sentOperands(x, args)
	case "socat", "socat1":
		for _, f := range args {
			if kind, name, ok := strings.Cut(f.text, ":"); ok && in(strings.ToLower(kind), "file open gopen rdonly") {
				name, _, _ = strings.Cut(name, ",")
				x.reads(field{text: name, known: f.known}, PathUse{})
			}
		}
	}
}

// optionValue returns the value of an option given by the i-th word, whether
// inside the word or after it. Long options may be shortened.
func optionValue(args []field, i int, name string) (field, bool) {
	f := args[i]
	given, value, joined := strings.Cut(f.text, "=")
	long := strings.HasPrefix(name, "--")
	switch {
	case f.text == name || long && !joined && len(f.text) > 4 && strings.HasPrefix(name, f.text):
		if i+1 < len(args) {
			return args[i+1], true
		}
	case long && joined && len(given) > 4 && strings.HasPrefix(name, given):
		return field{text: value, known: f.known, glob: f.glob}, true
	case len(name) == 2 && len(f.text) > 2 && strings.HasPrefix(f.text, name):
		return field{text: f.text[2:], known: f.known, glob: f.glob}, true
	}
	return field{}, false
}

// curlInputs records the files that curl sends or fetches by a file: address.
func curlInputs(x *invocation, args []field) {
	for i, f := range args {
		option, value := f.text, field{}
		switch {
		case strings.HasPrefix(strings.ToLower(f.text), "file:"):
			fileAddress(x, f)
			continue
		case strings.HasPrefix(option, "--"):
			if i+1 < len(args) {
				value = args[i+1]
			}
		case len(option) > 1 && option[0] == '-':
			at := strings.IndexAny(option[1:], "dFTbHAeuXomxwDrCEUyYzPQt")
			if at < 0 {
				continue
			}
			if value.text, value.known = option[at+2:], f.known; value.text == "" && i+1 < len(args) {
				value = args[i+1]
			}
			option = "-" + option[at+1:at+2]
		default:
			continue
		}
		curlValue(x, option, value)
	}
}

func curlValue(x *invocation, option string, value field) {
	rest := value
	switch {
	case option == "-T" || len(option) > 4 && strings.HasPrefix("--upload-file", option) || strings.HasPrefix(option, "--netrc-f"):
		x.reads(value, PathUse{})
	case option == "-b" || len(option) > 3 && strings.HasPrefix("--cookie", option):
		if !strings.Contains(value.text, "=") {
			x.reads(value, PathUse{})
		}
	case option == "-F" || len(option) > 4 && strings.HasPrefix("--form", option):
		if i := strings.Index(value.text, "="); i >= 0 && i+1 < len(value.text) && strings.IndexByte("@<", value.text[i+1]) >= 0 {
			rest.text, _, _ = strings.Cut(value.text[i+2:], ";")
			x.reads(rest, PathUse{})
		}
	case in(option, "-d -H") || strings.HasPrefix(option, "--dat") || strings.HasPrefix(option, "--js") || strings.HasPrefix(option, "--hea") || strings.HasPrefix(option, "--url-q"):
		name, file, ok := strings.Cut(value.text, "@")
		if ok && file != "" && option != "--data-raw" && (name == "" || strings.HasSuffix(option, "urlencode") && !strings.Contains(name, "=")) {
			rest.text = file
			x.reads(rest, PathUse{})
		}
	}
}

// fileAddress records the file of a file: address. curl knows patterns in it.
func fileAddress(x *invocation, f field) {
	name := f.text[len("file:"):]
	if host, ok := strings.CutPrefix(name, "//"); ok {
		name = host[max(strings.IndexByte(host, '/'), 0):]
	}
	if strings.ContainsAny(name, "[]{}%") {
		x.reads(field{text: f.text}, PathUse{})
		return
	}
	x.reads(field{text: name, known: f.known}, PathUse{})
}

// sentOperands records the operands of programs that convert files into another form.
func sentOperands(x *invocation, args []field) {
	words := args[min(1, len(args)):]
	switch {
	case len(args) == 0:
	case in(x.base, "gpg age"):
		words = args
	case in(x.base, "docker podman") && args[0].text == "cp":
		words = args[1:min(2, len(args))]
	case x.base == "openssl" && in(args[0].text, "dgst sha256 sha512 md5"):
	default:
		return
	}
	for _, f := range words {
		if f.known && !strings.HasPrefix(f.text, "-") && !strings.Contains(f.text, ":") {
			x.reads(f, PathUse{Dir: true, Tree: x.base == "docker"})
			if x.base != "docker" {
				x.reads(f, PathUse{})
			}
		}
	}
}

// gitContents records the files whose content a command of git shows by name.
func gitContents(x *invocation, sub string, args []field) {
	switch sub {
	case "log", "whatchanged", "stash":
		if !hasAny(args, "-p", "--patch", "-u", "--cc", "-c", "-m") {
			return
		}
	case "diff", "show", "format-patch", "archive", "checkout-index", "interpret-trailers":
		if hasAny(args, "--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--quiet") {
			return
		}
	default:
		return
	}
	_, operands := permuted(args, "S G n L O o U l grep author committer since until after before format pretty output output-directory prefix date")
	for _, f := range operands {
		if _, file, ok := strings.Cut(f.text, ":"); ok && !strings.HasPrefix(f.text, ":(") && !strings.HasPrefix(f.text, ":/") {
			f.text = file[strings.LastIndexByte(file, ':')+1:]
		}
		if f.known && f.text != "" && !strings.HasPrefix(f.text, ":/") {
			x.reads(f, PathUse{})
		}
	}
}

// noteLink notes where a new link leads, so that what is read through it later in the
// script counts as its target.
func noteLink(x *invocation, f, dest field) {
	if !f.known || !dest.known || f.glob || dest.glob {
		return
	}
	targets := x.scope.resolve(f.text)
	if !strings.HasPrefix(f.text, "/") {
		targets = append(targets, x.scope.resolve(path.Dir(dest.text)+"/"+f.text)...)
	}
	for _, at := range x.scope.resolve(dest.text) {
		for _, target := range targets {
			for _, l := range []link{{at, target}, {path.Join(at, path.Base(f.text)), target}} {
				if l.at != l.to && len(*x.links) < 100 && !slices.Contains(*x.links, l) {
					*x.links = append(*x.links, l)
				}
			}
		}
	}
}
