package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
)

// answer is the http.ResponseWriter of a request: it remembers what was sent.
type answer struct {
	http.ResponseWriter
	status int
	id     string
	asked  *http.Request // as it was let in; nil for one that the gate refused
}

// WriteHeader sends the status once.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write sends a piece of the body.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := s.opts.Now()
	r = s.gate.Passed(r)
	w := &answer{ResponseWriter: rw, id: s.requestID(r)}
	h := w.Header()
	h.Set("X-Request-Id", w.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if !s.enter() {
		s.fail(w, r, errStopping)
		return
	}
	defer s.wg.Done()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer context.AfterFunc(s.ctx, func() { cancel(errStopping) })()
	defer cancel(nil)
	r = r.WithContext(ctx)
	defer s.audit(w, r, start)
	defer s.recoverPanic(w, r)
	s.admit(w, r)
}

// admit lets a request through the gate to its route.
func (s *Server) admit(w *answer, r *http.Request) {
	who, ok := s.gate.Admit(w, r)
	if !ok {
		return
	}
	if s.rights != nil {
		var err error
		if r, err = s.rights.admit(r, who); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	w.asked = r
	if s.elsewhere(w, r) {
		r.Pattern = s.mux.pattern(r) // which the mux notes of those that get there
		r.SetPathValue("sessionID", string(sessionInPath(r)))
		return
	}
	if r.ContentLength == 0 || r.Body == http.NoBody {
		s.mux.ServeHTTP(w, r)
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(s.patience.Stall))
	body := &watched{ReadCloser: r.Body}
	r.Body = body
	s.mux.ServeHTTP(w, r)
	if !body.ended {
		_ = rc.SetReadDeadline(time.Now().Add(gate.Leftover))
	}
}

// watched is a body that records whether it was read to its end.
type watched struct {
	io.ReadCloser
	ended bool
}

// Read reads the next piece.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// audit logs who asked for what. Paths hold no secrets, but queries may.
func (s *Server) audit(w *answer, r *http.Request, start time.Time) {
	if w.asked != nil {
		r = w.asked
	}
	level := slog.LevelInfo
	if s.opts.Local || r.Method == http.MethodGet && w.status < 400 && w.status != http.StatusSwitchingProtocols {
		level = slog.LevelDebug
	}
	route := r.Pattern
	if route == "" {
		route = r.Method + " (refused)"
	}
	about := []any{
		"id", w.id, "route", route, "status", w.status, "dur", s.opts.Now().Sub(start),
		"remote", r.RemoteAddr, "client", clip(r.UserAgent(), 120), "session", r.PathValue("sessionID"),
	}
	if s.opts.Served != nil {
		s.opts.Served(r, w.status, start)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		about = append(about, "origin", clip(origin, 120))
	}
	s.opts.Log.Log(r.Context(), level, "request", about...)
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// recoverPanic turns a broken invariant into one failed request.
func (s *Server) recoverPanic(w *answer, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.opts.Log.Error("request failed", "id", w.id, "route", r.Pattern, "err", fmt.Sprint(v), "stack", string(debug.Stack()))
	if w.status == 0 {
		s.fail(w, r, errors.New("panic"))
	}
}

// handler answers a request with a value for JSON, or an error. It returns
// [done] when it has written the answer itself.
type handler func(c *call) (any, error)

// done is the result of a handler that has answered already.
type done struct{}

// noContent is the result of a handler whose answer has no body.
type noContent struct{}

// call is one request on its way through a route.
type call struct {
	s *Server
	w *answer
	r *http.Request
}

func (c *call) ctx() context.Context { return c.r.Context() }

// on returns the handler of a method on one of the route groups: types that
// hold only the call they answer.
func on[T ~struct{ *call }](answer func(T) (any, error)) handler {
	return func(c *call) (any, error) { return answer(T{c}) }
}

func (s *Server) handle(h handler) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		w := rw.(*answer)
		if s.refuses(r) {
			w.Header().Set("Retry-After", "5")
			s.fail(w, r, errStopping)
			return
		}
		v, err := h(&call{s: s, w: w, r: r})
		switch {
		case err != nil && w.status == 0:
			s.fail(w, r, err)
		case err != nil:
			s.opts.Log.Warn("answer cut short", "id", w.id, "route", r.Pattern, "err", err)
		case v == done{}:
		case v == noContent{}:
			w.WriteHeader(http.StatusNoContent)
		default:
			s.reply(w, r, http.StatusOK, v)
		}
	}
}

func (s *Server) reply(w *answer, r *http.Request, status int, v any) {
	body, err := wire.Encode(v)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(gate.WriteUntil(body.Size()))
	w.Header().Set("Content-Type", "application/json")
	s.send(w, r, status, body)
}
