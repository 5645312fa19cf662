package builtin

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/sandbox/overlay"
	"lathe/internal/workspace"
)

// Bounds of what an ask shows of a command's changes. Beyond them a file is counted.
const (
	maxShownFiles = 200
	maxShownDir   = 50        // files of a directory that is new, or gone
	maxShownDiff  = 256 << 10 // bytes of all differences
	maxShownFile  = 128 << 10 // bytes of one side of a file
	maxNamed      = 5
)

// shown is what an ask shows of changes.
type shown struct {
	tools shellTools
	diff  strings.Builder
	files []any    // as an edit's: file, status, additions, deletions
	notes []string // what the difference does not show
	git   []string // what changed of git's own files
	all   []string // names, for the model
	count map[overlay.Kind]int
}

// show puts changes into what people read.
func (e shellTools) show(changes []overlay.Change) *shown {
	s := &shown{tools: e, count: map[overlay.Kind]int{}}
	for i := range changes {
		s.change(&changes[i])
	}
	return s
}

func (s *shown) change(c *overlay.Change) {
	name := s.tools.Root.Name(c.Path)
	if git, ok := s.ofGit(c.Path); ok {
		if s.git = append(s.git, git); len(s.git) == 1 {
			s.all = append(s.all, "the repository")
		}
		return
	}
	if c.Mode.IsDir() {
		name += "/"
	}
	s.all = append(s.all, name)
	s.count[c.Kind]++
	switch {
	case c.Mode.IsDir() && c.Kind == overlay.Changed:
		s.mode(c, name)
	case !c.Mode.IsDir():
		before, why := sideOf(c.Before, c.Was, c.Path)
		after, bad := s.after(c)
		s.file(c.Path, c.Kind, before, after, cmp.Or(why, bad))
		if c.Kind == overlay.Changed && c.Was != c.Mode {
			s.mode(c, name)
		}
	case c.Files > maxShownDir || len(s.files)+c.Files > maxShownFiles || c.Bytes > maxShownDiff:
		s.notes = append(s.notes, fmt.Sprintf("%s %s: %s files, %s bytes", name, c.Kind, grouped(int64(c.Files)), grouped(c.Bytes)))
		s.list(c.Path, c.Kind, 0, 0)
	default:
		s.below(c, name)
	}
}

// below shows the files of a directory that is new, or gone.
func (s *shown) below(c *overlay.Change, name string) {
	if c.Files == 0 {
		s.notes = append(s.notes, name+" "+string(c.Kind)+", empty")
	}
	c.Below(func(path, at string, info fs.FileInfo) bool {
		text, why := sideOf(func() (io.ReadCloser, error) { return os.Open(at) }, info.Mode(), at)
		if c.Kind == overlay.Added {
			s.file(path, c.Kind, "", text, why)
		} else {
			s.file(path, c.Kind, text, "", why)
		}
		return true
	})
}

func (s *shown) mode(c *overlay.Change, name string) {
	s.notes = append(s.notes, fmt.Sprintf("%s from %s to %s", name, c.Was.Perm(), c.Mode.Perm()))
}

func (s *shown) after(c *overlay.Change) (string, string) {
	if c.Kind == overlay.Removed {
		return "", ""
	}
	return sideOf(c.After, c.Mode, c.AfterPath())
}

// file shows a file; why says why its texts are not shown.
func (s *shown) file(path string, kind overlay.Kind, before, after, why string) {
	name := s.tools.Root.Name(path)
	if why == "" && (len(s.files) >= maxShownFiles || s.diff.Len()+len(before)+len(after) > 2*maxShownDiff) {
		why = "too much to show"
	}
	if why != "" {
		s.notes = append(s.notes, name+" "+string(kind)+": "+why)
		s.list(path, kind, 0, 0)
		return
	}
	text := diff.Unified(path, path, before, after, diff.Context)
	if s.diff.Len()+len(text) > maxShownDiff {
		s.notes = append(s.notes, name+" "+string(kind)+": too much to show")
		text = ""
	}
	s.diff.WriteString(text)
	added, removed := diff.Count(before, after)
	s.list(path, kind, added, removed)
	if before == after && kind != overlay.Changed {
		s.notes = append(s.notes, name+" "+string(kind)+", empty")
	}
}

func (s *shown) list(path string, kind overlay.Kind, added, removed int) {
	if len(s.files) < maxShownFiles {
		s.files = append(s.files, map[string]any{"file": path, "status": string(kind), "additions": added, "deletions": removed})
	}
}

// ofGit returns the name of one of git's own files within its directory.
func (s *shown) ofGit(path string) (string, bool) {
	root := s.tools.Root
	for _, dir := range []string{root.GitDir, root.CommonDir} {
		if dir != "" && within(dir, path) {
			rel, _ := filepath.Rel(dir, path)
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// sideOf reads one side of a change, or says why it is not shown.
func sideOf(open func() (io.ReadCloser, error), mode fs.FileMode, path string) (text, why string) {
	switch {
	case mode == 0:
		return "", ""
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return "", err.Error()
		}
		return "link to " + target + "\n", ""
	case !mode.IsRegular():
		return "", "no regular file"
	}
	f, err := open()
	if err != nil {
		return "", err.Error()
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxShownFile+1))
	switch {
	case err != nil:
		return "", err.Error()
	case len(data) > maxShownFile:
		return "", "more than " + grouped(maxShownFile) + " bytes"
	case workspace.IsBinary("", data):
		return "", "binary"
	}
	return plainText(path, data), ""
}

// summary says on one line what the difference may not show.
func (s *shown) summary() string {
	var parts []string
	for _, kind := range []overlay.Kind{overlay.Changed, overlay.Added, overlay.Removed} {
		if n := s.count[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	text := strings.Join(parts, ", ")
	if len(s.git) > 0 {
		text = strings.TrimPrefix(text+"; in the repository: "+few(s.git, maxNamed), "; ")
	}
	if len(s.notes) > 0 {
		text += "; " + few(s.notes, 4*maxNamed)
	}
	return text
}

// names names what was changed, for the model.
func (s *shown) names() string { return few(s.all, maxNamed) }

// few joins some of the names, and counts the rest.
func few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
