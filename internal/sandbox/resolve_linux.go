//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many links the kernel follows in one path.
const maxLinks = 40

// realPath resolves the links of a path; empty if it does not exist.
func realPath(path string) string {
	switch straight(path) {
	case nil: // as mostly: there are no links
		return filepath.Clean(path)
	case unix.ENOENT:
		return ""
	}
	return followed(path)
}

// straight reports whether a path exists and has no links, in which case what it says is
// where it leads.
func straight(path string) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// followed asks the kernel where a path leads.
func followed(path string) string {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var buf [unix.PathMax]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// leads resolves an absolute path as another process does, whose own directory of /proc
// is not lathe's. The last part need not exist, and is followed if it is a link only with
// follow. It is empty if the path leads nowhere, or to what is no file.
func leads(pid uint32, path string, follow bool) string {
	path = strings.TrimRight(path, "/")
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "/"
	}
	dir, name := path[:at+1], path[at+1:]
	if strings.Contains(path, "/proc") { // where the process's numbers are others
		return walk(pid, path, follow)
	}
	if follow || name == "." || name == ".." {
		if err := straight(path); err == nil {
			return filepath.Clean(path)
		} else if err != unix.ENOENT {
			return walk(pid, path, follow)
		}
	}
	switch straight(dir) {
	case nil:
		return filepath.Join(dir, name)
	case unix.ENOENT:
		return ""
	}
	return walk(pid, path, follow)
}

// walk is leads for a path with links, one part after the other.
func walk(pid uint32, path string, follow bool) string {
	self := "/proc/" + strconv.Itoa(int(pid))
	proc := self + "/root/proc" // as the process sees it
	here, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		at := filepath.Join(here, name)
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			here = above(here, self, proc)
			continue
		case at == "/proc":
			here = proc
			continue
		case here == proc && (name == "self" || name == "thread-self"):
			here = self
			continue
		case len(rest) == 0 && !follow:
			return at
		}
		info, err := os.Lstat(at)
		switch {
		case os.IsNotExist(err) && len(rest) == 0:
			return at
		case err != nil:
			return ""
		case info.Mode()&os.ModeSymlink == 0:
			here = at
			continue
		}
		if links++; links > maxLinks {
			return ""
		}
		if below(at, "/proc") { // not a path, but the file itself
			if here = followed(at); !filepath.IsAbs(here) {
				return ""
			}
			continue
		}
		to, err := os.Readlink(at)
		if err != nil {
			return ""
		}
		if filepath.IsAbs(to) {
			here = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return here
}

// above is the directory above one that walk has reached.
func above(here, self, proc string) string {
	switch here {
	case self:
		return proc
	case proc:
		return "/"
	}
	return filepath.Dir(here)
}
