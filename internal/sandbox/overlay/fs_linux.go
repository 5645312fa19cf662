package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// whiteout reports whether an entry stands for one that was removed.
func whiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

// noted are the attributes in which the file system keeps what it knows of a file.
var noted = []string{"user.overlay.opaque", "user.overlay.origin", "user.overlay.impure", "user.overlay.nlink", "user.overlay.upper", "user.overlay.uuid", "user.overlay.protattr"}

// opaque reports whether a directory has nothing any more of what the project has there.
func opaque(path string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(path, noted[0], value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

func forget(path string) {
	size, err := unix.Llistxattr(path, nil)
	if err != nil || size == 0 {
		return
	}
	for _, name := range noted {
		_ = unix.Lremovexattr(path, name)
	}
}

func statusChanged(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}

// move renames a file or directory into a root, and replaces a file that is there. It is
// unsupported between file systems.
func move(from string, root *os.Root, to string) error {
	dir, err := root.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	err = unix.Renameat(unix.AT_FDCWD, from, int(dir.Fd()), filepath.Base(to))
	if errors.Is(err, unix.EXDEV) {
		return errors.ErrUnsupported
	}
	return err
}

// mountedBelow reports whether something is mounted in a directory, which an overlay
// would not show.
func mountedBelow(dir string) bool {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) > 4 && strings.HasPrefix(unescape.Replace(f[4]), strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
