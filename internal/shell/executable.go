package shell

import (
	"os"
	"runtime"
)

// Executable returns the path of the program that a path means, on Windows with its
// extension; empty if there is none.
func Executable(path string) string {
	names := []string{path}
	if runtime.GOOS == "windows" {
		names = []string{path + ".exe", path + ".cmd", path + ".bat", path}
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return name
		}
	}
	return ""
}
