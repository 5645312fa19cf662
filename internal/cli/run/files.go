package run

import (
	"errors"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lathe"
	"lathe/internal/cli/console"
)

// fileParts turns -f arguments into parts of the prompt. An argument is a path,
// or a path with a range of lines: FILE:5 or FILE:5-20.
func fileParts(dir string, files []string) ([]lathe.PartBody, error) {
	var parts []lathe.PartBody
	for _, f := range files {
		part, err := filePart(dir, f)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func filePart(dir, f string) (*lathe.File, error) {
	path, query := absIn(dir, f), url.Values(nil)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if name, lines, ok := cutLines(f); ok {
			if i, err2 := os.Stat(absIn(dir, name)); err2 == nil && !i.IsDir() {
				path, query, info, err = absIn(dir, name), lines, i, nil
			}
		}
	}
	if err != nil {
		return nil, console.Usagef("file %q: %w", f, errors.Unwrap(err))
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, console.Usagef("file %q is neither a file nor a directory", f)
	}
	kind, _, _ := mime.ParseMediaType(mime.TypeByExtension(filepath.Ext(path)))
	if info.IsDir() {
		kind = "application/x-directory"
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return &lathe.File{MIME: kind, Filename: filepath.Base(path), URL: u.String()}, nil
}

func absIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// cutLines splits FILE:5 or FILE:5-20.
func cutLines(f string) (name string, lines url.Values, ok bool) {
	i := strings.LastIndexByte(f, ':')
	if i < 1 {
		return "", nil, false
	}
	from, to, ranged := strings.Cut(f[i+1:], "-")
	if !ranged {
		to = from
	}
	start, err1 := strconv.Atoi(from)
	end, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || start < 1 || end < start {
		return "", nil, false
	}
	return f[:i], url.Values{"start": {from}, "end": {to}}, true
}
