package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A script for bash or zsh reports how the parts of its last pipeline ended through
// a file descriptor of its own: one above those that scripts open by number and
// below those that the shells use themselves.
const (
	partsFD  = 41
	maxParts = 4 << 10 // bytes of that report
)

// partsTraps make a shell report the exit codes; keyed by the shell's name.
var partsTraps = map[string]string{
	"bash": `trap '{ printf "%s " "${PIPESTATUS[@]}" >&41; } 2>/dev/null' EXIT; `,
	"zsh":  `trap '{ printf "%s " "${pipestatus[@]}" >&41; } 2>/dev/null' EXIT; `,
}

// partsTrap returns what comes before a script whose shell can report how the parts of
// a pipeline ended; empty for other shells.
func partsTrap(sh string) string {
	if !canTellParts {
		return ""
	}
	return partsTraps[filepath.Base(sh)]
}

// askParts returns the script and files with which the shell reports the parts, and
// the end to read them from; if that fails, files and script are returned unchanged.
func askParts(trap, script string, files []*os.File) (asking string, with []*os.File, told, end *os.File) {
	told, end, err := os.Pipe()
	if err != nil {
		return script, files, nil, nil
	}
	with = make([]*os.File, partsFD+1)
	copy(with, files)
	with[partsFD] = end
	return trap + script, with, told, end
}

// readParts returns the exit codes that a shell reported before it ended, and closes
// the file. A script with a trap of its own reports none.
func readParts(f *os.File) []int {
	if f == nil {
		return nil
	}
	defer f.Close()
	var codes []int
	for word := range strings.FieldsSeq(string(readAvailable(f, maxParts))) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil
		}
		codes = append(codes, n)
	}
	return codes
}
