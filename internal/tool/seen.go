package tool

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"lathe"
)

// maxHash is the size up to which a file is compared by content. Larger files
// are compared by size and modification time.
const maxHash = 16 << 20

// Seen remembers which files a session has read or written and what they held
// then, so that a tool never overwrites what the model has not seen. The zero
// value is ready; it is safe for concurrent use.
type Seen struct {
	// Off switches the check off; records are still kept.
	Off bool

	mu    sync.Mutex
	files map[lathe.SessionID]map[string]mark
}

type mark struct {
	modified time.Time
	size     int64
	sum      [sha256.Size]byte
	hashed   bool
}

// Record notes that the session now knows the file. Data is the whole content
// as it was read or written, or nil when it is larger than what is kept in
// memory; then info counts.
func (s *Seen) Record(id lathe.SessionID, path string, info fs.FileInfo, data []byte) {
	m := mark{size: int64(len(data))}
	if info != nil {
		m.modified, m.size = info.ModTime(), info.Size()
	}
	if data != nil && len(data) <= maxHash {
		m.sum, m.size, m.hashed = sha256.Sum256(data), int64(len(data)), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = make(map[lathe.SessionID]map[string]mark)
	}
	if s.files[id] == nil {
		s.files[id] = make(map[string]mark)
	}
	s.files[id][path] = m
}

// Known reports whether the session has read or written the file.
func (s *Seen) Known(id lathe.SessionID, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.files[id][path]
	return ok
}

// Check reports, in words for the model, that the session has not read the file
// or that it changed since. A file that was touched but holds the same bytes has
// not changed.
func (s *Seen) Check(id lathe.SessionID, path string) error {
	if s.Off {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if info.Size() > maxHash {
		return s.compare(id, path, info, nil)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	return s.compare(id, path, info, data)
}

// Compare is [Seen.Check] for a caller that holds the file's present content.
func (s *Seen) Compare(id lathe.SessionID, path string, info fs.FileInfo, data []byte) error {
	if s.Off {
		return nil
	}
	return s.compare(id, path, info, data)
}

func (s *Seen) compare(id lathe.SessionID, path string, info fs.FileInfo, data []byte) error {
	s.mu.Lock()
	m, ok := s.files[id][path]
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("the file %s has not been read in this session: use the read tool on it first, then change it", path)
	}
	if m.hashed && data != nil {
		if sha256.Sum256(data) == m.sum {
			return nil
		}
	} else if m.size == info.Size() && m.modified.Equal(info.ModTime()) {
		return nil
	}
	return fmt.Errorf("the file %s changed after it was last read (it was as of %s, now it is as of %s): "+
		"read it again before changing it", path, stamp(m.modified), stamp(info.ModTime()))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Forget drops what is known about a session.
func (s *Seen) Forget(id lathe.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, id)
}
