package builtin

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // the description
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lathe"
	"lathe/internal/lsp"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

const (
	readLines   = 2000     // lines or entries when no limit is given
	readBytes   = 50 << 10 // of one answer
	readLine    = 2000     // characters of one line
	readPreview = 20       // lines
	readWhole   = 16 << 20 // files up to this size are read at once
	readMedia   = 20 << 20 // largest attachment
	cutLine     = "... (line truncated to 2000 chars)"
)

//go:embed read.md
var readText string

type readInput struct {
	FilePath string `json:"filePath"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
}

func (e *Env) readTool() tool.Tool {
	s := spec("read", readText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file or directory"},`+
		`"offset":{"type":"integer","minimum":0,"description":"Line (or entry) to start at, counted from 1"},`+
		`"limit":{"type":"integer","minimum":0,"description":"How many lines (or entries) to return; 2000 if left out"}},`+
		`"required":["filePath"],"additionalProperties":false}`)
	s.ReadOnly, s.PathArg = true, "filePath"
	r := &reader{env: e, claims: newClaims()}
	return typed(s, r.run)
}

// reader is the read tool.
type reader struct {
	env    *Env
	claims *claims
}

func (r *reader) run(ctx context.Context, call *tool.Call, in readInput) (tool.Result, error) {
	e := r.env
	path, err := e.resolve(in.FilePath)
	if err != nil {
		return tool.Result{}, err
	}
	if e.secret(call, path) {
		return tool.Result{}, failf("%s belongs to lathe itself and cannot be read.", path)
	}
	info, statErr := os.Stat(path)
	dir := statErr == nil && info.IsDir()
	if err := e.external(ctx, call, path, dir, nil); err != nil {
		return tool.Result{}, err
	}
	rel := e.Root.Name(path)
	if err := e.mayRead(ctx, call, path); err != nil {
		return tool.Result{}, err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		return tool.Result{}, e.missing(ctx, call, path)
	}
	if statErr != nil {
		return tool.Result{}, explain("read", path, statErr)
	}
	w := window{first: max(in.Offset, 1), count: in.Limit}
	if w.count == 0 {
		w.count = readLines
	}
	if dir {
		return readDir(path, rel, w)
	}
	return r.file(ctx, call, path, rel, w)
}

func (r *reader) file(ctx context.Context, call *tool.Call, path, rel string, w window) (tool.Result, error) {
	file, info, err := workspace.OpenReal(path)
	if err != nil {
		return tool.Result{}, explain("read", path, err)
	}
	defer file.Close()
	f, stop := bound(ctx, file)
	defer stop()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return tool.Result{}, explain("read", path, err)
	}
	head = head[:n]
	if mime := workspace.MediaType(head); attachable(mime) {
		return readAttachment(io.MultiReader(bytes.NewReader(head), f), path, rel, mime)
	}
	if workspace.IsBinary(path, head) {
		return tool.Result{}, failf("Cannot read binary file: %s", path)
	}
	src, data, err := openText(f, head, info)
	if err != nil {
		return tool.Result{}, explain("read", path, err)
	}
	if unsaved, ok := r.env.unsaved(ctx, call, path, data); ok && data != nil {
		src, data = bytes.NewReader(unsaved), unsaved
	}
	text, err := w.read(src, path)
	if err != nil {
		return tool.Result{}, err
	}
	r.env.Seen.Record(call.SessionID, path, info, data)
	if r.env.Languages != nil && data != nil {
		r.env.Languages.Read(lsp.File{Path: path, Text: LanguageText(data)})
	}
	loaded, reminder := r.instructions(call, path)
	return text.result(path, rel, loaded, reminder), nil
}

// openText returns the text of the file as UTF-8, and its raw content if that
// was read at once.
func openText(f io.Reader, head []byte, info fs.FileInfo) (io.Reader, []byte, error) {
	src := io.MultiReader(bytes.NewReader(head), f)
	wide := bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
	if info.Size() > readWhole && !wide {
		return src, nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(src, workspace.DefaultLimit+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > workspace.DefaultLimit {
		return nil, nil, workspace.ErrTooLarge
	}
	if !wide {
		return bytes.NewReader(data), data, nil
	}
	t, err := workspace.Decode(data)
	if err != nil {
		return nil, nil, err
	}
	return strings.NewReader(t.Content), data, nil
}

func attachable(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return true
	}
	return false
}

func readAttachment(f io.Reader, path, rel, mime string) (tool.Result, error) {
	data, err := io.ReadAll(io.LimitReader(f, readMedia+1))
	if err != nil {
		return tool.Result{}, explain("read", path, err)
	}
	if len(data) > readMedia {
		return tool.Result{}, failf("%s is larger than %d MiB, too large to be attached.", path, readMedia>>20)
	}
	said := "Image read successfully"
	if mime == "application/pdf" {
		said = "PDF read successfully"
	}
	return tool.Result{
		Title:       rel,
		Output:      said,
		Metadata:    map[string]any{"preview": said, "truncated": false, "loaded": []string{}},
		Attachments: []lathe.File{{MIME: mime, Filename: filepath.Base(path), URL: dataURL(mime, data)}},
	}, nil
}

func dataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// window is the part of a text that is wanted; first counts from 1.
type window struct{ first, count int }

// excerpt is a part of a text.
type excerpt struct {
	lines  []string
	first  int
	total  int  // lines of the whole text; unknown if capped
	capped bool // the byte limit was reached first
}

// read takes the lines of the window. It reads to the end to count the lines,
// unless the byte limit stops it.
func (w window) read(src io.Reader, path string) (excerpt, error) {
	x := excerpt{first: w.first}
	br := bufio.NewReaderSize(src, 64<<10)
	size := 0
	for {
		wanted := x.total+1 >= w.first && len(x.lines) < w.count
		line, err := nextLine(br, wanted)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return x, explain("read", path, err)
		}
		x.total++
		if x.total == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if !wanted {
			continue
		}
		if size += len(line) + 1; size > readBytes && len(x.lines) > 0 {
			x.capped = true
			break
		}
		x.lines = append(x.lines, line)
	}
	if w.first > x.total && !(w.first == 1 && x.total == 0) {
		return x, failf("Offset %d is out of range for this file (%d lines)", w.first, x.total)
	}
	return x, nil
}

// nextLine reads one line in bounded memory, without its end. With keep false
// the text is dropped. It returns io.EOF only when there is no further line.
func nextLine(br *bufio.Reader, keep bool) (string, error) {
	chunk, err := br.ReadSlice('\n')
	if err == nil { // the usual case: the line fits the buffer
		if !keep {
			return "", nil
		}
		return cleanLine(chunk), nil
	}
	line, read := []byte(nil), false
	for ; ; chunk, err = br.ReadSlice('\n') {
		read = read || len(chunk) > 0
		if keep && len(line) <= readLine*utf8.UTFMax {
			line = append(line, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!read || !errors.Is(err, io.EOF)) {
			return "", err
		}
		break
	}
	return cleanLine(line), nil
}

// cleanLine makes a line into text of bounded length, without its end.
func cleanLine(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	line = line[:min(len(line), (readLine+1)*utf8.UTFMax)]
	return shorten(strings.ToValidUTF8(string(line), "\ufffd"))
}

// shorten cuts a line after 2000 characters.
func shorten(line string) string {
	if len(line) <= readLine {
		return line
	}
	n := 0
	for i := range line {
		if n == readLine {
			return line[:i] + cutLine
		}
		n++
	}
	return line
}

func (x excerpt) last() int { return x.first + len(x.lines) - 1 }

func (x excerpt) truncated() bool { return x.capped || x.last() < x.total }

func (x excerpt) trailer() string {
	switch {
	case x.capped:
		return fmt.Sprintf("(Output capped at %d KB. Showing lines %d-%d. Use offset=%d to continue.)", readBytes>>10, x.first, x.last(), x.last()+1)
	case x.truncated():
		return fmt.Sprintf("(Showing lines %d-%d of %d. Use offset=%d to continue.)", x.first, x.last(), x.total, x.last()+1)
	default:
		return fmt.Sprintf("(End of file - total %d lines)", x.total)
	}
}

func (x excerpt) result(path, rel string, loaded []string, reminder string) tool.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "<path>%s</path>\n<type>file</type>\n<content>\n", path)
	for i, line := range x.lines {
		b.WriteString(strconv.Itoa(x.first + i))
		b.WriteString(": ")
		b.WriteString(line)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%s\n</content>", x.trailer())
	b.WriteString(reminder)
	display := map[string]any{
		"type": "file", "path": path, "lineStart": x.first, "lineEnd": x.last(), "truncated": x.truncated(),
	}
	if !x.capped {
		display["totalLines"] = x.total
	}
	return tool.Result{Title: rel, Output: b.String(), Metadata: map[string]any{
		"preview":   strings.Join(x.lines[:min(len(x.lines), readPreview)], "\n"),
		"truncated": x.truncated(),
		"loaded":    loaded,
		"display":   display,
	}}
}

// readDir lists a directory; names of directories end in a slash.
func readDir(path, rel string, w window) (tool.Result, error) {
	entries, err := workspace.ReadDirReal(path)
	if err != nil {
		return tool.Result{}, explain("read", path, err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 && isDir(filepath.Join(path, entry.Name())) {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	if w.first > len(names) && w.first > 1 {
		return tool.Result{}, failf("Offset %d is out of range for this directory (%d entries)", w.first, len(names))
	}
	shown, size := names[w.first-1:], 0
	for i, name := range shown {
		if size += len(name) + 1; i == w.count || size > readBytes {
			shown = shown[:i]
			break
		}
	}
	last := w.first + len(shown) - 1
	truncated := last < len(names)
	trailer := fmt.Sprintf("(%d entries)", len(names))
	if truncated {
		trailer = fmt.Sprintf("(Showing %d of %d entries. Use 'offset' parameter to read beyond entry %d)", len(shown), len(names), last)
	}
	return tool.Result{
		Title: rel,
		Output: fmt.Sprintf("<path>%s</path>\n<type>directory</type>\n<entries>\n%s\n\n%s\n</entries>",
			path, strings.Join(shown, "\n"), trailer),
		Metadata: map[string]any{
			"preview":   strings.Join(shown[:min(len(shown), readPreview)], "\n"),
			"truncated": truncated,
			"loaded":    []string{},
			"display": map[string]any{
				"type": "directory", "path": path, "lineStart": w.first, "lineEnd": last,
				"totalEntries": len(names), "truncated": truncated,
			},
		},
	}, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
