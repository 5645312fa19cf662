//go:build unix

package client

import (
	"io/fs"
	"os"
	"syscall"
)

// sameOwner reports whether a file belongs to this user.
func sameOwner(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
