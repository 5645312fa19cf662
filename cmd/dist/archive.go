package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// release is the archive of one system.
type release struct {
	dir, name, system string
	when              time.Time
}

// write packs the program with the other files and returns the archive's line for SHA256SUMS.
func (r release) write(program []byte, extra []file) (sum string, err error) {
	name, pack, binary := r.name+".tar.gz", tarball, "lathe"
	if r.system == "windows" {
		name, pack, binary = r.name+".zip", zipped, "lathe.exe"
	}
	files := []file{{name: r.name + "/" + binary, data: program, mode: 0o755}}
	for _, f := range extra {
		f.name = r.name + "/" + f.name
		files = append(files, f)
	}
	var b bytes.Buffer
	if err := pack(&b, files, r.when); err != nil {
		return "", fmt.Errorf("pack %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, name), b.Bytes(), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x  %s\n", sha256.Sum256(b.Bytes()), name), nil
}

func tarball(w io.Writer, files []file, when time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(compressed)
	for _, f := range files {
		err := t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func zipped(w io.Writer, files []file, when time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(os.FileMode(f.mode))
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}
