// Package trust remembers which repositories the person trusts to steer lathe.
//
// A decision is bound to a checkout's directory, to its project, and to the
// content of every file that could steer lathe at the time: when one of them
// changes, disappears or is new, the decision no longer holds and says why.
package trust

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe/internal/jsonfile"
	"lathe/internal/order"
	"lathe/internal/workspace"
)

// Decision says that a checkout is trusted as it was.
type Decision struct {
	Dir     string    `json:"directory"` // resolved top of the checkout; outside git the directory itself
	Project string    `json:"project"`
	Files   Files     `json:"files"`
	Time    time.Time `json:"time"`
}

// Store keeps decisions in a file, which need not exist. It is safe for
// concurrent use, also by several processes.
type Store struct{ file jsonfile.File }

// Open returns the store in a file; nothing is read yet.
func Open(path string) *Store {
	return &Store{jsonfile.File{
		Path: path, Most: 32 << 20, What: "trust decisions",
		Lost: "remove the file and trust your repositories again", Full: "remove some with: lathe trust remove",
	}}
}

type document struct {
	jsonfile.Header
	Trusted []Decision `json:"trusted"`
}

// List returns all decisions by directory.
func (s *Store) List() ([]Decision, error) {
	var doc document
	if err := s.file.Read(&doc); err != nil {
		return nil, err
	}
	sorted(doc.Trusted)
	return doc.Trusted, nil
}

func sorted(all []Decision) {
	order.Stable(all, func(a, b Decision) int { return cmp.Compare(a.Dir, b.Dir) })
}

// Get returns the decision about a checkout.
func (s *Store) Get(dir string) (Decision, bool, error) {
	all, err := s.List()
	if err != nil {
		return Decision{}, false, err
	}
	i := slices.IndexFunc(all, func(d Decision) bool { return d.Dir == dir })
	if i < 0 {
		return Decision{}, false, nil
	}
	return all[i], true, nil
}

// Add stores a decision instead of an older one about the same checkout. Files
// of the older one that still exist and are not named again stay in it: they
// belong to other directories of the checkout.
func (s *Store) Add(ctx context.Context, d Decision) error {
	return s.update(ctx, func(all []Decision) []Decision {
		i := slices.IndexFunc(all, func(o Decision) bool { return o.Dir == d.Dir })
		if i < 0 {
			return append(all, d)
		}
		files := Files{}
		if all[i].Project == d.Project {
			for path, hash := range all[i].Files {
				if exists(d.Dir, path) {
					files[path] = hash
				}
			}
		}
		maps.Copy(files, d.Files)
		d.Files = files
		all[i] = d
		return all
	})
}

// Remove forgets the decision about a checkout; it reports whether there was one.
func (s *Store) Remove(ctx context.Context, dir string) (found bool, err error) {
	err = s.update(ctx, func(all []Decision) []Decision {
		return slices.DeleteFunc(all, func(d Decision) bool {
			found = found || d.Dir == dir
			return d.Dir == dir
		})
	})
	return found, err
}

func (s *Store) update(ctx context.Context, change func([]Decision) []Decision) error {
	var doc document
	return s.file.Update(ctx, &doc, func() {
		sorted(doc.Trusted)
		doc.Trusted = change(doc.Trusted)
	})
}

// Change is a difference between what was trusted and what is there now.
type Change struct {
	Path string // relative to the checkout, with forward slashes
	What string // "changed", "new", "gone"; or "another project" for all of it
}

// String describes the change.
func (c Change) String() string {
	if c.Path == "" {
		return "the directory holds another project"
	}
	return c.Path + " is " + c.What
}

// Check compares a decision with what is there now; it still holds if nothing
// is returned. Files in directories that were not scanned this time are
// skipped.
func (d Decision) Check(project string, now Files) []Change {
	var out []Change
	if d.Project != project && d.Project != workspace.GlobalID {
		out = append(out, Change{What: "another project"})
	}
	for path, hash := range now {
		switch old, known := d.Files[path]; {
		case !known:
			out = append(out, Change{path, "new"})
		case old != hash:
			out = append(out, Change{path, "changed"})
		}
	}
	for path := range d.Files {
		if _, still := now[path]; !still && !exists(d.Dir, path) {
			out = append(out, Change{path, "gone"})
		}
	}
	order.Stable(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func exists(dir, path string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
	return err == nil
}
