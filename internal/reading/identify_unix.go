//go:build unix

package reading

import (
	"io/fs"
	"syscall"
)

// fileID tells files apart, whatever their names.
type fileID struct{ device, inode uint64 }

// identify returns which file it is, and how many names it has.
func identify(info fs.FileInfo) (fileID, uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, 1
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink)
}
