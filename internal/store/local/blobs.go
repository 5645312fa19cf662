package local

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lathe/internal/store"
	"lathe/internal/store/codec"
)

const (
	fileMode = 0o600
	dirMode  = 0o700
)

// BlobExt ends the names of blob files.
const BlobExt = ".gz"

// maxRoom bounds the memory allocated because a row claims a size for its blob.
const maxRoom = 64 << 20

// large is the size from which a body is read only after a garbage collection: what
// it was made from has just been dropped as a rule, and must not add up with it.
const large = 8 << 20

// Blobs are bodies in files, compressed and named by the hash of their content. A
// file is written completely, and synced, before anything refers to it.
type Blobs struct{ Dir string }

// Path returns where a body is.
func (b Blobs) Path(hash string) string { return filepath.Join(b.Dir, hash[:2], hash[2:]+BlobExt) }

// name returns the hash that a file, relative to the directory, is named by.
func name(rel string) string {
	return strings.TrimSuffix(strings.ReplaceAll(filepath.ToSlash(rel), "/", ""), BlobExt)
}

// Save stores a body durably, unless it is stored already.
func (b Blobs) Save(hash, body string) error {
	path := b.Path(hash)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.Dir, "new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	if err := errors.Join(writeZip(f, body), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeZip(w io.Writer, body string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, onlyReader{strings.NewReader(body)}); err != nil {
		return err
	}
	return z.Close()
}

// onlyReader hides WriteTo of a strings.Reader, which would copy the whole string.
type onlyReader struct{ io.Reader }

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

// Load reads a body back; gzip's checksum covers it.
func (b Blobs) Load(ref codec.Ref) (string, error) {
	if err := ref.Check(); err != nil {
		return "", err
	}
	f, err := os.Open(b.Path(ref.Hash))
	if err != nil {
		return "", fmt.Errorf("read blob: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("read blob %s: %w", ref.Hash, err)
	}
	if ref.Size > large {
		runtime.GC()
	}
	var out strings.Builder
	out.Grow(int(min(ref.Size, maxRoom)))
	n, err := io.Copy(&out, io.LimitReader(z, ref.Size+1))
	if err == nil && n != ref.Size {
		err = fmt.Errorf("%d bytes where %d were stored", n, ref.Size)
	}
	if err != nil {
		return "", fmt.Errorf("read blob %s: %w", ref.Hash, err)
	}
	return out.String(), nil
}

// Verify reads a body and compares it with the hash that it is named by.
func (b Blobs) Verify(ref codec.Ref) error {
	f, err := os.Open(b.Path(ref.Hash))
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("blob %s: %w", ref.Hash, err)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(z, codec.MaxBody))
	switch {
	case err != nil:
		return fmt.Errorf("blob %s: %w", ref.Hash, err)
	case n != ref.Size:
		return fmt.Errorf("blob %s has %d bytes, %d were stored", ref.Hash, n, ref.Size)
	case hex.EncodeToString(sum.Sum(nil)) != ref.Hash:
		return fmt.Errorf("blob %s has another content", ref.Hash)
	}
	return nil
}

// Remove removes a body. It is no error if there is none.
func (b Blobs) Remove(hash string) error {
	err := os.Remove(b.Path(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Sweep removes all but those that are live.
func (b Blobs) Sweep(live func(hash string) bool) (store.Swept, error) {
	return sweep(b.Dir, func(rel string) bool { return live(name(rel)) })
}

// Stray is the file of a body that nothing may need.
type Stray struct {
	Path string
	Hash string
	Size int64
}

// Older lists the bodies that were kept before a time and are not live.
func (b Blobs) Older(than time.Time, live func(hash string) bool) (found []Stray, err error) {
	err = filepath.WalkDir(b.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != BlobExt {
			return err
		}
		rel, err := filepath.Rel(b.Dir, path)
		if err != nil || live(name(rel)) {
			return err
		}
		if info, err := d.Info(); err == nil && info.ModTime().Before(than) {
			found = append(found, Stray{path, name(rel), info.Size()})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// sweep removes the files below dir, by slashed relative path, that are not live.
func sweep(dir string, live func(rel string) bool) (out store.Swept, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
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
		err = nil
	}
	return out, err
}
