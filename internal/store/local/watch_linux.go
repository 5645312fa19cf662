package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Watch calls changed when files of a directory whose names begin with a prefix may have been
// written, by any process, until the context ends. Several writes within the pause are told
// once, after it. It wakes nobody while nothing is written.
func Watch(ctx context.Context, dir, prefix string, pause time.Duration, changed func()) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return os.NewSyscallError("inotify_init1", err)
	}
	file := os.NewFile(uintptr(fd), "inotify")
	defer file.Close()
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		return &os.PathError{Op: "watch", Path: filepath.Clean(dir), Err: err}
	}
	defer context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Unix(1, 0)) })()
	for buf := make([]byte, 16<<10); ; {
		n, err := file.Read(buf)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return &os.PathError{Op: "watch", Path: filepath.Clean(dir), Err: err}
		case !strings.Contains(string(buf[:n]), prefix): // names stand in the events as they are
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		changed()
	}
}
