package server

import "net/http"

// maxRequestID bounds the identifiers that clients give their requests.
const maxRequestID = 64

// requestID returns the identifier that the client or a proxy gave the request,
// so that its log and ours can be compared, or a new one. It is only a label
// and proves nothing.
func (s *Server) requestID(r *http.Request) string {
	given := r.Header.Values("X-Request-Id")
	if len(given) == 1 && wellFormed(given[0]) {
		return given[0]
	}
	return s.opts.IDs.New("req")
}

// wellFormed reports whether an identifier is harmless in a header and a log.
func wellFormed(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
