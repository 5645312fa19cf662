package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"lathe/internal/workspace"
)

// stampFile says which objects of the project the store's index was last made or
// checked with.
const stampFile = "borrowed"

// errGone means that the index names objects that the project no longer has.
var errGone = errors.New("the project dropped objects that the snapshot index names")

// stamp changes when the project packs, fetches or prunes objects, or gets other
// ones. It is empty where nothing is borrowed.
func (s *Store) stamp() string {
	if s.common == "" {
		return ""
	}
	objects := filepath.Join(s.common, "objects")
	info, err := os.Stat(objects)
	if err != nil {
		return "none"
	}
	var inode uint64
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(st.Ino)
	}
	packs := ""
	if info, err := os.Stat(filepath.Join(objects, "pack")); err == nil {
		packs = strconv.FormatInt(info.ModTime().UnixNano(), 10)
	}
	return fmt.Sprintf("%d %s\n", inode, packs)
}

// noteStamp says that what the index names is there.
func (s *Store) noteStamp(stamp string) {
	if stamp == "" {
		return
	}
	if err := s.replaceFile(filepath.Join(s.dir, stampFile), []byte(stamp), 0o600); err != nil {
		s.log.Warn("the snapshot store could not note what it borrows", "err", err)
	}
}

// checkBorrowed makes sure that what the records name is still there, if the
// project's objects changed since that was known.
func (s *Store) checkBorrowed(ctx context.Context, records []record) error {
	now := s.stamp()
	was, err := workspace.ReadFile(filepath.Join(s.dir, stampFile), 1<<10)
	if now == "" || err == nil && string(was) == now {
		return nil
	}
	var in bytes.Buffer
	for _, r := range records {
		if r.mode != modeRepo {
			in.WriteString(r.oid.String())
			in.WriteByte('\n')
		}
	}
	out, err := s.run(ctx, in.Bytes(), "cat-file", "--buffer", "--batch-check=%(objecttype)")
	if err != nil {
		return err
	}
	if bytes.Contains(out, []byte(" missing\n")) {
		return errGone
	}
	s.noteStamp(now)
	return nil
}
