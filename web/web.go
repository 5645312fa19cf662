// Package web holds the files of lathe's web page, which the server hands to browsers.
//
// The sources are TypeScript in src; tools/web bundles them with esbuild into dist,
// which is committed, so that building the binary needs Go alone. See README.md.
package web

import (
	"embed"
	"io/fs"
)

//go:generate go run -C ../tools ./web

//go:embed dist
var dist embed.FS

// File returns a file of the page. The error is [fs.ErrNotExist] or [fs.ErrInvalid]
// where there is none of that name.
func File(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	return dist.ReadFile("dist/" + name)
}
