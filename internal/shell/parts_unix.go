//go:build unix

package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

const canTellParts = true

// readAvailable reads what is in a pipe, without waiting for its end: a process that
// is still running may hold it open.
func readAvailable(f *os.File, most int) []byte {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	buf, n := make([]byte, most), 0
	_ = conn.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), buf)
		return true
	})
	if err != nil {
		return nil
	}
	return buf[:n]
}
