// Package forward lets each of several servers that share a store serve every session. A
// request that changes a session is done by the server that has its lease: it is sent
// there through the store, and its answer comes back the same way. What nobody holds
// is done where it was asked for, or, if the session's directory is not on this machine,
// by a worker that offers it: what starts a turn is queued for one, and what only looks at
// the files is sent to one.
package forward

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/bus"
	"lathe/internal/job"
	"lathe/internal/line"
	"lathe/internal/people"
	"lathe/internal/store"
	"lathe/internal/terminal"
)

// maxBody bounds a request that is sent on, and its answer.
const maxBody = 64 << 20

// Options say what to forward for. All of them are needed but Fresh and Bare.
type Options struct {
	Store *store.Store // with Mail
	Self  store.Owner  // this server
	Bus   *bus.Bus     // tells which session an ask belongs to
	Log   *slog.Logger
	// Local does a request on the engine of this process.
	Local func() http.RoundTripper
	// Tell publishes an event of a directory, here and on the other servers.
	Tell func(dir string, ev lathe.Event)
	// Fresh is called before a session or a worktree begins that another server asks for; nil:
	// nothing is.
	Fresh func(ctx context.Context, dir string)
	// Terminals and Jobs are those of this process.
	Terminals *terminal.Manager
	Jobs      *job.Manager
	// Bare means that this server has no files to work on, whatever is on its machine.
	Bare bool
}

// Forwarder sends requests to the servers that can do them. Close it.
type Forwarder struct {
	o   Options
	sub *bus.Subscription

	mu   sync.Mutex
	asks map[lathe.AskID]lathe.SessionID // open asks and questions
	keys map[store.Owner][]byte          // of others

	lines line.Host // that lead here
	box   *line.Box // of this process

	late waiting // what was queued
}

// New returns a forwarder that knows of asks from now on.
func New(o Options) *Forwarder {
	box, err := line.NewBox()
	if err != nil { // there is no randomness
		panic(err)
	}
	f := &Forwarder{o: o, asks: map[lathe.AskID]lathe.SessionID{}, keys: map[store.Owner][]byte{}, box: box}
	f.late.open, f.late.shut = context.WithCancel(context.Background())
	f.lines.Attach = f.attach
	f.sub = o.Bus.Subscribe(context.Background(), bus.Filter{Match: concernsAsks, Tap: f.take}, bus.Limits{})
	return f
}

// Close ends what New began.
func (f *Forwarder) Close() {
	f.sub.Close()
	f.late.end()
}

func concernsAsks(ev lathe.Event) bool {
	switch ev.(type) {
	case lathe.PermissionAsked, lathe.PermissionReplied, lathe.QuestionAsked, lathe.QuestionReplied, lathe.QuestionRejected:
		return true
	}
	return false
}

// take notes which session an ask belongs to. It runs while the event is published.
func (f *Forwarder) take(env lathe.Envelope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch ev := env.Event.(type) {
	case lathe.PermissionAsked:
		f.asks[ev.Ask.ID] = ev.Ask.SessionID
	case lathe.QuestionAsked:
		f.asks[ev.Ask.ID] = ev.Ask.SessionID
	case lathe.PermissionReplied:
		delete(f.asks, ev.AskID)
	case lathe.QuestionReplied:
		delete(f.asks, ev.AskID)
	case lathe.QuestionRejected:
		delete(f.asks, ev.AskID)
	}
}

// subject is what a request would change: a session, or what waits for an answer.
type subject struct {
	session lathe.SessionID
	list    string // the route that lists asks like this one; "" for a session
	ask     lathe.AskID
}

// subjectOf returns what a request would change; nothing if it only reads.
func subjectOf(r *http.Request) subject {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return subject{}
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if path[0] == "lathe" || path[0] == "api" {
		path = path[1:]
	}
	if len(path) < 2 {
		return subject{}
	}
	switch path[0] {
	case "session":
		return subject{session: lathe.SessionID(path[1])}
	case "permission", "question":
		return subject{list: "/" + path[0], ask: lathe.AskID(path[1])}
	}
	return subject{}
}

// Changes returns the session that a request would change, or "".
func (f *Forwarder) Changes(r *http.Request) lathe.SessionID { return f.sessionOf(r) }

// sessionOf returns the session that a request would change, or "".
func (f *Forwarder) sessionOf(r *http.Request) lathe.SessionID {
	about := subjectOf(r)
	if about.list == "" {
		return about.session
	}
	f.mu.Lock()
	id, known := f.asks[about.ask]
	f.mu.Unlock()
	if !known {
		id = f.askedBefore(r, about)
	}
	return id
}

// askedBefore looks at the other servers for an ask that is older than this one.
func (f *Forwarder) askedBefore(r *http.Request, about subject) (id lathe.SessionID) {
	list := r.Clone(r.Context())
	list.Method = http.MethodGet
	list.URL.Path, list.URL.RawPath = about.list, ""
	for _, body := range f.Gather(list) {
		var waiting []struct {
			ID        lathe.AskID     `json:"id"`
			SessionID lathe.SessionID `json:"sessionID"`
		}
		if json.Unmarshal(body, &waiting) != nil {
			continue
		}
		for _, w := range waiting {
			if w.ID == about.ask {
				id = w.SessionID
			}
		}
	}
	return id
}

// Serve has a request done by the server that holds its session, and reports whether
// there was such a server. May is asked whether the caller may use the session's
// directory. Told is called with that before the answer to what changes something there, once
// the events of it are published here.
func (f *Forwarder) Serve(w http.ResponseWriter, r *http.Request, may func(dir string) error, told func(dir string)) (done bool, err error) {
	x := &exchange{w: w, r: r, may: may, told: told}
	if id := terminalOf(r); id != "" {
		return f.terminal(x, id)
	}
	if id := jobOf(r); id != "" {
		if done, err := f.job(x, id); done || err != nil {
			return done, err
		}
	}
	id := f.sessionOf(r)
	if id == "" {
		return (&away{f, x}).serve("")
	}
	h, held, err := f.o.Store.Holder(r.Context(), id)
	switch {
	case err != nil || held && h.Owner == f.o.Self:
		return false, err
	case !held:
		return (&away{f, x}).serve(id)
	}
	sess, err := f.o.Store.Session(r.Context(), id)
	if err == nil {
		err = x.use(sess.Directory)
	}
	if err == nil && ends(r) { // what steers it has not reached it yet
		_, _, err = f.o.Store.Queue.Drop(r.Context(), id)
	}
	if err != nil {
		return true, err
	}
	if done, err := (&away{f, x}).steer(sess, h.Owner); done || err != nil {
		return true, err
	}
	return true, f.pass(x, h.Owner)
}

// exchange is a request of a client, and what is asked and told while it is answered.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	dir  string // what it is about, if the caller may use it
	may  func(dir string) error
	told func(dir string)
}

// use asks whether the caller may use the directory that the request is about.
func (x *exchange) use(dir string) error {
	x.dir = dir
	return x.may(dir)
}

// answer writes an answer whose events are published here.
func (x *exchange) answer(a answer) {
	if x.dir != "" && !reads(x.r) {
		x.told(x.dir)
	}
	a.write(x.w)
}

// pass has another server do a request, and writes its answer.
func (f *Forwarder) pass(x *exchange, to store.Owner) error {
	in, err := f.read(x.w, x.r)
	if err != nil {
		return err
	}
	send := f.send
	if secret(x.r) {
		send = f.sendSealed
	}
	a, err := send(x.r.Context(), to, in)
	if err != nil {
		return err
	}
	if !reads(x.r) {
		f.settle(x.r.Context(), a)
	}
	x.answer(a)
	return nil
}

// secret reports whether a request may carry a key or a password, which lie in no database
// as they are. What is about a session lies there anyway.
func secret(r *http.Request) bool {
	path, _ := segments(r)
	return !reads(r) && slices.Contains([]string{"auth", "provider", "mcp"}, path[0])
}

// read returns a request, with its body, as it is sent to another server.
func (f *Forwarder) read(w http.ResponseWriter, r *http.Request) (in request, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	return letter(r, body), err
}

// send has another server do a request.
func (f *Forwarder) send(ctx context.Context, to store.Owner, in request) (a answer, err error) {
	letter, err := json.Marshal(in)
	if err != nil {
		return a, err
	}
	raw, err := f.o.Store.Mail.Send(ctx, to, letter)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(raw, &a); err != nil || a.Status == 0 {
		return a, lathe.Errorf(lathe.CodeUnavailable, "try again", "%s could not do it", to.Name)
	}
	return a, nil
}

// gatherTime bounds how long the others are waited for: a list with what is known serves
// a person better than none.
const gatherTime = 2 * time.Second

// Gather sends a request that only reads to all other servers that are at work, and returns
// what those answer that can.
func (f *Forwarder) Gather(r *http.Request) [][]byte {
	ctx, cancel := context.WithTimeout(r.Context(), gatherTime)
	defer cancel()
	others, err := f.o.Store.Mail.Others(ctx)
	ask := letter(r, nil)
	if err != nil {
		f.o.Log.Warn("what waits on other servers is not known", "err", err)
		return nil
	}
	answers := make([][]byte, len(others))
	var wg sync.WaitGroup
	for i, to := range others {
		wg.Go(func() {
			a, err := f.send(ctx, to, ask)
			switch {
			case err != nil:
				f.o.Log.Warn("another server did not answer", "server", to.Name, "err", err)
			case a.Status == http.StatusOK:
				answers[i] = a.Body
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(answers, func(b []byte) bool { return b == nil })
}

// request is a request as it is sent to another server.
type request struct {
	Method, URI string
	Header      http.Header
	Body        []byte
	Person      string        `json:",omitempty"` // who asks
	Narrow      bool          `json:",omitempty"` // see [people.Narrow]
	Taken       *store.Taking `json:",omitempty"` // the queued work that it is
	// Line is a letter about a terminal, Sealed another request, and Greets asks for the key of
	// those: in each case there is nothing else.
	Line   []byte       `json:",omitempty"`
	Sealed *line.Sealed `json:",omitempty"`
	Greets bool         `json:",omitempty"`
}

// answer is what the other server answers.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
	// At is the number in the journal up to which the other server had published.
	At int64 `json:",omitempty"`
}

// letter is a request as it is sent to another server.
func letter(r *http.Request, body []byte) request {
	ctx := r.Context()
	return request{
		Method: r.Method, URI: r.URL.RequestURI(), Header: passed(r.Header), Body: body, Person: people.From(ctx), Narrow: people.IsNarrow(ctx),
	}
}

func (a answer) write(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the client has left
}

// passed are the headers that mean something to another server. Who may call was
// decided where the request came in.
func passed(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Content-Type", "Accept", "X-Opencode-Directory"} {
		if v := h.Values(name); len(v) > 0 {
			out[name] = v
		}
	}
	return out
}

// Run does what other servers ask of this one, until ctx ends and those that follow its
// terminals are told so.
func (f *Forwarder) Run(ctx context.Context) {
	receiving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { f.leave(stop) })()
	f.o.Store.Mail.Receive(receiving, func(_ context.Context, body []byte) []byte {
		out, _ := f.done(ctx, body)
		return out
	})
}

// Do does queued work, here or where its session is held by now, and returns the answer
// and its status: 503 if it is not known whether another server has done it.
func (f *Forwarder) Do(ctx context.Context, w store.Work) (answer []byte, status int) {
	h, held, err := f.o.Store.Holder(ctx, w.Session)
	var body []byte
	if err == nil {
		body, err = taken(w)
	}
	switch {
	case err != nil:
		return unavailable()
	case !held || h.Owner == f.o.Self:
		answer, status = f.done(ctx, body)
	default:
		if answer, err = f.o.Store.Mail.Send(ctx, h.Owner, body); err != nil {
			return unavailable()
		}
		status = statusOf(answer)
	}
	if status == http.StatusConflict && changesHands(w.Body, answer) {
		status = http.StatusServiceUnavailable
	}
	return answer, status
}

// taken is the request of queued work, for whichever server does it: it takes effect once, and
// only while its worker has it.
func taken(w store.Work) ([]byte, error) {
	var in request
	if err := json.Unmarshal(w.Body, &in); err != nil {
		return w.Body, nil // who does it says what is wrong
	}
	in.Taken = &store.Taking{N: w.N, By: w.By.ID}
	return json.Marshal(in)
}

// changesHands reports whether a request was refused because its session was being taken over:
// from the one that did it, or, since a prompt waits for nothing else, by another.
func changesHands(asked, answered []byte) bool {
	var in request
	var a answer
	var said struct{ Name string }
	if json.Unmarshal(asked, &in) != nil || json.Unmarshal(answered, &a) != nil || json.Unmarshal(a.Body, &said) != nil {
		return false
	}
	path, _, _ := strings.Cut(in.URI, "?")
	last := path[strings.LastIndex(path, "/")+1:]
	return said.Name == "SessionBusyError" && (a.Header.Get("Retry-After") != "" || slices.Contains([]string{"message", "prompt_async", "prompt"}, last))
}

func unavailable() ([]byte, int) {
	raw, err := json.Marshal(answer{Status: http.StatusServiceUnavailable})
	if err != nil { // numbers always encode
		panic(err)
	}
	return raw, http.StatusServiceUnavailable
}

// statusOf returns the status of an answer as it is sent.
func statusOf(raw []byte) int {
	var a answer
	if json.Unmarshal(raw, &a) != nil {
		return 0
	}
	return a.Status
}

// done does what a letter asks for, and returns the answer as it is sent.
func (f *Forwarder) done(ctx context.Context, body []byte) (out []byte, status int) {
	a, err := f.do(ctx, body)
	if err != nil {
		f.o.Log.Warn("what another server asked could not be done", "err", err)
	}
	if out, err = json.Marshal(a); err != nil {
		return nil, 0
	}
	return out, a.Status
}

func (f *Forwarder) do(ctx context.Context, body []byte) (a answer, err error) {
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		return a, err
	}
	switch {
	case in.Line != nil:
		a.Body, err = f.lines.Handle(ctx, in.Line)
		a.Status = http.StatusOK
		return a, err
	case in.Sealed != nil:
		return f.unseal(ctx, *in.Sealed)
	case in.Greets:
		return answer{Status: http.StatusOK, Body: f.box.Key()}, nil
	}
	return f.ask(ctx, in)
}

// ask does a request of another server on the engine of this process.
func (f *Forwarder) ask(ctx context.Context, in request) (a answer, err error) {
	if in.Taken != nil {
		ctx = store.WithTaking(ctx, *in.Taken)
	}
	ctx = people.With(ctx, in.Person)
	if in.Narrow {
		ctx = people.Narrow(ctx)
	}
	r, err := http.NewRequestWithContext(ctx, in.Method, "http://lathe"+in.URI, bytes.NewReader(in.Body))
	if err != nil {
		return a, err
	}
	r.Header = in.Header
	f.freshen(ctx, r)
	res, err := f.o.Local().RoundTrip(r)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	a = answer{Status: res.StatusCode, Header: http.Header{}}
	for _, name := range []string{"Content-Type", "Retry-After", "X-Request-Id", api.JobOutputFrom, api.JobOutputOver} {
		if v := res.Header.Values(name); len(v) > 0 {
			a.Header[name] = v
		}
	}
	f.look(in, &a)
	a.Body, err = io.ReadAll(io.LimitReader(res.Body, maxBody))
	_, a.At = f.o.Bus.At()
	return a, err
}
