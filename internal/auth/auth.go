// Package auth keeps credentials: a file of entries by provider, readable by
// its owner only, changed under a lock that other lathe processes honour.
//
// Entries of a kind this version does not know are kept as they are. A second
// file (OpenCode's) may serve as a fallback; it is read but never written.
package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe"
	"lathe/internal/filelock"
	"lathe/internal/jsonc"
)

// Limits of a credential file and of the wait for its lock.
const (
	maxFile = 4 << 20
)

// Entry is one stored credential: [API], [OAuth], [WellKnown] or [Unknown].
type Entry interface{ isEntry() }

type (
	// API is an API key. Metadata is what else a provider wants to know (an
	// account, a resource name).
	API struct {
		Key      Secret
		Metadata map[string]string
	}
	// OAuth is a pair of tokens. Expires is zero when the access token does not expire.
	OAuth struct {
		Refresh, Access Secret
		Expires         time.Time
		AccountID       string
		EnterpriseURL   string
	}
	// WellKnown is a token of an organisation whose address is the entry's id.
	// It is offered to configuration as the environment variable Key.
	WellKnown struct {
		Key   string
		Token Secret
	}
	// Unknown is an entry of another kind, kept but not understood.
	Unknown struct{ Type string }
)

func (API) isEntry()       {}
func (OAuth) isEntry()     {}
func (WellKnown) isEntry() {}
func (Unknown) isEntry()   {}

// removed marks an entry that exists in the fallback file and was removed here.
const removed = "removed"

// Options say where credentials are kept.
type Options struct {
	Path     string // lathe's own file
	Fallback string // read if Path has no entry; empty for none
	// Content replaces both files if it is not empty (LATHE_AUTH_CONTENT);
	// nothing can then be stored.
	Content string
}

// Store reads and changes credentials. It holds no state of its own: each call
// reads the files, so it is safe for concurrent use and sees other processes.
type Store struct{ opts Options }

// Open returns a store. It does not touch the disk.
func Open(opts Options) *Store { return &Store{opts} }

// All returns every entry by provider id. A file that is not there is empty; a
// broken one is an error.
func (s *Store) All() (map[string]Entry, error) {
	if s.opts.Content != "" {
		tree, err := parse("LATHE_AUTH_CONTENT", []byte(s.opts.Content))
		if err != nil {
			return nil, err
		}
		return collect(tree), nil
	}
	all := map[string]Entry{}
	for _, path := range []string{s.opts.Fallback, s.opts.Path} {
		tree, err := read(path)
		if err != nil {
			return nil, err
		}
		for id, e := range collect(tree) {
			if u, ok := e.(Unknown); ok && u.Type == removed {
				delete(all, id)
				continue
			}
			all[id] = e
		}
	}
	return all, nil
}

// Get returns the entry of a provider; nil when there is none.
func (s *Store) Get(id string) (Entry, error) {
	all, err := s.All()
	if err != nil {
		return nil, err
	}
	return all[ID(id)], nil
}

// Set stores the entry of a provider and waits, at most ten seconds, for other
// processes that are writing. Fields of the old entry that this version does
// not know survive when the kind is the same.
func (s *Store) Set(ctx context.Context, id string, e Entry) error {
	id = ID(id)
	if id == "" || len(id) > 2048 {
		return lathe.Errorf(lathe.CodeInvalid, "", "provider id %.40q cannot be stored", id)
	}
	fresh, err := encode(e)
	if err != nil {
		return err
	}
	return s.update(ctx, func(tree *jsonc.Value) {
		old := tree.Get(id)
		if text(old, "type") == text(fresh, "type") {
			for _, m := range old.Members {
				if fresh.Get(m.Key) == nil && !known(m.Key) {
					fresh.Set(m.Key, m.Value)
				}
			}
		}
		tree.Set(id, fresh)
	})
}

// Remove forgets the entry of a provider and reports whether there was one.
func (s *Store) Remove(ctx context.Context, id string) (bool, error) {
	id = ID(id)
	behind, err := read(s.opts.Fallback)
	if err != nil {
		behind = nil // not ours to repair, and the mark below is correct either way
	}
	found := false
	err = s.update(ctx, func(tree *jsonc.Value) {
		old := tree.Delete(id)
		inFallback := behind.Get(id) != nil
		found = old != nil && text(old, "type") != removed || old == nil && inFallback
		if inFallback {
			mark := jsonc.NewObject()
			mark.Set("type", jsonc.NewString(removed))
			tree.Set(id, mark)
		}
	})
	return found, err
}

// ID returns the form in which an id is stored: without trailing slashes.
func ID(id string) string { return strings.TrimRight(strings.TrimSpace(id), "/") }

// ValidID reports whether a provider can be named so: with small letters, digits and hyphens.
func ValidID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func (s *Store) update(ctx context.Context, change func(*jsonc.Value)) error {
	if s.opts.Content != "" {
		return lathe.Errorf(lathe.CodeInvalid, "unset LATHE_AUTH_CONTENT to store credentials in a file",
			"credentials come from the environment and cannot be changed")
	}
	path := s.opts.Path
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the directory of credentials: %w", err)
	}
	unlock, err := filelock.Lock(ctx, path+".lock", path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	tree, err := read(path)
	if err != nil {
		return err
	}
	if tree == nil {
		tree = jsonc.NewObject()
	}
	change(tree)
	return write(path, tree)
}

// read returns the tree of a file; nil when there is no file.
func read(path string) (*jsonc.Value, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, nil
	}
	return parse(path, data)
}

func parse(name string, data []byte) (*jsonc.Value, error) {
	fail := func(msg string) error {
		return lathe.Errorf(lathe.CodeAuth, "repair or remove it, then log in again", "credentials in %s %s", name, msg)
	}
	if len(data) > maxFile {
		return nil, fail("are larger than 4 MiB")
	}
	tree, err := jsonc.Parse(name, data)
	if se, ok := errors.AsType[*jsonc.SyntaxError](err); ok {
		return nil, fail(fmt.Sprintf("are not JSON at line %d, column %d", se.Pos.Line, se.Pos.Column))
	}
	if tree.Kind != jsonc.Object {
		return nil, fail("are not a JSON object")
	}
	return tree, nil
}

// write replaces the file in one step. A symbolic link stays and its target is
// replaced.
func write(path string, tree *jsonc.Value) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var out []byte
	out, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".auth-*") // has mode 0600
	if err != nil {
		return fmt.Errorf("write credentials: %w", err)
	}
	_, err = f.Write(append(out, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write credentials: %w", err)
	}
	if d, err := os.Open(dir); err == nil { // so that the rename survives a power cut
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
