package workspace

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openReal opens a path in which no part may be a symbolic link.
func openReal(real string, flags int) (*os.File, error) {
	how := &unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, real, how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), real), nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a filter that does not know it
			return checkReal(real, flags)
		}
		return nil, moved(real, &os.PathError{Op: "open", Path: real, Err: err})
	}
}

// openRoot opens a directory in the same way. The descriptor is what holds it; the
// name in /proc only carries it into the Root.
func openRoot(real string) (*os.Root, error) {
	f, err := openReal(real, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil { // no /proc here
		return checkRoot(real)
	}
	return root, nil
}
