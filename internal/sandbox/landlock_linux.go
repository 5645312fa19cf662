//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock, by what they are needed for.
const (
	rightsOfFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	rightsOfDirs  = rightsOfFiles | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	readFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readDirs  = readFiles | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// minLandlock is the version that knows truncation: below it a file that may not be
// written can be emptied.
const minLandlock = 3

// landlockABI returns the version of Landlock, 0 if there is none.
var landlockABI = sync.OnceValue(func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
})

// ruleset is a set of Landlock's rules. Close it.
type ruleset struct{ fd int }

// newRuleset makes a set that refuses all changes and, with alone (where no namespace
// does it), all reading and signals to processes outside. Commands of one directory share
// a pid namespace: one may end what another has started.
func newRuleset(alone bool) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rightsOfDirs}
	if alone {
		attr.Handled_access_fs |= readDirs
	}
	if landlockABI() >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		if alone {
			attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
		}
	}
	size := uintptr(8) // of what the oldest kernels know
	if landlockABI() >= 6 {
		size = 24
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("make Landlock rules: %w", errno)
	}
	unix.CloseOnExec(int(fd))
	return &ruleset{fd: int(fd)}, nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) }

// allow lets a file, or a directory with all it holds, be changed or read. Missing
// paths are ignored.
func (r *ruleset) allow(path string, dirRights, fileRights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil
	}
	rights := dirRights
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights = fileRights
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("add Landlock rule for %s: %w", path, errno)
	}
	return nil
}

func (r *ruleset) write(path string) error { return r.allow(path, rightsOfDirs, rightsOfFiles) }

// read lets all below a directory be read, except for what is hidden.
func (r *ruleset) read(dir string, hidden []string) error {
	inside := false
	for _, h := range hidden {
		if h == dir {
			return nil
		}
		inside = inside || below(h, dir)
	}
	if !inside {
		return r.allow(dir, readDirs, readFiles)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		if entry.Type()&os.ModeSymlink != 0 {
			continue // its target is where the rule has to be
		}
		if err := r.read(filepath.Join(dir, entry.Name()), hidden); err != nil {
			return err
		}
	}
	return nil
}
