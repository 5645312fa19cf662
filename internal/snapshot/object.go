package snapshot

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// writeObject stores an object, unless the store has it, and returns its name.
func (g *gitDir) writeObject(kind string, body []byte) (oid, error) {
	head := kind + " " + strconv.Itoa(len(body)) + "\x00"
	h := sha1.New()
	io.WriteString(h, head)
	h.Write(body)
	id := oid(h.Sum(nil))
	path := g.objectPath(id)
	if exists(path) {
		return id, nil
	}
	var z bytes.Buffer
	w, err := zlib.NewWriterLevel(&z, zlib.BestSpeed)
	if err != nil {
		return id, err
	}
	if _, err = io.WriteString(w, head); err == nil {
		_, err = w.Write(body)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return id, err
	}
	g.writes++
	return id, g.putObject(path, z.Bytes())
}

func (g *gitDir) objectPath(id oid) string {
	name := id.String()
	return filepath.Join(g.dir, "objects", name[:2], name[2:])
}

// putObject writes an object's file and makes its folder. Git removes empty
// folders while it packs, also the one just made: so it tries more than once.
func (g *gitDir) putObject(path string, data []byte) error {
	err := g.replaceFile(path, data, 0o444)
	for range 10 {
		if !errors.Is(err, os.ErrNotExist) {
			break
		}
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = g.replaceFile(path, data, 0o444)
		}
	}
	if err != nil {
		return fmt.Errorf("store an object: %w", err)
	}
	return nil
}

// tempDir is where files are written before they get their name. Each begins
// with the process that writes it.
func (g *gitDir) tempDir() string { return filepath.Join(g.dir, "partial") }

// replaceFile writes a file of the store in one step.
func (g *gitDir) replaceFile(path string, data []byte, mode os.FileMode) error {
	temp := filepath.Join(g.tempDir(), strconv.Itoa(os.Getpid())+"-"+rand.Text()[:12])
	err := os.WriteFile(temp, data, mode)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// blobs returns the contents of objects by name. One that is gone, or is larger
// than max, is not in the answer.
func (g *gitDir) blobs(ctx context.Context, ids map[oid]bool, max int64) (map[oid][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for id := range ids {
		in.WriteString(id.String())
		in.WriteByte('\n')
	}
	check, err := g.run(ctx, in.Bytes(), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	in.Reset()
	for line := range strings.Lines(string(check)) {
		var name, kind string
		var size int64
		if n, _ := fmt.Sscanf(line, "%s %s %d", &name, &kind, &size); n == 3 && kind == "blob" && size <= max {
			fmt.Fprintln(&in, name)
		}
	}
	if in.Len() == 0 {
		return nil, nil
	}
	out, err := g.run(ctx, in.Bytes(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	return parseBatch(out)
}

// parseBatch reads the output of git cat-file --batch.
func parseBatch(out []byte) (map[oid][]byte, error) {
	found := map[oid][]byte{}
	r := bufio.NewReader(bytes.NewReader(out))
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF && line == "" {
			return found, nil
		}
		if err != nil {
			return nil, errors.New("git cat-file: its output ends early")
		}
		if strings.HasSuffix(line, " missing\n") {
			continue
		}
		var name, kind string
		var size int64
		if n, _ := fmt.Sscanf(line, "%s %s %d", &name, &kind, &size); n != 3 || size < 0 || size > int64(len(out)) {
			return nil, fmt.Errorf("git cat-file: %q is not a header", line)
		}
		id, err := parseOID(name)
		if err != nil {
			return nil, err
		}
		body := make([]byte, size+1)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, errors.New("git cat-file: its output ends early")
		}
		found[id] = body[:size]
	}
}

func parseOID(name string) (id oid, err error) {
	if len(name) != 2*len(id) {
		return id, fmt.Errorf("%q is not an object name", name)
	}
	for i := range id {
		b, err := strconv.ParseUint(name[2*i:2*i+2], 16, 8)
		if err != nil {
			return id, fmt.Errorf("%q is not an object name", name)
		}
		id[i] = byte(b)
	}
	return id, nil
}
