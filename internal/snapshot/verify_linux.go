package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// settled is how long ago a file must have been touched for its times to show
// whether it was touched again: longer than a tick of the kernel's clock.
const settled = 100 * time.Millisecond

// verifyIndex reads the files of an index that was made from a tree, and
// records what lstat says about those that match the tree. This is what git
// update-index --refresh does, but on all processors. Files without a record
// count as changed.
func (g *gitDir) verifyIndex(ctx context.Context) error {
	data, err := os.ReadFile(g.indexFile())
	if err != nil {
		return err
	}
	offsets, err := entryOffsets(data)
	if err != nil {
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			v := verifier{top: g.top, buf: make([]byte, 0, 64<<10)}
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if int(i) >= len(offsets) {
					return
				}
				v.entry(data[offsets[i]:])
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	copy(data[len(data)-sha1.Size:], sum[:])
	return g.replaceFile(g.indexFile(), data, 0o600)
}

// entryOffsets returns where the entries of a well-formed index start.
func entryOffsets(data []byte) ([]int, error) {
	if _, _, err := parseRecords(data); err != nil {
		return nil, err
	}
	offsets := make([]int, binary.BigEndian.Uint32(data[8:]))
	at := 12
	for i := range offsets {
		offsets[i] = at
		name := at + 62
		if data[at+60]&0x40 != 0 {
			name += 2
		}
		at += (name - at + bytes.IndexByte(data[name:], 0) + 8) &^ 7
	}
	return offsets, nil
}

// verifier compares files with entries for one goroutine.
type verifier struct {
	top string
	buf []byte
}

// entry writes what lstat says of a file into its entry, if the file is what the
// entry says.
func (v *verifier) entry(b []byte) {
	rec := recordOf(b, "")
	if rec.mode != modeFile && rec.mode != modeExec {
		return
	}
	name := 62
	if b[60]&0x40 != 0 {
		name += 2
	}
	full := filepath.Join(v.top, string(b[name:name+bytes.IndexByte(b[name:], 0)]))
	fd, err := unix.Open(full, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || modeOf(st.Mode&unix.S_IFMT, st.Mode) != rec.mode || st.Size > MaxFile || time.Since(time.Unix(st.Mtim.Unix())) < settled {
		return
	}
	if v.hash(fd, st.Size) != rec.oid {
		return
	}
	now := statOf(&st)
	for i, n := range []uint32{now.ctime, now.ctimeNS, now.mtime, now.mtimeNS, uint32(st.Dev), now.ino, rec.mode, now.uid, now.gid, now.size} {
		binary.BigEndian.PutUint32(b[4*i:], n)
	}
}

// hash returns the name that git gives the content of an open file; a zero name
// if it cannot be read, or is not as long as it was.
func (v *verifier) hash(fd int, size int64) (id oid) {
	h := sha1.New()
	head := strconv.AppendInt(append(v.buf[:0], "blob "...), size, 10)
	h.Write(append(head, 0))
	buf := v.buf[:cap(v.buf)]
	for size >= 0 {
		n, err := unix.Read(fd, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return oid{}
		case n == 0 && size == 0:
			return oid(h.Sum(nil))
		case n == 0:
			return oid{}
		}
		h.Write(buf[:n])
		size -= int64(n)
	}
	return oid{}
}

// statOf is what git remembers of a file.
func statOf(st *unix.Stat_t) stat {
	return stat{
		ctime: uint32(st.Ctim.Sec), ctimeNS: uint32(st.Ctim.Nsec), mtime: uint32(st.Mtim.Sec), mtimeNS: uint32(st.Mtim.Nsec),
		ino: uint32(st.Ino), uid: st.Uid, gid: st.Gid, size: uint32(st.Size),
	}
}
