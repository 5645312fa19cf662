package snapshot

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// perms is what git does not keep: permission bits of files, of which it has one,
// and empty directories.
type perms struct {
	usual fs.FileMode            // of files that are not executable
	odd   map[string]fs.FileMode // those that differ from it
	bare  map[string]bool        // empty directories; never changed once it is stored here
}

// expect returns the usual bits for a mode of git's.
func (p perms) expect(mode uint32) fs.FileMode {
	usual := p.usual
	if usual == 0 {
		usual = 0o644
	}
	if mode == modeExec {
		usual |= usual & 0o444 >> 2
	}
	return usual
}

// note records the bits of a file; a zero entry forgets them.
func (p *perms) note(path string, e entry) {
	if e.mode != modeFile && e.mode != modeExec || e.perm == p.expect(e.mode) {
		delete(p.odd, path)
		return
	}
	if p.odd == nil {
		p.odd = map[string]fs.FileMode{}
	}
	p.odd[path] = e.perm
}

// of returns the bits a file has or had.
func (p perms) of(path string, mode uint32) fs.FileMode {
	if mode != modeFile && mode != modeExec {
		return 0
	}
	if perm, ok := p.odd[path]; ok {
		return perm
	}
	return p.expect(mode)
}

// permsDoc is a snapshot together with what its tree cannot hold.
type permsDoc struct {
	Tree  string            `json:"tree"`
	Usual uint32            `json:"usual"`
	Odd   map[string]uint32 `json:"odd,omitempty"`
	Bare  []string          `json:"bare,omitempty"`
}

func (g *gitDir) permsFile(id string) string { return filepath.Join(g.dir, "perms", id+".json") }

// name returns the name of the index's snapshot: the tree itself if that holds
// everything, otherwise a document that names the tree.
func (s *Store) name(tree string) (string, error) {
	p := s.index.perms
	if len(p.odd) == 0 && len(p.bare) == 0 && p.expect(modeFile) == 0o644 {
		return tree, nil
	}
	doc := permsDoc{Tree: tree, Usual: uint32(p.expect(modeFile)), Odd: make(map[string]uint32, len(p.odd)), Bare: slices.Sorted(maps.Keys(p.bare))}
	for f, m := range p.odd {
		doc.Odd[f] = uint32(m)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	sum := sha1.Sum(data)
	id := hex.EncodeToString(sum[:])
	path := s.permsFile(id)
	if exists(path) {
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return id, s.replaceFile(path, data, 0o600)
}

// resolve returns the tree of a snapshot and the bits of its files.
func (g *gitDir) resolve(id string) (tree string, p perms, err error) {
	p = perms{usual: 0o644}
	if err := checkTrees(id); err != nil {
		return "", p, err
	}
	data, err := os.ReadFile(g.permsFile(id))
	if err != nil {
		return id, p, nil
	}
	var doc permsDoc
	if err := json.Unmarshal(data, &doc); err != nil {
		return "", p, fmt.Errorf("snapshot %s: %w", id, err)
	}
	if doc.Tree == "" { // from a store in which trees named snapshots
		doc.Tree = id
	}
	if err := checkTrees(doc.Tree); err != nil {
		return "", p, err
	}
	p.usual, p.odd = fs.FileMode(doc.Usual)&fs.ModePerm, make(map[string]fs.FileMode, len(doc.Odd))
	for f, m := range doc.Odd {
		p.odd[f] = fs.FileMode(m) & fs.ModePerm
	}
	p.bare = make(map[string]bool, len(doc.Bare))
	for _, d := range doc.Bare {
		p.bare[d] = true
	}
	return doc.Tree, p, nil
}

// permChanges returns the files that are in both snapshots with the same content
// and other bits, besides those that git tells apart.
func (s *Store) permChanges(ctx context.Context, from, to string) ([]string, error) {
	tree, before, err := s.resolve(from)
	if err != nil {
		return nil, err
	}
	_, after, err := s.resolve(to)
	if err != nil || before.usual == after.usual && maps.Equal(before.odd, after.odd) {
		return nil, err
	}
	var paths []string // that may differ
	if before.usual != after.usual {
		out, err := s.run(ctx, nil, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tree)
		if err != nil {
			return nil, fmt.Errorf("read snapshot %s: %w", from, err)
		}
		paths = zsplit(out)
	} else {
		for path := range before.odd {
			paths = append(paths, path)
		}
		for path := range after.odd {
			if _, both := before.odd[path]; !both {
				paths = append(paths, path)
			}
		}
	}
	old, err := s.entries(ctx, from, paths)
	if err != nil {
		return nil, err
	}
	now, err := s.entries(ctx, to, paths)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		a, b := old[path], now[path]
		return a.mode == 0 || a.oid != b.oid || a.mode != b.mode || a.perm == b.perm
	}), nil
}
