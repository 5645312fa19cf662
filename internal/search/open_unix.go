//go:build unix

package search

import (
	"errors"
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// regularFile is an open file without what [os.File] adds, an entry in the
// poller and a finalizer: they cost as much as reading a small file.
type regularFile struct {
	fd   int
	size int64
	mod  time.Time
}

// openRegular opens a file without blocking, and refuses pipes, devices and
// directories. The caller closes it.
func openRegular(name string) (*regularFile, error) {
	fd, err := again(func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		unix.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &regularFile{fd, st.Size, time.Unix(st.Mtim.Unix())}, nil
}

// Read is [io.Reader]'s Read. It never waits: data that is not there yet is an
// error.
func (f *regularFile) Read(buf []byte) (int, error) {
	n, err := again(func() (int, error) { return unix.Read(f.fd, buf) })
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(buf) > 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *regularFile) Close() error { return unix.Close(f.fd) }

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
