package job

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lathe/internal/shell"
)

// watch reports changes in a directory, as long as a process lives.
type watch struct {
	file *os.File
	stop chan struct{}
	wg   sync.WaitGroup
	free func() bool
}

func watchDir(ctx context.Context, dir string, while shell.Handle) (*watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	w := &watch{file: os.NewFile(uintptr(fd), "inotify"), stop: make(chan struct{})}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_CREATE|unix.IN_DELETE); err != nil {
		w.file.Close()
		return nil, os.NewSyscallError("inotify_add_watch", err)
	}
	w.free = context.AfterFunc(ctx, w.end)
	w.wg.Go(func() {
		if while.Wait(w.stop) {
			w.end()
		}
	})
	return w, nil
}

// end makes next return false.
func (w *watch) end() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) }

// next waits for a change; false means that no more will come.
func (w *watch) next() bool {
	var buf [16 << 10]byte
	_, err := w.file.Read(buf[:])
	return err == nil
}

func (w *watch) close() {
	w.free()
	close(w.stop)
	w.wg.Wait()
	w.file.Close()
}

// CanKeep says whether a job can outlive lathe on this system.
const CanKeep = true
