//go:build unix

package shell

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func (o pipes) terminal() (e ends, err error) {
	master, slave, err := pty.Open()
	if err != nil {
		return e, err
	}
	e = ends{child: [3]*os.File{slave, slave, slave}}
	if e.out, err = pollable(master); err == nil && o.Rows > 0 && o.Cols > 0 {
		err = setSize(e.out, o.Rows, o.Cols)
	}
	if e.in = e.out; err != nil {
		e.closeChild()
		e.closeOwn()
	}
	return e, err
}

// pollable replaces a file by one whose reads and writes take no thread and end at a
// deadline. Opening a terminal makes its descriptor blocking.
func pollable(f *os.File) (*os.File, error) {
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func setSize(f *os.File, rows, cols uint16) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	if failed != nil {
		return failed
	}
	return err
}
