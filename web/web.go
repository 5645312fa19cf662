// Package web holds the files of lathe's web page, which the server hands to browsers.
//
// The sources are TypeScript in src; tools/web bundles them with esbuild into dist,
// which is committed, so that building the binary needs Go alone. See docs/web.md.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
)

//go:generate go run -C ../tools ./web

// dist has every file compressed: that is a third of the size in the binary, and what
// browsers are sent.
//
//go:embed dist
var dist embed.FS

// File is one of the page's files.
type File struct{ packed []byte }

// Open returns a file of the page. The error is [fs.ErrNotExist] or [fs.ErrInvalid]
// where there is none of that name.
func Open(name string) (File, error) {
	if !fs.ValidPath(name) {
		return File{}, fs.ErrInvalid
	}
	data, err := dist.ReadFile("dist/" + name + ".gz")
	return File{packed: data}, err
}

// Gzip returns the file compressed, for those who accept that.
func (f File) Gzip() []byte { return f.packed }

// Plain returns the file as it is. An error means that the binary is damaged.
func (f File) Plain() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(f.packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
