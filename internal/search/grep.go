package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// DefaultLimit is how many matching lines Grep returns.
	DefaultLimit = 100
	// DefaultLineLimit is how many characters of a line Grep returns.
	DefaultLineLimit = 2000

	block         = 256 << 10 // how much of a file is read at a time
	maxLine       = 4 << 20   // a longer line is searched in pieces of this length
	binaryHead    = 8 << 10   // a NUL byte in here makes a file binary
	maxUTF16      = 32 << 20  // a longer UTF-16 file is skipped
	maxSubmatches = 100       // of one line
)

// GrepOptions say what to look for, and where.
type GrepOptions struct {
	FileOptions
	// Pattern is a Go regular expression, compared with one line at a time.
	Pattern string
	// Literal takes Pattern as plain text, IgnoreCase disregards case.
	Literal, IgnoreCase bool
	// Include selects files by glob, see [Matcher]; it replaces Glob.
	Include string
	// Limit is how many lines are returned; 0 means [DefaultLimit].
	Limit int
	// Show, if set, is asked whether lines of a file may be returned, by its path
	// relative to the directory, once lines of it match. Several goroutines call it
	// at once.
	Show func(path string) bool
	// LineLimit is how many characters of a line are returned; 0 means
	// [DefaultLineLimit].
	LineLimit int
}

// GrepResult is what [Grep] found.
type GrepResult struct {
	Matches []Match // newest file first, the same age by path; then by line
	// Truncated says that there are more matches than the limit.
	Truncated bool
	// Skipped counts files and directories that could not be read.
	Skipped int
}

// Match is one matching line.
type Match struct {
	Path    string // relative to the searched directory, with forward slashes
	ModTime time.Time
	Line    int    // from 1
	Offset  int64  // of the line's first byte in the file (UTF-16: in its UTF-8 form)
	Text    string // without the line end
	Cut     bool   // Text is shortened to the line limit
	// Submatches are what matched, as byte ranges of the line. Those that start
	// beyond a cut are left out, and one that crosses it ends there.
	Submatches []Submatch
}

// Submatch is a range of bytes in Match.Text.
type Submatch struct{ Start, End int }

// Grep finds lines that match a regular expression in the files below dir, or in
// dir itself if it is a file. Binary files are skipped: those with a NUL byte
// near the start. UTF-16 with a byte order mark is read as text. A pattern that
// does not compile is a [*PatternError].
//
// The lines returned are those of the newest files in the whole tree. Files that
// turn out too old to be among them are not read.
func Grep(ctx context.Context, dir string, opt GrepOptions) (GrepResult, error) {
	expr, err := compile(opt)
	if err != nil {
		return GrepResult{}, err
	}
	if opt.Limit <= 0 {
		opt.Limit = DefaultLimit
	}
	if opt.LineLimit <= 0 {
		opt.LineLimit = DefaultLineLimit
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return grepFile(ctx, dir, expr, opt)
	}
	var skipped atomic.Int64
	fo := opt.FileOptions
	fo.Glob, fo.Limit, fo.Stat, fo.Dirs, fo.Sorted, fo.Skipped = opt.Include, 0, false, false, false, &skipped
	w, err := newWalker(dir, fo)
	if err != nil {
		return GrepResult{}, err
	}
	best := &best{limit: opt.Limit}
	scanners := make([]*scanner, w.workers)
	w.visit = func(worker int, f *File) {
		s := scanners[worker]
		if s == nil {
			s = newScanner(ctx, expr, opt, best)
			scanners[worker] = s
		}
		if err := s.file(w.dir+string(filepath.Separator)+filepath.FromSlash(f.Path), f.Path); err != nil {
			skipped.Add(1)
		}
	}
	if err := w.run(ctx); err != nil {
		return GrepResult{}, err
	}
	out := best.result()
	out.Skipped = int(skipped.Load())
	return out, nil
}

func grepFile(ctx context.Context, file string, expr *expr, opt GrepOptions) (GrepResult, error) {
	best := &best{limit: opt.Limit}
	err := newScanner(ctx, expr, opt, best).file(file, filepath.Base(file))
	if ctx.Err() != nil {
		return GrepResult{}, context.Cause(ctx)
	}
	if err != nil {
		return GrepResult{}, fmt.Errorf("search: %w", err)
	}
	return best.result(), nil
}

// scanner searches one file after another.
type scanner struct {
	ctx  context.Context
	expr *expr
	opt  GrepOptions
	best *best
	buf  []byte
	pace pace

	// The current file.
	name  string
	mod   time.Time
	line  int   // number of the line at counted
	at    int64 // offset of buf in the file
	found []Match
	more  bool // the file has more matches than the limit
}

func newScanner(ctx context.Context, expr *expr, opt GrepOptions, best *best) *scanner {
	return &scanner{ctx: ctx, expr: expr.clone(), opt: opt, best: best, buf: make([]byte, 0, block)}
}

// file searches one file and hands its matches to best.
func (s *scanner) file(path, name string) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.size == 0 && !strings.HasPrefix(path, "/proc/") {
		return nil
	}
	s.name, s.mod = name, f.mod
	if s.best.tooOld(s.mod, name) {
		return nil
	}
	s.line, s.at, s.found, s.more = 1, 0, nil, false
	if err := s.read(f, f.size); err != nil {
		return err
	}
	if len(s.found) > 0 && s.opt.Show != nil && !s.opt.Show(name) {
		return nil
	}
	s.best.add(s.mod, name, s.found, s.more)
	return nil
}

// read searches a file block by block. What follows the last line end of a block
// is carried over to the next one. A file read up to its size counts as ended,
// without another read.
func (s *scanner) read(f io.Reader, size int64) error {
	buf := s.buf[:0]
	defer func() { s.buf = buf[:0] }()
	for first := true; s.ctx.Err() == nil && !s.more; first = false {
		if cap(buf)-len(buf) < block/2 {
			buf = slices.Grow(buf, block)
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil && err != io.EOF {
			return err
		}
		if size -= int64(n); size == 0 {
			err = io.EOF
		}
		if first {
			if wide, order := utf16BOM(buf); wide {
				return s.wide(io.MultiReader(bytes.NewReader(buf[2:]), f), order)
			}
			if bytes.IndexByte(buf[:min(len(buf), binaryHead)], 0) >= 0 {
				return nil
			}
			if bytes.HasPrefix(buf, []byte("\xef\xbb\xbf")) {
				s.at = 3
				buf = append(buf[:0], buf[3:]...)
			}
		}
		end := len(buf)
		if err != io.EOF {
			end = bytes.LastIndexByte(buf, '\n') + 1
			if end == 0 && len(buf) >= maxLine {
				end = len(buf)
			}
		}
		s.search(buf[:end])
		s.at += int64(end)
		if end > 0 {
			buf = append(buf[:0], buf[end:]...)
		}
		if cap(buf) > maxLine && len(buf) < block {
			buf = append(make([]byte, 0, block), buf...)
		}
		if err == io.EOF {
			return nil
		}
	}
	return nil
}

func utf16BOM(data []byte) (wide bool, big int) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return true, 0
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return true, 1
	}
	return false, 0
}

var errLong = errors.New("UTF-16 file is too large")

// wide searches UTF-16 text, whole and in its UTF-8 form.
func (s *scanner) wide(r io.Reader, big int) error {
	data, err := appendAll(nil, io.LimitReader(r, maxUTF16+1))
	if err != nil {
		return err
	}
	if len(data) > maxUTF16 {
		return errLong
	}
	text := make([]byte, 0, len(data))
	for i := 0; i+1 < len(data); i += 2 {
		r := rune(data[i+1-big])<<8 | rune(data[i+big])
		if utf16.IsSurrogate(r) && i+3 < len(data) {
			if pair := utf16.DecodeRune(r, rune(data[i+3-big])<<8|rune(data[i+2+big])); pair != utf8.RuneError {
				r = pair
				i += 2
			}
		}
		text = utf8.AppendRune(text, r)
	}
	for len(text) > 0 && s.ctx.Err() == nil && !s.more {
		end := len(text)
		if end > block {
			end = min(lineEnd(text, block)+1, len(text))
		}
		s.search(text[:end])
		s.at += int64(end)
		text = text[end:]
	}
	return nil
}

// search looks through whole lines, which start at offset s.at and line s.line. It
// does so in pieces that take little time each, so that it can be stopped whatever the
// expression costs.
func (s *scanner) search(text []byte) {
	at := s.at
	for len(text) > 0 && !s.more && s.ctx.Err() == nil {
		n := s.pace.next(text, s.expr)
		begin := time.Now()
		s.lines(text[:n])
		s.pace.took(n, time.Since(begin))
		text = text[n:]
		s.at += int64(n)
	}
	s.at = at
}

// lines searches one piece.
func (s *scanner) lines(text []byte) {
	counted, pos := 0, 0
	for pos < len(text) && !s.more {
		start, end, ok := s.expr.next(text, pos)
		if !ok {
			break
		}
		if len(s.found) == s.opt.Limit {
			s.more = true
			break
		}
		s.line += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		if m, ok := s.match(text[start:end], s.at+int64(start)); ok {
			s.found = append(s.found, m)
		}
		pos = end + 1
		if s.ctx.Err() != nil {
			return
		}
	}
	s.line += bytes.Count(text[counted:], []byte{'\n'})
}

// match describes a matching line; ok is false if only its "\r" matched.
func (s *scanner) match(line []byte, offset int64) (m Match, ok bool) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	m = Match{Path: s.name, ModTime: s.mod, Line: s.line, Offset: offset}
	for _, at := range s.expr.re.FindAllIndex(line, maxSubmatches) {
		m.Submatches = append(m.Submatches, Submatch{at[0], at[1]})
	}
	if m.Submatches == nil {
		return Match{}, false
	}
	shown := cut(line, s.opt.LineLimit)
	if m.Cut = len(shown) < len(line); m.Cut {
		m.Submatches = slices.DeleteFunc(m.Submatches, func(sm Submatch) bool { return sm.Start >= len(shown) })
		for i := range m.Submatches {
			m.Submatches[i].End = min(m.Submatches[i].End, len(shown))
		}
	}
	m.Text = string(shown)
	return m, true
}

// cut returns the first n characters.
func cut(line []byte, n int) []byte {
	if len(line) <= n {
		return line
	}
	at := 0
	for ; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return line[:at]
}
