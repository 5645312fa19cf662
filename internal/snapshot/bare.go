package snapshot

import (
	"context"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// git keeps no empty directories. Where the worktree is watched, those that the
// project does not ignore are part of a snapshot anyway, in addition to its
// tree, so that one that was made can be removed and one that was removed can
// come back.

// bareDir is the entry of an empty directory.
var bareDir = entry{mode: modeTree}

// at returns what is at a path, which may be an empty directory.
func (x *index) at(path string) entry {
	if e, ok := x.files[path]; ok || !x.perms.bare[path] {
		return e
	}
	return bareDir
}

// bareNow returns the empty directories after some paths changed.
func (u *updater) bareNow(ctx context.Context, dirty map[string]bool) map[string]bool {
	look := map[string]bool{}
	maps.Copy(look, u.index.perms.bare)
	for p := range dirty {
		look[p], look[path.Dir(p)] = true, true
	}
	for _, d := range u.below {
		look[d] = true
	}
	return u.findBare(ctx, maps.Keys(look))
}

// findBare returns those of the directories that are empty.
func (s *Store) findBare(ctx context.Context, among iter.Seq[string]) map[string]bool {
	if s.watch == nil {
		return nil
	}
	was, found := s.index.perms.bare, map[string]bool{}
	var ask []string
	for d := range among {
		s.index.build()
		switch {
		case d == "" || d == "." || s.index.root.find(d) != nil || s.noise[d+"/"] || !s.isBare(d):
		case was[d]:
			found[d] = true
		default:
			ask = append(ask, d+"/")
		}
	}
	if len(ask) == 0 {
		return found
	}
	ignored, err := s.ignored(ctx, ask)
	if err != nil {
		s.log.Warn("git could not say which empty directories are ignored", "err", err)
		return found
	}
	for _, d := range ask {
		if !ignored[d] {
			found[strings.TrimSuffix(d, "/")] = true
		} else if len(s.noise) < 10*maxDirty {
			s.noise[d] = true
		}
	}
	return found
}

// bareChanges adds to changed what became of empty directories.
func bareChanges(was, now map[string]bool, changed map[string]change) {
	for d := range was {
		if c := changed[d]; !now[d] {
			changed[d] = change{bareDir, c.after}
		}
	}
	for d := range now {
		if c := changed[d]; !was[d] {
			changed[d] = change{c.before, bareDir}
		}
	}
}

// dropEmptied removes the directories that an interrupted Apply left empty: it
// had removed the last file of each, but not yet the directory. They are
// recognised by targets that should be gone and are gone, in a directory that is
// not in the tree.
func (g *gitDir) dropEmptied(ctx context.Context, targets []Target) (dropped bool) {
	looked := map[string]bool{}
	for _, t := range targets {
		if _, err := os.Lstat(t.Path); err == nil {
			continue
		}
		for dir := filepath.Dir(t.Path); within(g.top, dir) && !looked[t.To+dir]; dir = filepath.Dir(dir) {
			looked[t.To+dir] = true
			if _, err := os.Lstat(dir); err != nil {
				continue // an outer one may remain
			}
			rel, err := filepath.Rel(g.top, dir)
			if err != nil || !g.isBare(rel) || g.stood(ctx, t.To, filepath.ToSlash(rel)) || os.Remove(dir) != nil {
				break
			}
			dropped = true
		}
	}
	return dropped
}

// within reports whether a directory lies below another one.
func within(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// stood reports whether there was a directory at a path, or may have been.
func (g *gitDir) stood(ctx context.Context, tree, rel string) bool {
	tree, bits, err := g.resolve(tree)
	if err != nil || bits.bare[rel] {
		return true
	}
	out, err := g.run(ctx, nil, "ls-tree", "-z", "--full-tree", tree, "--", rel)
	return err != nil || len(out) > 0
}

// bareBetween returns the directories that are empty in one of two snapshots.
func (g *gitDir) bareBetween(from, to string) ([]string, error) {
	_, a, err := g.resolve(from)
	if err != nil {
		return nil, err
	}
	_, b, err := g.resolve(to)
	if err != nil {
		return nil, err
	}
	changed := map[string]change{}
	bareChanges(a.bare, b.bare, changed)
	return slices.Collect(maps.Keys(changed)), nil
}
