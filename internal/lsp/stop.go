package lsp

import "slices"

// Stop ends a server that was started for a root, and forgets why it failed, so that the
// next file that needs it starts it anew. Other directories that share the server start
// it anew too. It returns when the server has ended, and reports whether there was one.
func (s *Servers) Stop(id, root string) bool {
	if s == nil {
		return false
	}
	s.pool.mu.Lock()
	var over []*entry
	users := map[*entry][]*Servers{}
	for _, e := range s.pool.all {
		if e.spec.ID != id || !slices.Contains(e.users[s], root) {
			continue
		}
		over = append(over, e)
		for u := range e.users {
			users[e] = append(users[e], u)
		}
	}
	s.pool.mu.Unlock()
	s.pool.end(over)
	for e, list := range users {
		for _, u := range list {
			u.changed(e.spec, nil)
		}
	}
	return len(over) > 0
}
