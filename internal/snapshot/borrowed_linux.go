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

// stampFile records the state of the project's objects when the store's index
// was last made or checked.
const stampFile = "borrowed"

// errGone means that the index names objects that the project no longer has.
var errGone = errors.New("the project dropped objects that the snapshot index names")

// stamp changes whenever the project packs, fetches or prunes objects, or gets
// new ones. It is empty if nothing is borrowed.
func (g *gitDir) stamp() string {
	if g.common == "" {
		return ""
	}
	objects := filepath.Join(g.common, "objects")
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

// noteStamp records that everything the index names is there.
func (g *gitDir) noteStamp(stamp string) {
	if stamp == "" {
		return
	}
	if err := g.replaceFile(filepath.Join(g.dir, stampFile), []byte(stamp), 0o600); err != nil {
		g.log.Warn("the snapshot store could not note what it borrows", "err", err)
	}
}

// checkBorrowed makes sure that the objects the records name still exist, if
// the project's objects changed since the last check.
func (g *gitDir) checkBorrowed(ctx context.Context, records []record) error {
	now := g.stamp()
	was, err := workspace.ReadFile(filepath.Join(g.dir, stampFile), 1<<10)
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
	out, err := g.run(ctx, in.Bytes(), "cat-file", "--buffer", "--batch-check=%(objecttype)")
	if err != nil {
		return err
	}
	if bytes.Contains(out, []byte(" missing\n")) {
		return errGone
	}
	g.noteStamp(now)
	return nil
}
