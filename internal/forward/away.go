package forward

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/store"
)

// away is a request that may be about a directory which is not on this machine.
type away struct {
	f *Forwarder
	*exchange
}

// serve has a request done by a worker, if it needs files that are not here but that a
// worker offers or offered. Session is the one that the request would change, which
// nobody holds.
func (a *away) serve(session lathe.SessionID) (done bool, err error) {
	if session != "" && ends(a.r) {
		if done, err := a.drop(session); done || err != nil {
			return done, err
		}
	}
	if !needsFiles(a.r) {
		return false, nil
	}
	dir, about, err := a.directory()
	if err != nil || dir == "" || a.f.Here(dir) {
		return false, err
	}
	if session == "" && about != "" { // to look at: who works on it knows most
		if done, err := a.look(about, dir); done || err != nil {
			return done, err
		}
	}
	session = about
	root, workers, err := a.f.o.Store.Queue.Offers(a.r.Context(), dir)
	if err != nil || len(workers) == 0 {
		return false, err
	}
	if err := a.use(dir); err != nil {
		return true, err
	}
	switch {
	case session != "" && starts(a.r):
		return true, a.queue(store.Work{Session: session, Directory: dir, Root: root})
	case !workers[0].Living && session != "" && a.r.Method != http.MethodPost: // its title, or all of it
		return false, nil
	case !workers[0].Living:
		return true, lathe.Errorf(lathe.CodeUnavailable, "start one with: lathe worker "+offering(workers[0], root), "no worker has %s now", dir)
	}
	return true, a.f.pass(a.exchange, workers[0].Owner)
}

// look has a session looked at where it is worked on, if that is so.
func (a *away) look(session lathe.SessionID, dir string) (done bool, err error) {
	h, held, err := a.f.o.Store.Holder(a.r.Context(), session)
	if err != nil || !held || h.Owner == a.f.o.Self {
		return false, err
	}
	if err := a.use(dir); err != nil {
		return true, err
	}
	return true, a.f.pass(a.exchange, h.Owner)
}

// offering is how a worker was told to offer a directory.
func offering(w store.Worker, root string) string {
	if remote := w.Remotes[root]; remote != "" {
		return "--clone " + remote
	}
	return "--root " + root
}

// steer queues what steers a turn that a worker runs, so that it outlives the worker: sent there
// at once, it would be stored and left without an answer if the worker ended before the turn did.
func (a *away) steer(sess lathe.Session, holder store.Owner) (done bool, err error) {
	if !starts(a.r) || a.f.Here(sess.Directory) {
		return false, nil
	}
	root, workers, err := a.f.o.Store.Queue.Offers(a.r.Context(), sess.Directory)
	if err != nil || !slices.ContainsFunc(workers, func(w store.Worker) bool { return w.Owner == holder && w.Living }) {
		return false, err
	}
	return true, a.queue(store.Work{Session: sess.ID, Directory: sess.Directory, Root: root})
}

// Offered reports whether a directory is not here, but with a worker.
func (f *Forwarder) Offered(ctx context.Context, dir string) bool {
	if f.Here(dir) {
		return false
	}
	_, workers, err := f.o.Store.Queue.Offers(ctx, dir)
	return err == nil && len(workers) > 0
}

// Here reports whether this server can work in a directory.
func (f *Forwarder) Here(dir string) bool {
	if f.o.Bare {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// segments are those of the path of a request, without lathe's own prefix.
func segments(r *http.Request) (path []string, own bool) {
	rest, own := strings.CutPrefix(r.URL.Path, "/lathe/")
	return strings.Split(strings.TrimPrefix(rest, "/"), "/"), own
}

// starts reports whether a request about a session starts a turn.
func starts(r *http.Request) bool {
	path, own := segments(r)
	if r.Method != http.MethodPost || len(path) != 3 || path[0] != "session" {
		return false
	}
	if own {
		return path[2] == "prompt"
	}
	return slices.Contains([]string{"message", "prompt_async", "command", "shell", "init", "summarize"}, path[2])
}

// ends reports whether a request about a session stops what it does, or removes it.
func ends(r *http.Request) bool {
	path, own := segments(r)
	if own || len(path) < 2 || path[0] != "session" {
		return false
	}
	return r.Method == http.MethodDelete && len(path) == 2 || r.Method == http.MethodPost && len(path) == 3 && path[2] == "abort"
}

// needsFiles reports whether a request is about more than what is stored and told.
func needsFiles(r *http.Request) bool {
	path, own := segments(r)
	switch {
	case r.Method == http.MethodOptions, r.Method == http.MethodHead:
		return false
	case path[0] == "session" && len(path) > 1:
		return r.Method != http.MethodGet || own && !slices.Contains([]string{"message", "outcome", "tree"}, path[len(path)-1])
	case path[0] == "session": // those of a project are found by its files
		return r.Method != http.MethodGet || !r.URL.Query().Has("directory")
	case path[0] == "pty": // the rest is told by all, or is about one terminal
		return r.Method == http.MethodPost && len(path) == 1 || r.URL.Path == "/pty/shells"
	case own && path[0] == "job": // as terminals
		return false
	case path[0] == "auth" && people.From(r.Context()) != "": // a person's own keys are in the store, and never in a letter
		return false
	case path[0] == "api":
		return len(path) < 2 || !slices.Contains([]string{"session", "event", "health", "permission", "pty"}, path[1])
	case own:
		return !slices.Contains([]string{"event", "keys", "now", "page", "login", "search", "stats", "workers"}, path[0])
	}
	return !slices.Contains([]string{"", "doc", "event", "global", "log", "metrics", "permission", "question", "tui"}, path[0])
}

// directory returns what a request is about: the directory of its session, or the one that
// it names; "" if it names none.
func (a *away) directory() (dir string, session lathe.SessionID, err error) {
	if path, _ := segments(a.r); path[0] == "session" && len(path) > 1 {
		sess, err := a.f.o.Store.Session(a.r.Context(), lathe.SessionID(path[1]))
		if errors.Is(err, store.ErrNotFound) {
			return "", "", nil
		}
		return sess.Directory, sess.ID, err
	}
	return named(a.r), "", nil
}

// drop takes back what a session was asked and no worker has begun, if the caller may use
// its directory. What one is about to begin it is to end itself.
func (a *away) drop(session lathe.SessionID) (done bool, err error) {
	sess, err := a.f.o.Store.Session(a.r.Context(), session)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // the route says so
	}
	if err == nil {
		err = a.use(sess.Directory)
	}
	if err != nil {
		return true, err
	}
	dropped, taken, err := a.f.o.Store.Queue.Drop(a.r.Context(), session)
	if err != nil {
		return false, err
	}
	if i := slices.IndexFunc(taken, func(o store.Owner) bool { return o != a.f.o.Self }); i >= 0 {
		return true, a.f.pass(a.exchange, taken[i])
	}
	if dropped == 0 {
		return false, nil
	}
	a.f.o.Tell(sess.Directory, lathe.SessionStatus{SessionID: session, Status: lathe.Idle{}})
	if a.r.Method == http.MethodDelete {
		return false, nil
	}
	a.answer(answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("true")})
	return true, nil
}

const (
	// soon is how long lathe's own faces wait for a worker to accept a prompt, so that what
	// is wrong with it is said at once.
	soon = 2 * time.Second
	// keepAlive is how often an answer that is waited for shows that it is alive.
	keepAlive = 30 * time.Second
)

// queue stores a request for a worker and answers as the worker does. One that is only to
// be accepted is accepted when it is stored.
func (a *away) queue(w store.Work) error {
	body, err := io.ReadAll(http.MaxBytesReader(a.w, a.r.Body, maxBody))
	if err != nil {
		return err
	}
	path, own := segments(a.r)
	w.Once, w.Person = path[2] == "summarize", people.From(a.r.Context())
	body, message, err := withMessageID(body)
	if err != nil {
		return err
	}
	if w.Body, err = json.Marshal(letter(a.r, body)); err != nil {
		return err
	}
	ctx := a.r.Context()
	n, err := a.f.o.Store.Queue.Add(context.WithoutCancel(ctx), w)
	if err != nil {
		return err
	}
	a.f.o.Tell(w.Directory, lathe.SessionStatus{SessionID: w.Session, Status: lathe.Busy{}})
	a.f.tellWaiting(n, w)
	switch {
	case path[2] == "prompt_async":
		a.w.WriteHeader(http.StatusNoContent)
		return nil
	case own:
		accepted, err := json.Marshal(map[string]lathe.MessageID{"messageID": message})
		if err != nil {
			return err
		}
		early := answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: accepted}
		wait, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		got, err := a.f.answered(wait, n)
		if wait.Err() != nil && ctx.Err() == nil {
			got, err = early, nil
		}
		if err == nil {
			a.answer(got)
		}
		return err
	}
	return a.await(n)
}

// answered waits for the answer to queued work, and for its events.
func (f *Forwarder) answered(ctx context.Context, n int64) (a answer, err error) {
	raw, err := f.o.Store.Queue.Answer(ctx, n)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a, lathe.Errorf(lathe.CodeAborted, "", "it was stopped before a worker had begun with it")
	case err != nil:
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil || a.Status == 0 {
		return a, lathe.Errorf(lathe.CodeUnavailable, "try again", "the worker could not do it")
	}
	f.settle(ctx, a)
	return a, nil
}

// await writes the answer to queued work when it is there. Until then it shows signs of
// life: white space before the answer.
func (a *away) await(n int64) error {
	type result struct {
		answer
		err error
	}
	got := make(chan result, 1)
	go func() {
		ans, err := a.f.answered(a.r.Context(), n)
		got <- result{ans, err}
	}()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	late := false
	for {
		select {
		case res := <-got:
			if res.err != nil && !late {
				return res.err
			}
			if res.err != nil {
				body, _ := json.Marshal(map[string]any{"name": "UnknownError", "data": map[string]string{"message": res.err.Error()}}) // strings encode
				res.answer = answer{Status: http.StatusOK, Body: body}
			}
			a.answer(res.answer)
			return nil
		case <-tick.C:
			if !late {
				a.w.Header().Set("Content-Type", "application/json")
				a.w.WriteHeader(http.StatusOK)
			}
			late = true
			if _, err := a.w.Write([]byte("\n")); err != nil {
				return err
			}
			_ = http.NewResponseController(a.w).Flush() // the next one, or the answer, goes out by itself
		}
	}
}

// withMessageID gives a prompt an identifier unless the client has: a prompt that a worker
// begins for the second time, because the first was gone, is recognised by it.
func withMessageID(body []byte) ([]byte, lathe.MessageID, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil || in == nil {
		return body, "", nil // the worker says what is wrong
	}
	var id lathe.MessageID
	if raw, ok := in["messageID"]; ok && string(raw) != "null" {
		if json.Unmarshal(raw, &id) == nil && id != "" {
			return body, id, nil
		}
	}
	id = lathe.NewIDs(time.Now, nil).Message()
	raw, err := json.Marshal(id)
	if err != nil {
		return nil, "", err
	}
	in["messageID"] = raw
	body, err = json.Marshal(in)
	return body, id, err
}
