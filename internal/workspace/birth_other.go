//go:build !linux

package workspace

import (
	"os"
	"path/filepath"
	"strconv"
)

// birth distinguishes a directory from a later one at the same path: git init
// writes the description file, and nothing changes it afterwards.
func birth(dir string) string {
	info, err := os.Stat(filepath.Join(dir, "description"))
	if err != nil {
		return ""
	}
	return strconv.FormatInt(info.ModTime().UnixNano(), 10)
}
