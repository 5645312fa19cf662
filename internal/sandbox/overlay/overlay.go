// Package overlay holds back what a command changes in some directories until a person
// has seen it: the changes are listed, and then made or dropped.
package overlay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"lathe/internal/sandbox"
)

// Held are the changes of one command. Close it.
type Held struct {
	dir   string // of this process's own, which holds the rest
	parts []sandbox.Overlay
	since os.FileInfo // made when the command began
}

// New makes what the changes below some directories, which have no links in their
// paths, are kept in: a directory below dir. It also removes what lathe left there when
// it was killed.
func New(dir string, roots []string) (*Held, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("hold changes back: %w", err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("hold changes back: %w", err)
	}
	sweep(dir)
	own, err := os.MkdirTemp(dir, strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("hold changes back: %w", err)
	}
	h := &Held{dir: own}
	for n, root := range roots {
		if within(root, dir) || mountedBelow(root) {
			err = errors.Join(err, fmt.Errorf("%w: %s has other file systems, or lathe's data, in it", sandbox.ErrOverlay, root))
		}
		o := sandbox.Overlay{Dir: root, Upper: filepath.Join(own, strconv.Itoa(n), "upper"), Work: filepath.Join(own, strconv.Itoa(n), "work")}
		err = errors.Join(err, os.MkdirAll(o.Upper, 0o700), os.MkdirAll(o.Work, 0o700))
		if info, bad := os.Stat(root); bad == nil {
			err = errors.Join(err, os.Chmod(o.Upper, info.Mode().Perm())) // it is what the command sees of root
		}
		h.parts = append(h.parts, o)
	}
	if h.since, err = began(own, err); err != nil {
		_ = h.Close()
		return nil, fmt.Errorf("hold changes back: %w", err)
	}
	return h, nil
}

func began(dir string, err error) (os.FileInfo, error) {
	if err != nil {
		return nil, err
	}
	return os.Lstat(dir)
}

// Overlays are what the command is to be started with.
func (h *Held) Overlays() []sandbox.Overlay { return slices.Clone(h.parts) }

// Close drops what was held back. The command has ended.
func (h *Held) Close() error {
	for _, o := range h.parts { // a directory of the file system's own that nobody may enter
		_ = os.Chmod(filepath.Join(o.Work, "work"), 0o700)
	}
	return os.RemoveAll(h.dir)
}

// sweep removes what processes left that are gone.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		pid, _, _ := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(pid); err == nil && n > 0 && gone(n) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
