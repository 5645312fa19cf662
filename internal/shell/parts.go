package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A bash script tells how the parts of its last pipeline ended through a descriptor of
// its own: one that scripts leave alone, above those that they open by number and below
// those that bash takes itself.
const (
	partsFD   = 41
	partsTrap = `trap '{ printf "%s " "${PIPESTATUS[@]}" >&41; } 2>/dev/null' EXIT; `
	maxParts  = 4 << 10 // bytes of what it tells
)

// tellsParts reports whether a shell can tell how the parts of a pipeline ended.
func tellsParts(sh string) bool { return canTellParts && filepath.Base(sh) == "bash" }

// askParts returns the script and the files with which the shell tells the parts, and
// the end to read them from; files and script stay as they are where that fails.
func askParts(script string, files []*os.File) (asking string, with []*os.File, told, end *os.File) {
	told, end, err := os.Pipe()
	if err != nil {
		return script, files, nil, nil
	}
	with = make([]*os.File, partsFD+1)
	copy(with, files)
	with[partsFD] = end
	return partsTrap + script, with, told, end
}

// readParts returns the exit codes that a shell told before it ended, and closes the
// file. A script with a trap of its own tells none.
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
