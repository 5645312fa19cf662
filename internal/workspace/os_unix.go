//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from blocking on what has become a pipe, and from
// making a terminal our controlling terminal.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// noFollow keeps an open from following a link.
const noFollow = syscall.O_NOFOLLOW

// tryLock takes the lock of an open file, which ends with its last descriptor.
// known is false where the file system has no locks.
func tryLock(f *os.File) (free, known bool) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return err == nil, err == nil || errors.Is(err, unix.EWOULDBLOCK)
}

const foldsNames = runtime.GOOS == "darwin"

func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// keepOwner gives f the owner of old where permitted; only root may in general.
func keepOwner(f *os.File, old fs.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	now, err := f.Stat()
	if err != nil {
		return
	}
	if is, ok := now.Sys().(*syscall.Stat_t); ok && (is.Uid != st.Uid || is.Gid != st.Gid) {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// writable reports whether the file's own mode lets us write it: a rename would
// get around a file that was made read-only.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

func mustOverwrite(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EROFS)
}
