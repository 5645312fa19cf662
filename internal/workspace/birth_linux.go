package workspace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// birth distinguishes a directory from a later one at the same path.
func birth(dir string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d.%d", st.Dev_major<<20|st.Dev_minor, st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
