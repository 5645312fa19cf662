package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/workspace"
)

// Target says what a file should become.
type Target struct {
	Path string // absolute
	To   string // tree whose version it gets; a file that is not in it is removed
	// Expect are the trees that have what the file may be now; a file that
	// matches none of them was changed by somebody else. Empty expects nothing.
	Expect []string
	// Same are pairs of trees in which the file has to be the same; if it is
	// not, somebody else changed it in between.
	Same [][2]string
	// Shared says that part of what the target undoes may be somebody else's.
	Shared bool
}

// Conflict is a file that was left as it is.
type Conflict struct {
	Path   string // absolute
	Reason string
}

// Applied says what [Store.Apply] did.
type Applied struct {
	Before, After string   // trees
	Changed       []string // absolute paths
	Conflicts     []Conflict
}

// Reasons of conflicts.
const (
	reasonChanged = "it was changed since by somebody else"
	reasonBetween = "it was changed by somebody else between steps of the session"
	reasonShared  = "another session or a job may have changed it at the same time"
	reasonUnknown = "it is ignored or too large, so its present content could not be brought back"
	reasonGone    = "the content it had is not in the snapshot store"
)

// Apply changes files to what they were in a tree and touches no others. A file
// that is not what the target expects is kept and reported as a conflict, unless
// forced. An error means that nothing could be done.
func (s *Store) Apply(ctx context.Context, targets []Target, force bool) (Applied, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.track(ctx)
	if err != nil {
		return Applied{}, err
	}
	out := Applied{Before: before, After: before}
	tidyWorktree(targets)
	plan, err := s.plan(ctx, targets, force, &out)
	if err != nil {
		return out, err
	}
	if len(plan) > 0 {
		err = s.carryOut(ctx, plan, &out)
	}
	emptied := s.dropEmptied(ctx, targets)
	if err != nil || len(plan) == 0 && !emptied {
		return out, err
	}
	out.After, err = s.track(ctx)
	return out, err
}

// tidyWorktree removes what a process that died while writing has left in the
// targets' directories.
func tidyWorktree(targets []Target) {
	dirs := map[string]bool{}
	for _, t := range targets {
		dirs[filepath.Dir(t.Path)] = true
	}
	for dir := range dirs {
		workspace.SweepTemps(dir)
	}
}

// deed is one file to change.
type deed struct {
	path string // relative to the worktree
	to   entry
	bits bool // only its permission bits change
}

// writes reports whether the file gets content.
func (d deed) writes() bool { return d.to.mode != 0 && d.to != bareDir && !d.bits }

func (s *Store) plan(ctx context.Context, targets []Target, force bool, out *Applied) ([]deed, error) {
	trees := map[string][]string{}
	rels := make([]string, len(targets))
	for i, t := range targets {
		rel, err := filepath.Rel(s.top, t.Path)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			return nil, fmt.Errorf("restore %s: it is not in %s", t.Path, s.top)
		}
		rels[i] = filepath.ToSlash(rel)
		for _, tree := range t.trees() {
			if tree != "" {
				trees[tree] = append(trees[tree], rels[i])
			}
		}
	}
	entries := map[string]map[string]entry{}
	for tree, paths := range trees {
		found, err := s.entries(ctx, tree, paths)
		if err != nil && exitCode(err) <= 0 {
			return nil, err
		}
		if err == nil { // otherwise the tree is not in the store: dropped, or made elsewhere
			entries[tree] = found
		}
	}
	var plan []deed
	for i, t := range targets {
		now, to := s.index.at(rels[i]), entries[t.To][rels[i]]
		switch {
		case entries[t.To] == nil:
			out.Conflicts = append(out.Conflicts, Conflict{t.Path, reasonGone})
			continue
		case now == to && (to != (entry{}) || !s.standsIn(rels[i])):
			continue
		case to.mode == modeRepo || now.mode == modeRepo:
			continue
		case !force && len(t.Expect) > 0 && !slices.ContainsFunc(t.Expect, func(tree string) bool { return now == entries[tree][rels[i]] }):
			out.Conflicts = append(out.Conflicts, Conflict{t.Path, reasonChanged})
			continue
		case !force && t.Shared:
			out.Conflicts = append(out.Conflicts, Conflict{t.Path, reasonShared})
			continue
		case !force && slices.ContainsFunc(t.Same, func(p [2]string) bool { return differs(entries, p, rels[i]) }):
			out.Conflicts = append(out.Conflicts, Conflict{t.Path, reasonBetween})
			continue
		case !force && now == (entry{}) && s.standsIn(rels[i]):
			out.Conflicts = append(out.Conflicts, Conflict{t.Path, reasonUnknown})
			continue
		}
		plan = append(plan, deed{rels[i], to, now.oid == to.oid && now.mode == to.mode})
	}
	return plan, nil
}

// trees are all trees that the target names.
func (t Target) trees() []string {
	all := append([]string{t.To}, t.Expect...)
	for _, p := range t.Same {
		all = append(all, p[0], p[1])
	}
	return all
}

// differs reports whether a file is known to be different in two trees.
func differs(entries map[string]map[string]entry, trees [2]string, rel string) bool {
	a, b := entries[trees[0]], entries[trees[1]]
	return a != nil && b != nil && a[rel] != b[rel]
}

// entries looks files up in a tree.
func (s *Store) entries(ctx context.Context, tree string, paths []string) (map[string]entry, error) {
	found := map[string]entry{}
	if tree == s.tree && s.known {
		for _, p := range paths {
			if e := s.index.at(p); e != (entry{}) {
				found[p] = e
			}
		}
		return found, nil
	}
	id := tree
	tree, bits, err := s.resolve(tree)
	if err != nil {
		return nil, err
	}
	for batch := range slices.Chunk(paths, 500) {
		out, err := s.run(ctx, nil, append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, batch...)...)
		if err != nil {
			return nil, fmt.Errorf("read snapshot %s: %w", id, err)
		}
		for _, line := range zsplit(out) {
			head, p, ok := strings.Cut(line, "\t")
			f := strings.Fields(head)
			if !ok || len(f) != 3 || f[1] == "tree" {
				continue
			}
			e, err := parseEntry(f[0], f[2])
			if err != nil {
				return nil, err
			}
			e.perm = bits.of(p, e.mode)
			found[p] = e
		}
	}
	for _, p := range paths {
		if _, ok := found[p]; !ok && bits.bare[p] {
			found[p] = bareDir
		}
	}
	return found, nil
}

// carryOut first removes, deepest paths first, and then writes.
func (s *Store) carryOut(ctx context.Context, plan []deed, out *Applied) error {
	want := map[oid]bool{}
	for _, d := range plan {
		if d.writes() {
			want[d.to.oid] = true
		}
	}
	bodies, err := s.blobs(ctx, want, MaxFile)
	if err != nil {
		return fmt.Errorf("read snapshots: %w", err)
	}
	root, err := os.OpenRoot(s.top)
	if err != nil {
		return err
	}
	defer root.Close()
	slices.SortFunc(plan, func(a, b deed) int {
		if c := cmp.Compare(min(a.to.mode, 1), min(b.to.mode, 1)); c != 0 {
			return c
		}
		return -strings.Compare(a.path, b.path)
	})
	for _, d := range plan {
		full := s.full(d.path)
		body, have := bodies[d.to.oid]
		if d.writes() && !have {
			out.Conflicts = append(out.Conflicts, Conflict{full, reasonGone})
			continue
		}
		if err := d.do(root, body); err != nil {
			out.Conflicts = append(out.Conflicts, Conflict{full, err.Error()})
			continue
		}
		out.Changed = append(out.Changed, full)
	}
	slices.Sort(out.Changed)
	return nil
}

func (d deed) do(root *os.Root, body []byte) error {
	name := filepath.FromSlash(d.path)
	if d.to.mode == 0 {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for dir := path.Dir(d.path); dir != "."; dir = path.Dir(dir) {
			if root.Remove(filepath.FromSlash(dir)) != nil { // not empty
				break
			}
		}
		return nil
	}
	if d.bits {
		return root.Chmod(name, d.to.perm)
	}
	if d.to == bareDir {
		if info, err := root.Lstat(name); err == nil && !info.IsDir() {
			if err := root.Remove(name); err != nil {
				return err
			}
		}
		return root.MkdirAll(name, 0o755)
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		if err := root.Remove(name); err != nil {
			return err
		}
	}
	temp := filepath.Join(filepath.Dir(name), workspace.TempName())
	err := d.write(root, temp, body)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

func (d deed) write(root *os.Root, temp string, body []byte) error {
	if d.to.mode == modeLink {
		return root.Symlink(string(body), temp)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, d.to.perm)
	if err != nil {
		return err
	}
	workspace.HoldTemp(f)
	_, err = f.Write(body)
	return errors.Join(err, f.Chmod(d.to.perm), f.Sync(), f.Close())
}
