package lsp

import "slices"

// Reach is what the process of a server can read and write, of the directories that may
// become its roots. It does not change while the process lives. Nil is everything.
type Reach struct {
	Write []string // directories that it can read and write
	Read  []string // directories that it can only read
}

// has reports whether the process can serve a root: one that runs what the project brings
// also has to write there what it builds, for the others reading will do.
func (r *Reach) has(w wanted) bool {
	if r == nil {
		return true
	}
	holds := func(dir string) bool { return within(dir, w.root) }
	return slices.ContainsFunc(r.Write, holds) || !w.spec.Runs && slices.ContainsFunc(r.Read, holds)
}

// reach is what a server that the directory starts now can read and write.
func (s *Servers) reach() *Reach {
	if s.opts.Reach == nil {
		return nil
	}
	return s.opts.Reach()
}
