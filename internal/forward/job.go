package forward

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/line"
	"lathe/internal/store"
)

// A job runs in one process, and its name is no other's. Whichever server a client asks about it
// finds it as it finds terminals: it asks the others. What is typed into a job, and what it
// prints, is sealed on its way, as a terminal's is.

// jobOf returns the job that a request is about, or "".
func jobOf(r *http.Request) string {
	path, own := segments(r)
	if !own || len(path) < 2 || path[0] != "job" || lathe.CheckID(path[1], lathe.PrefixJob) != nil {
		return ""
	}
	return path[1]
}

// job has a request done by the server that has its job.
func (f *Forwarder) job(x *exchange, id string) (done bool, err error) {
	if _, err := f.o.Jobs.Get("", id); err == nil || x.r.Method == http.MethodOptions {
		return false, nil
	}
	at, err := f.find(x.r, "/lathe/job/"+url.PathEscape(id), x.may)
	if errors.Is(err, line.ErrNotFound) {
		return false, nil // the route says so
	}
	if err != nil {
		return true, err
	}
	if path, _ := segments(x.r); x.r.Method == http.MethodGet && path[len(path)-1] == "output" {
		return true, f.output(x.w, x.r, at)
	}
	in, err := f.read(x.w, x.r)
	if err != nil {
		return true, err
	}
	a, err := f.sendSealed(x.r.Context(), at, in)
	if err != nil {
		return true, err
	}
	a.write(x.w)
	return true, nil
}

// output answers what a job of another server has printed, piece by piece. With follow it goes
// on until the job ends or the client leaves; if its server is gone, the answer breaks off.
func (f *Forwarder) output(w http.ResponseWriter, r *http.Request, at store.Owner) error {
	asked := r.URL.Query()
	ask := url.Values{"piece": {"true"}, "from": asked["from"]}
	for begun := false; ; begun = true {
		in := letter(r, nil)
		in.URI = r.URL.EscapedPath() + "?" + ask.Encode()
		a, err := f.sendSealed(r.Context(), at, in)
		switch {
		case err == nil && a.Status == http.StatusOK:
		case begun:
			panic(http.ErrAbortHandler) // the status is sent, and this is not the end
		case err == nil:
			a.write(w)
			return nil
		default:
			return err
		}
		over := a.Header.Get(api.JobOutputOver) == "true"
		a.Header.Del(api.JobOutputOver)
		if begun {
			_, err = w.Write(a.Body)
		} else {
			a.write(w)
		}
		if err != nil || over || len(a.Body) == 0 && asked.Get("follow") != "true" {
			return nil
		}
		if http.NewResponseController(w).Flush() != nil {
			return nil
		}
		from, _ := strconv.ParseInt(a.Header.Get(api.JobOutputFrom), 10, 64)
		ask.Set("from", strconv.FormatInt(from+int64(len(a.Body)), 10))
		ask["follow"] = asked["follow"]
	}
}

// sendSealed has another server do a request which nobody else reads.
func (f *Forwarder) sendSealed(ctx context.Context, to store.Owner, in request) (a answer, err error) {
	key, err := f.keyOf(ctx, to)
	if err != nil {
		return a, err
	}
	plain, err := json.Marshal(in)
	if err != nil {
		return a, err
	}
	sealed, read, err := line.Seal(key, plain)
	if err != nil {
		return a, err
	}
	out, err := f.send(ctx, to, request{Sealed: &sealed})
	if err == nil {
		plain, err = read(out.Body)
	}
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(plain, &a)
}

// keyOf returns the key with which letters for another server are sealed.
func (f *Forwarder) keyOf(ctx context.Context, of store.Owner) ([]byte, error) {
	f.mu.Lock()
	key := f.keys[of]
	f.mu.Unlock()
	if key != nil {
		return key, nil
	}
	a, err := f.send(ctx, of, request{Greets: true})
	if err == nil && a.Status != http.StatusOK {
		err = lathe.Errorf(lathe.CodeUnavailable, "try again once all servers and workers have this version", "%s has no key for what is to be sealed", of.Name)
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.keys) >= mostKeys {
		clear(f.keys)
	}
	f.keys[of] = a.Body
	return a.Body, nil
}

// mostKeys bounds how many keys of others are remembered.
const mostKeys = 1000

// unseal does what a sealed letter asks for.
func (f *Forwarder) unseal(ctx context.Context, in line.Sealed) (a answer, err error) {
	plain, seal, err := f.box.Open(in)
	if err != nil {
		return a, err
	}
	var asked request
	if err := json.Unmarshal(plain, &asked); err != nil {
		return a, err
	}
	got, err := f.ask(ctx, asked)
	if err != nil {
		return a, err
	}
	if plain, err = json.Marshal(got); err != nil {
		return a, err
	}
	return answer{Status: http.StatusOK, Body: seal(plain)}, nil
}
