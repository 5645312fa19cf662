package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// InProcess returns a transport that calls a handler, with no connection between.
// Answers stream: a reader sees what the handler has written so far. Closing the
// body of an answer ends the request's context once it is done with it.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

// InProcessHTTP is [InProcess] for a peer that knows nothing of Go: an error is a response
// with a status and a body, as it is over a connection.
func InProcessHTTP(h http.Handler) http.RoundTripper {
	return inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(struct {
			http.ResponseWriter
			http.Flusher
		}{w, w.(http.Flusher)}, r)
	})}
}

type inProcess struct{ h http.Handler }

// RoundTrip calls the handler and returns with its header.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	r := req.Clone(ctx)
	r.RequestURI, r.RemoteAddr = req.URL.RequestURI(), "in-process"
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	pr, pw := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pipe: pw, ready: make(chan struct{})}
	b := &body{PipeReader: pr, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		t.serve(w, r)
	}()
	select {
	case <-w.ready:
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), b.Close())
	}
	if w.err != nil {
		_ = b.Close()
		return nil, &localError{w.err}
	}
	return &http.Response{
		StatusCode: w.status, Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Body: b, ContentLength: -1, Request: req,
	}, nil
}

// serve runs the handler. One that gives its answer up breaks the body off.
func (t inProcess) serve(w *pipeWriter, r *http.Request) {
	defer r.Body.Close()
	defer func() {
		if v := recover(); v != nil {
			w.WriteHeader(http.StatusInternalServerError)
			_ = w.pipe.CloseWithError(io.ErrUnexpectedEOF)
			return
		}
		w.WriteHeader(http.StatusOK)
		_ = w.pipe.Close()
	}()
	t.h.ServeHTTP(w, r)
}

// body is the body of an answer. Closing it ends the handler and waits for it.
type body struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close may be called twice.
func (b *body) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}

// pipeWriter is the answer of a handler whose body goes through a pipe.
type pipeWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	once   sync.Once
	ready  chan struct{} // closed when status and sent are set
	status int
	sent   http.Header
	err    error // why there is no answer
}

// localError is an error of the handler's own, as it is.
type localError struct{ error }

// Fail answers with the error itself, which no status and body could express.
func (w *pipeWriter) Fail(err error) {
	w.once.Do(func() {
		w.err = err
		close(w.ready)
	})
}

// Header returns the header to fill in.
func (w *pipeWriter) Header() http.Header { return w.header }

// WriteHeader sends status and header once.
func (w *pipeWriter) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.ready)
	})
}

// Write waits until the piece is read.
func (w *pipeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(b)
}

// Flush has nothing to do: nothing is held back.
func (w *pipeWriter) Flush() { w.WriteHeader(http.StatusOK) }
