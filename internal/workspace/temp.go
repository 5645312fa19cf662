package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A file is replaced by one written in the same directory under such a name,
// which says which process writes it. The writer holds a lock on it in the
// meantime, which ends with the process.
const (
	tempPrefix = ".lathe-"
	tempSuffix = ".tmp"
	tempRandom = 16 // random letters in the name
)

const (
	// unlockedFor is how old an unlocked temporary file is when it has no writer,
	// whatever process has the number in its name: a writer locks it at once.
	unlockedFor = 10 * time.Second
	// abandonedAfter is the age at which a temporary file counts as abandoned where locks say nothing.
	abandonedAfter = time.Hour
)

// TempName returns a new name for a file that is to replace another one in the
// same directory. Call [HoldTemp] once it is open.
func TempName() string {
	return tempPrefix + strconv.Itoa(os.Getpid()) + "-" + rand.Text()[:tempRandom] + tempSuffix
}

// HoldTemp marks an open temporary file as being written, until it is closed.
func HoldTemp(f *os.File) { _, _ = tryLock(f) }

// IsTemp reports whether a file's name is one that files are replaced under, so
// that it belongs to nobody's work.
func IsTemp(name string) bool {
	_, ok := tempWriter(name)
	return ok
}

// tempWriter returns the process number in a temporary file's name, 0 for a name
// without one, as earlier versions made them.
func tempWriter(name string) (pid int, ok bool) {
	name, begins := strings.CutPrefix(filepath.Base(name), tempPrefix)
	name, ends := strings.CutSuffix(name, tempSuffix)
	if !begins || !ends {
		return 0, false
	}
	if number, chance, found := strings.Cut(name, "-"); found {
		n, err := strconv.Atoi(number)
		if err != nil || n <= 0 {
			return 0, false
		}
		pid, name = n, chance
	}
	if len(name) != tempRandom || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return 0, false
	}
	return pid, true
}

// SweepTemps removes from a directory what was left by processes that died
// while replacing a file, and returns the number. It may be called anywhere and
// at any time: what is still being written stays.
func SweepTemps(dir string) int {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return 0
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // what could be read will do
	swept := 0
	for _, name := range names {
		if IsTemp(name) && RemoveStaleTemp(filepath.Join(dir, name)) {
			swept++
		}
	}
	return swept
}

// RemoveStaleTemp removes a temporary file if its writer is gone, and reports
// whether it did. A file of another name stays.
func RemoveStaleTemp(path string) bool {
	pid, ok := tempWriter(path)
	if !ok {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !staleTemp(path, info, pid) {
		return false
	}
	return os.Remove(path) == nil
}

func staleTemp(path string, info fs.FileInfo, pid int) bool {
	age := time.Since(info.ModTime())
	if info.Mode().IsRegular() {
		if f, err := os.OpenFile(path, os.O_RDONLY|openFlags|noFollow, 0); err == nil {
			defer f.Close()
			switch free, known := tryLock(f); {
			case known && !free:
				return false
			case known && age > unlockedFor && pid != os.Getpid():
				return true
			}
		}
	}
	if pid == 0 {
		return age > abandonedAfter
	}
	return !Lives(pid)
}

// Lives reports whether there is a process with the number; one that cannot be
// inspected counts as living.
func Lives(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
