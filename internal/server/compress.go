package server

import (
	"compress/gzip"
	"net"
	"net/http"
	"strconv"
	"strings"

	"lathe/internal/opencode/wire"
)

// compressFrom is the size from which an answer is worth compressing.
const compressFrom = 16 << 10

// send writes an answer, compressed if it is large and the client accepts that.
// Over a socket of this machine, sending the bytes costs less than compressing
// them.
func (s *Server) send(w *answer, r *http.Request, status int, body wire.Output) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if body.Size() < compressFrom || !overNetwork(r) || !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		w.WriteHeader(status)
		_, _ = body.WriteTo(w)
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil { // the level is a constant
		panic(err)
	}
	if _, err := body.WriteTo(z); err == nil {
		_ = z.Close()
	}
}

// overNetwork reports whether a request came over TCP.
func overNetwork(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && strings.HasPrefix(addr.Network(), "tcp")
}

// acceptsGzip reads Accept-Encoding: gzip or * with a weight that is not zero;
// what says gzip counts before what says *.
func acceptsGzip(values []string) bool {
	any := false
	for v := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, params, _ := strings.Cut(v, ";")
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if f, err := strconv.ParseFloat(strings.TrimSpace(q), 64); err == nil {
				weight = f
			}
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return weight > 0
		case "*":
			any = weight > 0
		}
	}
	return any
}
