package workspace

import (
	"io/fs"
	"os"
)

const openFlags = 0

const noFollow = 0

// tryLock knows nothing: a file that is open cannot be removed here anyway.
func tryLock(*os.File) (free, known bool) { return false, false }

const foldsNames = true

func links(fs.FileInfo) uint64 { return 1 }

func keepOwner(*os.File, fs.FileInfo) {}

func writable(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// mustOverwrite is always false: a file that another program holds open cannot
// be written in place either.
func mustOverwrite(error) bool { return false }
