package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/workspace"
)

const (
	// maxDirty is the number of changed paths above which git is faster.
	maxDirty = 2_000
	// maxDirtyBytes is how much they may hold at the start of a process. Above that
	// git adds them, which limits what is copied.
	maxDirtyBytes = 64 << 20
)

// update takes changed paths into the index. done is false when git has to be
// asked instead.
func (s *Store) update(ctx context.Context, dirty map[string]bool) (tree string, done bool, err error) {
	u := &updater{Store: s, changed: map[string]change{}, here: map[string]bool{}}
	defer func() {
		if !done {
			u.undo()
		}
	}()
	for p := range dirty {
		if path.Base(p) == ".gitignore" {
			clear(s.noise)
			return "", false, nil
		}
	}
	s.index.build()
	for p := range dirty {
		u.look(p)
	}
	if len(u.found) > maxDirty {
		return "", false, nil
	}
	fresh, ok := u.filter(ctx)
	if !ok {
		return "", false, nil
	}
	for _, f := range append(u.known, fresh...) {
		if err := u.take(f); err != nil {
			return "", false, err
		}
	}
	for _, dir := range u.dirs {
		s.index.removeBelow(dir, u.here, u.changed)
	}
	id, err := s.index.root.write(s.writeObject)
	if err != nil {
		return "", false, err
	}
	tree = id.String()
	was := s.index.perms.bare
	s.index.perms.bare = u.bareNow(ctx, dirty)
	bareChanges(was, s.index.perms.bare, u.changed)
	if tree, err = s.name(tree); err != nil {
		return "", false, err
	}
	return s.settle(tree, u.changed), true, nil
}

// updater is one update under way.
type updater struct {
	*Store
	changed map[string]change
	found   []string        // paths that exist and are not directories
	known   []string        // those of them that are in the index
	dirs    []string        // directories that were looked through
	here    map[string]bool // what was found in them
	below   []string        // directories in them
}

// undo restores the index's files, so that git can be asked instead.
func (u *updater) undo() {
	for p, c := range u.changed {
		if c.before == (entry{}) || c.before == bareDir {
			delete(u.index.files, p)
		} else {
			u.index.files[p] = c.before
		}
	}
}

// look classifies a path by what is there now.
func (u *updater) look(p string) {
	info, err := os.Lstat(u.full(p))
	switch {
	case err != nil:
		u.index.set(p, entry{}, u.changed)
		u.index.removeBelow(p, nil, u.changed)
	case info.IsDir():
		u.lookThrough(p)
	case workspace.IsTemp(p) && u.index.files[p] == (entry{}):
	default:
		u.found = append(u.found, p)
	}
}

// lookThrough finds the files of a directory that is new or was replaced.
func (u *updater) lookThrough(dir string) {
	if hidden(path.Base(dir)) || exists(filepath.Join(u.full(dir), ".git")) {
		return
	}
	u.index.set(dir, entry{}, u.changed)
	u.dirs = append(u.dirs, dir)
	_ = filepath.WalkDir(u.full(dir), func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(u.top, full)
		if err != nil || relErr != nil || len(u.found) > maxDirty {
			return fs.SkipDir
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && rel != dir && (hidden(d.Name()) || exists(filepath.Join(full, ".git"))):
			return fs.SkipDir
		case d.IsDir():
			u.below = append(u.below, rel)
		case workspace.IsTemp(rel):
		default:
			u.found, u.here[rel] = append(u.found, rel), true
		}
		return nil
	})
}

// filter drops what the project ignores from the new paths.
func (u *updater) filter(ctx context.Context) (fresh []string, ok bool) {
	var ask []string
	for _, f := range u.found {
		switch {
		case u.index.files[f] != (entry{}):
			u.known = append(u.known, f)
		case !u.noise[f]:
			ask = append(ask, f)
		}
	}
	if len(ask) == 0 {
		return nil, true
	}
	ignored, err := u.ignored(ctx, ask)
	if err != nil {
		u.log.Warn("git could not say what is ignored; looking through the worktree", "err", err)
		return nil, false
	}
	for f := range ignored {
		if len(u.noise) < 10*maxDirty {
			u.noise[f] = true
		}
	}
	for _, f := range ask {
		if !ignored[f] {
			fresh = append(fresh, f)
		}
	}
	return fresh, true
}

// ignored says which of the paths the project's rules leave out. None of them
// is in the index.
func (g *gitDir) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	// This command knows no literal pathspecs; "./" keeps a name from being read as a magic pathspec.
	env := slices.DeleteFunc(slices.Clone(g.env), func(kv string) bool { return strings.HasPrefix(kv, "GIT_LITERAL_PATHSPECS=") })
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString("./" + p + "\x00")
	}
	out, err := g.runIn(ctx, g.top, env, in.Bytes(), "check-ignore", "--no-index", "-z", "--stdin")
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	found := map[string]bool{}
	for _, p := range zsplit(out) {
		found[strings.TrimPrefix(p, "./")] = true
	}
	return found, nil
}

// take brings one file's entry up to date.
func (u *updater) take(f string) error {
	limit := int64(MaxFile)
	if u.index.files[f] == (entry{}) {
		limit = MaxNewFile
	}
	e, err := u.entryOf(f, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist): // already gone
		u.index.set(f, entry{}, u.changed)
		return nil
	case errors.Is(err, errSkip):
		return nil
	case err != nil:
		return err
	}
	u.index.removeAbove(f, u.changed)
	u.index.removeBelow(f, nil, u.changed)
	u.index.set(f, e, u.changed)
	return nil
}

// errSkip marks what does not belong in a snapshot.
var errSkip = errors.New("left out of the snapshot")

// entryOf stores the content of a file and returns its entry.
func (g *gitDir) entryOf(f string, limit int64) (e entry, err error) {
	full := g.full(f)
	info, err := os.Lstat(full)
	if err != nil {
		return e, err
	}
	var body []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(full)
		if err != nil {
			return e, err
		}
		e.mode, body = modeLink, []byte(to)
	case !info.Mode().IsRegular() || info.Size() > limit:
		return e, errSkip
	default:
		body, err = workspace.ReadFile(full, limit)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, workspace.ErrTooLarge) || errors.Is(err, workspace.ErrNotRegular) {
			return e, errSkip
		}
		if err != nil {
			return e, err
		}
		e.mode, e.perm = modeFile, info.Mode().Perm()
		if info.Mode()&0o100 != 0 {
			e.mode = modeExec
		}
	}
	e.oid, err = g.writeObject("blob", body)
	return e, err
}

// hidden names directories that are never looked into.
func hidden(name string) bool {
	return strings.Contains("\n"+never, "\n"+name+"/\n") || name == ".git"
}
