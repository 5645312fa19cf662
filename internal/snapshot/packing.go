package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// packAfter is the number of loose objects above which they are packed.
	packAfter = 6_000
	// packLook is the number of written objects after which a store in use
	// checks whether there are too many.
	packLook = 1_000
	// packAtClose limits packing when somebody waits for the end. What is left
	// then is done the next time.
	packAtClose = 10 * time.Second
)

// packing is a run of git that packs while the store is in use.
type packing struct {
	stop context.CancelFunc
	done chan struct{}
}

// packSoon starts packing when enough was written. The caller holds the lock.
func (s *Store) packSoon() {
	if s.packing != nil || s.writes-s.looked < packLook {
		return
	}
	s.looked = s.writes
	if !s.crowded() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	p := &packing{stop: cancel, done: make(chan struct{})}
	s.packing = p
	go func() {
		defer close(p.done)
		defer cancel()
		err := s.packAll(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.packing = nil
		if err == nil {
			err = s.limit()
		}
		if err != nil && ctx.Err() == nil {
			s.log.Warn("snapshots could not be packed", "err", err)
		}
	}()
}

// endPacking stops the packing in the background and waits for its end. The
// caller does not hold the lock and has closed the store, so no new packing
// begins.
func (s *Store) endPacking() {
	s.mu.Lock()
	p := s.packing
	s.mu.Unlock()
	if p != nil {
		p.stop()
		<-p.done
	}
}

// pack puts loose objects into one file when there are many, and keeps the
// store within its quota.
func (s *Store) pack(ctx context.Context) error {
	if s.writes == 0 || !s.crowded() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, packAtClose)
	defer cancel()
	if err := s.packAll(ctx); err != nil {
		return err
	}
	return s.limit()
}

// crowded guesses from one of the 256 directories whether there are many loose objects.
func (g *gitDir) crowded() bool {
	sample, err := os.ReadDir(filepath.Join(g.dir, "objects", "17"))
	return err == nil && len(sample)*256 >= packAfter
}

// packAll puts all loose objects into one file. It needs no lock: what is written
// in the meantime stays loose, and git looks for what has moved into a pack.
func (g *gitDir) packAll(ctx context.Context) error {
	var in bytes.Buffer
	g.eachLoose(func(path, id string, _ fs.FileInfo) {
		if id == "" {
			removeStale(path)
			return
		}
		fmt.Fprintln(&in, id)
	})
	if _, err := g.run(ctx, in.Bytes(), "pack-objects", "-q", "--non-empty", "--threads=1", filepath.Join(g.dir, "objects", "pack", "pack")); err != nil {
		return fmt.Errorf("pack snapshots: %w", err)
	}
	if _, err := g.run(ctx, nil, "prune-packed", "-q"); err != nil {
		return fmt.Errorf("pack snapshots: %w", err)
	}
	return nil
}
