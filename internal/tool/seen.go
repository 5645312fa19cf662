package tool

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
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
	// Off turns the check off; records are still kept.
	Off bool

	mu    sync.Mutex
	files map[lathe.SessionID]map[string]mark
}

// mark is a file as the session knew it. part is set when only some of it was shown.
type mark struct {
	modified time.Time
	size     int64
	sum      [sha256.Size]byte
	hashed   bool
	lines    LineSums
	part     bool
}

// Record notes that the session now knows the file. Data is the whole content
// as read or written, or nil if it is too large to be kept in memory; then info
// counts.
func (s *Seen) Record(id lathe.SessionID, path string, info fs.FileInfo, data []byte) {
	m := mark{size: int64(len(data))}
	if info != nil {
		m.modified, m.size = info.ModTime(), info.Size()
	}
	if data != nil && len(data) <= maxHash {
		m.sum, m.size, m.hashed, m.lines = sha256.Sum256(data), int64(len(data)), true, Lines(data)
	}
	s.put(id, path, m)
}

// Glimpse notes that the session was shown some lines of the file in its current
// state. That is enough to replace all occurrences of a text, but not to write the
// whole file.
func (s *Seen) Glimpse(id lathe.SessionID, path string, info fs.FileInfo) {
	s.mu.Lock()
	old, known := s.files[id][path]
	s.mu.Unlock()
	if known && !old.part && old.sameInfo(info) {
		return // it already knows more
	}
	s.put(id, path, mark{modified: info.ModTime(), size: info.Size(), part: true})
}

func (s *Seen) put(id lathe.SessionID, path string, m mark) {
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

// CompareAny is [Seen.Compare] for a change that only requires some lines of the file
// to have been shown.
func (s *Seen) CompareAny(id lathe.SessionID, path string, info fs.FileInfo, data []byte) error {
	if s.Off {
		return nil
	}
	s.mu.Lock()
	m, ok := s.files[id][path]
	s.mu.Unlock()
	if ok && m.part && m.sameInfo(info) {
		return nil
	}
	return s.compare(id, path, info, data)
}

func (s *Seen) compare(id lathe.SessionID, path string, info fs.FileInfo, data []byte) error {
	s.mu.Lock()
	m, ok := s.files[id][path]
	s.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("the file %s has not been read in this session: use the read tool on it first, then change it", path)
	case m.part:
		return fmt.Errorf("only some lines of %s were shown in this session: use the read tool on it first, then change it", path)
	case m.same(info, data):
		return nil
	}
	return fmt.Errorf("the file %s changed after it was last read (it was as of %s, now it is as of %s): "+
		"read it again before changing it", path, stamp(m.modified), stamp(info.ModTime()))
}

// same reports whether the file is as the session knew it.
func (m mark) same(info fs.FileInfo, data []byte) bool {
	if m.hashed && data != nil {
		return sha256.Sum256(data) == m.sum
	}
	return m.sameInfo(info)
}

func (m mark) sameInfo(info fs.FileInfo) bool {
	return info != nil && m.size == info.Size() && m.modified.Equal(info.ModTime())
}

// Since says what changed in a file since the session read or wrote it; info and
// data are its present state.
func (s *Seen) Since(id lathe.SessionID, path string, info fs.FileInfo, data []byte) Changed {
	s.mu.Lock()
	m, ok := s.files[id][path]
	s.mu.Unlock()
	if !ok || m.part || m.same(info, data) {
		return Changed{Known: ok && !m.part}
	}
	c := m.lines.Compare(Lines(data))
	c.Known, c.Changed = true, true
	return c
}

// Same reports whether a file is in the state that the session knows.
func (s *Seen) Same(id lathe.SessionID, path string, info fs.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.files[id][path]
	return ok && m.sameInfo(info)
}

// Current lists the files that the session knows as they are on disk now.
func (s *Seen) Current(id lathe.SessionID) []string {
	s.mu.Lock()
	known := maps.Clone(s.files[id])
	s.mu.Unlock()
	var out []string
	for path, m := range known {
		if info, err := os.Stat(path); err == nil && m.sameInfo(info) {
			out = append(out, path)
		}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Forget drops what is known about a session.
func (s *Seen) Forget(id lathe.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.files, id)
}
