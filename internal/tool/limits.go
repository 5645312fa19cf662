package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lathe"
)

// Defaults of [Limits].
const (
	DefaultLines     = 2000
	DefaultBytes     = 50 << 10
	DefaultRetention = 7 * 24 * time.Hour
	DefaultTotal     = 1 << 30
)

// SpillDir is the name of the directory, below the data directory, that holds
// the full text of outputs that were cut.
const SpillDir = "tool-output"

// Limits bounds what a tool may tell the model, and keeps the full text of what
// was cut in files. A zero number means the default. It is safe for concurrent
// use and must not be copied or changed once used.
type Limits struct {
	Dir       string // absolute path of the spill directory; made when first needed
	MaxLines  int
	MaxBytes  int
	Retention time.Duration // age at which Clean removes a file
	MaxTotal  int64         // bytes that Clean leaves at most, newest files first
	IDs       *lathe.IDs    // nil: one of its own kind is made for each file
	Now       func() time.Time
}

// Cut is a text within the limits.
type Cut struct {
	Text      string
	Truncated bool
	Path      string // file with the full text; empty unless Truncated
}

// Lines returns the limit of lines.
func (l *Limits) Lines() int { return cmp.Or(max(l.MaxLines, 0), DefaultLines) }

// Bytes returns the limit of bytes.
func (l *Limits) Bytes() int { return cmp.Or(max(l.MaxBytes, 0), DefaultBytes) }

// Apply cuts a result's output from its end unless the tool has set
// metadata "truncated" itself, and sets "truncated" and "outputPath". With
// delegate the hint advises to hand the file to a subagent. When the full text
// cannot be saved the output is cut all the same and says so.
func (l *Limits) Apply(res Result, delegate bool) Result {
	if _, set := res.Metadata["truncated"]; set {
		return res
	}
	cut := l.Head(res.Output, delegate)
	meta := make(map[string]any, len(res.Metadata)+2)
	for k, v := range res.Metadata {
		meta[k] = v
	}
	meta["truncated"] = cut.Truncated
	if cut.Path != "" {
		meta["outputPath"] = cut.Path
	}
	res.Output, res.Metadata = cut.Text, meta
	return res
}

// In returns limits whose spill files are in a directory of their own, below
// this one's. An empty name is the directory itself.
func (l *Limits) In(name string) *Limits {
	if name == "" || l.Dir == "" {
		return l
	}
	in := *l
	in.Dir = filepath.Join(l.Dir, name)
	return &in
}

// Head keeps the beginning of a text.
func (l *Limits) Head(text string, delegate bool) Cut {
	kept, removed := l.Window(text, false)
	if removed == "" {
		return Cut{Text: text}
	}
	path, err := l.Save(text)
	return Cut{
		Text:      fmt.Sprintf("%s\n\n...%s truncated...\n\n%s", kept, removed, hint(path, err, delegate)),
		Truncated: true,
		Path:      path,
	}
}

// Tail keeps the end of a text.
func (l *Limits) Tail(text string, delegate bool) Cut {
	kept, removed := l.Window(text, true)
	if removed == "" {
		return Cut{Text: text}
	}
	path, err := l.Save(text)
	return Cut{
		Text:      fmt.Sprintf("...%s truncated...\n\n%s\n\n%s", removed, hint(path, err, delegate), kept),
		Truncated: true,
		Path:      path,
	}
}

func hint(path string, err error, delegate bool) string {
	switch {
	case err != nil:
		return fmt.Sprintf("The call succeeded, but its output was too long, and the full text could not be saved (%v). "+
			"Call the tool again in a way that gives less output.", err)
	case delegate:
		return fmt.Sprintf("The call succeeded, but its output was too long. The full text is saved in: %s\n"+
			"Let a subagent (task tool, explore agent) look through that file with grep, and with read in pieces, "+
			"and report what matters. Do not read the whole file yourself.", path)
	default:
		return fmt.Sprintf("The call succeeded, but its output was too long. The full text is saved in: %s\n"+
			"Search it with grep, or read parts of it with read and its offset and limit.", path)
	}
}

// Window returns the whole lines at one end of the text that fit both limits,
// and what was left out ("12 lines", "9000 bytes"); removed is empty if
// everything fits. A single line that is too long is cut between characters. A
// final newline does not count as a line of its own.
func (l *Limits) Window(text string, tail bool) (kept, removed string) {
	body := strings.TrimSuffix(text, "\n")
	lines := strings.Count(body, "\n") + 1
	if lines <= l.Lines() && len(body) <= l.Bytes() {
		return text, ""
	}
	var n int
	if tail {
		kept, n = lastLines(body, l.Lines(), l.Bytes())
	} else {
		kept, n = firstLines(body, l.Lines(), l.Bytes())
	}
	if n < l.Lines() { // the byte limit stopped us
		return kept, fmt.Sprintf("%d bytes", len(body)-len(kept))
	}
	return kept, fmt.Sprintf("%d lines", lines-n)
}

// firstLines returns the whole lines at the beginning of body that fit, and how
// many they are; none fits means a cut first line.
func firstLines(body string, maxLines, maxBytes int) (string, int) {
	end, n := -1, 0 // body[:end] are n lines; end is at a newline
	for n < maxLines && end < len(body) {
		next := len(body)
		if i := strings.IndexByte(body[end+1:], '\n'); i >= 0 {
			next = end + 1 + i
		}
		if next > maxBytes {
			break
		}
		end = next
		n++
	}
	if n == 0 {
		return CutHead(body, maxBytes), 0
	}
	return body[:end], n
}

// lastLines is firstLines from the end.
func lastLines(body string, maxLines, maxBytes int) (string, int) {
	start, n := len(body)+1, 0
	for n < maxLines && start > 0 {
		prev := strings.LastIndexByte(body[:start-1], '\n') + 1
		if len(body)-prev > maxBytes {
			break
		}
		start = prev
		n++
	}
	if n == 0 {
		return CutTail(body, maxBytes), 0
	}
	return body[start:], n
}

// CutHead returns at most the first n bytes, without cutting a character.
func CutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutTail returns at most the last n bytes, without cutting a character.
func CutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// Save writes the text to a new spill file and returns its path.
func (l *Limits) Save(text string) (string, error) {
	f, err := l.Create()
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("save tool output: %w", err)
	}
	return f.Name(), nil
}

// Create opens a new spill file, readable by its owner only. The caller closes it.
func (l *Limits) Create() (*os.File, error) {
	if l.Dir == "" {
		return nil, errors.New("save tool output: no directory is set for it")
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("save tool output: %w", err)
	}
	ids := l.IDs
	if ids == nil {
		ids = lathe.NewIDs(l.Now, nil)
	}
	path := filepath.Join(l.Dir, ids.New(lathe.PrefixTool))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(l.Dir, 0o700) == nil { // a Clean just took the directory
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("save tool output: %w", err)
	}
	return f, nil
}

// Cleaned is what one [Limits.Clean] did.
type Cleaned struct {
	Removed, Left           int
	RemovedBytes, LeftBytes int64
}

// Clean removes spill files older than the retention, then the oldest until the
// rest fits the total. Files that are not spill files are left alone. Run it
// beside other work, an hour apart; it may run while tools do.
func (l *Limits) Clean(ctx context.Context) (Cleaned, error) {
	files, err := l.spilled()
	if err != nil {
		return Cleaned{}, err
	}
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	cutoff := now().Add(-cmp.Or(l.Retention, DefaultRetention))
	room := cmp.Or(l.MaxTotal, DefaultTotal)
	var done Cleaned
	var errs []error
	for _, f := range files { // newest first
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if !f.ModTime().Before(cutoff) && f.Size() <= room {
			room -= f.Size()
			done.Left++
			done.LeftBytes += f.Size()
			continue
		}
		if !f.ModTime().Before(cutoff) {
			room = 0 // older files go too: the newest stay
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		if dir := filepath.Dir(f.path); dir != l.Dir {
			_ = os.Remove(dir) // the last one takes it along
		}
		done.Removed++
		done.RemovedBytes += f.Size()
	}
	return done, errors.Join(errs...)
}

// spillFile is one with where it is.
type spillFile struct {
	fs.FileInfo
	path string
}

// spilled lists the spill files, newest first: those in the directory itself, and
// those in the directories of sessions.
func (l *Limits) spilled() ([]spillFile, error) {
	entries, err := os.ReadDir(l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("clean tool output: %w", err)
	}
	var files []spillFile
	add := func(dir string, e fs.DirEntry) {
		if !strings.HasPrefix(e.Name(), lathe.PrefixTool+"_") || !e.Type().IsRegular() {
			return
		}
		if info, err := e.Info(); err == nil { // gone meanwhile
			files = append(files, spillFile{info, filepath.Join(dir, e.Name())})
		}
	}
	for _, e := range entries {
		if add(l.Dir, e); !e.IsDir() || !strings.HasPrefix(e.Name(), lathe.PrefixSession+"_") {
			continue
		}
		dir := filepath.Join(l.Dir, e.Name())
		below, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("clean tool output: %w", err)
		}
		for _, e := range below {
			add(dir, e)
		}
	}
	slices.SortFunc(files, func(a, b spillFile) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	return files, nil
}
