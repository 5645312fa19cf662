package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"lathe/internal/shell"
)

const (
	initLimit = 45 * time.Second // for an answer to initialize
	callLimit = 10 * time.Second // for an answer to any other request
	endGrace  = 2 * time.Second  // from the wish to end to the kill
	maxStderr = 2000             // bytes of what a server complained of last
)

// client is one running server. All its methods may be called at once.
type client struct {
	spec    *Spec
	options any
	svc     *shell.Service
	rpc     *jsonrpc2.Conn
	caps    capabilities
	enc     encoding
	told    func(path string) // what was found in a file has changed
	now     func() time.Time

	wg   sync.WaitGroup // requests that nobody waits for
	live context.Context
	end  context.CancelCauseFunc

	mu      sync.Mutex
	folders []string
	docs    documents
	findings
	works     works
	commands  sync.Mutex // held while a command of the server runs
	complaint []byte     // the end of its standard error
	applied   *[]workspaceEdit
}

// launch is what starts a client.
type launch struct {
	spec    *Spec
	args    []string
	root    string
	env     []string
	options any
	open    func(shell.Program) (*shell.Service, error)
	told    func(path string)
	now     func() time.Time
}

// connect starts a server and makes it ready. It returns when it is, or why it is not;
// then nothing of it is left. The end of ctx ends the start alone.
func connect(ctx context.Context, l launch) (*client, error) {
	c := &client{spec: l.spec, options: l.options, enc: utf16Units, told: l.told, now: l.now, folders: []string{l.root}}
	c.docs.init()
	c.findings.init()
	c.live, c.end = context.WithCancelCause(context.Background())
	svc, err := l.open(shell.Program{Args: l.args, Dir: l.root, Env: l.env, Kind: shell.KindLSP, Stderr: c.complain})
	if err != nil {
		return nil, err
	}
	c.svc = svc
	quiet := log.New(io.Discard, "", 0)
	c.rpc = jsonrpc2.NewConn(c.live, newStream(svc.Stdout, svc.Stdin), handler{c}, jsonrpc2.SetLogger(quiet))
	c.wg.Go(c.attend)
	if err := c.initialize(ctx); err != nil {
		c.end(err)
		c.close(0)
		return nil, err
	}
	return c, nil
}

// attend ends the connection when the program has ended, and the other way round.
func (c *client) attend() {
	select {
	case <-c.svc.Done():
		c.end(c.ended())
	case <-c.rpc.DisconnectNotify():
		over := time.NewTimer(endGrace) // the connection ends just before the program does
		defer over.Stop()
		select {
		case <-c.svc.Done():
			c.end(c.ended())
		case <-over.C:
			c.end(errors.New("it closed the connection"))
		case <-c.live.Done():
		}
	case <-c.live.Done():
	}
}

// ended says how the program ended.
func (c *client) ended() error {
	exit, err := c.svc.Exit()
	c.mu.Lock()
	said := strings.TrimSpace(string(c.complaint))
	c.mu.Unlock()
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	if said != "" {
		said = ": " + said
	}
	switch {
	case err != nil:
		return err
	case exit.Signal != "":
		return fmt.Errorf("it was ended by a signal (%s)%s", exit.Signal, said)
	}
	return fmt.Errorf("it ended with exit code %d%s", exit.Code, said)
}

// complain keeps the end of what the server writes to its standard error.
func (c *client) complain(chunk []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaint = append(c.complaint, chunk...)
	if n := len(c.complaint) - maxStderr; n > 0 {
		c.complaint = slices.Clone(c.complaint[n:])
	}
}

// gone is closed when the server can be used no more; why says the reason.
func (c *client) gone() <-chan struct{} { return c.live.Done() }
func (c *client) why() error            { return context.Cause(c.live) }

func (c *client) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, initLimit, fmt.Errorf("it did not answer within %v", initLimit))
	defer cancel()
	root := uriOf(c.folders[0])
	params := map[string]any{
		"processId": nil, // it may run where lathe's number means nothing
		"clientInfo": map[string]string{
			"name": "lathe",
		},
		"rootUri": root, "rootPath": c.folders[0],
		"workspaceFolders": []folder{folderOf(c.folders[0])},
		"capabilities":     clientCapabilities(),
	}
	if c.options != nil {
		params["initializationOptions"] = c.options
	}
	var result struct {
		Capabilities capabilities `json:"capabilities"`
	}
	if err := c.call(ctx, "initialize", params, &result); err != nil {
		return err
	}
	c.caps = result.Capabilities
	switch enc := c.caps.PositionEncoding; enc {
	case utf8Units, utf32Units:
		c.enc = enc
	}
	c.mu.Lock()
	if d := c.caps.Diagnostic; d != nil {
		c.pulls["static"] = *d
	}
	c.mu.Unlock()
	c.notify("initialized", struct{}{})
	if c.options != nil {
		c.notify("workspace/didChangeConfiguration", map[string]any{"settings": c.options})
	}
	return nil
}

// call sends a request and waits for its answer: until ctx ends, and no longer than the
// server lives.
func (c *client) call(ctx context.Context, method string, params, result any) error {
	call, err := c.rpc.DispatchCall(ctx, method, params)
	if err != nil {
		return c.failed(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.live, func() { cancel(c.why()) })()
	err = call.Wait(ctx, result)
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return c.failed(err)
}

// failed returns the reason behind an error of the connection.
func (c *client) failed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		<-c.live.Done() // soon: the connection is closed
		return c.why()
	}
	return err
}

func (c *client) notify(method string, params any) {
	_ = c.rpc.Notify(c.live, method, params) // a server that is gone is seen elsewhere
}

// request is a call with the usual limit.
func (c *client) request(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit, fmt.Errorf("%s did not answer within %v", c.spec.ID, callLimit))
	defer cancel()
	return c.call(ctx, method, params, result)
}

// close asks the server to end, ends it, and waits until all of it is gone.
func (c *client) close(grace time.Duration) {
	if grace > 0 && c.live.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		if c.call(ctx, "shutdown", nil, nil) == nil {
			c.notify("exit", nil)
			select {
			case <-c.svc.Done():
			case <-ctx.Done():
			}
		}
		cancel()
	}
	c.end(errEnded)
	c.rpc.Close()
	c.svc.Stop(grace / 4)
	c.wg.Wait()
}

// add makes a folder one of the server's. It reports false where the server cannot take
// it.
func (c *client) add(root string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.folders, root) {
		return true
	}
	if !c.sharesFolders() {
		return false
	}
	c.folders = append(c.folders, root)
	c.changeFolders([]folder{folderOf(root)}, nil)
	return true
}

// sharesFolders reports whether the server takes folders while it runs.
func (c *client) sharesFolders() bool {
	return c.caps.Workspace.Folders.Supported && bool(c.caps.Workspace.Folders.Changes)
}

// drop takes a folder from the server, and what is known of the files in it. It returns
// how many are left.
func (c *client) drop(root string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.folders, root)
	if i < 0 {
		return len(c.folders)
	}
	c.folders = slices.Delete(c.folders, i, i+1)
	if len(c.folders) > 0 && c.sharesFolders() {
		c.changeFolders(nil, []folder{folderOf(root)})
		c.closeBelow(root)
	}
	return len(c.folders)
}

func (c *client) changeFolders(added, removed []folder) {
	event := map[string]any{"added": slices.Concat([]folder{}, added), "removed": slices.Concat([]folder{}, removed)}
	c.notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": event})
}

func folderOf(dir string) folder { return folder{URI: uriOf(dir), Name: filepath.Base(dir)} }

// uriOf returns the file URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the path of a file URI, or "".
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// handler answers what servers ask. What it does not know it refuses, as the protocol
// wants it.
type handler struct{ c *client }

// Handle is called for one message after the other.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		switch req.Method {
		case "textDocument/publishDiagnostics":
			var p published
			if json.Unmarshal(params, &p) == nil {
				h.c.publish(p)
			}
		case "$/progress":
			h.c.works.note(params)
		}
		return
	}
	result, ok := h.c.answer(req.Method, params)
	if !ok {
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "lathe has no " + req.Method})
		return
	}
	_ = conn.Reply(ctx, req.ID, result)
}

func (c *client) answer(method string, params json.RawMessage) (any, bool) {
	switch method {
	case "workspace/configuration":
		return c.configuration(params), true
	case "workspace/workspaceFolders":
		c.mu.Lock()
		defer c.mu.Unlock()
		out := []folder{}
		for _, root := range c.folders {
			out = append(out, folderOf(root))
		}
		return out, true
	case "client/registerCapability":
		c.register(params)
		return nil, true
	case "client/unregisterCapability":
		c.unregister(params)
		return nil, true
	case "workspace/applyEdit":
		return map[string]bool{"applied": c.collect(params)}, true
	case "window/showDocument":
		return map[string]bool{"success": false}, true
	case "window/workDoneProgress/create", "window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh",
		"workspace/codeLens/refresh", "workspace/inlayHint/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return nil, true
	}
	return nil, false
}

// configuration answers for each item the part of the options that its section names;
// where they have no such part, all of them, as OpenCode does.
func (c *client) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(params, &p)
	const most = 1000
	out := []any{}
	for n, item := range p.Items {
		if n == most {
			break
		}
		value, section := c.options, item.Section
		for key := range strings.SplitSeq(section, ".") {
			m, ok := value.(map[string]any)
			if section == "" || !ok {
				break
			}
			if value, ok = m[key]; !ok {
				value = nil
			}
		}
		out = append(out, value)
	}
	return out
}

func (c *client) register(params json.RawMessage) {
	var p struct {
		Registrations []registration `json:"registrations"`
	}
	_ = json.Unmarshal(params, &p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.Registrations {
		if r.Method == "textDocument/diagnostic" && len(c.pulls) < 100 {
			var about diagnosticAbout
			_ = json.Unmarshal(r.Options, &about)
			c.pulls[r.ID] = about
			c.tell()
		}
	}
}

func (c *client) unregister(params json.RawMessage) {
	var p struct {
		List []registration `json:"unregisterations"` // as the protocol spells it
	}
	_ = json.Unmarshal(params, &p)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.List {
		delete(c.pulls, r.ID)
	}
}

// collect takes an edit that the server wants made, while a command of its runs.
func (c *client) collect(params json.RawMessage) bool {
	var p struct {
		Edit workspaceEdit `json:"edit"`
	}
	err := json.Unmarshal(params, &p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil || c.applied == nil {
		return false
	}
	*c.applied = append(*c.applied, p.Edit)
	return true
}
