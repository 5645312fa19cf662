package sqlite

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/store"
)

// zipFrom is the size from which a document is compressed in its row. The first
// byte tells the forms apart: what starts with the mark itself is compressed too.
const (
	zipFrom = 8 << 10
	zipMark = 0x01
	// maxUnzip bounds what a damaged row or blob may grow to.
	maxUnzip = 1 << 30
	// maxRoom bounds the room that is made because a row says how large its blob is.
	maxRoom = 64 << 20
)

// pack returns what to store for a document: text, or compressed bytes.
func (s *DB) pack(doc []byte) any {
	if len(doc) < zipFrom && !bytes.HasPrefix(doc, []byte{zipMark}) {
		return string(doc)
	}
	var b bytes.Buffer
	b.WriteByte(zipMark)
	w := s.zips.Get().(*flate.Writer)
	defer s.zips.Put(w)
	w.Reset(&b)
	w.Write(doc) // a buffer does not fail
	w.Close()
	return b.Bytes()
}

func unpack(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != zipMark {
		return data, nil
	}
	r := flate.NewReader(bytes.NewReader(data[1:]))
	out, err := io.ReadAll(io.LimitReader(r, maxUnzip))
	if err != nil {
		return nil, fmt.Errorf("decompress row: %w", err)
	}
	return out, nil
}

func hashOf(s string) string {
	h := sha256.New()
	io.Copy(h, onlyReader{strings.NewReader(s)}) // by pieces; a hash does not fail
	return hex.EncodeToString(h.Sum(nil))
}

// onlyReader hides that a strings.Reader writes itself, in one piece that is a copy.
type onlyReader struct{ io.Reader }

func (s *DB) blobDir() string { return filepath.Join(s.dir, "blob") }

func (s *DB) blobPath(hash string) string {
	return filepath.Join(s.blobDir(), hash[:2], hash[2:]+blobExt)
}

const blobExt = ".gz"

// blobName returns the hash that a file below the directory of blobs is named by.
func blobName(dir, path string) string {
	rel, _ := filepath.Rel(dir, path)
	return strings.TrimSuffix(strings.ReplaceAll(filepath.ToSlash(rel), "/", ""), blobExt)
}

// saveBlobs writes the bodies that left a document and returns the column that
// names them. It runs inside the write transaction, as Sweep does: a blob that is
// found here cannot be swept before the row that needs it is committed.
func (s *DB) saveBlobs(blobs map[string]string) (sql.NullString, error) {
	if len(blobs) == 0 {
		return sql.NullString{}, nil
	}
	var names []string
	for h, body := range blobs {
		if err := s.saveBlob(h, body); err != nil {
			return sql.NullString{}, fmt.Errorf("write blob %s: %w", h, err)
		}
		names = append(names, h)
	}
	slices.Sort(names)
	return sql.NullString{String: strings.Join(names, " "), Valid: true}, nil
}

func (s *DB) saveBlob(hash, body string) error {
	path := s.blobPath(hash)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.blobDir(), "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	if err := errors.Join(s.writeZip(f, body), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (s *DB) writeZip(w io.Writer, body string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, onlyReader{strings.NewReader(body)}); err != nil {
		return err
	}
	return z.Close()
}

// syncDir makes a rename durable, where directories can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	d.Sync() // not all filesystems allow it
	return nil
}

func checkRef(ref blobRef) error {
	if len(ref.Hash) != sha256.Size*2 || strings.ContainsAny(ref.Hash, `/\.`) || ref.Size < 0 || ref.Size > maxUnzip {
		return fmt.Errorf("blob reference %q is malformed", ref.Hash)
	}
	return nil
}

// loadBlob reads a body back; gzip's checksum covers it.
func (s *DB) loadBlob(ref blobRef) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	f, err := os.Open(s.blobPath(ref.Hash))
	if err != nil {
		return "", fmt.Errorf("read blob: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("read blob %s: %w", ref.Hash, err)
	}
	var b strings.Builder
	b.Grow(int(min(ref.Size, maxRoom)))
	n, err := io.Copy(&b, io.LimitReader(z, ref.Size+1))
	if err == nil && n != ref.Size {
		err = fmt.Errorf("%d bytes where %d were stored", n, ref.Size)
	}
	if err != nil {
		return "", fmt.Errorf("read blob %s: %w", ref.Hash, err)
	}
	return b.String(), nil
}

// Sweep removes blobs and open texts that no row names. Crashes and removed
// parts leave them behind; they do no harm but take space. Blobs that are older
// than the database stay: they belong to one that is gone, and may come back.
func (s *DB) Sweep(ctx context.Context) (out store.Swept, err error) {
	err = s.batch(ctx, func(tx *Tx) error {
		live, err := tx.liveBlobs()
		if err != nil {
			return err
		}
		open, err := tx.openTexts()
		if err != nil {
			return err
		}
		strays, err := tx.strays()
		if err != nil {
			return err
		}
		for _, f := range strays {
			live[blobName(s.blobDir(), f.path)] = true
		}
		err = sweepDir(s.blobDir(), &out, func(rel string) bool { return live[blobName("", rel)] })
		return errors.Join(err, sweepDir(s.openDir(), &out, func(rel string) bool { return open[rel] }))
	})
	return out, err
}

// SweepStrays removes the blobs of a database that is gone. Only a person can know
// that nobody misses them.
func (s *DB) SweepStrays(ctx context.Context) (out store.Swept, err error) {
	err = s.batch(ctx, func(tx *Tx) error {
		strays, err := tx.strays()
		for _, f := range strays {
			if err = errors.Join(err, os.Remove(f.path)); err != nil {
				return err
			}
			out.Files, out.Bytes = out.Files+1, out.Bytes+f.size
		}
		return err
	})
	return out, err
}

// reclaim removes those of the blobs that no row names any more. The caller holds
// the writer's turn and has committed what let go of them.
func (s *DB) reclaim(ctx context.Context, hashes []string) error {
	err := s.transact(s.newTx(ctx), func(tx *Tx) error {
		live, err := tx.liveBlobs()
		for _, h := range hashes {
			if err == nil && !live[h] {
				os.Remove(s.blobPath(h)) // a later sweep would do
			}
		}
		return err
	})
	return s.explain(err)
}

func (v *view) liveBlobs() (map[string]bool, error) {
	live := map[string]bool{}
	hashes, err := v.blobs(`SELECT blobs FROM session WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM message WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM part WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM session_diff WHERE blobs IS NOT NULL`)
	for _, h := range hashes {
		live[h] = true
	}
	return live, err
}

// blobs returns the hashes in the column that the query selects.
func (v *view) blobs(query string, args ...any) (hashes []string, err error) {
	rows, err := v.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var names string
		if err := rows.Scan(&names); err != nil {
			return nil, err
		}
		hashes = append(hashes, strings.Fields(names)...)
	}
	return hashes, rows.Err()
}

func (v *view) openTexts() (map[string]bool, error) {
	rows, err := v.query(`SELECT n, rev FROM part WHERE open = 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	open := map[string]bool{}
	for rows.Next() {
		var n, rev int64
		if err := rows.Scan(&n, &rev); err != nil {
			return nil, err
		}
		open[textName(n, rev)] = true
	}
	return open, rows.Err()
}

// sweepDir removes the files below dir, by slashed relative path, that are not live.
func sweepDir(dir string, out *store.Swept, live func(rel string) bool) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || live(filepath.ToSlash(rel)) {
			return err
		}
		if fi, err := d.Info(); err == nil {
			out.Bytes += fi.Size()
		}
		out.Files++
		return os.Remove(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
