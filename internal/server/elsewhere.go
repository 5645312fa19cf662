package server

import "net/http"

// elsewhere has a request done by another server, if that holds what it is about.
func (s *Server) elsewhere(w *answer, r *http.Request) bool {
	if s.opts.Elsewhere == nil {
		return false
	}
	done, err := s.opts.Elsewhere(w, r)
	if err != nil {
		s.fail(w, r, err)
		return true
	}
	return done
}
