package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxLinks = 40 // as Linux
	maxPath  = 64 << 10
)

// ErrLoop means that symbolic links lead round in a circle, or that there are too many.
var ErrLoop = errors.New("too many symbolic links")

// Resolve returns the real path of an absolute path: links are followed, also
// for the last element, and ".." goes up from where a link leads. Elements that
// do not exist are kept as they are, so the path of a file to be created
// resolves too; ".." after such an element removes it. A link that dangles
// resolves to its target.
func Resolve(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("path is empty")
	case strings.IndexByte(path, 0) >= 0:
		return "", fmt.Errorf("path %q: contains a NUL byte", path)
	case len(path) > maxPath:
		return "", fmt.Errorf("path of %d bytes: too long", len(path))
	case !filepath.IsAbs(path):
		return "", fmt.Errorf("path %q: not absolute", path)
	}
	volume := filepath.VolumeName(path)
	base := volume + string(filepath.Separator)
	real, rest, links, missing := base, elements(path[len(volume):]), 0, false
	for len(rest) > 0 {
		name := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		switch name {
		case "", ".":
			continue
		case "..":
			// What is above a missing element may exist again.
			real, missing = filepath.Dir(real), false
			continue
		}
		next := filepath.Join(real, name)
		if missing {
			real = next
			continue
		}
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			real, missing = next, true
			continue
		}
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolve %q: %w", path, ErrLoop)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", path, err)
		}
		if filepath.IsAbs(target) {
			volume := filepath.VolumeName(target)
			real, target = volume+string(filepath.Separator), target[len(volume):]
		}
		rest = append(rest, elements(target)...)
	}
	return real, nil
}

// elements returns the elements of a path, last one first.
func elements(path string) []string {
	out := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
