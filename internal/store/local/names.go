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
	"slices"

	"lathe/internal/store/codec"
)

// Read reads a body by its name alone, with which it is compared.
func (b Blobs) Read(hash string) ([]byte, error) {
	if err := (codec.Ref{Hash: hash}).Check(); err != nil {
		return nil, err
	}
	f, err := os.Open(b.Path(hash))
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", hash, err)
	}
	body, err := io.ReadAll(io.LimitReader(z, codec.MaxBody))
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", hash, err)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("blob %s has another content", hash)
	}
	return body, nil
}

// Names returns the names of all bodies, in order.
func (b Blobs) Names() (names []string, err error) {
	err = filepath.WalkDir(b.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != BlobExt {
			return err
		}
		rel, err := filepath.Rel(b.Dir, path)
		names = append(names, name(rel))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(names)
	return names, err
}
