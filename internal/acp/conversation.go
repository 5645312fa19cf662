package acp

import (
	"context"
	"encoding/base64"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// conversation is a session that the editor has open.
type conversation struct {
	a    *agent
	id   lathe.SessionID
	dir  string
	c    *client.Client // a client for dir
	feed *feed
	ids  *lathe.IDs
	tell *teller

	mu      sync.Mutex
	title   string
	chosen  choices
	waiting []*turn                            // prompts that are not answered yet
	stops   int                                // how many times the editor stopped turns
	asks    map[lathe.AskID]context.CancelFunc // asks that the editor is showing
	ready   chan struct{}                      // closed once the editor's tool servers were added
	lent    []func()                           // functions that stop using the editor's files
	closed  bool
}

// turn is a prompt that the editor waits for.
type turn struct {
	sent lathe.MessageID
	seen bool          // it was seen in the stream
	done chan struct{} // closed when its turn ended
	once sync.Once
}

func (t *turn) end() { t.once.Do(func() { close(t.done) }) }

func checkCwd(cwd string) error {
	if !filepath.IsAbs(cwd) {
		return invalid("cwd %q is not an absolute path", cwd)
	}
	return nil
}

func (a *agent) newSession(ctx context.Context, p sessionRequest) (sessionResponse, func(), error) {
	if err := checkCwd(p.Cwd); err != nil {
		return sessionResponse{}, nil, err
	}
	c, err := a.in(p.Cwd)
	if err != nil {
		return sessionResponse{}, nil, err
	}
	s, err := c.Create(ctx, api.SessionRequest{})
	if err != nil {
		return sessionResponse{}, nil, err
	}
	return a.open(ctx, c, s, p)
}

// open makes a session a conversation of this editor.
func (a *agent) open(ctx context.Context, c *client.Client, s lathe.Session, p sessionRequest) (sessionResponse, func(), error) {
	t := a.talk(s.ID)
	if t == nil {
		if s.Directory != "" {
			c = c.In(s.Directory)
		}
		t = &conversation{a: a, id: s.ID, dir: s.Directory, c: c, title: s.Title, ids: lathe.NewIDs(a.Now, nil), asks: map[lathe.AskID]context.CancelFunc{}}
		t.tell = newTeller(t)
		t.chosen = choices{agent: s.Agent, model: s.Model}
		if err := t.begin(ctx); err != nil {
			return sessionResponse{}, nil, err
		}
	}
	if err := t.chosen.read(ctx, t); err != nil {
		return sessionResponse{}, nil, err
	}
	out := t.chosen.response()
	out.SessionID = string(s.ID)
	ready := t.equipping()
	return out, func() {
		t.tellCommands(a.ctx)
		t.addServers(a.ctx, p.MCPServers)
		close(ready)
	}, nil
}

// begin follows the session's events and takes over the editor's files.
func (t *conversation) begin(ctx context.Context) error {
	a := t.a
	f, err := a.follow(ctx, t.dir, t.c)
	if err != nil {
		return err
	}
	t.feed = f
	a.mu.Lock()
	a.talks[t.id] = t
	a.mu.Unlock()
	f.join(t)
	t.lend(t.id)
	return nil
}

// lend makes the tools of a session, the conversation's own or a subagent's, work on
// the editor's files.
func (t *conversation) lend(id lathe.SessionID) {
	can := t.a.able()
	if t.a.Files == nil || !can.FS.ReadTextFile || !can.FS.WriteTextFile {
		return
	}
	release := t.a.Files(id, &editorFiles{t.a, t.id})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lent = append(t.lent, release)
}

// close ends the conversation; stop ends its turns too.
func (t *conversation) close(stop bool) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.closed = true
	waiting, lent := t.waiting, t.lent
	t.mu.Unlock()
	if stop && len(waiting) > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.a.ctx), abortTime)
		_ = t.c.Abort(ctx, t.id)
		cancel()
	}
	for _, w := range waiting {
		w.end()
	}
	t.feed.leave(t)
	for _, release := range lent {
		release()
	}
	t.a.mu.Lock()
	delete(t.a.talks, t.id)
	t.a.mu.Unlock()
}

// abortTime limits how long to wait for the end of a turn.
const abortTime = 10 * time.Second

func (a *agent) loadSession(ctx context.Context, p sessionRequest) (sessionResponse, func(), error) {
	out, after, err := a.reopen(ctx, p)
	if err != nil {
		return out, nil, err
	}
	t, err := a.opened(p.SessionID)
	if err != nil {
		return out, nil, err
	}
	return out, after, t.replay(ctx)
}

func (a *agent) resumeSession(ctx context.Context, p sessionRequest) (sessionResponse, func(), error) {
	return a.reopen(ctx, p)
}

// reopen opens a session that exists.
func (a *agent) reopen(ctx context.Context, p sessionRequest) (sessionResponse, func(), error) {
	if err := checkCwd(p.Cwd); err != nil {
		return sessionResponse{}, nil, err
	}
	c, err := a.in(p.Cwd)
	if err != nil {
		return sessionResponse{}, nil, err
	}
	s, err := c.Get(ctx, lathe.SessionID(p.SessionID))
	if err != nil {
		return sessionResponse{}, nil, err
	}
	return a.open(ctx, c, s, p)
}

func (a *agent) forkSession(ctx context.Context, p sessionRequest) (sessionResponse, func(), error) {
	if err := checkCwd(p.Cwd); err != nil {
		return sessionResponse{}, nil, err
	}
	c, err := a.in(p.Cwd)
	if err != nil {
		return sessionResponse{}, nil, err
	}
	s, _, err := c.Fork(ctx, lathe.SessionID(p.SessionID), api.Fork{})
	if err != nil {
		return sessionResponse{}, nil, err
	}
	return a.open(ctx, c, s, p)
}

// pageSize is how many sessions a list has at once.
const pageSize = 50

func (a *agent) listSessions(ctx context.Context, p listRequest) (listResponse, error) {
	c, err := a.engine()
	if err != nil {
		return listResponse{}, err
	}
	everywhere := true
	if p.Cwd != "" {
		if err := checkCwd(p.Cwd); err != nil {
			return listResponse{}, err
		}
		c, everywhere = c.In(p.Cwd), false
	}
	from := 0
	if p.Cursor != "" {
		n, err := strconv.Atoi(p.Cursor)
		if err != nil || n < 0 {
			return listResponse{}, invalid("%q is no cursor of ours", p.Cursor)
		}
		from = n
	}
	list, err := c.List(ctx, api.SessionFilter{Everywhere: everywhere, Limit: from + pageSize + 1})
	if err != nil {
		return listResponse{}, err
	}
	out := listResponse{Sessions: []sessionInfo{}}
	for i := from; i < len(list) && i < from+pageSize; i++ {
		s := list[i]
		if s.ParentID == "" {
			out.Sessions = append(out.Sessions, sessionInfo{string(s.ID), s.Directory, s.Title, s.Updated.UTC().Format(time.RFC3339)})
		}
	}
	if len(list) > from+pageSize {
		out.NextCursor = strconv.Itoa(from + pageSize)
	}
	return out, nil
}

func (a *agent) closeSession(_ context.Context, p sessionRequest) (struct{}, error) {
	t, err := a.opened(p.SessionID)
	if err == nil {
		t.close(true)
	}
	return struct{}{}, err
}

func (a *agent) deleteSession(ctx context.Context, p sessionRequest) (struct{}, error) {
	if t := a.talk(lathe.SessionID(p.SessionID)); t != nil {
		t.close(true)
	}
	c, err := a.engine()
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, c.Delete(ctx, lathe.SessionID(p.SessionID))
}

// replay sends the editor the whole history.
func (t *conversation) replay(ctx context.Context) error {
	var pages [][]lathe.Message
	for before := int64(0); ; {
		page, err := t.c.History(ctx, t.id, before, 200)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		pages = append(pages, page)
		before = page[0].Seq
	}
	slices.Reverse(pages)
	s, err := t.c.Get(ctx, t.id)
	if err != nil {
		return err
	}
	kept, _ := s.Revert.Standing(slices.Concat(pages...))
	for _, m := range kept {
		t.tell.message(m)
	}
	todos, err := t.c.Todos(ctx, t.id)
	if err == nil && len(todos) > 0 {
		t.a.notify(t.id, plan(todos))
	}
	return nil
}

func (a *agent) prompt(ctx context.Context, p promptRequest) (promptResponse, error) {
	t, err := a.opened(p.SessionID)
	if err != nil {
		return promptResponse{}, err
	}
	t.equipped(ctx)
	in := api.Prompt{Refs: true}
	t.mu.Lock()
	in.Agent, in.Model = t.chosen.agent, t.chosen.ref()
	t.mu.Unlock()
	if in.Parts, err = parts(p.Prompt, t.dir); err != nil {
		return promptResponse{}, err
	}
	own, err := t.slash(ctx, &in)
	if own || err != nil {
		return promptResponse{stopEndTurn}, err
	}
	return t.ask(ctx, in)
}

// ask sends a prompt and waits for the end of its turn.
func (t *conversation) ask(ctx context.Context, in api.Prompt) (promptResponse, error) {
	w := &turn{sent: t.ids.Message(), done: make(chan struct{})}
	in.MessageID = w.sent
	t.mu.Lock()
	stops := t.stops
	t.waiting = append(t.waiting, w)
	t.mu.Unlock()
	defer t.forget(w)
	sent, err := t.c.Prompt(ctx, t.id, in)
	if err != nil {
		return promptResponse{}, err
	}
	t.mu.Lock()
	renamed := sent != w.sent // the engine chose another id, so its message in the stream was not recognised
	w.sent, w.seen = sent, w.seen || renamed
	stopped := t.stops != stops // stopped before the engine had the prompt
	t.mu.Unlock()
	if stopped {
		_ = t.c.Abort(ctx, t.id)
	}
	if status, err := t.c.Status(ctx, t.id); renamed && err == nil {
		if _, idle := status.(lathe.Idle); idle {
			w.end()
		}
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		stop, done := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
		defer done()
		if t.a.ctx.Err() == nil { // the request was cancelled, not the connection
			_ = t.c.Abort(stop, t.id)
		}
		return promptResponse{stopCancelled}, nil
	}
	t.mu.Lock()
	closed := t.closed
	t.mu.Unlock()
	if closed {
		return promptResponse{stopCancelled}, nil
	}
	return t.outcome(context.WithoutCancel(ctx), w.sent)
}

func (t *conversation) forget(w *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.waiting {
		if x == w {
			t.waiting = append(t.waiting[:i:i], t.waiting[i+1:]...)
			return
		}
	}
}

// outcome translates the end of a turn into a stop reason.
func (t *conversation) outcome(ctx context.Context, sent lathe.MessageID) (promptResponse, error) {
	out, err := t.c.Outcome(ctx, t.id, sent)
	if err != nil {
		if lathe.CodeOf(err) == lathe.CodeNotFound { // the server was started again
			return promptResponse{stopEndTurn}, nil
		}
		return promptResponse{}, err
	}
	failure := out.Failure
	if failure == nil && out.Last != nil {
		if info, ok := out.Last.Info.(*lathe.Assistant); ok {
			failure = info.Error
		}
	}
	switch f := failure.(type) {
	case nil:
		return promptResponse{stopEndTurn}, nil
	case *lathe.AbortedFailure:
		return promptResponse{stopCancelled}, nil
	case *lathe.OutputLengthFailure:
		return promptResponse{stopMaxTokens}, nil
	case *lathe.FilterFailure:
		return promptResponse{stopRefusal}, nil
	case *lathe.LimitFailure:
		if f.Limit == "tokens" {
			return promptResponse{stopMaxTokens}, nil
		}
		return promptResponse{stopMaxSteps}, nil
	default:
		return promptResponse{}, f
	}
}

// cancel stops the turn. Waiting prompts are answered when it has ended.
func (t *conversation) cancel() {
	t.mu.Lock()
	t.stops++
	t.mu.Unlock()
	t.a.work.Go(func() { // bounded by abortTime
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.a.ctx), abortTime)
		defer cancel()
		if err := t.c.Abort(ctx, t.id); err != nil {
			t.a.Log.Warn("the turn could not be stopped", "session", t.id, "err", err)
		}
	})
}

// idle ends the turns whose prompts were seen.
func (t *conversation) idle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waiting {
		if w.seen {
			w.end()
		}
	}
}

// saw notes that a message is in the stream, and reports whether the editor sent it.
func (t *conversation) saw(id lathe.MessageID) (ours bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waiting {
		if w.sent == id {
			w.seen = true
			return true
		}
	}
	return false
}

// serversTime bounds how long a prompt waits for the editor's tool servers. Servers that
// are ready later are offered from the next compaction on.
const serversTime = 5 * time.Second

// equipping makes prompts wait for tool servers until the returned channel is closed.
func (t *conversation) equipping() chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = make(chan struct{})
	return t.ready
}

// equipped waits until the tool servers are ready, or for serversTime at most.
func (t *conversation) equipped(ctx context.Context) {
	t.mu.Lock()
	ready := t.ready
	t.mu.Unlock()
	timer := time.NewTimer(serversTime)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// addServers gives the session the tool servers that the editor brings. One
// that does not work is reported and affects nothing else.
func (t *conversation) addServers(ctx context.Context, list []mcpServer) {
	var all sync.WaitGroup
	for _, s := range list {
		all.Go(func() { // bounded by the server's own timeout
			if err := t.c.AddServer(ctx, s.Name, s.settings()); err != nil {
				t.notice("warning", "The tool server "+s.Name+" cannot be used: "+err.Error())
			}
		})
	}
	all.Wait()
}

// settings returns a server's settings in the configuration's format.
func (s mcpServer) settings() map[string]any {
	pairs := func(list []nameValue) map[string]string {
		out := make(map[string]string, len(list))
		for _, v := range list {
			out[v.Name] = v.Value
		}
		return out
	}
	if s.URL != "" {
		return map[string]any{"type": "remote", "url": s.URL, "headers": pairs(s.Headers)}
	}
	return map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "environment": pairs(s.Env)}
}

// parts turns the blocks of a prompt into parts.
func parts(blocks []contentBlock, dir string) ([]lathe.PartBody, error) {
	var out []lathe.PartBody
	for _, b := range blocks {
		switch b.Type {
		case "text":
			out = append(out, &lathe.Text{Text: b.Text})
		case "image":
			if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil {
				return nil, invalid("the data of an image is not base64")
			}
			out = append(out, &lathe.File{MIME: b.MIMEType, Filename: b.Name, URL: "data:" + b.MIMEType + ";base64," + b.Data})
		case "resource_link":
			out = append(out, linked(b, dir))
		case "resource":
			if b.Resource == nil {
				return nil, invalid("a resource without content")
			}
			out = append(out, embedded(*b.Resource))
		default:
			return nil, invalid("content of the type %q cannot be used", b.Type)
		}
	}
	if len(out) == 0 {
		return nil, invalid("the prompt is empty")
	}
	return out, nil
}

// linked is something that the prompt names. A file is read by the engine, as if
// the person had named it; of anything else the model gets the address.
func linked(b contentBlock, _ string) lathe.PartBody {
	if strings.HasPrefix(b.URI, "file://") {
		mime := b.MIMEType
		if mime == "" || !strings.HasPrefix(mime, "image/") && mime != "application/pdf" {
			mime = "text/plain"
		}
		return &lathe.File{MIME: mime, Filename: b.Name, URL: b.URI}
	}
	return &lathe.Text{Text: "[" + b.Name + "](" + b.URI + ")"}
}

// embedded is something whose content came along: what the editor shows, which may
// not be saved.
func embedded(r resource) lathe.PartBody {
	name := strings.TrimPrefix(r.URI, "file://")
	if r.Text == nil {
		return &lathe.File{MIME: r.MIMEType, Filename: filepath.Base(name), URL: "data:" + r.MIMEType + ";base64," + r.Blob}
	}
	return &lathe.File{MIME: "text/plain", Filename: filepath.Base(name), URL: "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(*r.Text))}
}
