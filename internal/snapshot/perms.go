package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
)

// perms are the permission bits of files, of which git keeps one.
type perms struct {
	usual fs.FileMode            // of files that are not executable
	odd   map[string]fs.FileMode // those that differ from it
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

func (p *perms) note(path string, mode uint32, perm fs.FileMode) {
	if mode == modeLink || perm == p.expect(mode) {
		delete(p.odd, path)
		return
	}
	if p.odd == nil {
		p.odd = map[string]fs.FileMode{}
	}
	p.odd[path] = perm
}

// of returns the bits a file has or had.
func (p perms) of(path string, mode uint32) fs.FileMode {
	if perm, ok := p.odd[path]; ok {
		return perm
	}
	return p.expect(mode)
}

// permsDoc is how perms are kept beside a tree.
type permsDoc struct {
	Usual uint32            `json:"usual"`
	Odd   map[string]uint32 `json:"odd,omitempty"`
}

func (s *Store) permsFile(tree string) string { return filepath.Join(s.dir, "perms", tree+".json") }

// savePerms keeps the bits with a tree. Nothing is written for the usual case.
func (s *Store) savePerms(tree string) error {
	p := s.index.perms
	path := s.permsFile(tree)
	if len(p.odd) == 0 && p.expect(modeFile) == 0o644 {
		if err := os.Remove(path); err != nil && exists(path) {
			return err
		}
		return nil
	}
	doc := permsDoc{Usual: uint32(p.expect(modeFile)), Odd: make(map[string]uint32, len(p.odd))}
	for f, m := range p.odd {
		doc.Odd[f] = uint32(m)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return s.replaceFile(path, data, 0o600)
}

// loadPerms returns the bits kept with a tree.
func (s *Store) loadPerms(tree string) perms {
	p := perms{usual: 0o644}
	data, err := os.ReadFile(s.permsFile(tree))
	if err != nil {
		return p
	}
	var doc permsDoc
	if json.Unmarshal(data, &doc) != nil {
		return p
	}
	p.usual, p.odd = fs.FileMode(doc.Usual)&fs.ModePerm, make(map[string]fs.FileMode, len(doc.Odd))
	for f, m := range doc.Odd {
		p.odd[f] = fs.FileMode(m) & fs.ModePerm
	}
	return p
}
