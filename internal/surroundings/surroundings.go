// Package surroundings says what a person who sits down at a project would see at
// once: what lies at its top, the operating system, and which toolchains there are in
// which version. It reads small files and starts no program, so it takes about a
// millisecond and an untrusted project cannot make it run anything.
package surroundings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/workspace"
)

const (
	maxEntries = 40      // of the top that are named
	maxListed  = 10_000  // entries of a directory that are counted
	maxFile    = 1 << 20 // of what is read for a version
)

// Top names the entries of a directory, each directory with the number of its own
// entries, hidden ones left out: "cmd/ (2), docs/ (14), go.mod". It is empty where
// the directory cannot be read.
func Top(dir string) string {
	entries, _, ok := list(dir)
	if !ok {
		return ""
	}
	var dirs, files []string
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			dirs = append(dirs, fmt.Sprintf("%s/ (%s)", Shown(e.Name()), count(filepath.Join(dir, e.Name()))))
		default:
			files = append(files, Shown(e.Name()))
		}
	}
	all := append(dirs, files...)
	if more := len(all) - maxEntries; more > 0 {
		all = append(all[:maxEntries], fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}

// Shown is a name as it can stand in one line of a prompt.
func Shown(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == ',' || r == 0x7f }) {
		return strconv.Quote(name)
	}
	return name
}

func count(dir string) string {
	entries, cut, ok := list(dir)
	switch {
	case !ok:
		return "not readable"
	case cut:
		return "over " + strconv.Itoa(maxListed)
	}
	return strconv.Itoa(len(entries))
}

// list reads a directory in the order of names, up to a bound.
func list(dir string) (entries []os.DirEntry, cut, ok bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, false
	}
	defer f.Close()
	entries, err = f.ReadDir(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) && len(entries) == 0 {
		return nil, false, false
	}
	if cut = len(entries) > maxListed; cut {
		entries = entries[:maxListed]
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, cut, true
}

// System is the operating system with its release, and the processor:
// "Debian GNU/Linux 13 (trixie), linux/amd64".
func System() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	data, err := workspace.ReadFile("/etc/os-release", maxFile)
	if err != nil || runtime.GOOS != "linux" {
		return name
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			if pretty := strings.Trim(value, `"'`); pretty != "" {
				return pretty + ", " + name
			}
		}
	}
	return name
}
