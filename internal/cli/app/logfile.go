package app

import (
	"errors"
	"os"
	"strings"
	"sync"
)

// maxLog is the size at which a new log is begun; the previous one is kept. A
// server that runs for months has one file.
const maxLog = 16 << 20

// logFile is a log that does not grow without end. Several processes may append to
// one; each begins a new one when it has written that much itself.
type logFile struct {
	path string

	mu   sync.Mutex
	f    *os.File // nil once closed
	size int64
}

func openLogFile(path string) (*logFile, error) {
	l := &logFile{path: path}
	return l, l.open()
}

func (l *logFile) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.f, l.size = f, 0
	if info, err := l.f.Stat(); err == nil {
		l.size = info.Size()
	}
	return nil
}

// Write appends one record.
func (l *logFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return 0, os.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(record)) > maxLog {
		old := strings.TrimSuffix(l.path, ".log") + ".1.log"
		if err := errors.Join(l.f.Close(), os.Rename(l.path, old), l.open()); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(record)
	l.size += int64(n)
	return n, err
}

// Close closes the file; what is written afterwards is lost.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}
