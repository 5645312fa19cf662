package judge

import "strings"

// In /proc a process's number leads to its root, its working directory and what it has
// open, which lie elsewhere. A number is mostly not known ($$, $BASHPID, $!), so what is
// known around it is kept with a word.

// gap stands for what is not known in a shape.
const gap = "\x00"

// inProc reports whether a shape begins where the files of processes are.
func inProc(shape string) bool {
	return strings.HasPrefix(shape, "/proc/") || strings.HasPrefix(shape, "/dev/fd/")
}

// throughProcess reports whether a path with gaps leads through a process to another
// place. One that names what /proc itself has of a process, such as its status, does not.
func throughProcess(shape string) bool {
	parts := strings.FieldsFunc(shape, func(r rune) bool { return r == '/' })
	if !inProc(shape) || len(parts) < 3 {
		return false
	}
	if parts[0] == "dev" {
		return len(parts) > 3
	}
	for i, part := range parts[2:] {
		last := i == len(parts)-3
		switch {
		case part == "root", part == "cwd", part == "map_files", part == "fd" && !last:
			return true
		case strings.Contains(part, gap) && !last:
			return true
		}
	}
	return false
}

// processFile returns the path that stands for one through a process, for the rules: where
// only the number is not known and the root is meant, that from the root of the script's
// own; else no path.
func processFile(shape string) (path string, ok bool) {
	parts := strings.SplitN(shape, "/", 5)
	if len(parts) < 5 || parts[1] != "proc" || parts[3] != "root" || strings.Contains(parts[4], gap) {
		return "", false
	}
	return "/" + parts[4], true
}
