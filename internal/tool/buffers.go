package tool

import (
	"context"
	"sync"

	"lathe"
)

// Files are files as an editor has them open, including what is not saved.
type Files interface {
	// ReadText returns the text of a file, by its absolute path. An error means that
	// the file has to be read from disk.
	ReadText(ctx context.Context, path string) (string, error)
	// WriteText replaces the text of a file.
	WriteText(ctx context.Context, path, text string) error
}

// Buffers knows which session's files are open in an editor. A session without an entry
// uses the disk. It is safe for concurrent use; a nil Buffers has no entries.
type Buffers struct {
	mu    sync.Mutex
	files map[lathe.SessionID]Files
}

// Take makes a session use the files. The newest entry counts; release removes this one.
func (b *Buffers) Take(id lathe.SessionID, f Files) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files == nil {
		b.files = map[lathe.SessionID]Files{}
	}
	b.files[id] = f
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.files[id] == f {
			delete(b.files, id)
		}
	}
}

// Of returns the files of a session, or nil.
func (b *Buffers) Of(id lathe.SessionID) Files {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.files[id]
}
