package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"lathe"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// invalid is what is wrong with a request, and where.
type invalid struct {
	where string // "Payload", "Query" or "Params"
	path  []string
	msg   string
	hint  string
	name  string // of the error; empty: BadRequest
}

func (e *invalid) Error() string {
	if len(e.path) == 0 {
		return e.msg
	}
	return strings.Join(e.path, ".") + ": " + e.msg
}

// unsupported is an answer for what OpenCode can do and lathe cannot.
type unsupported struct{ what string }

func (e *unsupported) Error() string { return "lathe does not support " + e.what }

func badPayload(format string, args ...any) error {
	return &invalid{where: "Payload", msg: fmt.Sprintf(format, args...)}
}

func badQuery(name, format string, args ...any) error {
	return &invalid{where: "Query", path: []string{name}, msg: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return lathe.Errorf(lathe.CodeNotFound, "", format, args...)
}

// failure is an error as it is sent: OpenCode's {name, data}, plus the fields of
// its newer versions.
type failure struct {
	Name    string      `json:"name"`
	Tag     string      `json:"_tag,omitempty"`
	Message string      `json:"message,omitempty"`
	Session string      `json:"sessionID,omitempty"`
	Request string      `json:"requestID,omitempty"`
	Data    failureData `json:"data"`
}

type failureData struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Ref     string `json:"ref,omitempty"`
	// Provider is the one whose credential is missing.
	Provider string `json:"providerID,omitempty"`
}

type badRequest struct {
	Name    string    `json:"name"`
	Tag     string    `json:"_tag,omitempty"`
	Message string    `json:"message,omitempty"`
	Data    badData   `json:"data"`
	Error   []problem `json:"error"`
	Errors  []problem `json:"errors"`
	Success bool      `json:"success"`
}

type badData struct {
	Message string `json:"message"`
	Kind    string `json:"kind"`
	Hint    string `json:"hint,omitempty"`
}

type problem struct {
	Code    string   `json:"code"`
	Path    []string `json:"path"`
	Message string   `json:"message"`
}

func (e *invalid) body() badRequest {
	where := e.where
	if where == "" {
		where = "Payload"
	}
	p := problem{Code: "custom", Path: e.path, Message: e.msg}
	if p.Path == nil {
		p.Path = []string{}
	}
	return badRequest{
		Name: cmp.Or(e.name, "BadRequest"), Data: badData{Message: e.Error(), Kind: where, Hint: e.hint},
		Error: []problem{p}, Errors: []problem{p},
	}
}

// names are the statuses and names of errors by code.
var names = map[lathe.Code]struct {
	status int
	name   string
}{
	lathe.CodeNotFound:   {http.StatusNotFound, "NotFoundError"},
	lathe.CodeBusy:       {http.StatusConflict, "SessionBusyError"},
	lathe.CodeAuth:       {http.StatusBadRequest, "ProviderAuthError"},
	lathe.CodeProvider:   {http.StatusBadGateway, "APIError"},
	lathe.CodePermission: {http.StatusForbidden, "PermissionDeniedError"},
	lathe.CodeLimit:      {http.StatusTooManyRequests, "LimitError"},
	lathe.CodeAborted:    {http.StatusConflict, "MessageAbortedError"},
	lathe.CodeFull:       {http.StatusInsufficientStorage, "StorageFullError"},
	lathe.CodeReadOnly:   {http.StatusServiceUnavailable, "StorageReadOnlyError"},

	lathe.CodeUnavailable: {http.StatusServiceUnavailable, "StorageUnavailableError"},
}

// describe returns the status and body for an error. Details that are not meant
// for people are replaced by a reference to the log.
func (s *Server) describe(r *http.Request, ref string, err error) (int, any) {
	if bad, ok := errors.AsType[*invalid](err); ok {
		return http.StatusBadRequest, bad.body()
	}
	if no, ok := errors.AsType[*unsupported](err); ok {
		return http.StatusNotImplemented, failure{Name: "NotImplementedError", Data: failureData{Message: no.Error()}}
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, failure{Name: "PayloadTooLargeError", Data: failureData{Message: fmt.Sprintf("the body is larger than %d bytes", big.Limit)}}
	}
	e, ok := errors.AsType[*lathe.Error](err)
	switch {
	case ok && e.Code == lathe.CodeInvalid:
		return http.StatusBadRequest, (&invalid{msg: e.Msg, hint: e.Hint}).body()
	case ok && e.Code != lathe.CodeInternal:
		n := names[e.Code]
		out := failure{Name: n.name, Data: failureData{Message: e.Msg, Hint: e.Hint}}
		if f, ok := errors.AsType[lathe.Failure](e.Cause); ok { // shown with the session as well
			out.Data.Message += ": " + f.Error()
		}
		if f := provider.AuthFailure(err); f != nil {
			out.Data.Provider = f.Provider
		}
		if e.Code == lathe.CodeBusy {
			out.Tag, out.Message, out.Session = n.name, e.Msg, r.PathValue("sessionID")
		}
		return n.status, out
	case errors.Is(err, store.ErrLost):
		return http.StatusConflict, failure{Name: "SessionBusyError", Tag: "SessionBusyError", Message: lostText, Session: r.PathValue("sessionID"),
			Data: failureData{Message: lostText, Hint: "try again: it is done by the server that has the session now"}}
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound, failure{Name: "NotFoundError", Data: failureData{Message: "Resource not found"}}
	case errors.Is(err, turn.ErrAborted):
		return http.StatusConflict, failure{Name: "MessageAbortedError", Data: failureData{Message: err.Error()}}
	case errors.Is(err, context.Canceled) && r.Context().Err() != nil && !errors.Is(context.Cause(r.Context()), errStopping):
		return http.StatusBadRequest, badPayload("the client gave the request up before it was answered").(*invalid).body()
	case errors.Is(err, errStopping):
		return http.StatusServiceUnavailable, failure{Name: "UnavailableError", Data: failureData{Message: errStopping.Error()}}
	}
	return http.StatusInternalServerError, failure{Name: "UnknownError", Data: failureData{
		Message: "Unexpected server error. The log has the details.", Ref: ref,
	}}
}

const lostText = "another lathe has taken the session over, because this one was not heard of for too long; nothing was stored"

// fail sends an error. A caller in the same process gets the error itself.
func (s *Server) fail(w *answer, r *http.Request, err error) {
	if in, ok := w.ResponseWriter.(interface{ Fail(error) }); ok {
		if bad, ok := errors.AsType[*invalid](err); ok {
			err = lathe.Errorf(lathe.CodeInvalid, bad.hint, "%v", bad)
		}
		in.Fail(err)
		return
	}
	status, body := s.describe(r, w.id, err)
	switch {
	case lathe.CodeOf(err) == lathe.CodeUnavailable:
		w.Header().Set("Retry-After", "5")
	case errors.Is(err, store.ErrLost):
		w.Header().Set("Retry-After", "1")
	}
	if status == http.StatusInternalServerError && context.Cause(r.Context()) == nil {
		s.opts.Log.Error("request failed", "id", w.id, "route", r.Pattern, "err", err)
	}
	s.reply(w, r, status, tagged(r, body))
}
