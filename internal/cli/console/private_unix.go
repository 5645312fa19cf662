//go:build unix

package console

import (
	"io/fs"
	"os"
	"syscall"
)

// owners returns to whom a file belongs, and as whom this process runs.
func owners(info fs.FileInfo) (owner, self int, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return os.Getuid(), os.Getuid(), true
	}
	return int(st.Uid), os.Getuid(), true
}
