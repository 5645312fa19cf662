package snapshot

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// crowd writes so many objects that the store takes itself to be full of loose
// ones: the number is guessed from one directory, so only that is filled. The last
// body is returned.
func crowd(t *testing.T, s *Store) (last string) {
	t.Helper()
	for i, written := 0, 0; written <= packAfter/256; i++ {
		body := fmt.Sprintf("blob %d", i)
		if sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(body), body)); sum[0] != 0x17 {
			continue
		}
		if _, err := s.writeObject("blob", []byte(body)); err != nil {
			t.Fatal(err)
		}
		written++
		last = body
	}
	return last
}

func loose(s *Store) (n int) {
	s.eachLoose(func(string, string, os.FileInfo) { n++ })
	return n
}

// A store that stays open for long packs what it wrote, too, and goes on meanwhile.
func TestPackedWhileInUse(t *testing.T) {
	root := testRoot(t, true)
	s := openStore(t, root, t.TempDir())
	track(t, s)
	last := crowd(t, s)
	s.mu.Lock()
	s.writes = s.looked + packLook
	s.mu.Unlock()
	write(t, root.Dir, "new.txt", "new", 0o644)
	before := track(t, s)
	s.mu.Lock()
	p := s.packing
	s.mu.Unlock()
	if p == nil {
		t.Fatal("nothing packs")
	}
	write(t, root.Dir, "meanwhile.txt", "meanwhile", 0o644)
	after := track(t, s)
	<-p.done
	if n := loose(s); n > 8 { // what was written meanwhile
		t.Errorf("%d objects are still loose", n)
	}
	id := hashBlob(last)
	if got, err := s.blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || string(got[id]) != last {
		t.Errorf("a packed object reads %q, %v", got[id], err)
	}
	if before == after {
		t.Error("the change meanwhile is not seen")
	}
	write(t, root.Dir, "later.txt", "later", 0o644)
	if track(t, s) == after {
		t.Error("a change after packing is not seen")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Closing breaks off what packs, and leaves the store whole.
func TestCloseWhilePacking(t *testing.T) {
	root, data := testRoot(t, true), t.TempDir()
	s := openStore(t, root, data)
	track(t, s)
	last := crowd(t, s)
	s.mu.Lock()
	s.writes = s.looked + packLook
	s.packSoon()
	began := s.packing != nil
	s.writes = 0 // closing itself packs nothing
	s.mu.Unlock()
	if !began {
		t.Fatal("nothing packs")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.packing != nil {
		t.Error("it still packs")
	}
	s = openStore(t, root, data)
	id := hashBlob(last)
	if got, err := s.blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || string(got[id]) != last {
		t.Errorf("an object reads %q, %v", got[id], err)
	}
}

// Git removes empty folders of objects as it prunes, also one just made for an
// object that is being written.
func TestWriteWhilePruning(t *testing.T) {
	s := openStore(t, testRoot(t, true), t.TempDir())
	track(t, s) // makes the store
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := s.run(t.Context(), nil, "prune-packed", "-q"); err != nil {
				done <- err
				return
			}
		}
	}()
	for i := range 3000 {
		if i%4 == 0 { // most folders are missing most of the time
			if err := os.RemoveAll(filepath.Join(s.dir, "objects", fmt.Sprintf("%02x", i/4%256))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.writeObject("blob", fmt.Appendf(nil, "blob %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
