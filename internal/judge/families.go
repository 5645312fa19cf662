package judge

import "strings"

// family returns the name that a program is judged by: python3.11 is a python3,
// nodejs is node, bash-static and bash5 are bash.
func family(name string) string {
	switch name {
	case "nodejs":
		return "node"
	case "pypy", "pypy3", "ipython", "ipython3":
		return "python3"
	case "luajit", "texlua":
		return "lua"
	case "goawk", "frawk":
		return "awk"
	case "posh", "lksh", "osh", "brush", "static-sh":
		return "sh"
	case "rvim", "gvim", "rview", "gview", "nvi", "vimx":
		return "vim"
	}
	plain, _, _ := strings.Cut(name, ".")
	for _, short := range []string{
		strings.TrimSuffix(strings.TrimSuffix(name, "-static"), ".static"), strings.TrimRight(name, "0123456789.-"), plain, strings.TrimRight(plain, "0123456789-"),
	} {
		if short != name && in(short, "python python2 python3 perl ruby node php lua tclsh bash sh dash zsh ksh mksh busybox awk gawk mawk sed vim nvim emacs make gmake gcc g++ clang clang++") {
			return short
		}
	}
	return name
}
